"""`agent-s memory`: list, search, transfer and delete what the agent has learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import NotDone
from agent_s.terminal.lazy import SuggestingGroup, examples
from agent_s.terminal.options import FILE, FOLDER, PATH, Number, json_option, with_settings
from agent_s.terminal.output import echo_json, in_words, local_time, plural, printable, shorten, show_result, show_table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from agent_s.settings import Settings
    from memory_store import Experience, MemoryStore, Selection
    from memory_store.records.experience import Kind, State

KINDS = click.Choice(["narrative", "episodic", "skill"])
STATES = click.Choice(["candidate", "active", "quarantined", "deprecated"])


def _open(settings: Settings) -> AbstractContextManager[MemoryStore]:
    """Open the memory that the settings name, even if it is disabled for runs."""
    from agent_s.memory import open_memory

    return open_memory(settings)


def _with_store(command: Callable[..., None]) -> Callable[..., int | None]:
    """Add the settings options to a command, and pass it the open `store` instead of their values."""

    @with_settings
    @wraps(command)
    def run(settings: Settings, **values: Any) -> None:
        with _open(settings) as store:
            command(store=store, **values)

    return run


@click.group(cls=SuggestingGroup, epilog=examples("agent-s memory list", 'agent-s memory search "save a file"'))
def memory() -> None:
    """List, search, move and delete what the agent has learned.

    Narrative memory holds summaries of whole tasks, episodic memory the steps of single subtasks, and skills are
    sequences of actions that can be replayed.
    """


@memory.command(
    "list",
    epilog=examples(
        "agent-s memory list", "agent-s memory list --kind episodic --json", "agent-s memory list --state quarantined"
    ),
)
@_with_store
@click.option("--kind", type=KINDS, help="Only this kind of memory.")
@click.option("--app", metavar="NAME", help="Only about this application.")
@click.option("--state", type=STATES, help="Only in this state.")
@click.option("--limit", type=Number(min=1), default=50, show_default=True, help="Maximum number of results.")
@json_option("Write one JSON array.")
def list_command(
    store: MemoryStore, kind: Kind | None, app: str | None, state: State | None, limit: int, as_json: bool
) -> None:
    """List experiences, newest first."""
    found = store.list_experiences(kind, app=app, state=state, limit=limit)
    if as_json:
        echo_json([_as_values(experience) for experience in found])
    elif found:
        _show_experiences([(experience, None) for experience in found])
    elif (kind, app, state) == (None, None, None):
        click.echo(f"There is nothing in {store.place} yet. It fills as tasks are carried out.")
    else:
        click.echo(f"Nothing in {store.place} matches. `agent-s memory list` lists all of it.")


@memory.command(
    epilog=examples(
        "agent-s memory show n-0f3c5d7e9a1b2c4d", "agent-s memory show e-0f3c5d7e9a1b2c4d --page steps.html"
    )
)
@click.argument("experience")
@with_settings
@click.option("--page", metavar="FILE", type=FILE, help="Write an HTML page with the screenshots to FILE.")
@json_option("Write one JSON object.")
def show(settings: Settings, experience: str, page: Path | None, as_json: bool) -> None:
    """Show an EXPERIENCE by id: its origin, uses and steps."""
    from agent_s.trajectory.experience_origin import find_origin
    from agent_s.trajectory.report import write_report
    from memory_store import SkillExperience

    with _open(settings) as store:
        found = store.get(experience)
    origin = find_origin(settings.runs_folder, found)
    values = _as_values(found)
    values |= {"screenshots": [str(path) for path in origin.screenshots], "screenshots_note": origin.problem}
    if page is not None:
        if origin.trajectory is None:
            raise NotDone(f"No page was written: {origin.problem}.")
        values["page"] = str(write_report(origin.trajectory, page, embed=True))
    if as_json:
        echo_json(values)
        return
    provenance = values.pop("provenance")
    if isinstance(found, SkillExperience):
        values["intent"] = found.intent.sentence
    for name, value in (*values.items(), *provenance.items()):
        if isinstance(value, list) and value:
            click.echo(f"{name}:")
            for number, item in enumerate(value, start=1):
                click.echo(f"  {number}. {printable(str(item))}")
        elif value not in (None, "", []):
            click.echo(f"{name}: {printable(str(value))}")


@memory.command(epilog=examples('agent-s memory search "save a file under another name"'))
@click.argument("query")
@_with_store
@click.option("--kind", type=KINDS, help="Only this kind of memory.")
@click.option("-k", "count", type=Number(min=1), default=5, show_default=True, help="Results of each kind.")
@json_option("Write one JSON array.")
def search(store: MemoryStore, query: str, kind: Kind | None, count: int, as_json: bool) -> None:
    """Search experiences for QUERY as a run does, best match first."""
    narrative = store.search_narrative(query, count) if kind in (None, "narrative") else []
    episodic = store.search_episodic(query, "", k=count) if kind in (None, "episodic") else []
    skills = store.search_skills(query, count, candidates=True) if kind in (None, "skill") else []
    hits = sorted([*narrative, *episodic, *skills], key=lambda hit: -hit.similarity)
    if as_json:
        echo_json([{**_as_values(hit.experience), "similarity": hit.similarity, "reason": hit.reason} for hit in hits])
    elif hits:
        _show_experiences([(hit.experience, hit.similarity) for hit in hits])
    else:
        click.echo("No experience is similar enough.")


@memory.command(
    "export", epilog=examples("agent-s memory export experience.jsonl", "agent-s memory export --training pairs.jsonl")
)
@click.argument("file", type=FILE)
@_with_store
@click.option("--training", is_flag=True, help="Write tasks and their plans, to fine-tune a planner on.")
@json_option("Write one JSON object.")
def export_command(store: MemoryStore, file: Path, training: bool, as_json: bool) -> None:
    """Write all experiences to FILE, as JSON lines."""
    from memory_store import export_store

    if training:
        from agent_s.replay.training_pairs import write_training_pairs

        count = write_training_pairs(store, file)
        why = "" if count else " Memory holds no verified skills yet, and no tasks that were done by skills."
        show_result({"file": file, "pairs": count}, f"Wrote {plural(count, 'conversation')} to {file}.{why}", as_json)
        return
    count = export_store(store, file)
    show_result({"file": file, "exported": count}, f"Exported {plural(count, 'experience')} to {file}.", as_json)


@memory.command(epilog=examples("agent-s memory train pairs.jsonl --model ./Qwen3-1.7B --out ./planner"))
@click.argument("file", type=FILE)
@click.option("--model", metavar="PATH", required=True, type=PATH, help="Folder (Hugging Face's format) or GGUF file.")
@click.option("--out", metavar="DIR", required=True, type=FOLDER, help="New folder for the trained model.")
@click.option("--epochs", type=Number(min=1), default=3, show_default=True, help="Passes over the data.")
@click.option("--rank", type=Number(min=1), default=16, show_default=True, help="Rank of the adapter.")
@click.option("--learning-rate", metavar="X", type=click.FloatRange(0, min_open=True), default=2e-4, show_default=True)
@click.option(
    "--longest",
    metavar="TOKENS",
    type=Number(min=1),
    default=16_384,
    show_default=True,
    help="Leave out longer conversations.",
)
@json_option("Write one JSON object.")
def train(file: Path, model: Path, out: Path, as_json: bool, **how: Any) -> None:
    """Fine-tune a local model to plan.

    FILE is what 'memory export --training' wrote. Needs the packages of agent-s[train]. Serve the trained model like
    any other, and set roles.plan to its server.
    """
    from agent_s.llm.fine_tuning import Tuning, fine_tune

    done = fine_tune(file, model, out, Tuning(**how), lambda line: click.echo(line, err=True))
    left_out = f"; {plural(done.left_out, 'longer one')} left out" if done.left_out else ""
    message = f"Trained on {plural(done.conversations, 'conversation')}{left_out}. Wrote the model to {out}."
    show_result({"out": out, **asdict(done)}, message, as_json)


@memory.command("import", epilog=examples("agent-s memory import experience.jsonl"))
@click.argument("file", type=PATH)
@_with_store
@json_option("Write one JSON object.")
def import_command(store: MemoryStore, file: Path, as_json: bool) -> None:
    """Import experiences from an exported FILE.

    FILE may also be a folder with a knowledge base of Agent S. Experiences that are already in memory are skipped.
    """
    from memory_store import import_store

    done = import_store(store, file)
    show_result(
        done.model_dump(), f"Imported {plural(done.added, 'experience')}; {done.present} already present.", as_json
    )


@memory.command(
    epilog=examples(
        "agent-s memory forget n-0f3c5d7e9a1b2c4d",
        "agent-s memory forget --app gimp --older-than 90 --count",
        "agent-s memory forget --undo",
    )
)
@click.argument("experiences", nargs=-1)
@with_settings
@click.option("--run", "run_id", metavar="RUN", help="Experiences from the run with this id.")
@click.option("--task", "task_id", metavar="TASK", help="Experiences from the task with this id.")
@click.option("--app", metavar="NAME", help="Experiences about this application.")
@click.option(
    "--older-than", "days", metavar="DAYS", type=click.FloatRange(min=0), help="Experiences older than this, in days."
)
@click.option("--text", metavar="TEXT", help="Experiences that contain this text.")
@click.option("--all", "everything", is_flag=True, help="All experiences.")
@click.option("--count", "count_only", is_flag=True, help="Only count them.")
@click.option("--undo", is_flag=True, help="Restore what the last forget removed, unless memory was vacuumed since.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option("Write one JSON object.")
def forget(
    settings: Settings,
    experiences: tuple[str, ...],
    count_only: bool,
    undo: bool,
    yes: bool,
    as_json: bool,
    **conditions: Any,
) -> None:
    """Forget experiences.

    Give the ids of EXPERIENCES, or conditions that they must all meet. They are hidden at once; `--undo` restores them
    until `agent-s memory vacuum` deletes them.
    """
    if undo:
        _undo(settings, as_json)
        return
    selection = _selection(experiences, **conditions)
    with _open(settings) as store:
        count = store.count(selection)
        if count_only:
            echo_json({"count": count}) if as_json else click.echo(plural(count, "experience"))
            return
        if not experiences and not yes:
            click.confirm(f"Forget {plural(count, 'experience')}?", abort=True, err=True)
        forgotten = store.forget(selection)
    unknown = len(set(experiences)) - forgotten if experiences else 0
    restore = " To restore: agent-s memory forget --undo" if forgotten else ""
    show_result(
        {"forgotten": forgotten, "unknown": unknown}, f"Forgot {plural(forgotten, 'experience')}.{restore}", as_json
    )
    if unknown or (selection.run_id is not None and not forgotten):
        what = f"{unknown} of {plural(len(set(experiences)), 'id')}" if unknown else f"the run {selection.run_id}"
        raise NotDone(f"Not found: {what}. `agent-s memory list` shows what is in memory.")


def _undo(settings: Settings, as_json: bool) -> None:
    with _open(settings) as store:
        count = store.undo_forget()
    if count or as_json:
        show_result({"restored": count}, f"Restored {plural(count, 'experience')}.", as_json)
    if not count:
        raise NotDone("Nothing was forgotten since memory was last vacuumed.")


def _selection(
    experiences: tuple[str, ...], days: float | None, everything: bool, **conditions: str | None
) -> Selection:
    from datetime import UTC, datetime, timedelta

    from memory_store import Selection

    given = any(value is not None for value in (days, *conditions.values()))
    if sum((bool(experiences), given, everything)) != 1:
        raise click.UsageError("Give ids of experiences, or --run, --task, --app, --older-than or --text, or --all.")
    if "" in (*conditions.values(), *experiences):
        raise click.UsageError("An id, name or text is empty. Is a variable not set?")
    try:
        before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    except (OverflowError, ValueError) as error:
        raise click.UsageError("--older-than is not a number of days within the calendar.") from error
    return Selection(ids=experiences or None, before=before, everything=everything, **conditions)


@memory.command(epilog=examples("agent-s memory quarantine n-0f3c5d7e9a1b2c4d --reason 'the menu has changed'"))
@click.argument("experience")
@_with_store
@click.option("--reason", default="withdrawn by its owner", show_default=True, help="Reason to record.")
@json_option("Write one JSON object.")
def quarantine(store: MemoryStore, experience: str, reason: str, as_json: bool) -> None:
    """Quarantine an EXPERIENCE: it is kept, but no run uses it."""
    store.quarantine(experience, reason)
    show_result(
        {"quarantined": experience},
        f"Quarantined {experience}. To release: agent-s memory release {experience}",
        as_json,
    )


@memory.command(epilog=examples("agent-s memory list --state quarantined", "agent-s memory release n-0f3c5d7e9a1b2c4d"))
@click.argument("experience")
@_with_store
@json_option("Write one JSON object.")
def release(store: MemoryStore, experience: str, as_json: bool) -> None:
    """Release an EXPERIENCE from quarantine and clear its failures."""
    released = store.release(experience)
    if as_json:
        echo_json({"released": released})
    if not released:
        raise NotDone(f"{experience} was not in quarantine.")
    if not as_json:
        click.echo(f"Released {experience}: runs use it again.")


@memory.command(epilog=examples("agent-s memory vacuum"))
@with_settings
@json_option("Write one JSON object.")
def vacuum(settings: Settings, as_json: bool) -> None:
    """Delete forgotten experiences and old search results for good."""
    from datetime import UTC, datetime, timedelta

    expiry = timedelta(days=max(settings.search.cache_days, settings.search.fallback_days))
    with _open(settings) as store:
        report = store.vacuum(datetime.now(UTC) - expiry)
    if as_json:
        echo_json(report.model_dump())
        return
    deleted = plural(report.deleted, "experience")
    if report.web_answers:
        deleted += f" and {plural(report.web_answers, 'cached answer')}"
    freed = max(0, report.bytes_before - report.bytes_after)
    click.echo(f"Deleted {deleted}; freed {freed / 1e6:.1f} MB.")


@memory.command(epilog=examples("agent-s memory check", "agent-s memory check --salvage saved.jsonl"))
@with_settings
@click.option(
    "--salvage",
    "export",
    metavar="FILE",
    type=FILE,
    help="Export everything readable of a damaged memory to FILE. The memory is not changed.",
)
@json_option("Write one JSON object.")
def check(settings: Settings, export: Path | None, as_json: bool) -> None:
    """Check memory for damage and suggest fixes."""
    if export is not None:
        _salvage(settings, export, as_json)
        return
    with _open(settings) as store:
        problems = store.check()
    if as_json:
        echo_json({"sound": not problems, "problems": problems})
    else:
        for problem in problems or ["Memory is sound."]:
            click.echo(printable(problem))
    if problems:
        raise NotDone(f"{plural(len(problems), 'problem')} found.")


def _salvage(settings: Settings, export: Path, as_json: bool) -> None:
    from memory_store import salvage_store

    report = salvage_store(settings.memory.url or settings.memory_path, export)
    if as_json:
        echo_json({"file": export, **report.model_dump()})
        return
    click.echo(f"Exported {plural(report.saved, 'experience')} to {export}.")
    if report.lost:
        click.echo(f"{plural(len(report.lost), 'experience')} cannot be read: {printable(', '.join(report.lost))}")
    if not report.complete:
        click.echo("More may be missing: the list of ids is damaged, too.")
    click.echo(f"Move the damaged file and its -wal and -shm files elsewhere, then run: agent-s memory import {export}")


@memory.command(epilog=examples("agent-s memory stats", "agent-s memory stats --json"))
@_with_store
@json_option("Write one JSON object.")
def stats(store: MemoryStore, as_json: bool) -> None:
    """Show statistics of the memory."""
    values = store.stats().model_dump()
    if as_json:
        echo_json(values)
        return
    for name, value in values.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key or 'unknown'} {count}" for key, count in value.items()) or "none"
        click.echo(f"{name.replace('_', ' ')}: {printable(str(value))}")


def _as_values(experience: Experience) -> dict[str, Any]:
    return {"kind": experience.kind, **experience.model_dump(mode="json")}


def _show_experiences(found: list[tuple[Experience, float | None]]) -> None:
    from agent_s.memory import title_of

    show_table(
        ("Id", "Learned", "App", "Verified", "Used", "Worked", "About"),
        [
            (
                experience.id,
                local_time(experience.provenance.created_at),
                experience.provenance.app,
                in_words(experience.provenance.verified),
                str(experience.provenance.times_used),
                str(experience.provenance.times_worked),
                (f"{similarity:.2f}  " if similarity is not None else "") + shorten(title_of(experience), 90),
            )
            for experience, similarity in found
        ],
        figures=("Used", "Worked"),
    )

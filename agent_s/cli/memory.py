"""`agent-s memory`: what was learned belongs to the person who can look at it, move it and delete it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import DONE, NotDone
from agent_s.terminal.lazy import SuggestingGroup, examples
from agent_s.terminal.options import json_option, read_settings, settings_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from agent_s.settings import SearchSettings
    from memory_store import Experience, MemoryStore, Selection
    from memory_store.records.experience import Kind, State

KINDS = click.Choice(["narrative", "episodic", "skill"])
STATES = click.Choice(["candidate", "active", "quarantined", "deprecated"])


@click.group(cls=SuggestingGroup, epilog=examples("agent-s memory list", 'agent-s memory search "save a file"'))
def memory() -> None:
    """Look at, move and delete what was learned.

    Narrative memory keeps the story of whole tasks, episodic memory the steps of single subtasks.
    """


@memory.command(
    "list",
    epilog=examples(
        "agent-s memory list", "agent-s memory list --kind episodic --json", "agent-s memory list --state quarantined"
    ),
)
@settings_options
@click.option("--kind", type=KINDS, help="Only this memory.")
@click.option("--app", metavar="NAME", help="Only about this application.")
@click.option("--state", type=STATES, help="Only what is in this state, such as quarantined.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@json_option("Write one JSON array.")
def list_command(
    config_file: Path | None,
    overrides: tuple[str, ...],
    kind: Kind | None,
    app: str | None,
    state: State | None,
    limit: int,
    as_json: bool,
) -> int:
    """List what was learned, newest first."""
    from agent_s.terminal.output import echo_json

    with _store(config_file, overrides) as store:
        found = store.list_experiences(kind, app=app, state=state, limit=limit)
        if as_json:
            echo_json([_as_values(experience) for experience in found])
        elif found:
            _show_table([(experience, None) for experience in found])
        else:
            click.echo(f"Nothing is in {store.place} yet: it fills as tasks are carried out.")
    return DONE


@memory.command(
    epilog=examples(
        "agent-s memory show n-0f3c5d7e9a1b2c4d", "agent-s memory show e-0f3c5d7e9a1b2c4d --page steps.html"
    )
)
@click.argument("experience")
@settings_options
@click.option(
    "--page", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with the screenshots."
)
@json_option("Write one JSON object.")
def show(
    experience: str, config_file: Path | None, overrides: tuple[str, ...], page: Path | None, as_json: bool
) -> int:
    """Show one EXPERIENCE, by its id, with where it comes from, how it fared since, and the steps that made it."""
    from agent_s.terminal.output import echo_json, printable
    from agent_s.trajectory.experience_origin import find_origin
    from agent_s.trajectory.report import write_report

    with _store(config_file, overrides) as store:
        found = store.get(experience)
    origin = find_origin(read_settings(config_file, overrides).runs_folder, found)
    values = _as_values(found)
    values |= {"screenshots": [str(path) for path in origin.screenshots], "screenshots_note": origin.problem}
    if page is not None:
        if origin.trajectory is None:
            raise NotDone(f"No page was written: {origin.problem}.")
        values["page"] = str(write_report(origin.trajectory, page, embed=True))
    if as_json:
        echo_json(values)
        return DONE
    provenance = values.pop("provenance")
    for name, value in (*values.items(), *provenance.items()):
        if isinstance(value, list):
            click.echo(f"{name}:")
            for number, item in enumerate(value, start=1):
                click.echo(f"  {number}. {printable(str(item))}")
        elif value not in (None, ""):
            click.echo(f"{name}: {printable(str(value))}")
    return DONE


@memory.command(epilog=examples('agent-s memory search "save a file under another name"'))
@click.argument("query")
@settings_options
@click.option("--kind", type=KINDS, help="Only this memory.")
@click.option("-k", "count", type=click.IntRange(min=1), default=5, show_default=True, help="At most so many of each.")
@json_option("Write one JSON array.")
def search(
    query: str, config_file: Path | None, overrides: tuple[str, ...], kind: Kind | None, count: int, as_json: bool
) -> int:
    """Find experience that is about QUERY, best first, as a run would find it."""
    from agent_s.terminal.output import echo_json

    with _store(config_file, overrides) as store:
        narrative = store.search_narrative(query, count) if kind in (None, "narrative") else []
        episodic = store.search_episodic(query, "", k=count) if kind in (None, "episodic") else []
        skills = store.search_skills(query, count, candidates=True) if kind in (None, "skill") else []
    hits = sorted([*narrative, *episodic, *skills], key=lambda hit: -hit.similarity)
    if as_json:
        echo_json([{**_as_values(hit.experience), "similarity": hit.similarity, "reason": hit.reason} for hit in hits])
    elif hits:
        _show_table([(hit.experience, hit.similarity) for hit in hits])
    else:
        click.echo("Nothing in memory is about that.")
    return DONE


@memory.command("export", epilog=examples("agent-s memory export experience.jsonl"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@settings_options
@json_option("Write one JSON object.")
def export_command(file: Path, config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Write everything that was learned to FILE, as lines of JSON."""
    from agent_s.terminal.output import echo_json, plural
    from memory_store.storage.transfer import export_store

    with _store(config_file, overrides) as store:
        count = export_store(store, file)
    if as_json:
        echo_json({"file": file, "exported": count})
    else:
        click.echo(f"{plural(count, 'experience')} written to {file}.")
    return DONE


@memory.command("import", epilog=examples("agent-s memory import experience.jsonl"))
@click.argument("file", type=click.Path(path_type=Path))
@settings_options
@json_option("Write one JSON object.")
def import_command(file: Path, config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Add the experience of an exported FILE, or of a folder with Agent S's knowledge base.

    What is there already stays as it is.
    """
    from agent_s.terminal.output import echo_json, plural
    from memory_store.storage.transfer import import_store

    with _store(config_file, overrides) as store:
        done = import_store(store, file)
    if as_json:
        echo_json(done.model_dump())
    else:
        click.echo(f"{plural(done.added, 'experience')} added, {done.present} there already.")
    return DONE


@memory.command(
    epilog=examples(
        "agent-s memory forget n-0f3c5d7e9a1b2c4d",
        "agent-s memory forget --app gimp --older-than 90 --count",
        "agent-s memory forget --undo",
    )
)
@click.argument("experiences", nargs=-1)
@settings_options
@click.option("--run", "run_id", metavar="RUN", help="All that one run taught, by the run's id.")
@click.option("--task", "task_id", metavar="TASK", help="All that one task taught, by the task's id.")
@click.option("--app", metavar="NAME", help="All about this application.")
@click.option("--older-than", "days", metavar="DAYS", type=click.FloatRange(min=0), help="All made longer ago.")
@click.option("--text", metavar="WORDS", help="All with these words in it.")
@click.option("--all", "everything", is_flag=True, help="Everything.")
@click.option("--count", "count_only", is_flag=True, help="Only tell how many these are.")
@click.option("--undo", is_flag=True, help="Bring back what the last forget took, unless memory was vacuumed since.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option("Write one JSON object.")
def forget(
    experiences: tuple[str, ...],
    config_file: Path | None,
    overrides: tuple[str, ...],
    run_id: str | None,
    task_id: str | None,
    app: str | None,
    days: float | None,
    text: str | None,
    everything: bool,
    count_only: bool,
    undo: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Forget EXPERIENCES, by their ids, or all that the options together choose.

    They are hidden at once. `--undo` brings them back until `agent-s memory vacuum` deletes them for good.
    """
    from agent_s.terminal.output import echo_json, plural

    if undo:
        return _undo(config_file, overrides, as_json)
    selection = _selection(experiences, run_id, task_id, app, days, text, everything)
    with _store(config_file, overrides) as store:
        count = store.count(selection)
        if count_only:
            echo_json({"count": count}) if as_json else click.echo(plural(count, "experience"))
            return DONE
        if not experiences and not yes:
            click.confirm(f"Forget {plural(count, 'experience')}?", abort=True, err=True)
        forgotten = store.forget(selection)
    unknown = len(set(experiences)) - forgotten if experiences else 0
    if as_json:
        echo_json({"forgotten": forgotten, "unknown": unknown})
    else:
        click.echo(f"{plural(forgotten, 'experience')} forgotten; `agent-s memory forget --undo` brings them back.")
    if unknown or (run_id is not None and not forgotten):
        raise NotDone(f"{unknown or 'All'} of these were not there: `agent-s memory list` shows what is.")
    return DONE


def _undo(config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    from agent_s.terminal.output import echo_json, plural

    with _store(config_file, overrides) as store:
        count = store.undo_forget()
    if as_json:
        echo_json({"restored": count})
    else:
        click.echo(f"{plural(count, 'experience')} brought back.")
    if not count:
        raise NotDone("Nothing was forgotten since memory was last vacuumed.")
    return DONE


def _selection(
    experiences: tuple[str, ...],
    run_id: str | None,
    task_id: str | None,
    app: str | None,
    days: float | None,
    text: str | None,
    everything: bool,
) -> Selection:
    from datetime import UTC, datetime, timedelta

    from memory_store import Selection

    chosen = any(value is not None for value in (run_id, task_id, app, days, text))
    if sum((bool(experiences), chosen, everything)) != 1:
        raise click.UsageError("Give ids of experiences, or --run, --task, --app, --older-than or --text or --all.")
    if any(value == "" for value in (run_id, task_id, app, text, *experiences)):
        raise click.UsageError("An id, name or text is empty: a variable that is not set, perhaps?")
    try:
        before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    except (OverflowError, ValueError) as error:
        raise click.UsageError("--older-than is no number of days that a calendar has.") from error
    return Selection(
        ids=experiences or None,
        run_id=run_id,
        task_id=task_id,
        app=app,
        before=before,
        text=text,
        everything=everything,
    )


@memory.command(epilog=examples("agent-s memory quarantine n-0f3c5d7e9a1b2c4d --reason 'the menu has changed'"))
@click.argument("experience")
@settings_options
@click.option("--reason", default="withdrawn by its owner", show_default=True, help="Why.")
@json_option("Write one JSON object.")
def quarantine(
    experience: str, config_file: Path | None, overrides: tuple[str, ...], reason: str, as_json: bool
) -> int:
    """Withdraw one EXPERIENCE: it is kept, but no run is given it."""
    from agent_s.terminal.output import echo_json

    with _store(config_file, overrides) as store:
        store.quarantine(experience, reason)
    if as_json:
        echo_json({"quarantined": experience})
    else:
        click.echo(f"{experience} is withdrawn; `agent-s memory release {experience}` gives it back.")
    return DONE


@memory.command(epilog=examples("agent-s memory list --state quarantined", "agent-s memory release n-0f3c5d7e9a1b2c4d"))
@click.argument("experience")
@settings_options
@json_option("Write one JSON object.")
def release(experience: str, config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Give an EXPERIENCE back to runs that was withdrawn, its failures forgiven."""
    from agent_s.terminal.output import echo_json

    with _store(config_file, overrides) as store:
        released = store.release(experience)
    if as_json:
        echo_json({"released": released})
    if not released:
        raise NotDone(f"{experience} was not in quarantine.")
    if not as_json:
        click.echo(f"{experience} is given to runs again.")
    return DONE


@memory.command(epilog=examples("agent-s memory vacuum"))
@settings_options
@json_option("Write one JSON object.")
def vacuum(config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Delete what was forgotten for good and answers of search engines that are too old, and give their space back."""
    from agent_s.terminal.output import echo_json, plural

    with _store(config_file, overrides) as store:
        report = store.vacuum(_too_old(read_settings(config_file, overrides).search))
    if as_json:
        echo_json(report.model_dump())
    else:
        freed = max(0, report.bytes_before - report.bytes_after)
        kinds = [plural(report.deleted, "experience")]
        if report.web_answers:
            kinds.append(plural(report.web_answers, "web search", "web searches"))
        click.echo(f"{' and '.join(kinds)} deleted, {freed / 1e6:.1f} MB given back.")
    return DONE


@memory.command(epilog=examples("agent-s memory check", "agent-s memory check --salvage saved.jsonl"))
@settings_options
@click.option(
    "--salvage",
    "export",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all that can be read of a damaged memory to FILE, as export does. Memory is left as it is.",
)
@json_option("Write one JSON object.")
def check(config_file: Path | None, overrides: tuple[str, ...], export: Path | None, as_json: bool) -> int:
    """Look for damage in memory, and say how to mend it."""
    from agent_s.terminal.output import echo_json, plural, printable

    if export is not None:
        return _salvage(config_file, overrides, export, as_json)
    with _store(config_file, overrides) as store:
        problems = store.check()
    if as_json:
        echo_json({"sound": not problems, "problems": problems})
    for problem in problems if not as_json else ():
        click.echo(printable(problem))
    if problems:
        raise NotDone(f"{plural(len(problems), 'problem')} found.")
    if not as_json:
        click.echo("Memory is sound.")
    return DONE


def _salvage(config_file: Path | None, overrides: tuple[str, ...], export: Path, as_json: bool) -> int:
    from agent_s.terminal.output import echo_json, plural, printable
    from memory_store import salvage_store

    settings = read_settings(config_file, overrides)
    report = salvage_store(settings.memory.url or settings.memory_path, export)
    if as_json:
        echo_json({"file": export, **report.model_dump()})
        return DONE
    click.echo(f"{plural(report.saved, 'experience')} written to {export}.")
    if report.lost:
        click.echo(f"{plural(len(report.lost), 'experience')} cannot be read: {printable(', '.join(report.lost))}")
    if not report.complete:
        click.echo("More may be missing: the list of ids is damaged, too.")
    click.echo("Move the damaged file away with those beside it, then `agent-s memory import` what was written.")
    return DONE


@memory.command(epilog=examples("agent-s memory stats", "agent-s memory stats --json"))
@settings_options
@json_option("Write one JSON object.")
def stats(config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Count what was learned."""
    from agent_s.terminal.output import echo_json, printable

    with _store(config_file, overrides) as store:
        values = store.stats().model_dump()
    if as_json:
        echo_json(values)
        return DONE
    for name, value in values.items():
        text = _counts(value) if isinstance(value, dict) else str(value)
        click.echo(f"{name.replace('_', ' ')}: {printable(text)}")
    return DONE


@contextmanager
def _store(config_file: Path | None, overrides: tuple[str, ...]) -> Iterator[MemoryStore]:
    """Open the memory that the settings name, also where runs are told not to use it."""
    from agent_s.loop.agent import open_memory

    with open_memory(read_settings(config_file, overrides)) as store:
        yield store


def _too_old(search: SearchSettings) -> datetime:
    """Return the time before which no answer of a search engine is of use any more."""
    from datetime import UTC, datetime, timedelta

    age = timedelta(days=max(search.cache_days, search.fallback_days))
    return datetime.now(UTC) - age


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name or 'unknown'} {count}" for name, count in counts.items()) or "none"


def _as_values(experience: Experience) -> dict[str, Any]:
    return {"kind": experience.kind, **experience.model_dump(mode="json")}


def _show_table(found: list[tuple[Experience, float | None]]) -> None:
    from agent_s.terminal.output import in_words, local_time, shorten, show_table

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
                (f"{similarity:.2f}  " if similarity is not None else "") + shorten(_about(experience), 90),
            )
            for experience, similarity in found
        ],
        figures=("Used", "Worked"),
    )


def _about(experience: Experience) -> str:
    from memory_store import EpisodicExperience, NarrativeExperience, SkillExperience

    match experience:
        case NarrativeExperience():
            return experience.instruction
        case EpisodicExperience():
            return experience.subtask
        case SkillExperience():
            return experience.name
    return ""

"""`agent-s explore`: finds out what applications can do, and fills the memory with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from agent_s.cli.exits import DONE, NOT_DONE
from agent_s.cli.lazy import examples
from agent_s.cli.options import json_option, read_settings, settings_options, with_default_model
from agent_s.cli.terminal import echo_json, plural, printable, shorten, show_table

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from aci.applications import Application, Catalog
    from agent_s.cli.progress import Display
    from agent_s.settings import Settings
    from exploration.job import Exploration, Plan, Progress
    from exploration.scope import Scope
    from exploration.summary import ApplicationSummary

TASK_LIMIT_S = 180.0
"""Time for one task where the settings name none, s."""
BEAT_S = 20.0
"""How often it is told that something is going on, s."""
FOLDER = "explorations"
_EXPLORING = {"narrative": False, "episodic": False, "boundaries": "never"}
"""What is retrieved while exploring: nothing from memory, so that what is learned rests on the web and the screen."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that no application has."""

    name: str
    problem: str


@click.command(
    epilog=examples(
        "agent-s explore mousepad gnome-calculator --desktops 2",
        "agent-s explore mousepad --seconds 600 --tasks 20 --model anthropic:NAME --dollars 2",
        "agent-s explore --dry-run",
    )
)
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...")
@settings_options
@click.option("--model", metavar="NAME", help="Who proposes the tasks and does them; without it the settings say.")
@click.option("--tasks", metavar="N", type=click.IntRange(0, 300), help="For each application.  [default: 10]")
@click.option(
    "--search", "search_s", metavar="S", type=click.FloatRange(min=0),
    help="Seconds for trying out the menus and buttons of each application, without a model; 0 for not at all."
    "  [default: 300]",
)  # fmt: skip
@click.option(
    "--depth", metavar="N", type=click.IntRange(1, 20),
    help="Longest way that is tried out, in steps from the start.  [default: 5]",
)  # fmt: skip
@click.option("--seconds", metavar="S", type=click.FloatRange(min=1), help="After so many nothing further begins.")
@click.option("--dollars", metavar="D", type=click.FloatRange(min=0), help="At this cost nothing further begins.")
@click.option("--desktops", type=click.IntRange(1, 64), default=1, show_default=True, help="Side by side.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of an exploration, old or new.")
@click.option("--dry-run", is_flag=True, help="Show the tasks; nothing is tried out or learned.")
@click.option("--keep-all", is_flag=True, help="Keep the records of tasks that went well too.")
@json_option("Write one JSON object; progress goes to stderr.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def explore(applications: tuple[str, ...], **given: Any) -> int:
    """Find out what APPLICATIONS can do, by trying, and learn it; without names, all that are installed.

    Each application is looked at, its menus and buttons are tried out without a model, and the agent carries out tasks
    that are made for it. All of it happens on private desktops that are thrown away. What is learned goes to memory; a
    page shows what was found.

    What is done is kept: the folder alone (--out) goes on where it was broken off, and does more where more is asked
    for: other applications, more tasks, a longer search. Exit status 0 when every application that was named could be
    explored.
    """
    from agent_s.cli.eval_run import refuse_missing_programs
    from exploration.scope import read_scope

    refuse_missing_programs()
    before = read_scope(given["out"]) if given["out"] is not None else None
    wanted, missing = _choose(applications, before)
    with _folder(given["out"], given["dry_run"]) as folder:
        plan = _plan(folder, wanted, before, given)
        _check_model(plan.settings)
        return _carry_out(plan, missing, bool(applications), given)


def _carry_out(plan: Plan, missing: Sequence[Missing], named: bool, given: dict[str, Any]) -> int:
    from agent_s.cli.interrupts import Interrupts
    from agent_s.cli.progress import choose_display
    from exploration.job import Exploration
    from exploration.report import write_report
    from exploration.summary import summarize

    screen = choose_display(quiet=given["quiet"], json=given["as_json"])
    for each in missing:
        screen.notice(f"Skipped {each.name!r}: {each.problem}")
    if given["out"] is None and not plan.survey_only:
        screen.say(f"Kept in {plan.folder}")
    exploration = Exploration(plan)
    with Interrupts(screen.notice) as interrupts, _beating(lambda: _tell_still(exploration, screen)):
        names = {app.id: app.name for app in plan.applications}
        for progress in interrupts.watch(exploration.run(), exploration.stop):
            screen.say(_line(progress, names))
    summaries = summarize(plan.folder, plan.applications)
    report = None if plan.survey_only else write_report(plan.folder, summaries)
    _tell(plan, exploration, summaries, missing, report, given["as_json"])
    if interrupts.exit_status is not None:
        screen.notice(f"Go on with: agent-s explore --out {plan.folder}")
        return interrupts.exit_status
    explored = [summary for summary in summaries if not summary.problem]
    failed = missing or len(explored) < len(summaries)
    return NOT_DONE if not explored or (named and failed) else DONE


def _plan(folder: Path, applications: tuple[Application, ...], before: Scope | None, given: dict[str, Any]) -> Plan:
    """Return what is to be done: as before where the folder holds an exploration and nothing else is asked for."""
    from exploration.job import DEPTH, TASKS, Plan

    def asked(option: str, earlier: Any, usual: Any) -> Any:
        if given[option] is not None:
            return given[option]
        return usual if before is None else earlier

    settings = given["config_file"] or given["overrides"] or given["model"]
    return Plan(
        folder=folder,
        settings=before.settings if before and not settings else _settings(given),
        applications=applications,
        wanted=asked("tasks", before and before.tasks, TASKS),
        search_s=asked("search_s", before and before.search_s, None),
        depth=asked("depth", before and before.depth, DEPTH),
        desktops=given["desktops"],
        seconds=given["seconds"],
        dollars=given["dollars"],
        keep_all=given["keep_all"],
        survey_only=given["dry_run"],
    )


def _settings(given: dict[str, Any]) -> Settings:
    settings = with_default_model(read_settings(given["config_file"], given["overrides"], {"model": given["model"]}))
    changed: dict[str, Any] = {"replay": False, "memory": settings.memory.model_copy(update=_EXPLORING)}
    if "max_seconds" not in settings.limits.model_fields_set:
        changed["limits"] = settings.limits.model_copy(update={"max_seconds": TASK_LIMIT_S})
    return settings.model_copy(update=changed)


def _check_model(settings: Settings) -> None:
    """Make sure that the model is there before any application is started.

    Raises:
        ModelUnavailable: It is not; the message names the mend.
    """
    from agent_s.llm.build import build_models

    check = getattr(build_models(settings, os.environ), "check", None)
    if check is not None:
        check()


def _choose(names: Sequence[str], before: Scope | None) -> tuple[tuple[Application, ...], list[Missing]]:
    """Return the applications that are meant, those of an exploration that is gone on with first, and wrong names.

    Raises:
        click.UsageError: There is nothing to explore.
    """
    from aci.applications import installed_applications
    from exploration.starting import refusal

    if before is not None and not names:
        return before.applications, []
    catalog = installed_applications(os.environ)
    if not names:
        found = tuple(app for app in catalog.applications if not refusal(app))
        if not found:
            raise click.UsageError("No application is installed that could be explored. Name one, or install some.")
        return found, []
    chosen, missing = _named(names, catalog)
    if not chosen:
        raise click.UsageError(" ".join(each.problem for each in missing))
    known = before.applications if before is not None else ()
    return tuple({application.id: application for application in (*known, *chosen)}.values()), missing


def _named(names: Sequence[str], catalog: Catalog) -> tuple[tuple[Application, ...], list[Missing]]:
    from aci.errors import LaunchFailed

    chosen: dict[str, Application] = {}
    missing = []
    for name in names:
        try:
            application = catalog.find(name)
        except LaunchFailed as error:
            missing.append(Missing(name, str(error)))
        else:
            chosen[application.id] = application
    return tuple(chosen.values()), missing


def _folder(out: Path | None, dry_run: bool) -> AbstractContextManager[Path]:
    """Return the folder of the exploration; one that goes afterwards where nothing is to be kept."""
    from agent_s.settings import data_folder

    if out is not None:
        return nullcontext(out.absolute())
    if dry_run:
        return _temporary()
    return nullcontext(data_folder() / FOLDER / f"explore-{datetime.now().astimezone():%Y%m%d-%H%M%S}")


@contextmanager
def _temporary() -> Iterator[Path]:
    with TemporaryDirectory(prefix="agent-s-explore-") as folder:
        yield Path(folder)


def _line(progress: Progress, names: dict[str, str]) -> str:
    from exploration.job import about, kind_of

    result = progress.result
    sign = {"success": "✓", "failure": "✗", "error": "!"}[result.outcome]
    if kind_of(result.job) == "task":
        what = f"{names.get(result.labels.get('app', ''), '')}: {shorten(result.instruction, 90)}"
        told = "" if result.outcome == "success" else shorten(result.reason, 110)
    else:
        what = f"{names.get(about(result.job), about(result.job))}: {kind_of(result.job)}"
        told = shorten(result.reason, 160)
    now = progress.standing
    left = f"{_minutes(now.left_s)} left" if now.done < now.total else ""
    parts = [f"{result.seconds:.0f} s", told, left]
    line = f"{now.done:>4}/{now.total} {sign} {what}  {'; '.join(part for part in parts if part)}"
    return printable(line)


@contextmanager
def _beating(beat: Callable[[], None]) -> Iterator[None]:
    """Say now and then that something is going on."""
    over = threading.Event()

    def keep_beating() -> None:
        while not over.wait(BEAT_S):
            beat()

    thread = threading.Thread(target=keep_beating, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tell_still(exploration: Exploration, screen: Display) -> None:
    """Say how far an exploration is, with what its searches have tried by now."""
    from exploration.summary import count_tried

    now = exploration.standing()
    if now.done == now.total:
        return
    tried = count_tried(exploration.plan.folder, exploration.plan.applications)
    told = f"  {plural(tried.attempts, 'control')} tried, {plural(tried.skills, 'skill')};" if tried.attempts else " "
    left = f"{_minutes(now.left_s)} left" if now.left_s >= 1 else "longer than expected"
    screen.say(f"{now.done:>4}/{now.total} …{told} {left}")


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _tell(
    plan: Plan,
    exploration: Exploration,
    summaries: Iterable[ApplicationSummary],
    missing: Sequence[Missing],
    report: Path | None,
    as_json: bool,
) -> None:
    every = list(summaries)
    if as_json:
        echo_json(
            {
                "applications": {summary.app: summary.as_json(plan.survey_only) for summary in every},
                "skipped": {
                    **{each.name: each.problem for each in missing},
                    **{summary.app: summary.problem for summary in every if summary.problem},
                },
                "stopped_by": exploration.stopped_by or None,
                "out": None if plan.survey_only else plan.folder,
                "report": report,
            }
        )
        return
    if plan.survey_only:
        _show_tasks(every)
    else:
        _show_table(every)
    for summary in every:
        if summary.problem:
            click.echo(printable(f"Skipped {summary.name}: {summary.problem}"))
    if exploration.stopped_by:
        click.echo(f"Stopped: {exploration.stopped_by}. Go on with: agent-s explore --out {plan.folder}")
    if report is not None:
        click.echo(f"Report: {report}")


def _show_tasks(summaries: Iterable[ApplicationSummary]) -> None:
    for summary in summaries:
        if summary.problem:
            continue
        click.echo(printable(f"{summary.name}: {plural(summary.coverage.found, 'thing')} to use"))
        for number, row in enumerate(summary.tasks, start=1):
            task = row.task
            click.echo(printable(f"{number:>4}. [{task.difficulty}] {task.instruction}  ({task.kind})"))


def _show_table(summaries: Iterable[ApplicationSummary]) -> None:
    rows = [
        (
            summary.name,
            "-" if summary.coverage.share is None else f"{100 * summary.coverage.share:.0f}%",
            str(summary.screens),
            str(len(summary.skills)),
            str(len(summary.boundaries)),
            f"{summary.verified}/{summary.done}" if summary.tasks else "-",
            f"{summary.seconds:.0f}",
        )
        for summary in summaries
        if not summary.problem
    ]
    if rows:
        titles = ("Application", "Covered", "Screens", "Skills", "Boundaries", "Tasks verified", "Seconds")
        show_table(titles, rows, figures=titles[1:])

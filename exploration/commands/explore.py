"""`agent-s explore`: explores applications and fills the memory with what they can do."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import (
    check_cluster,
    cluster_option,
    json_option,
    read_settings,
    settings_options,
    with_default_model,
)

if TYPE_CHECKING:
    from aci.applications.catalog import Application
    from agent_s.settings import Settings
    from exploration.job.exploration_job import Plan
    from exploration.job.scope import Scope

TASK_LIMIT_S = 180.0  # default time limit of a task, s
FOLDER = "explorations"
_EXPLORING = {"narrative": False, "episodic": False, "boundaries": "never"}
"""Memory settings while exploring: nothing is retrieved, so that what is learned rests on the web and the screen."""


def _programs(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the installed applications that begin so, for the Tab key of a shell."""
    from aci.applications.catalog import installed_applications

    programs = {application.program for application in installed_applications(os.environ).applications}
    return sorted(program for program in programs if program.startswith(begun))


def _finite(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.")
    return value


def _named_folder(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Path | None:
    if value is not None and not value.strip():
        raise click.BadParameter("give a folder, such as --out my-exploration.")
    return None if value is None else Path(value).expanduser()


@click.command(
    epilog=examples(
        "agent-s explore mousepad gnome-calculator --desktops 2",
        "agent-s explore mousepad --seconds 600 --tasks 20 --model anthropic:NAME --dollars 2",
        "agent-s explore --independent 50 --aware 100 --model anthropic:NAME --dollars 20",
        "agent-s explore --dry-run",
    )
)
@click.argument("applications", nargs=-1, metavar="[APPLICATION]...", shell_complete=_programs)
@settings_options
@click.option("--model", metavar="NAME", help="Model to use (default: from settings).")
@click.option(
    "--tasks", metavar="N", type=click.IntRange(0, 300),
    help="Tasks per application, for its first screen.  [default: 10 with the offline model, else 0]",
)  # fmt: skip
@click.option(
    "--independent", metavar="N", type=click.IntRange(0, 300),
    help="Most common tasks of all applications together; needs a language model.  "
    "[default: 50 with a language model and without --tasks]",
)  # fmt: skip
@click.option(
    "--aware", metavar="N", type=click.IntRange(0, 3000),
    help="Tasks of all applications together for the screens that were reached; needs a language model.  [default: 0]",
)  # fmt: skip
@click.option(
    "--search", "search_s", metavar="S", type=click.FloatRange(min=0), callback=_finite,
    help="Time for trying menus and buttons of each application, without a model, in seconds.  [default: 300]",
)  # fmt: skip
@click.option(
    "--depth", metavar="N", type=click.IntRange(1, 20),
    help="Maximum number of steps from the start.  [default: 5]",
)  # fmt: skip
@click.option(
    "--seconds", metavar="S", type=click.FloatRange(min=1), callback=_finite,
    help="Time budget, in seconds; no new jobs start after it.",
)  # fmt: skip
@click.option(
    "--dollars", metavar="D", type=click.FloatRange(min=0), callback=_finite,
    help="Budget in dollars, earlier runs included; no new jobs start after it.",
)  # fmt: skip
@click.option(
    "--desktops", metavar="N", type=click.IntRange(1, 64), default=1, help="Number of parallel desktops.  [default: 1]"
)
@cluster_option
@click.option(
    "--out", metavar="DIR", callback=_named_folder, help="Folder of the exploration; an existing one is resumed."
)
@click.option("--dry-run", is_flag=True, help="Show the tasks without trying or learning anything.")
@click.option("--keep-all", is_flag=True, help="Keep the recordings of successful tasks too.")
@json_option("Write one JSON object; progress goes to standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def explore(applications: tuple[str, ...], **given: Any) -> int:
    """Explore APPLICATIONS and learn what they can do; without names, explore all that are installed.

    The exploration tries menus and buttons without a model, then lets the agent carry out tasks made for each
    application, all on private desktops that are deleted afterwards. It stores what it learns in memory and writes a
    report page.

    To resume an exploration, give its folder with --out, and more applications, tasks or time if you like. Exit
    status: 0 if every named application could be explored.
    """
    from agent_s.terminal.running import ready_models
    from evaluation.commands.eval_run import refuse_missing_programs
    from exploration.job.scope import read_scope, refuse_other_files

    refuse_missing_programs()
    before = read_scope(given["out"]) if given["out"] is not None else None
    if before is None and given["out"] is not None:
        refuse_other_files(given["out"])
    wanted, missing = _choose(applications, before, ask=not given["as_json"] and sys.stdin.isatty())
    with _folder(given["out"], given["dry_run"]) as folder:
        plan = _plan(folder, wanted, before, given)
        check_cluster(plan.cluster, plan.settings)
        ready_models(plan.bounded_settings)
        return _carry_out(plan, missing, bool(applications), given)


def _carry_out(plan: Plan, missing: Mapping[str, str], named: bool, given: dict[str, Any]) -> int:
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from exploration.commands.explore_output import line_of, progress_updates, resume_hint, show_json, show_results
    from exploration.job.exploration_job import Exploration
    from exploration.report.page import write_report
    from exploration.report.summary import summarize

    screen = choose_display(quiet=given["quiet"], json=given["as_json"])
    for name, problem in missing.items():
        screen.notice(f"Skipped {name!r}: {problem}")
    if given["out"] is None and not plan.survey_only:
        screen.say(f"Results: {plan.folder}")
    exploration = Exploration(plan)
    names = {app.id: app.name for app in plan.applications}
    with screen, Interrupts(screen.notice) as interrupts, progress_updates(exploration, screen):
        for progress in interrupts.watch(exploration.run(), exploration.stop):
            screen.say(line_of(progress, names))
    summaries = summarize(plan.folder, plan.applications)
    report = None if plan.survey_only else write_report(plan.folder, summaries)
    if given["as_json"]:
        show_json(exploration, summaries, missing, report)
    else:
        show_results(exploration, summaries, report)
    if interrupts.exit_status is not None:
        if given["out"] is not None or not plan.survey_only:
            screen.notice(resume_hint(plan))
        return interrupts.exit_status
    explored = [summary for summary in summaries if not summary.problem]
    failed = missing or len(explored) < len(summaries)
    return NOT_DONE if not explored or (named and failed) else DONE


def _plan(folder: Path, applications: tuple[Application, ...], before: Scope | None, given: dict[str, Any]) -> Plan:
    """Return the plan: that of the exploration in the folder, if any, with the options that were given."""
    from exploration.job.exploration_job import DEPTH, INDEPENDENT, TASKS, Plan

    def option(name: str, earlier: Any, default: Any) -> Any:
        if given[name] is not None:
            return given[name]
        return default if before is None else earlier

    changed = given["config_file"] or given["overrides"] or given["model"]
    settings = before.settings if before and not changed else _settings(given)
    offline = settings.roles.get("plan", settings.model) == "offline"
    for name in ("independent", "aware"):
        if offline and given[name]:
            raise click.UsageError(f"--{name} needs a language model: choose one with --model, or use --tasks.")
    plain = offline or given["tasks"] is not None
    return Plan(
        folder=folder,
        settings=settings,
        applications=applications,
        wanted=option("tasks", before and before.tasks, TASKS if offline else 0),
        independent=option("independent", before and before.independent, 0 if plain else INDEPENDENT),
        aware=option("aware", before and before.aware, 0),
        search_s=option("search_s", before and before.search_s, None),
        depth=option("depth", before and before.depth, DEPTH),
        desktops=given["desktops"],
        cluster=given["cluster"],
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


def _choose(names: Sequence[str], before: Scope | None, ask: bool) -> tuple[tuple[Application, ...], dict[str, str]]:
    """Return the applications, those of a resumed exploration first, and problems by the names that were not found.

    A misspelled name is never taken for the nearest one, unless the person agrees (`ask`).

    Raises:
        click.UsageError: There is nothing to explore.
    """
    from aci.applications.catalog import installed_applications
    from aci.errors import LaunchFailed
    from exploration.search.starting import refusal

    if before is not None and not names:
        return before.applications, {}
    catalog = installed_applications(os.environ)
    if not names:
        found = tuple(app for app in catalog.applications if not refusal(app))
        if not found:
            raise click.UsageError("No installed application can be explored. Install one, or name one.")
        return found, {}
    chosen = []
    missing: dict[str, str] = {}
    for name in names:
        try:
            chosen.append(catalog.find(name, guess=False))
        except LaunchFailed as error:
            near = catalog.matches(name) if ask else []
            if near and click.confirm(f"No application is called {name!r}. Did you mean {near[0].name}?", err=True):
                chosen.append(near[0])
            else:
                missing[name] = str(error)
    if not chosen:
        raise click.UsageError(" ".join(missing.values()))
    known = before.applications if before is not None else ()
    return tuple({application.id: application for application in (*known, *chosen)}.values()), missing


@contextmanager
def _folder(out: Path | None, dry_run: bool) -> Iterator[Path]:
    """Yield the folder of the exploration; that of a dry run is temporary unless one was given."""
    from agent_s.settings import data_folder

    if out is None and dry_run:
        with TemporaryDirectory(prefix="agent-s-explore-") as folder:
            yield Path(folder)
        return
    named = f"explore-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    yield data_folder() / FOLDER / named if out is None else out.absolute()

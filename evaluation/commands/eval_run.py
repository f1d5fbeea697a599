"""Shared parts of the evaluations: options, running episodes on several desktops, and showing results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_s.terminal.exits import DONE, NOT_DONE, EnvironmentProblem
from agent_s.terminal.options import json_option, read_settings, settings_options, with_default_model
from agent_s.terminal.output import echo_json, plural, printable, shorten, show_table

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from agent_s.terminal.progress import Display
    from evaluation.harness.results import Job, Result, ResultsFile
    from evaluation.report.statistics import Summary
    from evaluation.worker import Assignment

ABLATIONS = {
    "web": "search.engine=none",
    "narrative": "memory.narrative=false",
    "episodic": "memory.episodic=false",
    "update": "memory.continual_update=false",
    "reflection": "reflection.enabled=false",
    "replay": "replay=false",
    "hierarchy": "planner=flat",
    "evaluator": "evaluator=false",
}
"""The setting that switches a part of the agent off, by its name for `--without`."""
OF_MEMORY = ("narrative", "episodic", "update")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Options:
    """Options of every evaluation.

    Attributes:
        settings: Model, limits, memory and desktop.
        out: Folder of the results.
        desktops: Number of parallel desktops.
        keep_all: Whether recordings of successes stay.
        as_json: Whether one JSON object is written.
        quiet: Whether no progress is shown.
    """

    settings: Settings
    out: Path
    desktops: int
    keep_all: bool
    as_json: bool
    quiet: bool


def evaluation_options(command: F) -> F:
    """Add the options of every evaluation; their values are for `read_options`."""
    for option in reversed(
        (
            settings_options,
            click.option("--model", metavar="NAME", help="Model to use (default: from settings)."),
            click.option(
                "--without",
                type=click.Choice(list(ABLATIONS)),
                multiple=True,
                help="Switch off a part; repeatable.",
            ),
            click.option(
                "--desktops",
                type=click.IntRange(1, 64),
                default=1,
                show_default=True,
                help="Number of parallel desktops.",
            ),
            click.option(
                "--time-limit", type=click.FloatRange(min=1), metavar="S", help="Time limit of an episode, in seconds."
            ),
            click.option(
                "--out",
                metavar="DIR",
                type=click.Path(path_type=Path),
                help="Folder for the results; an existing one is continued.",
            ),
            click.option("--keep-all", is_flag=True, help="Keep the recordings of successful episodes too."),
            json_option("Write one JSON object; progress goes to standard error."),
            click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
        )
    ):
        command = option(command)
    return command


def read_options(benchmark: str, given: dict[str, Any], time_limit_s: float) -> Options:
    """Read the values of `evaluation_options`.

    Args:
        benchmark: Names the folder of the results where none was given.
        given: The values by option.
        time_limit_s: Limit of an episode where none was given, s.
    """
    overrides = (*given["overrides"], *(ABLATIONS[part] for part in given["without"]))
    settings = with_default_model(read_settings(given["config_file"], overrides, {"model": given["model"]}))
    if given["time_limit"] is not None or "max_seconds" not in settings.limits.model_fields_set:
        limits = settings.limits.model_copy(update={"max_seconds": given["time_limit"] or time_limit_s})
        settings = settings.model_copy(update={"limits": limits})
    if "enabled" not in settings.memory.model_fields_set:  # what one episode taught would make the next another task
        memory = settings.memory.model_copy(update={"enabled": False})
        settings = settings.model_copy(update={"memory": memory})
    for part in given["without"]:
        if part in OF_MEMORY and not settings.memory.enabled:
            raise click.UsageError(f"--without {part} has no effect while memory is off. Add -c memory.enabled=true.")
    name = f"{benchmark}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    out = given["out"] or settings.runs_folder.parent / "evaluations" / name
    return Options(settings, out.absolute(), given["desktops"], given["keep_all"], given["as_json"], given["quiet"])


def carry_out(jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result] = ()) -> int:
    """Run the episodes that have no result yet, and show all results.

    Args:
        jobs: All episodes, including those already done.
        assignment: The benchmark and its settings.
        options: Options of the command line.
        unreadable: Error results of tasks that cannot be run.

    Returns:
        The exit status: 0 if every episode has a result that is not an error.

    Raises:
        ResultsError: The results cannot be written.
        EnvironmentProblem: Programs are missing.
    """
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from evaluation.harness.pool import Pool
    from evaluation.harness.results import ResultsFile

    refuse_missing_programs()
    screen = choose_display(quiet=options.quiet, json=options.as_json)
    kept = ResultsFile(options.out, _header(assignment))
    for result in unreadable:
        kept.add(result)
        screen.say(_line(0, 0, result))
    left = [job for job in jobs if not kept.is_done(job)]
    _introduce(jobs, left, options, screen)
    pool = Pool(assignment, min(options.desktops, max(1, len(left))), options.settings.limits.max_seconds)
    with Interrupts(screen.notice) as interrupts:
        for number, result in enumerate(interrupts.watch(pool.run(left), pool.stop), start=1):
            kept.add(result)
            screen.say(_line(number, len(left), result))
    wanted = {*jobs, *(result.job for result in unreadable)}
    results = [result for job, result in kept.results.items() if job in wanted]
    show(results, kept, options.as_json)
    if interrupts.exit_status is not None:
        screen.notice(f"To continue, add: --out {options.out}")
        return interrupts.exit_status
    return DONE if all(kept.is_done(job) for job in wanted) else NOT_DONE


def refuse_missing_programs() -> None:
    """Refuse to start without the programs that every desktop needs.

    Raises:
        EnvironmentProblem: Some are missing; the message has the command that installs them.
    """
    from agent_s.terminal.system_packages import install_command, missing

    absent = missing(("base",))
    if absent:
        names = ", ".join(package.names[0] for package in absent)
        raise EnvironmentProblem(f"Missing programs: {names}. Install them with: {install_command(absent)}")


def show(results: Iterable[Result], kept: ResultsFile, as_json: bool) -> None:
    """Show the results of each task and in total."""
    from evaluation.report.statistics import by_task, summarize

    every = list(results)
    tasks = {name: summarize(group) for name, group in by_task(every).items()}
    total = summarize(every)
    if as_json:
        failed = [_as_values(result, kept.folder) for result in every if result.outcome != "success"]
        named = {name: summary.as_json() for name, summary in tasks.items()}
        echo_json({**total.as_json(), "tasks": named, "failed": failed, "out": kept.folder})
        return
    rows = [_row(name, summary) for name, summary in tasks.items()]
    show_table(
        ("Task", "Episodes", "Success", "95% interval", "Median s", "Calls", "Errors", "Failures"),
        [*rows, _row("all", total)],
        figures=("Episodes", "Success", "95% interval", "Median s", "Calls", "Errors"),
    )
    for result in every:
        if result.outcome != "success":
            click.echo(f"{_name(result)}: {kept.folder / result.report if result.report else printable(result.reason)}")
    click.echo(f"Results: {kept.folder}")


def _header(assignment: Assignment) -> Any:
    from datetime import UTC

    from agent_s.version import program_version
    from evaluation.harness.results import Header

    return Header(
        benchmark=assignment.benchmark,
        model=assignment.settings.model,
        settings=assignment.settings.model_dump(mode="json"),
        version=program_version(),
        started=datetime.now(UTC),
    )


def _introduce(jobs: Sequence[Job], left: Sequence[Job], options: Options, screen: Display) -> None:
    done = f", {len(jobs) - len(left)} already done" if len(left) < len(jobs) else ""
    where = plural(options.desktops, "desktop")
    screen.say(f"{plural(len(jobs), 'episode')}{done}; model {options.settings.model}, on {where}.")


def _line(number: int, total: int, result: Result) -> str:
    sign = {"success": "✓", "failure": "✗", "error": "!"}[result.outcome]
    problem = f"  {result.failure}: {shorten(result.reason, 110)}" if result.outcome != "success" else ""
    steps = plural(result.steps, "step")
    place = f"{number:>4}/{total}" if total else " " * 7
    return printable(f"{place} {sign} {_name(result)}  {result.seconds:.1f} s, {steps}{problem}")


def _name(result: Result) -> str:
    return result.task if result.seed is None else f"{result.task} {result.seed}"


def _row(name: str, summary: Summary) -> tuple[str, ...]:
    low, high = summary.interval
    rate = summary.success_rate
    return (
        name,
        str(summary.episodes),
        "-" if rate is None else f"{100 * rate:.1f}%",
        "-" if rate is None else f"{100 * low:.0f}-{100 * high:.0f}%",
        "-" if summary.median_s is None else f"{summary.median_s:.1f}",
        str(summary.model_calls),
        str(summary.errors),
        ", ".join(f"{count} {kind}" for kind, count in summary.failures.items()),
    )


def _as_values(result: Result, folder: Path) -> dict[str, Any]:
    values = result.model_dump(include={"task", "seed", "outcome", "failure", "reason", "instruction"})
    return {**values, "report": folder / result.report if result.report else None}

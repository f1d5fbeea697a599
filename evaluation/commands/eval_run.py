"""Shared by the evaluation commands: options, running episodes on parallel desktops, and printing results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_s.terminal.exits import DONE, NOT_DONE, EnvironmentProblem
from agent_s.terminal.options import (
    FOLDER,
    Number,
    check_cluster,
    cluster_option,
    json_option,
    quiet_option,
    read_settings,
    settings_options,
    with_default_model,
)
from agent_s.terminal.output import echo_json, plural, printable, shorten, show_table

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from agent_s.terminal.system_packages import Group
    from evaluation.harness.results import Header, Job, Result
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
"""Setting that disables a component of the agent, by its name for `--without`."""
MEMORY_PARTS = ("narrative", "episodic", "update")
FIGURES = ("Episodes", "Success", "95% interval", "Median s", "Calls", "Errors")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Options:
    """Command-line options shared by all evaluations."""

    settings: Settings  # model, limits, memory and desktop
    out: Path  # folder of the results
    desktops: int  # number of parallel desktops
    keep_all: bool  # whether to keep recordings of successes
    as_json: bool  # whether to print one JSON object
    quiet: bool  # whether to hide progress
    cluster: str | None = None  # address of a Ray cluster; None for desktops on this machine


_WITHOUT = click.option(
    "--without", type=click.Choice(list(ABLATIONS)), multiple=True, help="Switch off a part; repeatable."
)
_OPTIONS = (
    settings_options,
    click.option("--model", metavar="NAME", help="Model to use (default: from settings)."),
    click.option("--desktops", type=Number(1, 64), help="Number of parallel desktops.  [default: 1]"),
    cluster_option,
    click.option(
        "--time-limit", type=click.FloatRange(min=1), metavar="S", help="Time limit of an episode, in seconds."
    ),
    click.option("--out", metavar="DIR", type=FOLDER, help="Folder for the results; an existing one is resumed."),
    click.option("--keep-all", is_flag=True, help="Keep the recordings of successful episodes too."),
    json_option("Write one JSON object; progress goes to standard error."),
    quiet_option,
)


def evaluation_options(command: F) -> F:
    """Decorate a command with `common_options` and `--without`."""
    return common_options(_WITHOUT(command))


def common_options(command: F) -> F:
    """Decorate a command with the options of every evaluation, to be read with `read_options`."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def read_options(benchmark: str, given: dict[str, Any], time_limit_s: float, desktops: int = 1) -> Options:
    """Read the values of `evaluation_options`.

    Args:
        benchmark: Prefix of the default name of the results folder.
        given: Option values by parameter name.
        time_limit_s: Default time limit of an episode, s.
        desktops: Default number of parallel desktops.
    """
    without: Sequence[str] = given.get("without", ())
    overrides = (*given["overrides"], *(ABLATIONS[part] for part in without))
    settings = with_default_model(read_settings(given["config_file"], overrides, {"model": given["model"]}))
    if given["time_limit"] is not None or "max_seconds" not in settings.limits.model_fields_set:
        limits = settings.limits.model_copy(update={"max_seconds": given["time_limit"] or time_limit_s})
        settings = settings.model_copy(update={"limits": limits})
    if "enabled" not in settings.memory.model_fields_set:  # off by default, so that episodes are independent
        memory = settings.memory.model_copy(update={"enabled": False})
        settings = settings.model_copy(update={"memory": memory})
    for part in without:
        if part in MEMORY_PARTS and not settings.memory.enabled:
            raise click.UsageError(f"--without {part} has no effect while memory is off. Add -c memory.enabled=true.")
    check_cluster(given["cluster"], settings)
    name = f"{benchmark}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    out = given["out"] or settings.runs_folder.parent / "evaluations" / name
    return Options(
        settings,
        out.absolute(),
        given["desktops"] or desktops,
        given["keep_all"],
        given["as_json"],
        given["quiet"],
        given["cluster"],
    )


@dataclass(frozen=True, slots=True)
class Episodes:
    """Results of the episodes of an evaluation."""

    results: list[Result]  # results of the selected episodes, including earlier ones
    complete: bool  # whether every episode has a result other than an error
    exit_status: int | None  # exit status if interrupted; None otherwise


def carry_out(jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result] = ()) -> int:
    """Run the remaining episodes, print all results, and return the exit status; see `run_episodes`."""
    done = run_episodes(jobs, assignment, options, unreadable)
    show(done.results, options.out, options.as_json)
    if done.exit_status is not None:
        return done.exit_status
    return DONE if done.complete else NOT_DONE


def run_episodes(
    jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result] = (), title: str = ""
) -> Episodes:
    """Run the episodes that have no result yet.

    Args:
        jobs: All episodes, including finished ones.
        assignment: The benchmark and its settings.
        options: Command-line options.
        unreadable: Error results of tasks that cannot run.
        title: Heading of the progress output.

    Raises:
        ResultsError: The results cannot be written.
        EnvironmentProblem: Programs are missing.
        ModelError: The model cannot be used.
    """
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from agent_s.terminal.running import ready_models
    from evaluation.harness.pools import open_pool
    from evaluation.harness.results import ResultsFile

    refuse_missing_programs()
    settings = options.settings
    screen = choose_display(quiet=options.quiet, json=options.as_json)
    kept = ResultsFile(options.out, header_of(assignment.benchmark, settings))
    for result in unreadable:
        kept.add(result)
        screen.say(_progress_line(" " * 7, result))
    left = [job for job in jobs if not kept.is_done(job)]
    if left and options.cluster is None and assignment.benchmark != "conformance":  # a cluster has its own API keys
        ready_models(settings)
    done = f", {len(jobs) - len(left)} already done" if len(left) < len(jobs) else ""
    desktops = plural(options.desktops, "desktop")
    begin = f"{title}: " if title else ""
    screen.say(f"{begin}{plural(len(jobs), 'episode')}{done}; model {settings.model}, on {desktops}.")
    size = min(options.desktops, max(1, len(left)))
    pool = open_pool(assignment, size, settings.limits.max_seconds, options.cluster)
    with Interrupts(screen.notice) as interrupts:
        for number, result in enumerate(interrupts.watch(pool.run(left), pool.stop), start=1):
            kept.add(result)
            screen.say(_progress_line(f"{number:>4}/{len(left)}", result))
    wanted = {*jobs, *(result.job for result in unreadable)}
    if interrupts.exit_status is not None:
        screen.notice(f"To continue, add: --out {options.out if not title else options.out.parent}")
    return Episodes(
        results=[result for job, result in kept.results.items() if job in wanted],
        complete=all(kept.is_done(job) for job in wanted),
        exit_status=interrupts.exit_status,
    )


def header_of(benchmark: str, settings: Settings) -> Header:
    """Return the header of a new results file."""
    from agent_s.version import program_version
    from evaluation.harness.results import Header

    return Header(
        benchmark=benchmark,
        model=settings.model,
        settings=settings.model_dump(mode="json"),
        version=program_version(),
        started=datetime.now(UTC),
    )


def refuse_missing_programs(groups: Sequence[Group] = ("base",)) -> None:
    """Check that the system packages of these groups are installed.

    Raises:
        EnvironmentProblem: Some are missing; the message contains the command that installs them.
    """
    from agent_s.terminal.system_packages import install_command, missing

    if absent := missing(groups):
        names = ", ".join(package.names[0] for package in absent)
        raise EnvironmentProblem(f"Missing programs: {names}. Install them with: {install_command(absent)}")


def show(results: Sequence[Result], folder: Path, as_json: bool) -> None:
    """Print results by task and in total, with the reports of unsuccessful episodes."""
    from evaluation.report.statistics import by_task, summarize

    tasks = {name: summarize(group) for name, group in by_task(results).items()}
    total = summarize(results)
    unsuccessful = [result for result in results if result.outcome != "success"]
    if as_json:
        fields = {"task", "seed", "outcome", "failure", "reason", "instruction"}
        failed = [
            {**one.model_dump(include=fields), "report": folder / one.report if one.report else None}
            for one in unsuccessful
        ]
        named = {name: summary.as_json() for name, summary in tasks.items()}
        echo_json({**total.as_json(), "tasks": named, "failed": failed, "out": folder})
        return
    rows = []
    for name, summary in {**tasks, "all": total}.items():
        texts = summary.as_texts()
        failures = ", ".join(f"{count} {kind}" for kind, count in summary.failures.items())
        rows.append((name, *(texts[heading] for heading in FIGURES), failures))
    show_table(("Task", *FIGURES, "Failures"), rows, figures=FIGURES)
    for one in unsuccessful:
        click.echo(f"{_episode_name(one)}: {folder / one.report if one.report else printable(one.reason)}")
    click.echo(f"Results: {folder}")


def _progress_line(place: str, result: Result) -> str:
    sign = {"success": "✓", "failure": "✗", "error": "!"}[result.outcome]
    problem = f"  {result.failure}: {shorten(result.reason, 110)}" if result.outcome != "success" else ""
    effort = f"{result.seconds:.1f} s, {plural(result.steps, 'step')}"
    return printable(f"{place} {sign} {_episode_name(result)}  {effort}{problem}")


def _episode_name(result: Result) -> str:
    return result.task if result.seed is None else f"{result.task} {result.seed}"

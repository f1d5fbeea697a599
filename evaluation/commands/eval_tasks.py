"""`agent-s eval tasks`: task files in OSWorld's format on real applications.

With `--attempts N` it makes several attempts at each task, of which the best, as a model judges, counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import FOLDER, Number
from agent_s.terminal.progress import choose_display
from evaluation.commands.eval_run import (
    Options,
    carry_out,
    evaluation_options,
    header_of,
    read_options,
    run_episodes,
    show,
)

if TYPE_CHECKING:
    from agent_s.llm.budget import MeteredModel
    from evaluation.harness.results import Job, Result
    from evaluation.state.context import Rights
    from evaluation.worker import Assignment

TIME_LIMIT_S = 900.0
SETS = ("demo", "everyday")
ATTEMPTS_FOLDER = "attempts"


def rights_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say what tasks may do; `rights_of` reads them."""
    for option in (
        click.option("--online", is_flag=True, help="Download files that are missing, into --files."),
        click.option("--files", metavar="DIR", type=FOLDER, help="Folder with the files that tasks download."),
        click.option(
            "--allow-commands", is_flag=True, help="Let the commands of the task files run, on the private desktop."
        ),
    ):
        command = option(command)
    return command


def rights_of(allow_commands: bool, files: Path | None, online: bool) -> Rights:
    """Return what tasks may do.

    Raises:
        click.UsageError: There is no folder to download into.
    """
    from evaluation.state.context import Rights

    if online and files is None:
        raise click.UsageError("--online needs --files DIR, the folder to download into.")
    return Rights(commands=allow_commands, files=None if files is None else files.absolute(), online=online)


@click.command(
    epilog=examples(
        "agent-s eval tasks everyday --desktops 2",
        "agent-s eval tasks my-tasks --only save-draft --json",
        "agent-s eval tasks my-tasks --attempts 3",
        "agent-s eval tasks my-tasks --conformance",
    )
)
@click.argument("folder", callback=lambda context, parameter, value: find_tasks(value))
@click.option("--only", metavar="ID", multiple=True, help="Only this task, by id; repeatable.")
@click.option(
    "--conformance",
    is_flag=True,
    help="Check the tasks themselves: the initial state scores 0, the scripted solution 1.",
)
@click.option(
    "--attempts",
    type=Number(1, 16),
    default=1,
    show_default=True,
    help="Number of attempts at each task, side by side unless --desktops says otherwise; the one that a model finds "
    "best counts.",
)
@rights_options
@evaluation_options
def tasks(
    folder: Path,
    only: tuple[str, ...],
    conformance: bool,
    attempts: int,
    allow_commands: bool,
    files: Path | None,
    online: bool,
    **given: Any,
) -> int:
    """Run the task files of FOLDER, each on a private desktop, judged by the state of the applications.

    FOLDER is a folder, or the name of a bundled set: demo, everyday. Commands of other files run only with
    --allow-commands.

    A task that cannot be read, prepared or checked counts as an error, not as a failure. Exit status: 0 if every task
    could be judged, whether it succeeded or not; with --conformance, if every task conforms.
    """
    from evaluation.harness.results import read_results

    if conformance and attempts > 1:
        raise click.UsageError("--attempts is for runs of the agent; --conformance runs none.")
    rights = rights_of(allow_commands, files, online)
    options = read_options("tasks", given, TIME_LIMIT_S, attempts)
    jobs, unreadable = jobs_for(folder, only)
    assignment = assignment_for(folder, options, rights, conformance)
    if attempts > 1:
        return carry_out_attempts(jobs, assignment, options, unreadable, attempts)
    status = carry_out(jobs, assignment, options, unreadable)
    if conformance and status == 0:
        results = read_results(options.out)[1]
        return 0 if all(results[job].outcome == "success" for job in jobs) else NOT_DONE
    return status


def jobs_for(folder: Path, only: Sequence[str]) -> tuple[list[Job], list[Result]]:
    """Return the episodes for a folder of task files, and an error result for each unreadable file.

    Args:
        folder: Folder of task files.
        only: Ids of the selected tasks; empty for all.

    Raises:
        click.UsageError: A selected task does not exist.
    """
    from evaluation.harness.results import Job, Result
    from evaluation.osworld.task import load_each

    found, problems = load_each(folder)
    known = {task.id for task in found}
    for name in only:
        if name not in known | {path.stem for path in problems}:
            raise click.UsageError(f"--only: there is no task {name!r}. Available tasks: {', '.join(sorted(known))}.")
    unreadable = [
        Result.broken(Job(task=path.stem), str(error))
        for path, error in problems.items()
        if not only or path.stem in only
    ]
    return [Job(task=task.id) for task in found if not only or task.id in only], unreadable


def assignment_for(folder: Path, options: Options, rights: Rights, conformance: bool = False) -> Assignment:
    """Return the worker configuration for a folder of task files."""
    from evaluation.worker import Assignment

    return Assignment(
        benchmark="conformance" if conformance else "tasks",
        settings=options.settings,
        folder=options.out,
        tasks=folder.absolute(),
        keep_all=options.keep_all,
        rights=rights,
    )


def find_tasks(name: str) -> Path:
    """Return the folder of task files with this path, or of the bundled set with this name.

    Raises:
        click.BadParameter: Neither exists.
    """
    from agent_s.settings import configs_folder

    folder = Path(name)
    if folder.is_dir():
        return folder
    if name not in SETS:
        raise click.BadParameter(f"there is no folder or bundled set {name!r}. Bundled sets: {', '.join(SETS)}.")
    return configs_folder() / name


def carry_out_attempts(
    jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result], attempts: int
) -> int:
    """Make the remaining attempts, choose one per task, print the results, and return the exit status.

    The attempts are stored as an evaluation in the folder `attempts`, with the attempt number as seed. The recordings
    that the choice is based on do not contain the verdicts of the state checks.
    """
    from agent_s.llm.budget import MeteredModel
    from agent_s.llm.build import build_models
    from evaluation.harness.results import Job, ResultsFile

    out = options.out / ATTEMPTS_FOLDER
    numbers = range(1, attempts + 1)
    made = run_episodes(
        [Job(task=job.task, seed=number) for job in jobs for number in numbers],
        assignment.model_copy(update={"folder": out, "keep_all": True, "as_attempts": True}),
        replace(options, out=out),
        unreadable,
        title=f"{attempts} attempts at each task",
    )
    if made.exit_status is not None:
        return made.exit_status
    results = {result.job: result for result in made.results}
    screen = choose_display(quiet=options.quiet, json=options.as_json)
    kept = ResultsFile(options.out, header_of(assignment.benchmark, options.settings))
    model = build_models(options.settings, os.environ)
    for job in jobs:
        if not kept.is_done(job):
            judge = MeteredModel(model, options.settings.limits)
            of_task = {number: results[Job(task=job.task, seed=number)] for number in numbers}
            chosen = _choose_result(judge, of_task, options)
            kept.add(chosen.model_copy(update={"seed": None}))
            screen.say(
                f"{job.task}: attempt {chosen.labels['attempt']}, chosen by {chosen.labels['chosen by']}"
                if "attempt" in chosen.labels
                else f"{job.task}: no attempt came to an end"
            )
    for result in unreadable:
        kept.add(result)
    wanted = {*jobs, *(result.job for result in unreadable)}
    show([result for job, result in kept.results.items() if job in wanted], options.out, options.as_json)
    if not options.as_json:
        for number in numbers:
            won = [job for job, result in results.items() if job.seed == number and result.outcome == "success"]
            click.echo(f"Attempt {number}: {len(won)} of {len(jobs)}")
    return DONE if all(kept.is_done(job) for job in wanted) else NOT_DONE


def _choose_result(judge: MeteredModel, results: Mapping[int, Result], options: Options) -> Result:
    """Choose the best attempt at a task, and return its result with the model usage of all attempts and of the choice.

    Broken attempts are never chosen; if all are broken, the first is returned. What the chosen attempt learned is
    merged into the memory.
    """
    from agent_s.records import Task
    from evaluation.attempts import choose_attempt, merge_learned, total_usage
    from evaluation.harness.results import effort_of

    ended = {number: result for number, result in results.items() if result.trajectory and result.outcome != "error"}
    if not ended:
        return next(iter(results.values()))
    folders = {number: options.out / ATTEMPTS_FOLDER / result.trajectory for number, result in ended.items()}
    choice = choose_attempt(judge, Task(instruction=next(iter(ended.values())).instruction), folders)
    if choice is None:
        return next(iter(results.values()))
    chosen = results[choice.number]
    merge_learned(options.settings, folders[choice.number])
    spent = effort_of(total_usage(results.values(), judge.budget.used))
    return chosen.model_copy(
        update={
            **{name: value for name, value in spent.items() if name != "steps"},
            "trajectory": f"{ATTEMPTS_FOLDER}/{chosen.trajectory}",
            "report": f"{ATTEMPTS_FOLDER}/{chosen.report}" if chosen.report else "",
            "labels": {**chosen.labels, "attempt": str(choice.number), "chosen by": choice.by},
        }
    )

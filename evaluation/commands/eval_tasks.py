"""`agent-s eval tasks`: task files in OSWorld's format on real applications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import FOLDER, Number
from evaluation.commands.eval_attempts import carry_out_attempts
from evaluation.commands.eval_run import Options, carry_out, evaluation_options, read_options

if TYPE_CHECKING:
    from evaluation.harness.results import Job, Result
    from evaluation.state.context import Rights
    from evaluation.worker import Assignment

TIME_LIMIT_S = 900.0
SETS = ("demo", "everyday")


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
    """Return the episodes of a folder of task files, and an error result for each file that cannot be read.

    Args:
        folder: The folder.
        only: Ids of the wanted tasks; empty for all.

    Raises:
        click.UsageError: There is no such task.
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
    """Return the work of the workers for a folder of task files."""
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
    """Return a folder of task files, or that of a bundled set.

    Raises:
        click.BadParameter: There is neither.
    """
    from agent_s.settings import configs_folder

    folder = Path(name)
    if folder.is_dir():
        return folder
    if name not in SETS:
        raise click.BadParameter(f"there is no folder or bundled set {name!r}. Bundled sets: {', '.join(SETS)}.")
    return configs_folder() / name

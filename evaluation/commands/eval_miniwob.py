"""`agent-s eval miniwob`: runs MiniWoB++ tasks in an ordinary browser window."""

from __future__ import annotations

import re
from typing import Any

import click

from agent_s.terminal.lazy import examples
from evaluation.commands.eval_run import carry_out, evaluation_options, read_options

TIME_LIMIT_S = 300.0
ALL = "all"
DEVELOPMENT = "development"


@click.command(
    epilog=examples(
        "agent-s eval miniwob --tasks click-button,login-user --seeds 1-3",
        "agent-s eval miniwob --seeds 1-10 --desktops 2 --json",
        "agent-s eval miniwob --tasks all --seeds 1 --model anthropic:NAME --out my-results",
    )
)
@click.option(
    "--tasks",
    default=DEVELOPMENT,
    show_default=True,
    metavar="NAMES",
    help="Names of tasks, separated by commas, or 'all', or 'development' for the set in configs/.",
)
@click.option("--seeds", default="1", show_default=True, metavar="N,N-N", help="Seeds of the episodes of each task.")
@evaluation_options
def miniwob(tasks: str, seeds: str, **given: Any) -> int:
    """Run tasks of MiniWoB++, judged by the reward of each page.

    The agent sees an ordinary browser window on a private desktop; only the evaluation reads instruction and reward.
    Exit status: 0 if every episode could be judged, whether it succeeded or not.
    """
    from evaluation.errors import PagesMissing
    from evaluation.harness.results import Job
    from evaluation.miniwob.pages import find_pages
    from evaluation.worker import Assignment

    options = read_options("miniwob", given, TIME_LIMIT_S)
    numbers = read_seeds(seeds)
    pages = find_pages()
    try:
        names = pages.chosen(pages.names if tasks == ALL else task_names(tasks))
    except PagesMissing as error:
        raise click.UsageError(f"--tasks: {error}") from error
    jobs = [Job(task=name, seed=seed) for name in names for seed in numbers]
    assignment = Assignment(
        benchmark="miniwob", settings=options.settings, folder=options.out, keep_all=options.keep_all
    )
    return carry_out(jobs, assignment, options)


def task_names(tasks: str) -> list[str]:
    """Return the names in a list, or those of the development set."""
    from agent_s.settings import configs_folder

    if tasks == DEVELOPMENT:
        lines = (configs_folder() / "miniwob-development.txt").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line and not line.startswith("#")]
    return [name for name in re.split(r"[,\s]+", tasks) if name]


def read_seeds(text: str) -> list[int]:
    """Read "1-3,7" as 1, 2, 3, 7.

    Raises:
        click.UsageError: It is something else.
    """
    seeds: dict[int, None] = {}
    for part in filter(None, re.split(r"[,\s]+", text)):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first or last - first > 10_000:
            raise click.UsageError(f"--seeds takes numbers and ranges such as 1-10,42, not {part!r}.")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    if not seeds:
        raise click.UsageError("--seeds: give at least one number.")
    return list(seeds)

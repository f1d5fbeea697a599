"""`agent-s eval`: measures the agent on benchmarks, each in a command of its own."""

from __future__ import annotations

import click

from agent_s.terminal.lazy import Entry, LazyGroup, examples

ENTRIES = {
    "miniwob": Entry(
        "evaluation.commands.eval_miniwob", "miniwob", "Small tasks on web pages that bring their own reward."
    ),
    "tasks": Entry(
        "evaluation.commands.eval_tasks", "tasks", "Tasks in OSWorld's format, checked by the applications' state."
    ),
    "report": Entry("evaluation.commands.eval_report", "report", "Results of several evaluations side by side."),
}


@click.group(
    "eval",
    cls=LazyGroup,
    entries=ENTRIES,
    epilog=examples("agent-s eval miniwob --tasks click-test --seeds 1-3", "agent-s eval tasks configs/demo"),
)
def evaluate() -> None:
    """Measure the agent on benchmarks.

    Episodes run on private desktops, each in a process of its own. What is done is kept in a folder: the same command
    with that folder (--out) goes on where it was broken off.
    """

"""`agent-s eval`: evaluates the agent on benchmarks, one command each."""

from __future__ import annotations

import click

from agent_s.terminal.lazy import Entry, LazyGroup, examples

ENTRIES = {
    "miniwob": Entry("evaluation.commands.eval_miniwob", "miniwob", "Run the web tasks of MiniWoB++."),
    "tasks": Entry("evaluation.commands.eval_tasks", "tasks", "Run task files in OSWorld's format."),
    "ablation": Entry(
        "evaluation.commands.eval_ablation", "ablation", "Run the paper's ablations on task files and compare them."
    ),
    "check": Entry(
        "evaluation.commands.eval_check", "check", "List what task files need, and whether they can run here."
    ),
    "export": Entry("evaluation.commands.eval_report", "export", "Write results in the format of another harness."),
    "errors": Entry("evaluation.commands.eval_errors", "errors", "Classify the errors in failed runs."),
    "report": Entry("evaluation.commands.eval_report", "report", "Compare the results of evaluations."),
}


@click.group(
    "eval",
    cls=LazyGroup,
    entries=ENTRIES,
    epilog=examples("agent-s eval miniwob --tasks click-test --seeds 1-3", "agent-s eval tasks configs/demo"),
)
def evaluate() -> None:
    """Evaluate the agent on benchmarks.

    Episodes run on private desktops, each in its own process. Results are stored in a folder; the same command with
    that folder (--out) resumes.
    """

"""What a finished subtask leaves for those that follow: what the Worker found out, and the files it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from aci.acting.actions import Type
from agent_s.records import Step, Subtask
from agent_s.replay.written_files import written_file


def results_of(subtask: Subtask, found: str, steps: Sequence[Step], home: Path | None, began: float) -> Iterator[str]:
    """Yield the results of a subtask, one line each.

    Args:
        subtask: The subtask.
        found: What the Worker found out, as it said with its DONE; may be empty.
        steps: Its steps.
        home: Home of the applications; None if its files cannot be read.
        began: When the run began, s since the epoch.
    """
    for said in dict.fromkeys((*(step.response.found for step in steps), found)):
        if said:
            yield f"{subtask.name}: found {' '.join(said.split())}"
    typed = (step.response.action.text for step in steps if isinstance(step.response.action, Type) and step.worked)
    files = {name: None for text in typed if (name := written_file(text, home, began))}
    if files:
        yield f"{subtask.name}: wrote {', '.join(files)}"

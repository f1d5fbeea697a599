"""The progress of a run: what has been planned, done and found out so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aci.acting.actions import Type
from agent_s.records import Aims, Plan, Status, Step, Subtask
from agent_s.replay.recall import KnownTask
from agent_s.replay.written_files import written_file
from agent_s.roles.manager import Knowledge


@dataclass(frozen=True, slots=True)
class Ending:
    """How a subtask or a task ended, before verification."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """The mutable state of one run."""

    query: str = ""  # the Manager's query
    aims: Aims = field(default_factory=Aims)  # what the task requires and forbids
    aims_known: bool = False  # whether the Manager has stated the aims; it has not if the plan came from memory
    knowledge: Knowledge | None = None  # results from the web and memory; None if they were not queried
    plan: Plan | None = None  # the latest plan
    tried: set[tuple[Subtask, ...]] = field(default_factory=set)  # plans that failed, which are not tried again
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)  # finished subtasks with their steps
    # all subtasks that were attempted, with their steps; a failed one may have done a part of the task
    worked_on: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)  # findings and written files of subtasks, one line each
    current: tuple[Subtask, list[Step]] | None = (
        None  # the subtask in progress, or the last one that failed, with its steps
    )
    replans: int = 0  # number of new plans so far after failures
    replayed: int = 0  # number of finished subtasks that were replayed
    used: list[str] = field(default_factory=list)  # ids of the experiences that were replayed
    proofs: list[str] = field(default_factory=list)  # evidence that replays reached their verified end
    # values that replays typed or chose without proof that they are right; if there are any, `proofs` do not count
    unproven: tuple[str, ...] = ()
    known: KnownTask | None = None  # experience of the whole task
    boundary: str = ""  # id of the failed exploration because of which the task was given up

    @property
    def all_replayed(self) -> bool:
        """Whether every finished subtask was replayed."""
        return bool(self.done) and self.replayed == len(self.done)

    @property
    def all_known(self) -> bool:
        """Whether everything was replayed, and no model chose what to replay."""
        chosen = self.plan is not None and self.plan.source == "model" and any(part.skill for part in self.finished)
        return self.all_replayed and not chosen

    @property
    def finished(self) -> tuple[Subtask, ...]:
        """The finished subtasks."""
        return tuple(subtask for subtask, _ in self.done)


def results_of(subtask: Subtask, found: str, steps: Sequence[Step], home: Path | None, began: float) -> Iterator[str]:
    """Yield the results of a subtask, one line each.

    Args:
        subtask: The subtask.
        found: What the Worker reported with DONE; may be empty.
        steps: Its steps.
        home: Home directory of the applications; None if its files cannot be read.
        began: Start of the run, s since the epoch.
    """
    for finding in dict.fromkeys((*(step.response.found for step in steps), found)):
        if finding:
            yield f"{subtask.name}: found {' '.join(finding.split())}"
    typed = (step.response.action.text for step in steps if isinstance(step.response.action, Type) and step.worked)
    files = {name: None for text in typed if (name := written_file(text, home, began))}
    if files:
        yield f"{subtask.name}: wrote {', '.join(files)}"

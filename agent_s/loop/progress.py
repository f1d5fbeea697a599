"""The state of a run: what has been done so far, how its parts end, and what they leave for those that follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aci.acting.actions import Type
from agent_s.records import Aims, Plan, Status, Step, Subtask
from agent_s.replay.recall import Known
from agent_s.replay.written_files import written_file
from agent_s.roles.manager import Knowledge


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a subtask or a task, before it is verified."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """What has been done so far."""

    query: str = ""  # the Manager's question
    aims: Aims = field(default_factory=Aims)  # what the task requires and forbids
    aims_known: bool = False  # whether the Manager has written these down; it has not while the plan comes from memory
    knowledge: Knowledge | None = None  # what the web and memory said; None if they were not asked
    plan: Plan | None = None  # the latest plan
    tried: set[tuple[Subtask, ...]] = field(default_factory=set)  # plans that failed; they are not tried again
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)  # finished subtasks with their steps
    # all subtasks that were worked on, with their steps; the steps of one that failed may have done a part of the task
    worked_on: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)  # what they found out and wrote, one line each
    current: tuple[Subtask, list[Step]] | None = None  # the subtask that is worked on, or failed last, with its steps
    replans: int = 0  # number of new plans after failures
    replayed: int = 0  # number of finished subtasks that were replayed
    used: list[str] = field(default_factory=list)  # ids of the experiences that were replayed
    proofs: list[str] = field(default_factory=list)  # what the ends of replays were checked against
    # what replays typed or chose without proof that it is right; then their ends prove nothing
    unproven: tuple[str, ...] = ()
    known: Known | None = None  # memory's knowledge of the whole task
    boundary: str = ""  # Id of the failed exploration that the task was given up because of

    @property
    def all_replayed(self) -> bool:
        """Whether every finished subtask was replayed."""
        return bool(self.done) and self.replayed == len(self.done)

    @property
    def all_known(self) -> bool:
        """Whether memory knew the whole task: everything was replayed, and no model chose what to replay."""
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

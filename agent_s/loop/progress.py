"""The state of a run: what has been done so far, and how its parts end."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_s.records import Aims, Plan, Status, Step, Subtask
from agent_s.replay.recall import Known


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a subtask or a task, before it is verified."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """What has been done so far.

    Attributes:
        query: The Manager's question.
        aims: What the task requires and forbids.
        aims_known: Whether the Manager has written these down; it has not while the plan comes from memory.
        plan: The latest plan.
        tried: Plans that failed; they are not tried again.
        done: Finished subtasks with their steps.
        replans: Number of new plans after failures.
        replayed: Number of finished subtasks that were replayed.
        used: Ids of the experiences that were replayed.
        proofs: What the ends of replays were checked against.
        unproven: What replays typed or chose without proof that it is right; then their ends prove nothing.
        known: Memory's knowledge of the whole task.
        boundary: Id of the failed exploration that the task was given up because of.
    """

    query: str = ""
    aims: Aims = field(default_factory=Aims)
    aims_known: bool = False
    plan: Plan | None = None
    tried: set[tuple[Subtask, ...]] = field(default_factory=set)
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    replans: int = 0
    replayed: int = 0
    used: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    known: Known | None = None
    boundary: str = ""

    @property
    def all_replayed(self) -> bool:
        """Whether every finished subtask was replayed."""
        return bool(self.done) and self.replayed == len(self.done)

    @property
    def finished(self) -> tuple[Subtask, ...]:
        """The finished subtasks."""
        return tuple(subtask for subtask, _ in self.done)

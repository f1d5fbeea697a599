"""What a run has done so far, and how its parts end."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_s.records import Aims, Plan, Status, Step, Subtask
from agent_s.replay.recall import Known


@dataclass(frozen=True, slots=True)
class Ending:
    """How a subtask or a task ended, before it is verified."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """What has been done so far.

    Attributes:
        query: The Manager's question.
        aims: What the task demands and forbids.
        asked: Whether the Manager was asked that; not where memory held the plan.
        plan: The latest plan.
        tried: What was planned and failed, so that it is not planned again.
        done: Finished subtasks with their steps.
        replans: How often a failure was planned anew.
        replayed: How many of the finished subtasks came from memory.
        used: Ids of the experiences that were relied on.
        proofs: What the ends of replays were held against.
        unproven: What replays typed or chose and nothing shows to be right, so that their ends prove nothing.
        known: What memory knew of the whole task.
        boundary: Id of what an exploration failed to do, where the task was given up because of it.
    """

    query: str = ""
    aims: Aims = field(default_factory=Aims)
    asked: bool = False
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
        """Whether every finished subtask came from memory."""
        return bool(self.done) and self.replayed == len(self.done)

"""Timeline of a run: its events grouped by subtask and step, for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    EffectSeen,
    Event,
    ModelCalled,
    Observed,
    Planned,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
)
from agent_s.records import Outcome, Subtask


@dataclass
class StepEntry:
    """One step."""

    chosen: ActionChosen  # the decision
    before: Observed | None = None  # the observation that it was made on; None if none was recorded
    performed: ActionPerformed | None = None  # the result; None if the run was cut off before


@dataclass
class SubtaskEntry:
    """One subtask; `started` is None for steps outside any subtask, and `ended` is None if the run was cut off."""

    started: SubtaskStarted | None = None
    ended: SubtaskEnded | None = None
    steps: list[StepEntry] = field(default_factory=list)

    @property
    def subtask(self) -> Subtask | None:
        """The subtask itself."""
        return self.started.subtask if self.started else None


@dataclass
class Timeline:
    """A run."""

    started: RunStarted | None = None
    ended: RunEnded | None = None
    plans: list[Planned] = field(default_factory=list)
    subtasks: list[SubtaskEntry] = field(default_factory=list)
    calls: list[ModelCalled] = field(default_factory=list)
    last_seen: Observed | None = None  # the last observation of the run
    last_at: datetime | None = None

    @property
    def current(self) -> SubtaskEntry:
        """The latest subtask; one without a start if none has started."""
        if not self.subtasks:
            self.subtasks.append(SubtaskEntry())
        return self.subtasks[-1]

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None if the recording is incomplete."""
        return self.ended.outcome if self.ended else None

    @property
    def seconds(self) -> float:
        """Wall time from the first to the last event, s."""
        if self.started is None or self.last_at is None:
            return 0.0
        return (self.last_at - self.started.at).total_seconds()


def build_timeline(events: Iterable[Event]) -> Timeline:  # noqa: C901 - one case per event
    """Group the events of one run."""
    timeline = Timeline()
    for event in events:
        timeline.last_at = event.at
        match event:
            case RunStarted():
                timeline.started = event
            case RunEnded():
                timeline.ended = event
            case Observed():
                timeline.last_seen = event
            case Planned():
                timeline.plans.append(event)
            case ModelCalled():
                timeline.calls.append(event)
            case SubtaskStarted():
                timeline.subtasks.append(SubtaskEntry(started=event))
            case SubtaskEnded():
                timeline.current.ended = event
            case ActionChosen():
                timeline.current.steps.append(StepEntry(event, before=timeline.last_seen))
            case ActionPerformed():
                steps = timeline.current.steps
                if steps and steps[-1].chosen.step == event.step:
                    steps[-1].performed = event
            case EffectSeen():
                for step in timeline.current.steps:
                    if step.chosen.step == event.step and step.performed is not None:
                        step.performed = step.performed.model_copy(update={"result": event.result})
    return timeline

"""The events of a run, grouped the way a person reads them: plan, subtasks, their steps, and what came of it all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    Event,
    ExperienceStored,
    KnowledgeGathered,
    ModelCalled,
    Observed,
    Planned,
    Reflected,
    ReplayStarted,
    ReplayStopped,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
    Verified,
)
from agent_s.records import Outcome, Subtask


@dataclass
class StepChronicle:
    """One step: what was seen, decided and done.

    Attributes:
        chosen: The decision.
        before: The observation that it was made on; None where none was recorded.
        performed: What came of it; None where the run was cut off before.
        reflections: What the reflector said before it.
    """

    chosen: ActionChosen
    before: Observed | None = None
    performed: ActionPerformed | None = None
    reflections: tuple[Reflected, ...] = ()


@dataclass
class SubtaskChronicle:
    """One subtask; `started` is None for steps outside of any subtask, `ended` where the run was cut off."""

    started: SubtaskStarted | None = None
    ended: SubtaskEnded | None = None
    steps: list[StepChronicle] = field(default_factory=list)
    replays: list[ReplayStarted | ReplayStopped] = field(default_factory=list)

    @property
    def subtask(self) -> Subtask | None:
        """What was to be done."""
        return self.started.subtask if self.started else None


@dataclass
class Chronicle:
    """A run as a story.

    Attributes:
        last_seen: The last observation of the run: what the screen looked like at its end.
    """

    started: RunStarted | None = None
    ended: RunEnded | None = None
    knowledge: list[KnowledgeGathered] = field(default_factory=list)
    plans: list[Planned] = field(default_factory=list)
    subtasks: list[SubtaskChronicle] = field(default_factory=list)
    calls: list[ModelCalled] = field(default_factory=list)
    verdicts: list[Verified] = field(default_factory=list)
    stored: list[ExperienceStored] = field(default_factory=list)
    troubles: list[Troubled] = field(default_factory=list)
    last_seen: Observed | None = None
    last_at: datetime | None = None

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None where the record ends before."""
        return self.ended.outcome if self.ended else None

    @property
    def seconds(self) -> float:
        """Wall time from the first to the last event, s."""
        if self.started is None or self.last_at is None:
            return 0.0
        return (self.last_at - self.started.at).total_seconds()


def tell(events: Iterable[Event]) -> Chronicle:
    """Group the events of one run."""
    teller = _Teller()
    for event in events:
        teller.hear(event)
    return teller.chronicle


class _Teller:
    """Sorts events into a chronicle as they come."""

    def __init__(self) -> None:
        self.chronicle = Chronicle()
        self._reflections: list[Reflected] = []

    def hear(self, event: Event) -> None:
        self.chronicle.last_at = event.at
        match event:
            case SubtaskStarted() | SubtaskEnded() | ReplayStarted() | ReplayStopped():
                self._hear_of_subtask(event)
            case ActionChosen() | ActionPerformed() | Reflected():
                self._hear_of_step(event)
            case _:
                self._hear_of_run(event)

    def _hear_of_run(self, event: Event) -> None:
        story = self.chronicle
        match event:
            case RunStarted():
                story.started = event
            case RunEnded():
                story.ended = event
            case Observed():
                story.last_seen = event
            case KnowledgeGathered():
                story.knowledge.append(event)
            case Planned():
                story.plans.append(event)
            case ModelCalled():
                story.calls.append(event)
            case Verified():
                story.verdicts.append(event)
            case ExperienceStored():
                story.stored.append(event)
            case Troubled():
                story.troubles.append(event)

    def _hear_of_subtask(self, event: SubtaskStarted | SubtaskEnded | ReplayStarted | ReplayStopped) -> None:
        match event:
            case SubtaskStarted():
                self.chronicle.subtasks.append(SubtaskChronicle(started=event))
            case SubtaskEnded():
                self._current().ended = event
            case ReplayStarted() | ReplayStopped():
                self._current().replays.append(event)

    def _hear_of_step(self, event: ActionChosen | ActionPerformed | Reflected) -> None:
        match event:
            case Reflected():
                self._reflections.append(event)
            case ActionChosen():
                step = StepChronicle(event, before=self.chronicle.last_seen, reflections=tuple(self._reflections))
                self._current().steps.append(step)
                self._reflections.clear()
            case ActionPerformed():
                steps = self._current().steps
                if steps and steps[-1].chosen.step == event.step:
                    steps[-1].performed = event

    def _current(self) -> SubtaskChronicle:
        if not self.chronicle.subtasks:
            self.chronicle.subtasks.append(SubtaskChronicle())
        return self.chronicle.subtasks[-1]

"""What the places of derived values show while learned steps are replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field

from agent_s.records import Derived, GroundedStep
from agent_s.replay.derived import entered
from agent_s.replay.seen_texts import SeenTexts
from agent_s.replay.value_forms import occurrences
from intents.alignment import Parameters


@dataclass(eq=False)
class Readings:
    """Reads the values of one subtask, each after the same steps as when it was learned."""

    seen: SeenTexts  # what the run has seen
    steps: InitVar[Sequence[GroundedStep]]  # the steps of the subtask
    marks: Mapping[str, str]  # the placeholders of the values
    _left: list[tuple[int, Derived]] = field(init=False)
    _read: dict[Derived, str] = field(default_factory=dict, init=False)

    def __post_init__(self, steps: Sequence[GroundedStep]) -> None:
        self._left = [(one.shown_at or 0, one) for step in steps for one in step.derived or ()]

    def due(self, at: int) -> list[Derived]:
        """Return the places to read before a step, by its index."""
        found = [one for when, one in self._left if when <= at]
        self._left = [(when, one) for when, one in self._left if when > at]
        return found

    def read(self, sources: Sequence[Derived], steps: int) -> Derived | None:
        """Read places; return the first that does not show a value.

        Args:
            sources: The places.
            steps: Number of steps of the run so far.
        """
        for one in sources:
            value = self.seen.read(one, steps)
            if value is None:
                return one
            self._read[one] = value
        return None

    def values_of(self, step: GroundedStep) -> Parameters | Derived:
        """Return what to put in place of the placeholders of a step, or a place that another one contradicts."""
        values: dict[str, str] = {}
        for one in step.derived or ():
            value = self._read.get(one, "")
            if not value or self._differs(one, value, step) or values.setdefault(one.typed, value) != value:
                return one
            if one.stayed and self.seen.contradicts(one, value):
                return one
        return Parameters({self.marks[typed]: value for typed, value in values.items() if typed in self.marks})

    def _differs(self, one: Derived, value: str, step: GroundedStep) -> bool:
        """Return whether the screen shows another value than the one that the task says."""
        return one.said and not any(occurrences(value, entered(step.action).strip()))

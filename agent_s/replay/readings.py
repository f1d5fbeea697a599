"""Current values of derived texts, read from the screen while learned steps are replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field

from agent_s.records import Derived, GroundedStep
from agent_s.replay.derived import entered_text
from agent_s.replay.seen_texts import SeenTexts
from agent_s.replay.value_forms import occurrences
from intents.alignment import Parameters


@dataclass(eq=False)
class Readings:
    """Reads the derived values of one subtask, each at the same point of its steps as when it was learned."""

    seen: SeenTexts  # texts that the run has seen
    steps: InitVar[Sequence[GroundedStep]]  # steps of the subtask
    marks: Mapping[str, str]  # the placeholder of each value
    _pending: list[tuple[int, Derived]] = field(init=False)
    _read: dict[Derived, str] = field(default_factory=dict, init=False)

    def __post_init__(self, steps: Sequence[GroundedStep]) -> None:
        self._pending = [(one.shown_at or 0, one) for step in steps for one in step.derived or ()]

    def due(self, at: int) -> list[Derived]:
        """Return the sources to read before the step with an index, each once."""
        found = [one for when, one in self._pending if when <= at]
        self._pending = [(when, one) for when, one in self._pending if when > at]
        return found

    def read(self, sources: Sequence[Derived], steps: int) -> Derived | None:
        """Read sources; return the first one that shows no clear value, or None.

        Args:
            sources: The sources.
            steps: Number of steps of the run so far.
        """
        for one in sources:
            value = self.seen.read(one, steps)
            if value is None:
                return one
            self._read[one] = value
        return None

    def values_of(self, step: GroundedStep) -> Parameters | Derived:
        """Return the values for the placeholders of a step, or a source that contradicts another one or the task."""
        values: dict[str, str] = {}
        for one in step.derived or ():
            value = self._read.get(one, "")
            if not value or self._contradicts_wording(one, value, step) or values.setdefault(one.typed, value) != value:
                return one
            if one.stayed and self.seen.contradicts(one, value):
                return one
        return Parameters({self.marks[typed]: value for typed, value in values.items() if typed in self.marks})

    def _contradicts_wording(self, one: Derived, value: str, step: GroundedStep) -> bool:
        """Return whether the screen shows a value other than the one in the wording."""
        return one.said and not any(occurrences(value, entered_text(step.action).strip()))

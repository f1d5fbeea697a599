"""Ways that a run has gone: the steps that led to a window need not be done again while it is in front.

Skills of one dialog all begin with the way to it. Done one after another, the second finds the dialog open, in front of
the menu that its way begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from aci.acting.actions import ID_FIELDS, Wait
from aci.observation.observation import Observation
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import CHOICES, FIELDS, typed_text

_Mark = tuple[str, ...]  # what a step does to which element, apart from the title of its window


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to the windows that the replays of a run have opened."""

    _to: dict[int, tuple[_Mark, ...]] = field(default_factory=dict)  # by the id of the window

    def gone(self, steps: Sequence[GroundedStep], seen: Observation) -> int:
        """Return how many of the first steps have led to the window in front; 0 if others did, or none."""
        front = seen.active_window
        way = self._to.get(front.id, ()) if front is not None else ()
        return len(way) if way and _marks(steps[: len(way)]) == way else 0

    def add(self, steps: Sequence[GroundedStep], screens: Sequence[Observation]) -> None:
        """Take the ways that a replay has gone.

        Args:
            steps: The steps of an experience, up to the last one that was done.
            screens: The screens before each of the last ones of them, and the screen after the last.
        """
        first = len(steps) - len(screens) + 2
        for number, (before, after) in enumerate(pairwise(screens), start=first):
            known = {window.id for window in before.windows}
            for window in after.windows:
                if window.id not in known and not window.popup:
                    self._to[window.id] = _marks(steps[:number])


def _marks(steps: Sequence[GroundedStep]) -> tuple[_Mark, ...]:
    """Return what steps do; () if one of them does more than lead somewhere."""
    marks = tuple(_mark(step) for step in steps)
    return () if () in marks else marks


def _mark(step: GroundedStep) -> _Mark:
    described = (*step.targets.values(), *([step.focus] if step.focus is not None else []))
    changes = step.end.files or step.end.settings or typed_text(step.action)
    if changes or isinstance(step.action, Wait) or any(one.role in FIELDS | CHOICES for one in described):
        return ()
    action = step.action.model_dump_json(exclude=set(ID_FIELDS))
    return (action, *(text for one in described for text in (one.role, one.name, one.label, *one.path[1:])))

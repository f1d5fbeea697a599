"""Window paths: the steps that opened a window need not be repeated while it is active.

All skills of a dialog begin with the same steps that open it. If they are replayed one after another, the second one
finds the dialog already open, in front of the menu that its first step needs. So does a skill of the window behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from aci.acting.actions import ID_FIELDS, Wait
from aci.observation.observation import Observation, Window
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import CHOICES, FIELDS, typed_text
from intents.labels import label

_BUTTONS = frozenset({"push button", "button"})
_Mark = tuple[str, ...]  # action and target of a step, apart from the window title


@dataclass(frozen=True, slots=True)
class WindowPaths:
    """The paths to the windows that the replays of a run have opened."""

    _paths: dict[int, tuple[_Mark, ...]] = field(default_factory=dict)  # by window id

    def shared_steps(self, steps: Sequence[GroundedStep], seen: Observation) -> int:
        """Return how many of the first steps led to the active window; 0 if it was opened in another way."""
        front = seen.active_window
        path = self._paths.get(front.id, ()) if front is not None else ()
        return len(path) if path and _marks(steps[: len(path)]) == path else 0

    def left_open(self, seen: Observation) -> Window | None:
        """Return the active dialog if a replay opened it and it has no button that confirms or discards.

        Changes in such a dialog take effect immediately, so that it may be closed.
        """
        front = seen.active_window
        if front is None or not front.modal or front.id not in self._paths:
            return None
        names = [one.name for one in seen.elements if one.window_id == front.id and one.role in _BUTTONS]
        asks = any(label(kind).fullmatch(name) for name in names for kind in ("accepts", "discards"))
        return None if asks else front

    def add(self, steps: Sequence[GroundedStep], screens: Sequence[Observation]) -> None:
        """Add the paths to the windows that a replay has opened.

        Args:
            steps: The steps of an experience, up to the last one that was performed.
            screens: The screens before each of its latest steps, and the screen after the last one.
        """
        first = len(steps) - len(screens) + 2
        for number, (before, after) in enumerate(pairwise(screens), start=first):
            known = {window.id for window in before.windows}
            for window in after.windows:
                if window.id not in known and not window.popup:
                    self._paths[window.id] = _marks(steps[:number])


def _marks(steps: Sequence[GroundedStep]) -> tuple[_Mark, ...]:
    """Return comparable marks of steps; () if one of them does more than navigate."""
    marks = tuple(_mark(step) for step in steps)
    return () if () in marks else marks


def _mark(step: GroundedStep) -> _Mark:
    described = (*step.targets.values(), *([step.focus] if step.focus is not None else []))
    changes = step.end.files or step.end.settings or typed_text(step.action)
    if changes or isinstance(step.action, Wait) or any(one.role in FIELDS | CHOICES for one in described):
        return ()
    action = step.action.model_dump_json(exclude=set(ID_FIELDS))
    return (action, *(text for one in described for text in (one.role, one.name, one.label, *one.path[1:])))

"""Records which controls of an application a run used, and how much it stored in memory."""

from __future__ import annotations

from collections.abc import Sequence

from agent_s.events import ActionChosen, ActionPerformed, Event, ExperienceStored, Observed
from agent_s.llm.protocol import Affordance
from exploration.tasks.coverage import find_used
from exploration.tasks.survey import name_of

_ID_FIELDS = ("element_id", "drag_from_id", "drop_on_id")


class UseWatch:
    """A listener for the events of a run.

    Args:
        affordances: The controls that the survey found.

    Attributes:
        used: Keys of the affordances that actions used, in order.
        stored: Number of experiences that were stored.
    """

    def __init__(self, affordances: Sequence[Affordance]) -> None:
        self.used: dict[str, None] = {}
        self.stored = 0
        self._affordances = affordances
        self._observed: Observed | None = None
        self._pending: list[str] = []
        self._way: tuple[str, ...] = ()

    def __call__(self, event: Event) -> None:
        """Process one event."""
        match event:
            case Observed():
                self._observed = event
            case ActionChosen():
                self._pending = self._touched(event)
            case ActionPerformed() if event.result.ok:
                self.used.update(dict.fromkeys(self._pending))
            case ExperienceStored():
                self.stored += 1
            case _:
                pass

    def _touched(self, event: ActionChosen) -> list[str]:
        observation = self._observed.observation if self._observed is not None else None
        if observation is None:
            return []
        ids = [getattr(event.action, field, None) for field in _ID_FIELDS]
        elements = [observation.by_id[number] for number in ids if number in observation.by_id]
        passed, self._way = self._way, tuple(f"step:{name_of(element)}" for element in elements)
        keys = [
            find_used(self._affordances, name, (*element.path, *passed))
            for element in elements
            if (name := name_of(element))
        ]
        return [key for key in keys if key is not None]

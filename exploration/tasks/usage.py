"""Watches a run for what of an application it used, and what it learned."""

from __future__ import annotations

from collections.abc import Sequence

from agent_s.events import ActionChosen, ActionPerformed, Event, ExperienceStored, Observed
from agent_s.llm.protocol import Affordance
from exploration.tasks.coverage import find_used
from exploration.tasks.survey import name_of

_ID_FIELDS = ("element_id", "drag_from_id", "drop_on_id")


class UseWatch:
    """Takes the events of a run.

    Args:
        affordances: What the application was found to offer.

    Attributes:
        used: Keys of the affordances that actions touched, in order.
        learned: Experiences that were stored.
    """

    def __init__(self, affordances: Sequence[Affordance]) -> None:
        self.used: dict[str, None] = {}
        self.learned = 0
        self._affordances = affordances
        self._observed: Observed | None = None
        self._meant: list[str] = []
        self._passed: tuple[str, ...] = ()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Observed():
                self._observed = event
            case ActionChosen():
                self._meant = self._touched(event)
            case ActionPerformed() if event.result.ok:
                self.used.update(dict.fromkeys(self._meant))
            case ExperienceStored():
                self.learned += 1
            case _:
                pass

    def _touched(self, event: ActionChosen) -> list[str]:
        observation = self._observed.observation if self._observed is not None else None
        if observation is None:
            return []
        ids = [getattr(event.action, field, None) for field in _ID_FIELDS]
        elements = [observation.by_id[number] for number in ids if number in observation.by_id]
        passed, self._passed = self._passed, tuple(f"step:{name_of(element)}" for element in elements)
        keys = [
            find_used(self._affordances, name, (*element.path, *passed))
            for element in elements
            if (name := name_of(element))
        ]
        return [key for key in keys if key is not None]

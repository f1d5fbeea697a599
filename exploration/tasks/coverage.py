"""Which controls of an application a search or a run used, and their share of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_s.events import ActionChosen, ActionPerformed, Event, ExperienceStored, Observed
from agent_s.llm.protocol import Affordance
from agent_s.records import ID_FIELDS
from exploration.tasks.survey import name_of


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the controls that were `found` were `used`."""

    used: int = 0
    found: int = 0

    @property
    def share(self) -> float | None:
        """From 0 to 1; None if nothing was found."""
        return self.used / self.found if self.found else None


def key_of(affordance: Affordance) -> str:
    """Return the key of an affordance: where it is found, and its name."""
    return "\t".join((*affordance.within[-1:], affordance.name))


def find_used(affordances: Sequence[Affordance], name: str, path: Sequence[str]) -> str | None:
    """Return the key of the affordance that an element is; None if it is none.

    Args:
        affordances: The affordances of the application.
        name: The name, label or description of the element.
        path: The ancestors of the element, each "role:name".
    """
    same = [one for one in affordances if one.name == name]
    if not same:
        return None
    above = {step.partition(":")[2] for step in path}
    inside = [one for one in same if one.within and one.within[-1] in above]
    loose = [one for one in same if not one.within]
    best = inside or loose or (same if len(same) == 1 else [])
    return key_of(best[0]) if best else None


class UsageListener:
    """A listener for the events of a run.

    Args:
        affordances: The controls that the survey found.
    """

    def __init__(self, affordances: Sequence[Affordance]) -> None:
        self.used: dict[str, None] = {}  # keys of the affordances that actions used, in order
        self.stored = 0  # number of experiences that were stored
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
        ids = [getattr(event.action, field, None) for field in ID_FIELDS]
        elements = [observation.by_id[number] for number in ids if number in observation.by_id]
        passed, self._way = self._way, tuple(f"step:{name_of(element)}" for element in elements)
        keys = [
            find_used(self._affordances, name, (*element.path, *passed))
            for element in elements
            if (name := name_of(element))
        ]
        return [key for key in keys if key is not None]

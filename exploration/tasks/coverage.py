"""The share of an application's controls that was used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_s.llm.protocol import Affordance


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the affordances that a survey `found` were `used`."""

    used: int = 0
    found: int = 0

    @property
    def share(self) -> float | None:
        """From 0 to 1; None if nothing was found."""
        return self.used / self.found if self.found else None


def measure(affordances: Sequence[Affordance], used: Iterable[str]) -> Coverage:
    """Count the affordances whose keys are in `used`."""
    keys = {key_of(one) for one in affordances}
    return Coverage(len(keys & set(used)), len(keys))


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

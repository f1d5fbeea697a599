"""How much of what an application offers was used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_s.llm.protocol import Affordance


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was used of what an application offers.

    Attributes:
        used: How many of the affordances that the survey found.
        found: How many there are.
    """

    used: int = 0
    found: int = 0

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where nothing was found."""
        return self.used / self.found if self.found else None


def measure(affordances: Sequence[Affordance], used: Iterable[str]) -> Coverage:
    """Count the affordances that were used; `used` holds their keys."""
    keys = {key_of(one) for one in affordances}
    return Coverage(len(keys & set(used)), len(keys))


def key_of(affordance: Affordance) -> str:
    """Return what identifies an affordance: where it is found, and its name."""
    return "\t".join((*affordance.within[-1:], affordance.name))


def find_used(affordances: Sequence[Affordance], name: str, path: Sequence[str]) -> str | None:
    """Return the key of the affordance that an element is; None where it is none of them.

    Args:
        affordances: Of the application.
        name: Of the element: its name, label or description.
        path: Its ancestors, each "role:name".
    """
    same = [one for one in affordances if one.name == name]
    if not same:
        return None
    above = {step.partition(":")[2] for step in path}
    inside = [one for one in same if one.within and one.within[-1] in above]
    loose = [one for one in same if not one.within]
    best = inside or loose or (same if len(same) == 1 else [])
    return key_of(best[0]) if best else None

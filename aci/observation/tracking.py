"""Stable element ids: an element keeps its id while it is on the screen, and ids are never reused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from aci.observation.geometry import Rect

NEAR_PX = 48  # how far a recreated element may lie from its predecessor


@dataclass(frozen=True, slots=True)
class Sighting:
    """One element of one observation."""

    key: Hashable  # the object behind it, as its application names it
    likeness: Hashable  # what makes two objects look the same to a person: window, role, name, ancestors
    rect: Rect  # where it was seen, px


class IdTracker:
    """Assigns ids, by default from 1; trackers of one run share their unused ids (`fresh`).

    A known object keeps its id. Applications also recreate objects, as when a page redraws itself: a new object
    inherits the id of one of the latest observation that is gone, looked the same and was near.
    """

    def __init__(self, fresh: Iterator[int] | None = None) -> None:
        self._fresh = fresh if fresh is not None else count(1)
        self._ids: dict[Hashable, int] = {}
        self._present: dict[Hashable, Sighting] = {}

    def assign(self, sightings: Sequence[Sighting]) -> list[int]:
        """Return the id of each sighting of one observation, in order; their keys must differ."""
        present = {sighting.key: sighting for sighting in sightings}
        heirs = self._gone(present)
        ids = [self._id_of(sighting, heirs) for sighting in sightings]
        self._present = present
        return ids

    def _gone(self, present: dict[Hashable, Sighting]) -> dict[Hashable, list[Sighting]]:
        gone: dict[Hashable, list[Sighting]] = defaultdict(list)
        for key, sighting in self._present.items():
            if key not in present:
                gone[sighting.likeness].append(sighting)
        return gone

    def _id_of(self, sighting: Sighting, gone: dict[Hashable, list[Sighting]]) -> int:
        known = self._ids.get(sighting.key)
        if known is None:
            known = self._inherited(sighting, gone)
            self._ids[sighting.key] = known
        return known

    def _inherited(self, sighting: Sighting, gone: dict[Hashable, list[Sighting]]) -> int:
        candidates = gone.get(sighting.likeness)
        if candidates:
            nearest = min(candidates, key=lambda other: _distance(other.rect, sighting.rect))
            if _distance(nearest.rect, sighting.rect) <= NEAR_PX:
                candidates.remove(nearest)
                # The old object must not come back with an id that now belongs to its successor.
                return self._ids.pop(nearest.key)
        return next(self._fresh)


def _distance(one: Rect, other: Rect) -> int:
    return max(abs(one.x - other.x), abs(one.y - other.y))

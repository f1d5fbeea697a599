"""Stable element ids: an element keeps its id while it is on the screen, and no id ever names another object.

That an application uses one of its objects again proves nothing: lists draw other rows with the same widgets or page
nodes, and pages that redraw themselves create new objects for the same things. An object is the same if what it says is
the same and so is what is said around it: in the items that it lies in (a row, a post, a card), or else in the
innermost container with words of its own. Where this is not certain, the element gets a new id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import count

from aci.observation.sightings import Comparison, Frame, Sighting, distance, window_of

REMEMBERED = 40  # observations for which an object that is gone keeps its id


class IdTracker:
    """Assigns ids, by default from 1; trackers of one run share their unused ids (`fresh`)."""

    def __init__(self, fresh: Iterator[int] | None = None) -> None:
        self._fresh = fresh if fresh is not None else count(1)
        self._ids: dict[Hashable, int] = {}
        self._seen_in: dict[Hashable, Frame] = {}  # the latest frame with each key
        self._latest = Frame((), 0)

    def assign(self, sightings: Sequence[Sighting], still: Collection[Hashable] = ()) -> list[int]:
        """Return the id of each sighting of one observation, in order.

        Args:
            sightings: Their keys must differ.
            still: Windows whose pixels are those of the last observation, as their sightings name them.
        """
        frame = Frame(tuple(sightings), self._latest.number + 1)
        compared: dict[int, Comparison] = {}
        ids = [self._kept(frame, place, compared) for place in range(len(sightings))]
        if None in ids:
            self._pass_on(frame, ids, still)
        found = [next(self._fresh) if identity is None else identity for identity in ids]
        for sighting, identity in zip(sightings, found, strict=True):
            self._ids[sighting.key] = identity
            self._seen_in[sighting.key] = frame
        self._latest = frame
        self._forget_the_gone()
        return found

    def _kept(self, frame: Frame, place: int, compared: dict[int, Comparison]) -> int | None:
        """Return the id that an object had when it was seen last, if it still is what it was then."""
        key = frame.sightings[place].key
        before = self._seen_in.get(key)
        if before is None:
            return None
        comparison = compared.get(before.number)
        if comparison is None:
            comparison = compared[before.number] = Comparison(before, frame)
        return self._ids[key] if comparison.is_same(before.places[key], place) else None

    def _pass_on(self, frame: Frame, ids: list[int | None], still: Collection[Hashable]) -> None:
        """Give the ids of objects that are gone to the new objects that took their places, where that is certain."""
        taken = set(ids)
        left: dict[Hashable, list[int]] = defaultdict(list)
        for place, sighting in enumerate(self._latest.sightings):
            if self._ids[sighting.key] not in taken:
                left[sighting.likeness].append(place)
        comparison = Comparison(self._latest, frame)
        for place, sighting in enumerate(frame.sightings):
            candidates = left.get(sighting.likeness, ())
            if ids[place] is not None or not candidates:
                continue
            old = [self._latest.sightings[candidate] for candidate in candidates]
            if window_of(sighting) in still:  # the same picture in the same place, made anew behind it
                same = [one for one in old if (one.rect, one.says) == (sighting.rect, sighting.says)]
            else:
                same = [one for one in old if comparison.is_successor(self._latest.places[one.key], place)]
            if same:
                heir_of = min(same, key=lambda one: distance(one.rect, sighting.rect))
                left[sighting.likeness].remove(self._latest.places[heir_of.key])
                # The old object must not come back with an id that now belongs to its successor.
                ids[place] = self._ids.pop(heir_of.key)
                del self._seen_in[heir_of.key]

    def _forget_the_gone(self) -> None:
        if self._latest.number % REMEMBERED == 0:
            oldest = self._latest.number - REMEMBERED
            for key in [key for key, frame in self._seen_in.items() if frame.number <= oldest]:
                del self._ids[key], self._seen_in[key]

"""Stable element ids: an element keeps its id while it is on the screen, and no id ever refers to another object.

The identity of an application's object is not enough: lists reuse widgets and page nodes for other rows, and pages that
redraw themselves create new objects for the same things. An object is the same if its text is the same, and so is the
text around it: in the item that contains it (a row, a post, a card), or else in the innermost container with text of
its own. If that is uncertain, the element gets a new id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import count

from aci.observation.sightings import Comparison, Frame, Sighting, distance, window_of

REMEMBERED = 40  # number of observations for which the id of a vanished object is kept


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
            sightings: The sightings, with unique keys.
            still: Keys of the windows whose pixels have not changed since the last observation.
        """
        frame = Frame(tuple(sightings), self._latest.number + 1)
        compared: dict[int, Comparison] = {}
        ids = [self._known_id(frame, place, compared) for place in range(len(sightings))]
        if None in ids:
            self._transfer_ids(frame, ids, still)
        found = [next(self._fresh) if identity is None else identity for identity in ids]
        for sighting, identity in zip(sightings, found, strict=True):
            self._ids[sighting.key] = identity
            self._seen_in[sighting.key] = frame
        self._latest = frame
        self._forget_vanished()
        return found

    def _known_id(self, frame: Frame, place: int, compared: dict[int, Comparison]) -> int | None:
        """Return the latest id of an object, if it still represents the same thing; otherwise None."""
        key = frame.sightings[place].key
        before = self._seen_in.get(key)
        if before is None:
            return None
        comparison = compared.get(before.number)
        if comparison is None:
            comparison = compared[before.number] = Comparison(before, frame)
        return self._ids[key] if comparison.is_same(before.places[key], place) else None

    def _transfer_ids(self, frame: Frame, ids: list[int | None], still: Collection[Hashable]) -> None:
        """Transfer the ids of vanished objects to the new objects that replace them, where that is certain."""
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
            if window_of(sighting) in still:  # same pixels, so the object was merely recreated
                same = [one for one in old if (one.rect, one.says) == (sighting.rect, sighting.says)]
            else:
                same = [one for one in old if comparison.is_successor(self._latest.places[one.key], place)]
            if same:
                predecessor = min(same, key=lambda one: distance(one.rect, sighting.rect))
                left[sighting.likeness].remove(self._latest.places[predecessor.key])
                # The old object must not come back with an id that now belongs to its successor.
                ids[place] = self._ids.pop(predecessor.key)
                del self._seen_in[predecessor.key]

    def _forget_vanished(self) -> None:
        if self._latest.number % REMEMBERED == 0:
            oldest = self._latest.number - REMEMBERED
            for key in [key for key, frame in self._seen_in.items() if frame.number <= oldest]:
                del self._ids[key], self._seen_in[key]

"""Comparison of two observations: which elements are the same object, by the text on and around them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from aci.observation.geometry import Rect

NEAR_PX = 48  # maximum distance of a recreated element from its predecessor
STILL_PX = 3  # smaller moves do not count, since the position of recognized text varies
MUCH_MORE = 3  # minimum ratio of unchanged to changed surroundings of the same element
_WORD = re.compile(r"\w+")

Offset = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One element of one observation."""

    key: Hashable  # identity of the application's object
    likeness: Hashable  # appearance to a person: window, role, name and ancestors
    rect: Rect  # its position, px
    says: str = ""  # its text, without what a user enters
    holders: tuple[Hashable, ...] = ()  # the objects that contain it, from the window down
    items: tuple[Hashable, ...] = ()  # the repeated items (rows, cards) among them, and itself if it is one
    lasting: bool = False  # whether the key alone identifies it, as the address of a cell does
    silent: bool = False  # whether it may be identified without text: a field, or an element that only a tooltip names


class Frame:
    """The sightings of one observation.

    Args:
        sightings: The sightings, in reading order within each window.
        number: Number of the observation.
    """

    def __init__(self, sightings: tuple[Sighting, ...], number: int) -> None:
        self.sightings = sightings
        self.number = number
        self.places = {sighting.key: place for place, sighting in enumerate(sightings)}
        self._evidence: dict[Hashable, dict[str, int]] = {}

    @cached_property
    def by_window(self) -> dict[Hashable, list[Sighting]]:
        """The sightings of each window."""
        found: dict[Hashable, list[Sighting]] = defaultdict(list)
        for sighting in self.sightings:
            found[window_of(sighting)].append(sighting)
        return found

    @cached_property
    def alike(self) -> Counter[Hashable]:
        """Number of sightings with the same likeness."""
        return Counter(sighting.likeness for sighting in self.sightings)

    @cached_property
    def texts(self) -> Counter[tuple[Hashable, str]]:
        """Number of sightings with the same likeness and text."""
        return Counter((sighting.likeness, sighting.says) for sighting in self.sightings)

    @cached_property
    def counts(self) -> dict[Hashable, Counter[str]]:
        """Number of sightings that contain a word, by window."""
        return {
            window: Counter(chain.from_iterable(words_of(sighting.says) for sighting in members))
            for window, members in self.by_window.items()
        }

    @cached_property
    def within(self) -> dict[Hashable, list[int]]:
        """Indices of the sightings within each object, including itself if it is an item."""
        found: dict[Hashable, list[int]] = defaultdict(list)
        for place, sighting in enumerate(self.sightings):
            for holder in sighting.holders:
                found[holder].append(place)
            if sighting.items and sighting.items[-1] not in sighting.holders:
                found[sighting.items[-1]].append(place)
        return found

    def evidence(self, holder: Hashable) -> dict[str, int]:
        """Return the words that occur only in one object of its window, each with the innermost index."""
        found = self._evidence.get(holder)
        if found is None:
            members = self.within.get(holder, [])
            says: Counter[str] = Counter()
            by: dict[str, int] = {}
            for place in members:
                for word in words_of(self.sightings[place].says):
                    says[word] += 1
                    by[word] = place
            total = self.counts[window_of(self.sightings[members[0]])] if members else says
            found = self._evidence[holder] = {word: by[word] for word, times in says.items() if times == total[word]}
        return found

    def is_alone(self, place: int) -> bool:
        """Return whether no other sighting has the same likeness."""
        return self.alike[self.sightings[place].likeness] == 1

    def is_alone_in_item(self, place: int) -> bool:
        """Return whether no other sighting in the innermost item has the same likeness."""
        sighting = self.sightings[place]
        return (
            sum(self.sightings[other].likeness == sighting.likeness for other in self.within[sighting.items[-1]]) == 1
        )

    def is_distinct(self, holder: Hashable) -> bool:
        """Return whether an object has any evidence, which is cheaper than computing all of it."""
        members = [self.sightings[place] for place in self.within[holder]]
        counts = self.counts[window_of(members[0])]
        alone = any(counts[word] == 1 for member in members for word in words_of(member.says))
        return alone or bool(self.evidence(holder))


@dataclass(frozen=True, slots=True)
class _ContainerChange:
    """How the texts in a container changed."""

    # offset of each sighting that kept its text, by its indices before and after
    moves: dict[tuple[int, int], Offset]
    lost: frozenset[int]  # indices, before, of sightings that lost their text
    gained: frozenset[int]  # indices, after, of sightings with new text; empty if only a menu was closed
    offsets: Counter[Offset]  # number of sightings by offset
    rewritten: int  # number of objects whose text changed


class Comparison:
    """Compares the sightings of an earlier and a later observation; `old` and `new` are indices into them."""

    def __init__(self, before: Frame, after: Frame) -> None:
        self._before = before
        self._after = after
        self._items: dict[tuple[Hashable, Hashable], bool | None] = {}
        self._container_changes: dict[tuple[Hashable, Hashable], _ContainerChange | None] = {}
        self._unchanged: dict[Hashable, bool] = {}

    @cached_property
    def _touched(self) -> set[Hashable]:
        """Objects in which a sighting appeared, vanished or changed its text."""
        before, after = self._before, self._after
        found: set[Hashable] = set()
        for one, other in ((before, after), (after, before)):
            for sighting in one.sightings:
                place = other.places.get(sighting.key)
                if place is None or other.sightings[place].says != sighting.says:
                    found.update(sighting.holders)
                    found.update(sighting.items)
        return found

    def is_same(self, old: int, new: int) -> bool:
        """Return whether the object with a key still represents the same thing."""
        was, now = self._before.sightings[old], self._after.sightings[new]
        if now.lasting or self._is_unchanged(window_of(now)):
            return True
        item = self._same_items(was, now)
        if item is not None:
            return item
        if was.items:  # for example, only the buttons of a post are in view: they may be another post's
            return was == now and self._stays(old, new) is not False
        known = was.says == now.says and (now.says or (now.silent and was.likeness == now.likeness))
        if known and self._before.is_alone(old) and self._after.is_alone(new):
            return True
        stays = self._stays(old, new)
        if words_of(was.says) != words_of(now.says):
            return stays is True and not self._before.alike[now.likeness]
        if stays is None:
            return was.rect == now.rect or (self._before.is_alone(old) and self._after.is_alone(new))
        return stays

    def is_successor(self, old: int, new: int) -> bool:
        """Return whether a new object of the same likeness replaces one that is gone."""
        was, now = self._before.sightings[old], self._after.sightings[new]
        item = self._same_items(was, now)
        if item is False or (item is None and now.items):
            return False
        near = distance(was.rect, now.rect) <= NEAR_PX
        text = now.likeness, now.says
        if near and now.says and was.says == now.says and self._before.texts[text] == self._after.texts[text] == 1:
            return True  # the only paragraph with this text
        if self._before.is_alone(old) and self._after.is_alone(new):
            return item is True or (near and (bool(now.says) or self._stays(old, new) is not False))
        if item and self._before.is_alone_in_item(old) and self._after.is_alone_in_item(new):
            return True
        return self._stays(old, new) is True and self._moved_with_the_nearest(old, new)

    def _is_unchanged(self, window: Hashable) -> bool:
        known = self._unchanged.get(window)
        if known is None:
            known = self._before.by_window.get(window) == self._after.by_window.get(window)
            self._unchanged[window] = known
        return known

    def _same_items(self, was: Sighting, now: Sighting) -> bool | None:
        """Return whether the items around two sightings have the same text; None if they have none of their own."""
        found = None
        for pair in zip(reversed(was.items), reversed(now.items), strict=False):
            if pair not in self._items:
                self._items[pair] = self._same_item(*pair)
            if self._items[pair] is False:
                return False
            found = self._items[pair] or found
        return found

    def _same_item(self, old: Hashable, new: Hashable) -> bool | None:
        if old == new and new not in self._touched:
            return self._after.is_distinct(new) or None
        before, after = self._before.evidence(old), self._after.evidence(new)
        if not before or not after:
            return None
        # Compare whole texts, since another post of a feed uses the same words in other texts.
        said = {words_of(self._after.sightings[place].says) for place in self._after.within[new]}
        places = Counter(before.values())
        stayed = {place for place in places if words_of(self._before.sightings[place].says) in said}
        kept = sum(places[place] for place in stayed)
        least = min(len(before), len(after))  # a part may have been scrolled out of view
        return kept * 2 > least or (min(places) in stayed and kept * MUCH_MORE >= least)

    def _stays(self, old: int, new: int) -> bool | None:
        """Return whether an object kept its place among its surroundings; None if there is no text around it."""
        was, now = self._before.sightings[old], self._after.sightings[new]
        around = self._surroundings(old, new)
        if around is None:
            return None
        moved = offset(was.rect, now.rect)
        alike = sum(times for other, times in around.offsets.items() if _near(other, moved))
        alike -= (old, new) in around.moves
        if _near(moved, (0, 0)):
            replaced = min(len(around.lost - {old}), len(around.gained - {new}))
            against = len(around.moves) - alike - ((old, new) in around.moves) + replaced
        else:
            against = around.rewritten
        return bool(alike) and against * MUCH_MORE <= alike

    def _surroundings(self, old: int, new: int) -> _ContainerChange | None:
        """Return the changes in the innermost container that has text besides the object's own, if any."""
        was, now = self._before.sightings[old], self._after.sightings[new]
        for pair in zip(reversed(was.holders), reversed(now.holders), strict=False):
            if pair not in self._container_changes:
                self._container_changes[pair] = self._compare(*pair)
            around = self._container_changes[pair]
            if around is not None and (around.moves.keys() - {(old, new)} or around.lost - {old}):
                return around
        return None

    def _compare(self, old: Hashable, new: Hashable) -> _ContainerChange | None:
        before, after = self._before.evidence(old), self._after.evidence(new)
        if not before and not after:
            return None
        own: dict[int, set[str]] = defaultdict(set)
        for word, place in before.items():
            own[place].add(word)
        moves: dict[tuple[int, int], Offset] = {}
        for place, words in own.items():
            for there in {after[word] for word in words if word in after}:
                if self._kept_text(place, there, words):
                    rects = self._before.sightings[place].rect, self._after.sightings[there].rect
                    moves[place, there] = offset(*rects)
        stayed = {place for place, _ in moves}
        lost = frozenset(before.values()) - stayed
        gained = frozenset(after.values()) - {place for _, place in moves}
        rewritten = sum(self._before.sightings[place].key in self._after.places for place in lost)
        return _ContainerChange(moves, lost, gained, Counter(moves.values()), rewritten)

    def _kept_text(self, old: int, new: int, own: set[str]) -> bool:
        """Return whether a text stayed: whole, or, in the same object, most of the words that are unique to it."""
        was, now = self._before.sightings[old], self._after.sightings[new]
        words = words_of(now.says)
        return words_of(was.says) == words or (was.key == now.key and 2 * len(own & words) > len(own))

    def _moved_with_the_nearest(self, old: int, new: int) -> bool:
        around = self._surroundings(old, new)
        if around is None or not around.moves:
            return False
        was, now = self._before.sightings[old].rect, self._after.sightings[new].rect
        nearest = min(around.moves, key=lambda pair: distance(self._before.sightings[pair[0]].rect, was))
        return _near(around.moves[nearest], offset(was, now))


@lru_cache(maxsize=20_000)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(_WORD.findall(text.casefold()))


def window_of(sighting: Sighting) -> Hashable:
    """Return the key of a sighting's window."""
    return sighting.holders[0] if sighting.holders else None


def distance(one: Rect, other: Rect) -> int:
    """Return the Chebyshev distance of the top left corners, px."""
    return max(abs(one.x - other.x), abs(one.y - other.y))


def offset(one: Rect, other: Rect) -> Offset:
    """Return how far an object moved, px; (0, 0) if only its visible part grew or shrank."""
    edges = (one.x == other.x, one.right == other.right), (one.y == other.y, one.bottom == other.bottom)
    if one.intersection(other) in (one, other) and any(edges[0]) and any(edges[1]):
        return 0, 0
    return other.x - one.x, other.y - one.y


def _near(one: Offset, other: Offset) -> bool:
    return abs(one[0] - other[0]) <= STILL_PX and abs(one[1] - other[1]) <= STILL_PX

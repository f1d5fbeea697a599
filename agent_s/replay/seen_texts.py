"""History of the texts on the screen, by the place where they appeared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aci.observation.observation import Element, Observation
from agent_s.records import Derived
from agent_s.replay.value_forms import AROUND_CHARS, has_context, is_distinctive, occurrences, typed_form, values_like

_MAX_NEIGHBORS = 6  # maximum number of texts before and after a text that may identify its place
_NUMBERS = re.compile(r"\d+")
_CONTENTS = frozenset({"text", "value"})  # fields that hold the content of an element rather than its name


class Place(NamedTuple):
    """Identity of a place on the screen, independent of coordinates.

    A content is identified by the name of its element, or by its ordinal if it has none. A name is identified by its
    neighboring texts, with numbers masked.
    """

    app: str
    role: str
    field: str
    beside: str
    after: str
    ordinal: int


@dataclass(slots=True)
class Sight:
    """Texts that a place showed for some time."""

    steps: int  # number of steps of the run before it was first seen
    texts: tuple[str, ...]  # several if the same place occurs more than once
    look: int  # number of the observation that saw it last


class SeenTexts:
    """The texts that a run has seen."""

    def __init__(self) -> None:
        self._looks = 0
        self._sights: dict[Place, list[Sight]] = {}

    def add(self, seen: Observation, steps: int) -> None:
        """Add the texts of a screen.

        Args:
            seen: The screen.
            steps: Number of steps of the run before it.
        """
        self._looks += 1
        now: dict[Place, dict[str, None]] = {}
        for place, text, _ in texts_of(seen):
            now.setdefault(place, {})[text] = None
        for place, found in now.items():
            sights, texts = self._sights.setdefault(place, []), tuple(found)
            if sights and sights[-1].texts == texts:
                sights[-1].look = self._looks
            else:
                sights.append(Sight(steps, texts, self._looks))

    def sights(self) -> Iterator[tuple[Place, list[Sight]]]:
        """Yield each place with its sights, oldest first."""
        yield from self._sights.items()

    def read(self, source: Derived, steps: int) -> str | None:
        """Return the current value of a source, in the form to type; None if there is none, or it is ambiguous.

        Args:
            source: The source, with the value that it showed when it was learned.
            steps: Number of steps of the run so far.
        """
        found = {value for sights in self._places(source) for value in self._values(source, sights, steps)}
        if len(found) != 1:
            return None
        (value,) = found
        new = value if source.said else typed_form(source.value, source.typed, value)
        # An unchanged small number or word may be a constant of the application.
        constant = new == source.typed and not (source.changed or source.said or is_distinctive(source.value))
        return None if constant else new

    def contradicts(self, source: Derived, typed: str) -> bool:
        """Return whether a source is on the screen now and shows a different value than the typed one."""
        shown = [sights[-1] for sights in self._places(source) if sights[-1].look == self._looks]
        values = {
            value for sight in shown for text in sight.texts for value in values_like(text, source.value, source.around)
        }
        forms = {value if source.said else typed_form(source.value, source.typed, value) for value in values}
        return bool(shown) and typed not in forms

    def _places(self, source: Derived) -> Iterable[list[Sight]]:
        place = Place(source.app, source.role, source.field, source.beside, source.after, source.ordinal)
        if not has_context(source.around) or (source.field in _CONTENTS and source.beside):
            return [self._sights[place]] if place in self._sights else []
        alike = [sights for one, sights in self._sights.items() if one[:3] == place[:3]]
        latest = max((sights[-1].look for sights in alike if self._reads(source, sights)), default=0)
        return [sights for sights in alike if sights[-1].look == latest]

    def _reads(self, source: Derived, sights: list[Sight]) -> bool:
        return any(values_like(text, source.value, source.around) for text in sights[-1].texts)

    def _values(self, source: Derived, sights: list[Sight], steps: int) -> set[str]:
        latest = sights[-1]
        within = source.shown_at is not None
        if within and latest.look != self._looks:
            return set()
        if source.changed and (len(sights) < 2 or latest.steps < (steps if within else 1)):
            return set()
        if len(latest.texts) > 1 and not has_context(source.around):
            return set(latest.texts)
        return {value for text in latest.texts for value in values_like(text, source.value, source.around)}


def texts_of(seen: Observation) -> Iterator[tuple[Place, str, int]]:
    """Yield the texts of a screen with their places and element ids; the id is 0 for a window title."""
    for window in seen.windows:
        if window.title:
            yield Place(window.app, "window", "title", "", "", 0), window.title, 0
    windows: dict[int, list[Element]] = {}
    for element in seen.elements:
        windows.setdefault(element.window_id, []).append(element)
    for elements in windows.values():
        yield from _contents(elements)
        yield from _names(elements)


def _contents(elements: Sequence[Element]) -> Iterator[tuple[Place, str, int]]:
    """Yield the contents of the elements of a window, including empty texts."""
    nameless: dict[str, int] = {}
    for element in elements:
        own = element.name or element.label
        ordinal = 0 if own else nameless.get(element.role, 0)
        nameless[element.role] = ordinal + (not own)
        place = Place(element.app, element.role, "text", own or element.description, "", ordinal)
        if element.text is not None:
            yield place, element.text, element.id
        if element.value is not None:
            yield place._replace(field="value"), f"{element.value:g}", element.id


def _names(elements: Sequence[Element]) -> Iterator[tuple[Place, str, int]]:
    """Yield the names of elements of a window."""
    texts = [(at, text) for at, each in enumerate(elements) for text in (each.name, each.text) if text]
    here = 0
    for at, element in enumerate(elements):
        while here < len(texts) and texts[here][0] < at:
            here += 1
        names = {"name": element.name, "label": element.label, "description": element.description}
        for field, text in names.items():
            if text.strip():
                before = (other for _, other in texts[max(0, here - _MAX_NEIGHBORS) : here][::-1])
                after = (other for place, other in texts[here : here + _MAX_NEIGHBORS] if place > at)
                place = Place(
                    element.app, element.role, field, _first_neighbor(before, text), _first_neighbor(after, text), 0
                )
                yield place, text, element.id


def places_of(element_id: int, seen: Observation) -> set[Place]:
    """Return the places of an element's texts."""
    return {place for place, _, number in texts_of(seen) if number == element_id}


def occurrences_in(sight: Sight, typed: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the occurrences of a typed value in a sight, with the text around them."""
    for text in sight.texts:
        yield from occurrences(text, typed)


def _first_neighbor(texts: Iterable[str], own: str) -> str:
    """Return the first neighboring text that does not overlap with the own text, as those of containers do."""
    found = next((text for text in texts if text.strip() and text not in own and own not in text), "")
    return _NUMBERS.sub("#", found[:AROUND_CHARS])

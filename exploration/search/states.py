"""What a screen is, apart from where everything lies: fingerprints to tell known screens from new ones."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from exploration.search.controls import Candidate, candidates, portable
from exploration.search.homes import HomeState
from exploration.search.records import ScreenState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN_STATES = ("checked", "mixed", "pressed", "selected", "expanded", "disabled", "read_only", "editable")
"""States that tell what an element is set to; focus and the like come and go by themselves."""
_WORDS = 12
_POINTED_PX = 48
"""So far around the pointer, what lies under it is drawn differently."""
_CARET_PX = 400
"""Two pictures with fewer different pixels are taken for the same: carets blink and shadows fade."""


@dataclass(frozen=True)
class Look:
    """The screen and the home at one moment.

    Attributes:
        observation: The screen.
        home: What lies in the home.
        place: Path of the home.
        pointed: What the pointer was moved to last; None where it was not moved yet.
    """

    observation: Observation
    home: HomeState
    place: str
    pointed: Rect | None = None

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """What can be acted on."""
        return candidates(self.observation, self.place)

    @cached_property
    def menus(self) -> frozenset[int]:
        """Ids of the popups in which something can be chosen; the others are tooltips, which come and go."""
        popups = {window.id for window in self.observation.windows if window.popup}
        return frozenset(popups & {candidate.element.window_id for candidate in self.candidates})

    @cached_property
    def tooltips(self) -> tuple[Rect, ...]:
        """Where popups are in which nothing can be chosen."""
        return tuple(w.rect for w in self.observation.windows if w.popup and w.id not in self.menus)

    @cached_property
    def elements(self) -> dict[str, Element]:
        """Elements by what they are, twins by their order."""
        windows = {window.id for window in self.observation.windows if not window.popup} | self.menus
        return by_identity((e for e in self.observation.elements if e.window_id in windows), self.place)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Titles of the windows that are no menus, topmost first."""
        windows = [window for window in self.observation.windows if not window.popup]
        return tuple(portable(window.title, self.place) for window in windows)

    @cached_property
    def exact(self) -> dict[str, tuple[str, ...]]:
        """Everything that the elements and windows say; equal for screens that are the same to a person."""
        shown = {key: _shown(element, self.place) for key, element in self.elements.items()}
        return shown | {"windows": self.titles, "sizes": tuple(_sizes(self.observation))}

    @cached_property
    def title(self) -> str:
        """Title of the window in front, else of the topmost one."""
        active = self.observation.active_window
        return portable(active.title, self.place) if active else next(iter(self.titles), "")

    def state(self, depth: int, new: Iterable[Candidate] | None = None) -> ScreenState:
        """Return what the screen offers, as a node of the graph.

        Args:
            depth: Steps from the start.
            new: What it offers beyond the screen before; by default everything.
        """
        offered = list(self.candidates if new is None else new)
        keys = [candidate.control.key for candidate in offered]
        digest = hashlib.sha256("\n".join([unnumbered(self.title), *sorted(keys)]).encode()).hexdigest()[:16]
        words = tuple(dict.fromkeys(candidate.control.name for candidate in offered if candidate.control.name))
        return ScreenState(fingerprint=digest, title=self.title, words=words[:_WORDS], depth=depth)


def unnumbered(title: str) -> str:
    """Return a title without what changes from time to time: numbers, and the mark of unsaved changes."""
    return re.sub(r"\d+", "0", title).lstrip("*• ")


def same_picture(one: Look, other: Look, but: Iterable[Rect] = ()) -> bool:
    """Tell whether two looks show the same pixels, apart from a caret, some places, and what lies under the pointer."""
    same_size = one.observation.screenshot.shape == other.observation.screenshot.shape
    return same_size and different_pixels(one, other, but) < _CARET_PX


def different_pixels(one: Look, other: Look, but: Iterable[Rect] = ()) -> int:
    """Count the pixels that differ between two looks of the same size, but for some places, pointer and tooltips."""
    first, second = one.observation.screenshot, other.observation.screenshot
    differs = (first != second).any(axis=2)
    for look in (one, other):
        for place in (look.pointed or _middle(first), *look.tooltips):
            x, y = max(0, place.x - _POINTED_PX), max(0, place.y - _POINTED_PX)
            differs[y : place.y + place.height + _POINTED_PX, x : place.x + place.width + _POINTED_PX] = False
    for place in but:
        differs[max(0, place.y) : place.y + place.height, max(0, place.x) : place.x + place.width] = False
    return int(differs.sum())


def _middle(picture: NDArray[np.uint8]) -> Rect:
    """Return where the pointer is before it was moved."""
    return Rect(picture.shape[1] // 2, picture.shape[0] // 2, 1, 1)


def by_identity(elements: Iterable[Element], home: str) -> dict[str, Element]:
    """Return elements by what they are and where they belong, twins told apart by their order."""
    seen: Counter[str] = Counter()
    found = {}
    for element in elements:
        name = portable(element.name or element.label or element.description, home)
        where = "/".join(portable(part, home) for part in element.path[-3:] if not part.startswith("frame:"))
        key = f"{where}/{element.role}:{name}"
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = element
    return found


def _shown(element: Element, home: str) -> tuple[str, ...]:
    text = portable(element.text or "", home)
    value = "" if element.value is None else f"{element.value:g}"
    return (*(state for state in SHOWN_STATES if state in element.states), text, value)


def _sizes(observation: Observation) -> Iterable[str]:
    for window in observation.windows:
        if not window.popup:
            yield f"{window.rect.width}x{window.rect.height}"

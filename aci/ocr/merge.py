"""Combination of recognized texts and accessible elements, without duplicates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aci.accessibility.roles import FIELDS, INTERACTIVE
from aci.observation.geometry import Rect
from aci.observation.snapshot import Element, Window
from aci.observation.visibility import bounding, overlap, reading_order
from aci.ocr.text_areas import PICTURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR_PX = 10  # typical error of reported extents
SAME_TEXT = 85.0  # of 100; recognition confuses l with I and loses accents
SAME_PLACE = 0.3  # recognized boxes are padded, so even a perfect match shares only half its area
LEAST_INSIDE = 0.6
NAMEABLE = INTERACTIVE - FIELDS - PICTURES  # may be named by a text in them
MOST_LABEL_SHARE = 30  # largest ratio of an element's area to that of a text that names it

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Found:
    """A recognized text on the screen."""

    rect: Rect  # where, px
    text: str  # what it says
    window_id: int  # the window that shows it
    app: str = ""  # name of its application


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging."""

    elements: tuple[Element, ...]  # the accessible elements, some with a name that was recognized
    texts: tuple[Found, ...]  # recognized texts that no element shows


def merge(elements: Sequence[Element], found: Sequence[Found]) -> Merged:
    """Match recognized texts (in reading order within each window) with elements.

    A text that an element at its place already has is dropped. One in an element without a name becomes its name.
    """
    places = _Places(elements)
    names: dict[int, list[Found]] = {}
    rest: list[Found] = []
    for text in found:
        near = places.near(text)
        if any(_shows_text(elements[index], text) for index in near):
            continue
        target = _target(elements, near, text)
        if target is None:
            rest.append(text)
        else:
            names.setdefault(target, []).append(text)
    named = tuple(
        replace(element, name=_joined(names[index])) if index in names else element
        for index, element in enumerate(elements)
    )
    return Merged(named, tuple(_without_twins(rest)))


def whole_lines(found: Sequence[Found]) -> list[Found]:
    """Join texts on one line of a window, however far apart: for terminals."""
    lines: list[Found] = []
    for index in reading_order([text.rect for text in found]):
        text = found[index]
        last = lines[-1].rect if lines else text.rect
        common = min(last.bottom, text.rect.bottom) - max(last.y, text.rect.y)
        if lines and text.rect.x >= last.x and common * 2 > min(last.height, text.rect.height):
            lines[-1] = replace(text, rect=bounding([last, text.rect]), text=f"{lines[-1].text} {text.text}")
        else:
            lines.append(text)
    return lines


def weave(elements: Sequence[Element], texts: Sequence[Element], windows: Sequence[Window]) -> tuple[Element, ...]:
    """Insert recognized texts after the innermost element around each, or else at the end of their window.

    `windows` are topmost first; so is the result.
    """
    if not texts:
        return tuple(elements)
    order = reading_order([text.rect for text in texts])
    read = _by_window([texts[index] for index in order])
    present = _by_window(elements)
    ids = dict.fromkeys([window.id for window in windows] + list(present))
    return tuple(element for each in ids for element in _woven(present.get(each, []), read.get(each, [])))


def same_text(one: str, other: str) -> bool:
    """Return whether two texts are equal except for spaces, case and common recognition errors."""
    from rapidfuzz.fuzz import ratio

    mine, theirs = _plain(one), _plain(other)
    return mine == theirs or (min(len(mine), len(theirs)) > 2 and ratio(mine, theirs) >= SAME_TEXT)


def contains_text(whole: str, part: str) -> bool:
    """Return whether a text contains another one, with the tolerance of `same_text`."""
    from rapidfuzz.fuzz import partial_ratio

    mine, theirs = _plain(whole), _plain(part)
    if not theirs or theirs in mine:
        return True
    return 3 < len(theirs) <= len(mine) and partial_ratio(theirs, mine) >= SAME_TEXT


class _Places:
    def __init__(self, elements: Sequence[Element]) -> None:
        sides = [(e.rect.x, e.rect.y, e.rect.right, e.rect.bottom, e.window_id) for e in elements]
        self._sides: NDArray[np.int64] = np.array(sides, dtype=np.int64).reshape(-1, 5)

    def near(self, text: Found) -> list[int]:
        """Return the elements of the text's window that it touches or nearly touches, the smallest first."""
        left, top, right, bottom, window = self._sides.T
        rect = text.rect
        touching = (
            (left - NEAR_PX < rect.right) & (right + NEAR_PX > rect.x)
            & (top - NEAR_PX < rect.bottom) & (bottom + NEAR_PX > rect.y) & (window == text.window_id)
        )  # fmt: skip
        indices = np.flatnonzero(touching)
        areas = (right - left)[indices] * (bottom - top)[indices]
        return [int(index) for index in indices[np.argsort(areas, kind="stable")]]


def _shows_text(element: Element, text: Found) -> bool:
    at_place = _inside(text.rect, element.rect) >= LEAST_INSIDE or overlap(text.rect, element.rect) >= SAME_PLACE
    texts = [element.name, element.text or "", element.label, element.description]
    if at_place or element.rect.contains(text.rect.center):
        return any(contains_text(each, text.text) for each in texts if each)
    return any(same_text(each, text.text) for each in texts if each)


def _target(elements: Sequence[Element], near: Sequence[int], text: Found) -> int | None:
    """Return the innermost element around a text, if the text may name it."""
    for index in near:
        element = elements[index]
        if not element.rect.contains(text.rect.center) or _inside(text.rect, element.rect) < LEAST_INSIDE:
            continue
        fits = element.rect.area <= MOST_LABEL_SHARE * text.rect.area
        nameless = not element.name and not element.text
        return index if nameless and fits and element.role in NAMEABLE else None
    return None


def _joined(texts: Sequence[Found]) -> str:
    order = reading_order([text.rect for text in texts])
    return " ".join(texts[index].text for index in order)


def _without_twins(texts: Sequence[Found]) -> list[Found]:
    """Drop texts that were read twice, where two areas overlap."""
    kept: list[Found] = []
    for text in texts:
        twin = any(
            overlap(text.rect, other.rect) >= SAME_PLACE and contains_text(other.text, text.text)
            for other in kept[-8:]
            if other.window_id == text.window_id
        )
        if not twin:
            kept.append(text)
    return kept


def _inside(rect: Rect, other: Rect) -> float:
    common = rect.intersection(other)
    return common.area / rect.area if common is not None else 0.0


def _plain(text: str) -> str:
    letters = (each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return _BLANKS.sub("", "".join(letters)).casefold()


def _by_window(elements: Sequence[Element]) -> dict[int, list[Element]]:
    groups: dict[int, list[Element]] = {}
    for element in elements:
        groups.setdefault(element.window_id, []).append(element)
    return groups


def _woven(elements: Sequence[Element], texts: Sequence[Element]) -> list[Element]:
    behind: dict[int | None, list[Element]] = {}
    for text in texts:
        around = [element for element in elements if element.rect.contains(text.rect.center)]
        owner = min(around, key=lambda element: element.rect.area).id if around else None
        behind.setdefault(owner, []).append(text)
    woven = [each for element in elements for each in (element, *behind.get(element.id, ()))]
    return [*woven, *behind.get(None, ())]

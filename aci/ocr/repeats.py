"""Recognized texts that say what an element says: whole, in part, misread, or several labels at once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from aci.accessibility.roles import FIELDS, INTERACTIVE
from aci.observation.geometry import Rect
from aci.observation.sheet_text import is_sheet_cell, row_number
from aci.observation.snapshot import Element
from aci.observation.text import value_of
from aci.observation.visibility import bounding, overlap
from aci.ocr.text_areas import PICTURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR_PX = 10  # typical error of reported extents
SAME_TEXT = 85.0  # of 100; recognition confuses l with I and loses accents
LONG_TEXT, SAME_LONG_TEXT = 12, 75.0  # letters of a text from which on more of them may be misread, and still the same
SAME_PLACE = 0.3  # recognized boxes are padded, so even a perfect match shares only half its area
LEAST_INSIDE = 0.6
NAMEABLE = INTERACTIVE - FIELDS - PICTURES  # may be named by a text in them
MOST_ICON_LETTERS = 3  # letters and digits that the icons of buttons are taken for
CARETS = "il1!"  # what a caret before a text is read as, in lower case
HEADER_ROWS = 1.6  # height of the strip above a sheet that holds the letters of its columns, in rows
HEADER_COLUMN_PX = 80  # width of the strip to its left that holds the numbers of its rows
MOST_LETTERS, MOST_DIGITS = 3, 7  # of the header of one column or row

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Found:
    """A recognized text on the screen."""

    rect: Rect  # where, px
    text: str  # what it says
    window_id: int  # the window that shows it
    app: str = ""  # name of its application


class Repeats:
    """Finds the elements at the place of a text, and compares it with what they say.

    Args:
        elements: The elements of all windows; what other windows cover of one counts as part of it.
    """

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements = elements
        self._extents = [element.extent or element.rect for element in elements]
        sides = [
            (rect.x, rect.y, rect.right, rect.bottom, element.window_id)
            for element, rect in zip(elements, self._extents, strict=True)
        ]
        self._sides: NDArray[np.int64] = np.array(sides, dtype=np.int64).reshape(-1, 5)
        self._headers = _headers(elements)

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

    def repeats(self, text: Found, near: Sequence[int]) -> bool:
        """Return whether a text says nothing that the elements near it do not say."""
        if any(_says(self._elements[index], self._extents[index], text) for index in near):
            return True
        if any(self._extends_over(self._elements[index], text) for index in near):
            return True
        inside = [self._elements[index] for index in near if text.rect.intersection(self._elements[index].rect)]
        return _joins_names(inside, text) or _is_of_icons(inside, text)

    def _extends_over(self, cell: Element, text: Found) -> bool:
        """Return whether a text in an empty cell of a sheet is a part of a longer one in its row."""
        if cell.text or not is_sheet_cell(cell) or not cell.rect.contains(text.rect.center):
            return False
        return any(
            contains_text(other.text, text.text)
            for other in self._elements
            if other.text and other.window_id == cell.window_id and is_sheet_cell(other)
            and row_number(other) == row_number(cell)
        )  # fmt: skip

    def is_header(self, text: Found) -> bool:
        """Return whether a text stands where a sheet shows the letters and numbers of which its addresses consist."""
        for strip, width, letters in self._headers.get(text.window_id, ()):
            if strip.contains(text.rect.center):
                return len(plain(text.text)) <= letters * max(1, round(text.rect.width / width))
        return False


def same_text(one: str, other: str) -> bool:
    """Return whether two texts are equal except for spaces, case and common recognition errors."""
    from rapidfuzz.fuzz import ratio

    mine, theirs = plain(one), plain(other)
    shorter = min(len(mine), len(theirs))
    least = SAME_LONG_TEXT if shorter >= LONG_TEXT else SAME_TEXT
    return mine == theirs or (shorter > 2 and ratio(mine, theirs) >= least)


def contains_text(whole: str, part: str) -> bool:
    """Return whether a text contains another one, with the tolerance of `same_text`."""
    from rapidfuzz.fuzz import partial_ratio

    mine, theirs = plain(whole), plain(part).strip("|")
    if not theirs or theirs in mine:
        return True
    if _may_follow_caret(theirs) and theirs[1:] in mine:
        return True
    return 3 < len(theirs) <= len(mine) and partial_ratio(theirs, mine) >= SAME_TEXT


def _may_follow_caret(part: str) -> bool:
    return len(part) > 3 and part[0] in CARETS


def plain(text: str) -> str:
    """Return a text without spaces, accents and case."""
    letters = (each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return _BLANKS.sub("", "".join(letters)).casefold()


def share_inside(rect: Rect, other: Rect) -> float:
    """Return the share of a rectangle that lies in another one, 0 to 1."""
    common = rect.intersection(other)
    return common.area / rect.area if common is not None else 0.0


def _says(element: Element, extent: Rect, text: Found) -> bool:
    at_place = share_inside(text.rect, extent) >= LEAST_INSIDE or overlap(text.rect, extent) >= SAME_PLACE
    texts = [element.name, element.text or "", element.label]
    if not (element.name and element.role in PICTURES):  # texts for models leave such a description out
        texts.append(element.description)
    if at_place or extent.contains(text.rect.center):
        number = value_of(element)
        return any(contains_text(each, text.text) for each in texts if each) or (bool(number) and number == text.text)
    return any(same_text(each, text.text) or _continues(each, extent, text) for each in texts if each)


def _continues(whole: str, extent: Rect, text: Found) -> bool:
    """Return whether a text ends a line of what an element says to its left, or begins one to its right.

    Extents are sometimes too small. The letter at their edge may be cut.
    """
    common = min(extent.bottom, text.rect.bottom) - max(extent.y, text.rect.y)
    if 2 * common < min(text.rect.height, extent.height):
        return False
    part, lines = plain(text.text), [plain(line) for line in whole.splitlines()]
    if text.rect.center.x >= extent.center.x:
        return any(_ends(line, part) for line in lines)
    return any(_begins(line, part) or (_may_follow_caret(part) and _begins(line, part[1:])) for line in lines)


def _ends(line: str, part: str) -> bool:
    if not 0 < len(part) < len(line):
        return False
    return same_text(line[-len(part) :], part) or (len(part) > 2 and line.endswith(part[1:]))


def _begins(line: str, part: str) -> bool:
    if not 0 < len(part) < len(line):
        return False
    return same_text(line[: len(part)], part) or (len(part) > 2 and line.startswith(part[:-1]))


def _joins_names(elements: Sequence[Element], text: Found) -> bool:
    beside = sorted((element for element in elements if element.name or element.text), key=lambda each: each.rect.x)
    joined = " ".join(element.name or element.text or "" for element in beside)
    return len(beside) > 1 and contains_text(joined, text.text)


def _is_of_icons(elements: Sequence[Element], text: Found) -> bool:
    """Return whether a text of a few letters is all that is read in buttons that have only a description."""
    letters = sum(character.isalnum() for character in text.text)
    buttons = [each for each in elements if each.role in NAMEABLE and not each.name and each.description]
    covered = sum(share_inside(text.rect, each.rect) for each in buttons)
    return covered >= LEAST_INSIDE and letters < MOST_ICON_LETTERS + (len(buttons) > 1)


def _headers(elements: Sequence[Element]) -> Mapping[int, list[tuple[Rect, float, int]]]:
    """Return the strips of the headers of sheets, each with the width and the most letters of one header, by window."""
    sheets: dict[int, list[Rect]] = defaultdict(list)
    for element in elements:
        if is_sheet_cell(element):
            sheets[element.window_id].append(element.rect)
    strips = {}
    for window_id, cells in sheets.items():
        around = bounding(cells)
        height = round(HEADER_ROWS * median(cell.height for cell in cells))
        above = Rect(around.x - HEADER_COLUMN_PX, around.y - height, around.width + HEADER_COLUMN_PX, height)
        left = Rect(around.x - HEADER_COLUMN_PX, around.y, HEADER_COLUMN_PX, around.height)
        widths = median(cell.width for cell in cells)
        strips[window_id] = [(above, widths, MOST_LETTERS), (left, HEADER_COLUMN_PX, MOST_DIGITS)]
    return strips

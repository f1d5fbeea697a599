"""Combination of recognized texts and accessible elements, without duplicates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aci.accessibility.roles import VALUED
from aci.observation.sheet_text import is_sheet_cell
from aci.observation.snapshot import Element, Window
from aci.observation.visibility import bounding, overlap, reading_order
from aci.ocr.repeats import LEAST_INSIDE, NAMEABLE, SAME_PLACE, Found, Repeats, contains_text, share_inside

MOST_LABEL_SHARE = 30  # largest ratio of an element's area to that of a text that names it

_LEAST_LETTERS = 4  # of a word in a field; shorter ones are units or arrows
_SHOW_A_TEXT = VALUED | {"combo box"}  # and some toolkits do not report it
_ERROR_VALUE = re.compile(r"#[^\W\d_]+(?:/[^\W_]+)?[!?]?|[^\W\d_]+:\d{3}")  # #REF!, #NAME?, #DIV/0!, #N/A, Err:508
_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging."""

    elements: tuple[Element, ...]  # the accessible elements, some with a name that was recognized
    texts: tuple[Found, ...]  # recognized texts that no element shows
    repeated: tuple[Found, ...]  # recognized texts that elements at their place show


def merge(elements: Sequence[Element], found: Sequence[Found]) -> Merged:
    """Match recognized texts (in reading order within each window) with elements.

    A text that elements at its place already have is dropped. One in an element without a name becomes its name, and
    words beside the number in a nameless field its label. One in a combo box, an error value in a cell that reports
    none, and a number with its unit in a field for numbers become their text.
    """
    places = Repeats(elements)
    names: dict[int, list[Found]] = {}
    labels: dict[int, list[Found]] = {}
    contents: dict[int, list[Found]] = {}
    rest: list[Found] = []
    repeated: list[Found] = []
    for text in found:
        if places.is_header(text):
            continue
        near = places.near(text)
        if places.repeats(text, near):
            repeated.append(text)
            continue
        target = _around(elements, near, text)
        if target is not None and _may_name(elements[target], text):
            names.setdefault(target, []).append(text)
        elif target is not None and (label := _label_in(elements[target], text)):
            labels.setdefault(target, []).append(replace(text, text=label))
        elif target is not None and _may_be_content(elements[target], text):
            contents.setdefault(target, []).append(text)
        else:
            rest.append(text)
    merged = list(elements)
    for index, texts in names.items():
        merged[index] = replace(merged[index], name=_joined(texts))
    for index, texts in labels.items():
        merged[index] = replace(merged[index], label=_joined(texts))
    for index, texts in contents.items():
        merged[index] = replace(merged[index], text=_joined(texts))
    return Merged(tuple(merged), tuple(_without_twins(rest)), tuple(repeated))


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


def _around(elements: Sequence[Element], near: Sequence[int], text: Found) -> int | None:
    """Return the innermost element around a text."""
    for index in near:
        rect = elements[index].rect
        if rect.contains(text.rect.center) and share_inside(text.rect, rect) >= LEAST_INSIDE:
            return index
    return None


def _may_name(element: Element, text: Found) -> bool:
    nameless = not element.name and not element.text
    return nameless and element.role in NAMEABLE and element.rect.area <= MOST_LABEL_SHARE * text.rect.area


def _label_in(element: Element, text: Found) -> str:
    """Return what a text in a nameless field for a number says besides the number; empty if that is no word."""
    if (
        element.role not in VALUED
        or element.name
        or element.label
        or element.rect.area > MOST_LABEL_SHARE * text.rect.area
    ):
        return ""
    rest = _DIGITS.sub("", text.text).strip(" :+-")
    return rest if sum(letter.isalpha() for letter in rest) >= _LEAST_LETTERS else ""


def _may_be_content(element: Element, text: Found) -> bool:
    if is_sheet_cell(element) and not element.text:
        return bool(_ERROR_VALUE.fullmatch(text.text))  # anything else lies over the cell, such as a part of a chart
    if element.text or element.role not in _SHOW_A_TEXT or element.rect.area > MOST_LABEL_SHARE * text.rect.area:
        return False
    number = _DIGITS.search(text.text)
    return element.value is None or (number is not None and float(number[0]) == abs(element.value))


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

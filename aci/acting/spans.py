"""Locating words within an element on the screen.

Applications report the extents of each character through AT-SPI's Text interface. If a toolkit does not, or the element
has no text of its own, the words are recognized in its pixels, and the position of a character is estimated from its
index in the recognized line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from aci.accessibility.texts import FoundText, MissingText, occurrences
from aci.acting.result import Refusal
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element

Line = tuple[str, Rect]
_SHOWN = 60
_SLACK_PX = 2  # how far characters may extend beyond the visible box of their element


class Texts(Protocol):
    """The texts of elements through accessibility; see `AccessibilityClient`."""

    def find_text(self, element_id: int, words: str, occurrence: int = 1, until: str = "") -> FoundText | MissingText:
        """Return an occurrence of words in an element's text and in that of what it contains."""

    def boxes(self, element_id: int, found: FoundText) -> list[Rect]:
        """Return the extents of the characters of words, px; [] where the toolkit gives none."""

    def select(self, found: FoundText) -> bool:
        """Select words through the Text interface; return whether the object reports success."""

    def set_caret(self, found: FoundText) -> bool:
        """Put the caret before words; return whether the object reports success."""

    def is_selected(self, found: FoundText) -> bool:
        """Return whether exactly these words are selected."""

    def whole_text(self, element_id: int) -> str | None:
        """Return all of the text of an element and of what it contains; None if it has none."""

    def main_text(self, window_id: int) -> str | None:
        """Return all of the text of the largest document, text or table of a window; None if it has none."""


class NotFound(Exception):
    """Words cannot be located; the message is for the Worker."""

    def __init__(self, message: str, refusal: Refusal = "no_text") -> None:
        super().__init__(message)
        self.refusal: Refusal = refusal


@dataclass(frozen=True, slots=True)
class Spans:
    """Locates words within elements."""

    texts: Texts  # texts of elements, through accessibility
    # recognizes the lines of text in an area of the screen, px, with their boxes
    recognize: Callable[[Rect], Sequence[Line]]

    def whole(self, element: Element) -> str:
        """Return all text of an element, including text out of sight, or else its name.

        The description is appended, except for a field, where it would be mistaken for content.
        """
        text = self.texts.whole_text(element.id) or element.text
        if text and "editable" in element.states:
            return text
        return "\n".join(part for part in dict.fromkeys((text or element.name, element.description)) if part)

    def main_text(self, window_id: int | None) -> str:
        """Return all of the text of the largest document, text or table of a window; empty if it has none."""
        return (self.texts.main_text(window_id) if window_id is not None else None) or ""

    def find(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> FoundText | None:
        """Return words in an element's text; None if it has no text, so that only its pixels may show them.

        Raises:
            NotFound: The text does not contain the words.
        """
        found = self.texts.find_text(element.id, words, occurrence, until)
        if isinstance(found, FoundText):
            return found
        if found.why != "no_text":
            raise NotFound(_missing(element, words, found, until))
        return None

    def boxes(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> list[Rect]:
        """Return the boxes of the visible characters of words, in order, px; at least one.

        Raises:
            NotFound: The words are missing, or out of sight.
        """
        found = self.find(element, words, occurrence, until)
        boxes = self.texts.boxes(element.id, found) if found is not None else []
        if not boxes:
            return self._recognized_boxes(element, words, occurrence, until, found)
        area = element.rect.grown(_SLACK_PX, _SLACK_PX)
        visible = [box for box in boxes if area.contains(box.center)]
        if not visible:
            raise NotFound(
                f"{_quoted(words)} in element {element.id} is out of sight; scroll to it first.", "out_of_sight"
            )
        return visible

    def _recognized_boxes(
        self, element: Element, words: str, occurrence: int, until: str, found: FoundText | None
    ) -> list[Rect]:
        """Return the estimated boxes of the characters of words recognized in an element's pixels."""
        lines = [(element.name, element.rect)] if element.source == "ocr" else self.recognize(element.rect)
        text = "\n".join(line for line, _ in lines)
        places = occurrences(words, text)
        if not text.strip():
            raise NotFound(f"Element {element.id}, the {_describe(element)}, has no text.")
        if len(places) < occurrence:
            if found is not None:
                raise NotFound(
                    f"{_quoted(words)} cannot be seen in element {element.id}; scroll to it, or name a pixel.",
                    "out_of_sight",
                )
            raise NotFound(_missing(element, words, MissingText("fewer" if places else "absent", len(places)), until))
        start, end = places[occurrence - 1]
        if until:
            ends = [last for first, last in occurrences(until, text) if first >= start and last >= end]
            if not ends:
                raise NotFound(_missing(element, words, MissingText("absent"), until))
            end = ends[0]
        return _estimate_boxes(lines, start, end)


def middle(boxes: Sequence[Rect]) -> Point:
    """Return the center of the middle character on the longest line of words with these character boxes."""
    lines: dict[int, list[Rect]] = {}
    for box in boxes:
        lines.setdefault(box.center.y, []).append(box)
    line = max(lines.values(), key=len)
    return line[len(line) // 2].center


def ends(boxes: Sequence[Rect]) -> tuple[Point, Point]:
    """Return the pixels between which to drag in order to select words with these character boxes."""
    first, last = boxes[0], boxes[-1]
    return Point(first.x, first.center.y), Point(max(last.x, last.right - 1), last.center.y)


def _estimate_boxes(lines: Sequence[Line], start: int, end: int) -> list[Rect]:
    boxes: list[Rect] = []
    at = 0
    for line, rect in lines:
        count = max(len(line), 1)
        for number in range(max(start - at, 0), min(end - at, len(line))):
            left, right = rect.x + rect.width * number // count, rect.x + rect.width * (number + 1) // count
            boxes.append(Rect(left, rect.y, max(right - left, 1), rect.height))
        at += len(line) + 1
    return boxes


def _missing(element: Element, words: str, missing: MissingText, until: str) -> str:
    what = f"Element {element.id}, the {_describe(element)}, "
    if missing.why == "fewer":
        times = "once" if missing.count == 1 else f"{missing.count} times"
        return f"{what}has {_quoted(words)} only {times}."
    if until:
        return f"{what}does not have {_quoted(words)} and, after it, {_quoted(until)}."
    return f"{what}does not have {_quoted(words)} in its text; give words exactly as they are there."


def _quoted(words: str) -> str:
    return repr(words if len(words) <= _SHOWN else words[:_SHOWN] + "...")


def _describe(element: Element) -> str:
    return f"{element.role} {(element.name or element.label or element.description)[:_SHOWN]!r}"

"""Text in the screenshot that the accessibility tree lacks, read within a time budget."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect
from aci.observation.sightings import Sighting
from aci.observation.snapshot import Element, Window
from aci.observation.tracking import IdTracker
from aci.observation.visibility import Placement, ground
from aci.ocr.merge import merge, weave, whole_lines
from aci.ocr.recognizer import Recognizer
from aci.ocr.repeats import Found
from aci.ocr.text_areas import Area, AreaFinder, frame
from aci.ocr.text_engine import TextBox, TextEngine
from aci.ocr.tile_sheets import Tile
from aci.safety.risk_words import pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROLE = "text line"
_MOST_THREADS = 4
_TOUCHING_PX = 2  # what is drawn this close above or below a single letter makes it a part of something else
_IDEOGRAPH = re.compile("[\u3400-\u9fff]")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of reading in one observation."""

    wait_s: float = 5.0  # longest wait for the texts of one observation; most take a tenth of a second
    most_areas: int = 400  # areas that are looked at, of about one line each
    least_confidence: float = 0.7  # texts recognized with less are left out, 0 to 1
    least_confidence_of_short: float = 0.93  # the same for one or two letters or digits
    # the same for texts of few letters or digits, which are often icons
    least_confidence_of_marks: float = 0.97


@dataclass(frozen=True, slots=True)
class ReadScreen:
    """What can be seen with the texts that are only pixels."""

    # topmost window first; recognized texts have the role "text line" and follow the element that they lie in, or
    # else the other elements of their window
    elements: tuple[Element, ...]
    notes: tuple[str, ...]  # what a reader has to know of what was left out
    unread: tuple[Rect, ...] = ()  # areas with a text that is not recognized yet, px
    repeated: tuple[Rect, ...] = ()  # recognized texts that elements around them say as well, px


class TextReader:
    """Finds and recognizes the texts that are missing in the tree.

    Only changed areas are cut out again, and only new tiles are recognized. The rest is read in the background and
    appears in a later observation.

    Args:
        engine: Recognizes texts in pictures.
        ids: Where the ids of elements come from.
        limits: Limits of reading in one observation.

    Attributes:
        awaits_engine: Whether texts are waited for while the engine is still loading, also in windows whose elements
            say most.
    """

    def __init__(
        self,
        engine: TextEngine,
        ids: Iterator[int],
        limits: Limits | None = None,
    ) -> None:
        self._recognizer = Recognizer(engine, min(_MOST_THREADS, os.cpu_count() or 1))
        self._tracker = IdTracker(ids)
        self._limits = limits or Limits()
        self._finder = AreaFinder()
        self._lock = threading.Lock()
        self.awaits_engine = True

    def look_ahead(self, screenshot: NDArray[np.uint8], windows: Sequence[Window]) -> None:
        """Start with windows that had no elements at the last look, while the tree is being read."""
        with self._lock:
            areas = self._finder.look_ahead(screenshot, windows)
        self._recognizer.add([area.tile for area in areas])

    def read(
        self,
        screenshot: NDArray[np.uint8],
        elements: Sequence[Element],
        windows: Sequence[Window],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> ReadScreen:
        """Add recognized texts to elements.

        Args:
            screenshot: (H, W, 3) uint8 RGB.
            elements: The elements of all windows.
            windows: Topmost first.
            meanwhile: Called again and again while texts are waited for.

        Raises:
            AciError: The engine cannot be used at all.
        """
        started = time.monotonic()
        with self._lock:
            areas = self._finder.look(screenshot, elements, windows)
        taken, rest = areas[: self._limits.most_areas], areas[self._limits.most_areas :]
        self._recognizer.want([area.tile for area in taken])
        with_elements = {element.window_id for element in elements}
        hurries = self._recognizer.is_loading and not self.awaits_engine
        awaited = [area for area in taken if not (hurries and area.window_id in with_elements)]
        self._recognizer.wait([area.tile.key for area in awaited], started + self._limits.wait_s, meanwhile)
        shown = {window.id: window for window in windows}
        found, late, failures = self._found(taken, shown)
        merged = merge(elements, _lines_of_terminals(_without_icons(found, elements), shown))
        texts = self._elements(merged.texts, windows, frame(screenshot))
        for reason, count in failures.items():
            logger.warning("%d texts could not be recognized: %s", count, reason)
        # Where the tree says most, a text that comes a moment later is not worth a note.
        mute = [area for area in late if hurries or area.window_id not in with_elements]
        notes = (
            *_about(rest, shown, "shows more texts than are listed; scroll or enlarge it to see them"),
            *_about(mute, shown, "shows texts that are not recognized yet; look again to see them"),
            *(("Some texts are only in the picture; they could not be recognized.",) if failures else ()),
        )
        unread, repeated = (tuple(each.rect for each in areas) for areas in (late, merged.repeated))
        return ReadScreen(weave(merged.elements, texts, windows), notes, unread, repeated)

    def close(self) -> None:
        """Stop reading."""
        self._recognizer.close()

    def _found(
        self, areas: Sequence[Area], windows: Mapping[int, Window]
    ) -> tuple[list[Found], list[Area], Counter[str]]:
        found: list[Found] = []
        late: list[Area] = []
        failures: Counter[str] = Counter()
        for area in areas:
            read = self._recognizer.recall(area.tile.key)
            if read is None:
                late.append(area)
            elif read.failure:
                failures[read.failure] += 1
            else:
                app = windows[area.window_id].app
                found += [
                    Found(box.rect.moved(area.rect.x, area.rect.y), _said(box.text, app), area.window_id, app)
                    for box in read.boxes
                    if self._is_sure(box) and not _is_stacked(area.tile, box)
                ]
        return found, late, failures

    def _is_sure(self, box: TextBox) -> bool:
        text = _said(box.text)
        return bool(text) and box.confidence >= self._least_confidence(text)

    def _least_confidence(self, text: str) -> float:
        alphanumeric = sum(character.isalnum() for character in text)
        if len(text) <= 2 and alphanumeric == len(text):
            return self._limits.least_confidence_of_short
        if len(text) > 2 and alphanumeric * 2 >= len(text):
            return self._limits.least_confidence
        return self._limits.least_confidence_of_marks

    def _elements(self, texts: Sequence[Found], windows: Sequence[Window], screen: Rect) -> list[Element]:
        above: dict[int, list[Rect]] = {}
        rects: dict[int, Rect] = {}
        covers: list[Rect] = []
        for window in windows:
            above[window.id] = list(covers)
            covers.append(window.frame or window.rect)
            rects[window.id] = window.rect
        seen: dict[tuple[int, str, int, int], tuple[Found, Placement]] = {}
        for text in texts:
            within = rects[text.window_id]
            placement = ground(text.rect, (screen, within), above[text.window_id])
            if placement is not None:
                # Counted from the window, so that a text keeps its id when the window moves.
                corner = (text.rect.x - within.x, text.rect.y - within.y)
                seen.setdefault((text.window_id, text.text, *corner), (text, placement))
        sightings = [
            Sighting(key, (text.window_id, text.text), placement.rect, text.text, holders=(text.window_id,))
            for key, (text, placement) in seen.items()
        ]
        ids = self._tracker.assign(sightings)
        return [
            _element(identity, text, placement) for identity, (text, placement) in zip(ids, seen.values(), strict=True)
        ]


def _said(text: str, app: str = "") -> str:
    """Return a recognized text without the caret before or after it; in terminals a bar may be a part of it."""
    return text.strip() if pattern("terminals").search(app) else text.strip("| ")


def _is_stacked(tile: Tile, box: TextBox) -> bool:
    """Return whether a text is one letter of a word that is written downwards, as on rulers, or part of a drawing."""
    if len(_said(box.text)) != 1:
        return False
    rect, height = box.rect, tile.pixels.shape[0]
    columns = slice(rect.x, rect.right)
    above = tile.pixels[max(0, rect.y - _TOUCHING_PX) : rect.y, columns]
    below = tile.pixels[rect.bottom : min(height, rect.bottom + _TOUCHING_PX), columns]
    return bool((above != tile.background).any() or (below != tile.background).any())


def _without_icons(found: Sequence[Found], elements: Sequence[Element]) -> list[Found]:
    """Drop single ideographs, which engines take icons for, from a screen on which nothing else is written so."""
    longer = (text.text for text in found if len(text.text) > 1)
    if any(_IDEOGRAPH.search(text) for text in longer) or any(
        _IDEOGRAPH.search(text) for element in elements for text in (element.name, element.text) if text
    ):
        return list(found)
    return [text for text in found if not _IDEOGRAPH.fullmatch(text.text)]


def _lines_of_terminals(found: Sequence[Found], windows: Mapping[int, Window]) -> list[Found]:
    terminals = {each.id for each in windows.values() if pattern("terminals").search(each.app)}
    joined: list[Found] = []
    for window_id, texts in groupby(found, key=lambda text: text.window_id):
        lines = list(texts)
        joined += whole_lines(lines) if window_id in terminals else lines
    return joined


def _element(identity: int, text: Found, placement: Placement) -> Element:
    return Element(
        id=identity,
        role=ROLE,
        name=text.text,
        rect=placement.rect,
        point=placement.point,
        window_id=text.window_id,
        app=text.app,
        source="ocr",
    )


def _about(areas: Sequence[Area], windows: Mapping[int, Window], what: str) -> list[str]:
    found = dict.fromkeys(area.window_id for area in areas)
    return [f"The window {windows[each].title or windows[each].app!r} {what}." for each in found]

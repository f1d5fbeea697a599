"""The icons and shapes of a screen that nothing names, as elements with stable ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aci.accessibility.roles import INTERACTIVE, VALUED
from aci.candidates.colors import color_name
from aci.candidates.figures import Figure, find_figures
from aci.candidates.sheet_headers import Header, sheet_headers
from aci.observation.geometry import Point, Rect
from aci.observation.sightings import Sighting
from aci.observation.snapshot import IN_PICTURE, Element, Window
from aci.observation.tracking import IdTracker
from aci.ocr.text_areas import PICTURES, reports_its_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL_PX = 96  # longest side of an element that is an icon itself; pictures larger than this are looked into
_CONTROLS = INTERACTIVE | VALUED | {"scroll bar", "separator"}
_EDGE_PX = 2  # by which texts and controls may extend beyond their elements
_MOST_NAMED = 0.5  # share of a figure that elements may stand for; GTK 4 draws buttons larger than their elements
_MOST = 120  # figures of a window; more of them are texture


def candidate_finder(ids: Iterator[int]) -> CandidateFinder | None:
    """Return a finder; None without OpenCV, which comes with the text engines that are Python packages."""
    try:
        import cv2  # noqa: F401 - a text engine may be loading it at this moment, which the import waits for
    except ImportError:
        return None
    return CandidateFinder(ids)


@dataclass(frozen=True, slots=True)
class _Look:
    """A window at one look."""

    pixels: NDArray[np.uint8]
    visible: NDArray[np.bool_]
    named: NDArray[np.bool_]
    figures: tuple[Figure, ...]

    def shows(self, pixels: NDArray[np.uint8], visible: NDArray[np.bool_], named: NDArray[np.bool_]) -> bool:
        pairs = (self.pixels, pixels), (self.visible, visible), (self.named, named)
        return all(np.array_equal(old, new) for old, new in pairs)


class CandidateFinder:
    """Finds candidates; windows that look as before are not searched again. Use it from one thread at a time."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._tracker = IdTracker(ids)
        self._looks: dict[int, _Look] = {}

    def find(
        self,
        screenshot: NDArray[np.uint8],
        elements: Sequence[Element],
        windows: Sequence[Window],
        texts: Sequence[Rect] = (),
    ) -> tuple[Element, ...]:
        """Return the icons and shapes of windows that no element stands for, without names, after headers of sheets.

        Args:
            screenshot: (H, W, 3) uint8 RGB.
            elements: What the tree and text recognition found.
            windows: Topmost first.
            texts: Areas of text that is no element, px: it repeats one, or has not been recognized yet.
        """
        screen = Rect(0, 0, screenshot.shape[1], screenshot.shape[0])
        named = np.zeros(screenshot.shape[:2], dtype=bool)
        _mark(named, (*texts, *(element.rect for element in elements if _is_known(element))))
        free = np.ones(screenshot.shape[:2], dtype=bool)
        looks: dict[int, _Look] = {}
        found: list[tuple[Window, Rect, Figure]] = []
        for window in windows:
            if (area := window.rect.intersection(screen)) is None:
                continue
            part = slice(area.y, area.bottom), slice(area.x, area.right)
            # an element in two visible parts; windows above it are done already
            _mark(
                named, (one.extent for one in elements if one.extent and one.window_id == window.id and _is_known(one))
            )
            looks[window.id] = look = self._look(window, screenshot[part], free[part], named[part].copy())
            found += [(window, area, figure) for figure in look.figures[:_MOST]]
            cover = (window.frame or window.rect).intersection(screen) or area
            free[cover.y : cover.bottom, cover.x : cover.right] = False
        self._looks = looks
        return self._elements(found, screenshot, elements)

    def _look(
        self, window: Window, pixels: NDArray[np.uint8], visible: NDArray[np.bool_], named: NDArray[np.bool_]
    ) -> _Look:
        last = self._looks.get(window.id)
        if last is not None and last.shows(pixels, visible, named):
            return last
        figures = find_figures(np.ascontiguousarray(pixels), visible, named) if visible.any() else []
        unnamed = (figure for figure in figures if _share(named, figure.rect) < _MOST_NAMED)
        return _Look(pixels, visible.copy(), named, tuple(unnamed))

    def _elements(
        self, found: Sequence[tuple[Window, Rect, Figure]], screenshot: NDArray[np.uint8], elements: Sequence[Element]
    ) -> tuple[Element, ...]:
        placed = [(window, figure, figure.rect.moved(area.x, area.y), area) for window, area, figure in found]
        headers: list[tuple[Window, Header]] = []
        for window in dict.fromkeys(window for window, *_ in placed):
            own = [element for element in elements if element.window_id == window.id]
            drawn = [rect for one, _, rect, _ in placed if one is window]
            headers += [(window, header) for header in sheet_headers(own, drawn)]
        placed = [
            one
            for one in placed
            if not any(window is one[0] and header.rect.contains(one[2].center) for window, header in headers)
        ]
        sightings = [_header_sighting(window, header) for window, header in headers]
        sightings += [
            _sighting(window, rect, figure.kind, screenshot[rect.y : rect.bottom, rect.x : rect.right])
            for window, figure, rect, _ in placed
        ]
        ids = iter(self._tracker.assign(sightings))
        return (
            *(_header(next(ids), header, window) for window, header in headers),
            *(_candidate(next(ids), figure, rect, area, window) for window, figure, rect, area in placed),
        )


def _header(identity: int, header: Header, window: Window) -> Element:
    return Element(
        id=identity,
        role=header.role,
        name=header.name,
        rect=header.rect,
        point=header.rect.center,
        window_id=window.id,
        app=window.app,
        path=IN_PICTURE,
        source="picture",
    )


def _candidate(identity: int, figure: Figure, rect: Rect, area: Rect, window: Window) -> Element:
    return Element(
        id=identity,
        role=figure.kind,
        name="",
        description=color_name(figure.color),
        rect=rect,
        point=Point(figure.point.x + area.x, figure.point.y + area.y),
        window_id=window.id,
        app=window.app,
        path=IN_PICTURE,
        source="picture",
    )


def _header_sighting(window: Window, header: Header) -> Sighting:
    key = (window.id, header.role, header.name)
    return Sighting(key, key, header.rect, header.name, holders=(window.id,), lasting=True)


def _sighting(window: Window, rect: Rect, kind: str, pixels: NDArray[np.uint8]) -> Sighting:
    """Return what distinguishes a figure from others: its pixels stand for the words on other elements."""
    print_ = hashlib.blake2b(pixels.tobytes(), digest_size=8).hexdigest()
    # Counted from the window, so that a figure keeps its id when the window moves.
    key = (window.id, rect.x - window.rect.x, rect.y - window.rect.y, rect.width, rect.height)
    return Sighting(key, (window.id, kind, print_), rect, print_, holders=(window.id,))


def _share(named: NDArray[np.bool_], rect: Rect) -> float:
    return float(named[rect.y : rect.bottom, rect.x : rect.right].mean())


def _mark(named: NDArray[np.bool_], rects: Iterable[Rect]) -> None:
    for rect in rects:
        grown = rect.grown(_EDGE_PX, _EDGE_PX)
        named[max(0, grown.y) : max(0, grown.bottom), max(0, grown.x) : max(0, grown.right)] = True


def _is_known(element: Element) -> bool:
    """Return whether everything in an element can be addressed by it, or is text."""
    small = max(element.rect.width, element.rect.height) <= _SMALL_PX
    if element.role in PICTURES and not small:
        return False
    return small or element.role in _CONTROLS or reports_its_text(element)

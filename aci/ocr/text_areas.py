"""The areas of the screen that may hold text without elements, cut out again only where they changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from aci.accessibility.roles import NOTICES, PLAIN, VALUED
from aci.observation.geometry import Rect
from aci.observation.sheet_text import is_sheet_cell
from aci.observation.snapshot import Element, Window
from aci.ocr.lines import find_lines
from aci.ocr.tile_sheets import Tile, make_tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CODES = 255
# named after what they show, not after the texts in them
PICTURES = frozenset({"image", "canvas", "drawing area", "chart", "animation", "video", "embedded", "image map"})
BLOCK_PX = 16

_BORDER_PX = 4  # of a cell: its lines, the frame of the selection and its handle
_EDGE_PX = 2  # letters may extend this far beyond their element
# Left of a tree cell are its arrow and, in GTK 3, letters: extents are reported as if there were one more arrow
_TREE_PX = 40
_LOW_PX = 48
_AREA_PER_CHARACTER = 400  # px², several times the area of an ordinary letter
_WIDTH_PER_CHARACTER = 14  # px, nearly twice the width of an ordinary letter
_UNWRITTEN_CHARACTERS = 8
_HOLD_MORE = PLAIN | NOTICES | {"frame"}  # also where they are low, such as the two ends of a status bar


@dataclass(frozen=True, slots=True)
class Area:
    """A piece of a window that may hold text."""

    window_id: int  # the window
    rect: Rect  # where it is on the screen, px
    tile: Tile  # its pixels


@dataclass(frozen=True, slots=True)
class _Look:
    """One look."""

    pixels: NDArray[np.uint8]  # (H, W, 3) uint8 RGB
    silent: NDArray[np.uint8]  # (H, W) uint8, codes of the windows where the tree has no text
    codes: dict[int, int]  # A number from 1 to 255 for each window
    without_elements: frozenset[int] = frozenset()  # windows without elements
    areas: dict[int, list[Area]] = field(default_factory=dict)  # the areas of each window


class AreaFinder:
    """Compares each look with the one before; use it from one thread at a time."""

    def __init__(self) -> None:
        self._last: _Look | None = None

    def look(self, pixels: NDArray[np.uint8], elements: Sequence[Element], windows: Sequence[Window]) -> list[Area]:
        """Return the areas of all windows (topmost first) in a screenshot, (H, W, 3) uint8 RGB, in reading order."""
        codes = self._codes(windows)
        reporting = [element for element in elements if not _hides_a_text(element, pixels)]
        now = _Look(
            pixels,
            map_unread_windows(windows, reporting, frame(pixels), codes),
            codes,
            frozenset(codes) - {element.window_id for element in elements},
        )
        now.areas.update(self._areas(windows, now))
        self._last = now
        return [area for window in windows for area in now.areas.get(window.id, ())]

    def look_ahead(self, pixels: NDArray[np.uint8], windows: Sequence[Window]) -> list[Area]:
        """Return the areas of windows without elements at the last look; stores nothing."""
        if self._last is None:
            return []
        mute = {key: code for key, code in self._last.codes.items() if key in self._last.without_elements}
        if not mute:
            return []
        now = _Look(pixels, map_unread_windows(windows, (), frame(pixels), mute), mute)
        return [area for areas in self._areas(windows, now).values() for area in areas]

    def _codes(self, windows: Sequence[Window]) -> dict[int, int]:
        """Return a number for each window, stable between looks; windows beyond 255 get none."""
        last = self._last.codes if self._last is not None else {}
        kept = {window.id: last[window.id] for window in windows if window.id in last}
        free = iter(sorted(set(range(1, _MOST_CODES + 1)) - set(kept.values())))
        for window in windows:
            if window.id not in kept and (code := next(free, None)) is not None:
                kept[window.id] = code
        return kept

    def _areas(self, windows: Sequence[Window], now: _Look) -> dict[int, list[Area]]:
        changed = self._changed(now)
        found: dict[int, list[Area]] = {}
        for window in windows:
            if window.id not in now.codes:
                continue
            if self._last is None or changed is None or _is_changed(changed, window, self._last, now):
                found[window.id] = _cut_out(window, now)
            else:
                found[window.id] = self._last.areas[window.id]
        return found

    def _changed(self, now: _Look) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        last = self._last
        if last is None or last.pixels.shape != now.pixels.shape:
            return None
        return changed_blocks(last.pixels, now.pixels), changed_blocks(last.silent, now.silent)


def frame(pixels: NDArray[np.uint8]) -> Rect:
    """Return the whole of a picture."""
    return Rect(0, 0, pixels.shape[1], pixels.shape[0])


def _is_changed(changed: tuple[NDArray[np.bool_], NDArray[np.bool_]], window: Window, last: _Look, now: _Look) -> bool:
    pixels, silent = changed
    if window.id not in last.areas or blocks_within(silent, window.rect):
        return True
    if not blocks_within(pixels, window.rect):
        return False
    mine = (now.silent == now.codes[window.id]).view(np.uint8)
    return bool((pixels & changed_blocks(np.zeros_like(mine), mine)).any())


def _cut_out(window: Window, now: _Look) -> list[Area]:
    visible = window.rect.intersection(frame(now.pixels))
    if visible is None:
        return []
    rows, columns = slice(visible.y, visible.bottom), slice(visible.x, visible.right)
    pixels, wanted = now.pixels[rows, columns], now.silent[rows, columns] == now.codes[window.id]
    areas = []
    for rect in find_lines(pixels, wanted):
        inner = (slice(rect.y, rect.bottom), slice(rect.x, rect.right))
        areas.append(Area(window.id, rect.moved(visible.x, visible.y), make_tile(pixels[inner], wanted[inner])))
    return areas


def map_unread_windows(
    windows: Sequence[Window], elements: Sequence[Element], screen: Rect, codes: Mapping[int, int]
) -> NDArray[np.uint8]:
    """Return (H, W) uint8: the code of the window without text in the tree at each pixel, else 0.

    `codes` holds a number from 1 to 255 for each window id; windows without one are ignored.
    """
    silent = np.zeros((screen.height, screen.width), dtype=np.uint8)
    written: dict[int, list[Rect]] = {}
    for element in elements:
        if reports_its_text(element):
            written.setdefault(element.window_id, []).append(_written_on(element))
    for window in reversed(windows):
        borders = window.frame.intersection(screen) if window.frame is not None else None
        if borders is not None:
            _fill(silent, borders, 0)  # a title bar says what the list of windows does
        visible = window.rect.intersection(screen)
        if visible is None:
            continue
        _fill(silent, visible, codes.get(window.id, 0))
        for rect in written.get(window.id, ()):
            grown = rect.grown(_EDGE_PX, _EDGE_PX).intersection(visible)
            if grown is not None:
                _fill(silent, grown, 0)
    return silent


def reports_its_text(element: Element) -> bool:
    """Return whether the text in an element is known from the tree, or must not be read."""
    if element.is_password or element.source == "ocr":
        return True
    if element.role in VALUED and not (element.name or element.label):
        return False  # what it is for may be drawn beside its value
    if element.text:
        return True
    if element.role in PICTURES:
        return False
    return element.text is not None or (bool(element.name) and not _is_spacious(element))


def _hides_a_text(element: Element, pixels: NDArray[np.uint8]) -> bool:
    """Return whether a cell shows something though it reports no text, as LibreOffice does where a formula fails."""
    if element.text or not is_sheet_cell(element):
        return False
    inner = element.rect.grown(-_BORDER_PX, -_BORDER_PX)
    shown = pixels[max(0, inner.y) : max(0, inner.bottom), max(0, inner.x) : max(0, inner.right)]
    return shown.size > 0 and bool((shown != shown[0, 0]).any())


def changed_blocks(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return (rows, columns) bool: which blocks of 16 x 16 px differ between two uint8 pictures of the same shape."""
    height, width = now.shape[:2]
    rows, columns = -(-height // BLOCK_PX), -(-width // BLOCK_PX)
    blocks = np.zeros((rows, columns), dtype=bool)
    whole_columns = width // BLOCK_PX
    # Eight bytes at a time: a comparison byte by byte takes tens of milliseconds.
    differs = _words(before, whole_columns) != _words(now, whole_columns)
    touched = np.flatnonzero(differs.any(axis=1))
    for row in np.unique(touched // BLOCK_PX):
        band = differs[row * BLOCK_PX : (row + 1) * BLOCK_PX].any(axis=0)
        blocks[row, :whole_columns] = band.reshape(whole_columns, -1).any(axis=1)
    if columns > whole_columns:
        edge = before[:, whole_columns * BLOCK_PX :] != now[:, whole_columns * BLOCK_PX :]
        for row in range(rows):
            blocks[row, -1] = bool(edge[row * BLOCK_PX : (row + 1) * BLOCK_PX].any())
    return blocks


def blocks_within(blocks: NDArray[np.bool_], rect: Rect) -> bool:
    """Return whether any block that a rectangle touches is set."""
    top, left = max(0, rect.y // BLOCK_PX), max(0, rect.x // BLOCK_PX)
    return bool(blocks[top : -(-rect.bottom // BLOCK_PX), left : -(-rect.right // BLOCK_PX)].any())


def _words(picture: NDArray[np.uint8], whole_columns: int) -> NDArray[np.uint64]:
    depth = 1 if picture.ndim == 2 else picture.shape[2]
    flat = picture.reshape(picture.shape[0], -1)[:, : whole_columns * BLOCK_PX * depth]
    return flat.view(np.uint64)


def _written_on(element: Element) -> Rect:
    rect = element.extent or element.rect
    in_tree = element.role == "table cell" and bool(element.path) and element.path[-1].startswith("tree table:")
    return Rect(rect.x - _TREE_PX, rect.y, rect.width + _TREE_PX, rect.height) if in_tree else rect


def _fill(silent: NDArray[np.uint8], rect: Rect, code: int) -> None:
    silent[rect.y : rect.bottom, rect.x : rect.right] = code


def _is_spacious(element: Element) -> bool:
    """Return whether an element is far larger than its name, so that it may hold more text."""
    rect, characters = element.rect, len(element.name) + _UNWRITTEN_CHARACTERS
    if element.role in _HOLD_MORE and rect.width > _WIDTH_PER_CHARACTER * characters:
        return True
    return rect.height >= _LOW_PX and rect.area > _AREA_PER_CHARACTER * characters

"""The parts of windows whose text, if there is any, is missing in the accessibility tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.snapshot import Element, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

# named after what they show, not after the texts in them
PICTURES = frozenset({"image", "canvas", "drawing area", "chart", "animation", "video", "embedded", "image map"})
BLOCK_PX = 16

_EDGE_PX = 2  # letters may extend this far beyond their element
# Left of a tree cell are its arrow and, in GTK 3, letters: extents are reported as if there were one more arrow
_TREE_PX = 40
_LOW_PX = 48
_AREA_PER_CHARACTER = 400  # px², several times the area of an ordinary letter
_UNWRITTEN_CHARACTERS = 8


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
    if element.role == "password text" or "password" in element.states:
        return True
    if element.text or element.source == "ocr":
        return True
    if element.role in PICTURES:
        return False
    return element.text is not None or (bool(element.name) and not _is_spacious(element))


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
    rect = element.rect
    in_tree = element.role == "table cell" and bool(element.path) and element.path[-1].startswith("tree table:")
    return Rect(rect.x - _TREE_PX, rect.y, rect.width + _TREE_PX, rect.height) if in_tree else rect


def _fill(silent: NDArray[np.uint8], rect: Rect, code: int) -> None:
    silent[rect.y : rect.bottom, rect.x : rect.right] = code


def _is_spacious(element: Element) -> bool:
    """Return whether an element is far larger than its name, so that it may hold more text."""
    rect = element.rect
    return rect.height >= _LOW_PX and rect.area > _AREA_PER_CHARACTER * (len(element.name) + _UNWRITTEN_CHARACTERS)

"""Segmentation of a picture into pieces of about one line, so that a change in one does not affect the others.

Only clearly separate pieces are cut apart; the engine finds the letters. The method is the recursive X-Y cut (Nagy,
Seth: "Hierarchical representation of optically scanned documents", 1984) on edges instead of ink. What dashed lines and
rulers hold together around an empty area, such as the canvas of a drawing program, is cut across these lines.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from aci.observation.geometry import Rect
from aci.observation.visibility import reading_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

Pixel = TypeVar("Pixel", bound=np.generic)

LARGEST_WIDTH_PX, LARGEST_HEIGHT_PX = 1200, 400  # larger pieces are split at their emptiest place

_STEP = 16  # brightness difference (0 to 255) of an edge; shading changes less
_DOUBLINGS = 1, 2, 4, 8, 16, 32
_FRAME_PX = 1 + sum(_DOUBLINGS)  # longer straight edges are frames and rules, not letters
_COLUMN_GAP_PX = 24
_HIGHEST_LINE_PX = 40
_LOW_PX = 7
_ACCENT_GAP_PX = 3  # a part lower than `_LOW_PX` this close to another is a dot, accent or underline
_LEAST_HEIGHT_PX, _LEAST_WIDTH_PX = 5, 4
_LEAST_CROSSINGS = 4  # edges crossed by a row through two letters; a rule or caret has fewer
_MARGIN_PX = 2
_DEEPEST = 24
_EMPTY, _EMPTY_PX = 0.06, 64  # share of edges in a piece of more than this width and height that holds lines, not texts
_CROSSED_PX = 12  # width or height of a strip in which a text would have a whole letter


def find_lines(pixels: NDArray[np.uint8], wanted: Mask) -> list[Rect]:
    """Return the pieces of a picture, (H, W, 3) uint8 RGB, that may hold text, in reading order.

    `wanted`, (H, W) bool, marks the pixels of interest. The rectangles overlap by no more than their margin of 2 px.
    """
    frame = _bounds(wanted)
    if frame is None:
        return []
    across, edges = _edges(_part(pixels, frame), _part(wanted, frame))
    pieces = _cut(edges, Rect(0, 0, frame.width, frame.height), _DEEPEST)
    pieces = [part for piece in pieces for part in _bounded(edges, piece)]
    kept = [piece.moved(frame.x, frame.y) for piece in pieces if _may_be_text(across, piece)]
    grown = [piece.grown(_MARGIN_PX, _MARGIN_PX).intersection(frame) or piece for piece in kept]
    return [grown[index] for index in reading_order(grown)]


def word_gap(height: int) -> int:
    """Return the largest gap between two words on a line of this height, px; separate labels are farther apart."""
    return max(12, height)


def _edges(pixels: NDArray[np.uint8], wanted: Mask) -> tuple[Mask, Mask]:
    """Return where the brightness jumps along a row, and where it jumps at all, without frames and rules."""
    light = (pixels[:, :, 0].astype(np.int16) + 2 * pixels[:, :, 1].astype(np.int16) + pixels[:, :, 2]) >> 2
    across = np.zeros(wanted.shape, dtype=bool)
    across[:, 1:] = (np.abs(np.diff(light, axis=1)) > _STEP) & wanted[:, 1:] & wanted[:, :-1]
    down = np.zeros(wanted.shape, dtype=bool)
    down[1:] = (np.abs(np.diff(light, axis=0)) > _STEP) & wanted[1:] & wanted[:-1]
    across &= ~_long_runs(across)
    down &= ~_long_runs(down.T).T
    return across, across | down


def _long_runs(mask: Mask) -> Mask:
    """Return which pixels belong to a run of at least `_FRAME_PX` along the first axis."""
    runs = np.zeros(mask.shape, dtype=bool)
    if len(mask) < _FRAME_PX:
        return runs
    starts = mask
    for length in _DOUBLINGS:
        starts = starts[:-length] & starts[length:]
    runs[: len(starts)] = starts
    if starts.any():
        for length in _DOUBLINGS:
            runs[length:] |= runs[:-length]
    return runs


def _cut(edges: Mask, piece: Rect, deepest: int) -> list[Rect]:
    part = _part(edges, piece)
    rows = _with_accents(_runs(np.any(part, axis=1), 1))
    if len(rows) > 1 and deepest:
        bands = (Rect(piece.x, piece.y + start, piece.width, end - start) for start, end in rows)
        return [found for band in bands for found in _cut(edges, band, deepest - 1)]
    height = rows[-1][1] - rows[0][0] if rows else 0
    gap = word_gap(height) if height <= _HIGHEST_LINE_PX else _COLUMN_GAP_PX
    columns = _runs(np.any(part, axis=0), gap)
    if len(columns) > 1 and deepest:
        strips = (Rect(piece.x + start, piece.y, end - start, piece.height) for start, end in columns)
        return [found for strip in strips for found in _cut(edges, strip, deepest - 1)]
    if not rows or not columns:
        return []
    (top, bottom), (left, right) = (rows[0][0], rows[-1][1]), (columns[0][0], columns[-1][1])
    found = Rect(piece.x + left, piece.y + top, right - left, bottom - top)
    halves = _halves(edges, found) if deepest else []
    return [part for half in halves for part in _cut(edges, half, deepest - 1)] or [found]


def _halves(edges: Mask, piece: Rect) -> list[Rect]:
    """Return the parts of a piece that is mostly empty, cut across nothing but thin lines; [] for any other piece."""
    part = _part(edges, piece)
    if min(part.shape) <= _EMPTY_PX or part.mean() > _EMPTY:
        return []
    for axis in sorted((0, 1), key=lambda axis: -part.shape[axis]):
        places = _thin_crossings(part if axis == 0 else part.T)
        if len(places):
            return _split(piece, int(places[np.argmin(np.abs(2 * places - part.shape[axis]))]), axis)
    return []


def _thin_crossings(edges: Mask) -> NDArray[np.intp]:
    """Return the rows around which a strip has no edges but those of lines that cross it."""
    strips: Mask = np.any(sliding_window_view(edges, _CROSSED_PX, axis=0), axis=-1)
    thick: Mask = np.all(sliding_window_view(strips, _LEAST_HEIGHT_PX, axis=1), axis=-1)
    return np.flatnonzero(~np.any(thick, axis=1)) + _CROSSED_PX // 2


def _split(piece: Rect, at: int, axis: int) -> list[Rect]:
    """Cut a piece in two, across its height (axis 0) or width (axis 1), px from its top or left."""
    if axis == 0:
        return [replace(piece, height=at), replace(piece, y=piece.y + at, height=piece.height - at)]
    return [replace(piece, width=at), replace(piece, x=piece.x + at, width=piece.width - at)]


def _runs(busy: Mask, gap: int) -> list[tuple[int, int]]:
    places = np.flatnonzero(busy)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    starts = [int(places[0]), *(int(places[index + 1]) for index in breaks)]
    ends = [*(int(places[index]) + 1 for index in breaks), int(places[-1]) + 1]
    return list(zip(starts, ends, strict=True))


def _with_accents(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined = runs[:1]
    for (start, end), (next_start, next_end) in pairwise(runs):
        low = min(joined[-1][1] - joined[-1][0], next_end - next_start) < _LOW_PX
        if low and next_start - end <= _ACCENT_GAP_PX and end - start < LARGEST_HEIGHT_PX:
            joined[-1] = (joined[-1][0], next_end)
        else:
            joined.append((next_start, next_end))
    return joined


def _bounded(edges: Mask, piece: Rect) -> list[Rect]:
    if piece.height <= LARGEST_HEIGHT_PX and piece.width <= LARGEST_WIDTH_PX:
        return [piece]
    axis = 0 if piece.height > LARGEST_HEIGHT_PX else 1
    at = _quietest(_part(edges, piece).sum(axis=1 - axis))
    return [found for part in _split(piece, at, axis) for found in _bounded(edges, part)]


def _quietest(busy: NDArray[np.int_]) -> int:
    quarter = len(busy) // 4
    smooth = np.convolve(busy, np.ones(5), mode="same")
    return quarter + int(np.argmin(smooth[quarter : len(busy) - quarter]))


def _may_be_text(across: Mask, piece: Rect) -> bool:
    if piece.height < _LEAST_HEIGHT_PX or piece.width < _LEAST_WIDTH_PX:
        return False
    return int(_part(across, piece).sum(axis=1).max()) >= _LEAST_CROSSINGS


def _bounds(mask: Mask) -> Rect | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    left, top = int(columns[0]), int(rows[0])
    return Rect(left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)


def _part(picture: NDArray[Pixel], rect: Rect) -> NDArray[Pixel]:
    return picture[rect.y : rect.bottom, rect.x : rect.right]

"""Visible parts of elements, and the points at which a click hits them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aci.observation.geometry import Point, Rect

MAX_PIECES = 64  # further cuts leave slivers that are too small to hit
SLIVER_PX = 2  # an element that is clipped to a thinner strip, as at the edge of a list, counts as invisible
FAIR_SHARE = 0.8  # minimum share of the bounding box that pieces must fill to be represented by it


@dataclass(frozen=True, slots=True)
class Placement:
    """The visible part of an element."""

    # the visible part, px; if it is far from rectangular, its largest rectangle
    rect: Rect
    point: Point  # a pixel of that part, its center if that can be hit
    extent: Rect  # the part including what other windows cover, px


def ground(rect: Rect, clips: Iterable[Rect], covers: Iterable[Rect], avoid: Sequence[Rect] = ()) -> Placement | None:
    """Return the visible part of a rectangle and the point to click; None if it is invisible.

    Args:
        rect: Full extents, px.
        clips: Rectangles that clip it: the screen, its window, and scroll areas.
        covers: Windows above it.
        avoid: Smaller controls inside it, which a click must not hit.
    """
    visible = clipped(rect, clips)
    if visible is None or min(visible.width, visible.height) < SLIVER_PX <= min(rect.width, rect.height):
        return None
    pieces = uncovered(visible, covers)
    if not pieces:
        return None
    around = bounding(pieces)
    if sum(piece.area for piece in pieces) < FAIR_SHARE * around.area:
        around = max(pieces, key=lambda piece: piece.area)
        pieces = [around]
    free = [part for piece in pieces for part in uncovered(piece, avoid)] if avoid else pieces
    return Placement(around, _click_point(around, free or pieces), visible)


def clipped(rect: Rect, clips: Iterable[Rect]) -> Rect | None:
    """Return the part of a rectangle inside all clips; None if it is empty."""
    remaining: Rect | None = rect if rect.width > 0 and rect.height > 0 else None
    for clip in clips:
        if remaining is None:
            return None
        remaining = remaining.intersection(clip)
    return remaining


def uncovered(rect: Rect, covers: Iterable[Rect]) -> list[Rect]:
    """Return disjoint rectangles that make up the uncovered part of a rectangle."""
    pieces = [rect] if rect.area else []
    for cover in covers:
        pieces = [part for piece in pieces for part in piece.subtract(cover)]
        if len(pieces) > MAX_PIECES:
            pieces = sorted(pieces, key=lambda piece: piece.area, reverse=True)[:MAX_PIECES]
        if not pieces:
            break
    return pieces


def bounding(rects: Sequence[Rect]) -> Rect:
    """Return the bounding box of at least one rectangle."""
    left, top = min(rect.x for rect in rects), min(rect.y for rect in rects)
    right, bottom = max(rect.right for rect in rects), max(rect.bottom for rect in rects)
    return Rect(left, top, right - left, bottom - top)


def overlap(one: Rect, other: Rect) -> float:
    """Return the intersection over union, 0 to 1."""
    common = one.intersection(other)
    if common is None:
        return 0.0
    return common.area / (one.area + other.area - common.area)


def reading_order(rects: Sequence[Rect]) -> list[int]:
    """Return indices in reading order: rows from the top, each from the left.

    A rectangle belongs to a row if its middle lies above the lower edge of the row's first rectangle.
    """
    rows: list[list[int]] = []
    limit = 0
    for index in sorted(range(len(rects)), key=lambda i: (rects[i].y, rects[i].x)):
        if rows and rects[index].center.y < limit:
            rows[-1].append(index)
        else:
            rows.append([index])
            limit = rects[index].bottom
    return [index for row in rows for index in sorted(row, key=lambda i: (rects[i].x, rects[i].y))]


def _click_point(visible: Rect, pieces: Sequence[Rect]) -> Point:
    middle = visible.center
    if any(piece.contains(middle) for piece in pieces):
        return middle
    return max(pieces, key=lambda piece: (min(piece.width, piece.height), piece.area)).center

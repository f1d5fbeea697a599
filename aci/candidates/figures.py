"""Icons and shapes in a picture, by edges and by areas of one colour.

Edges that touch or nearly touch belong together. What is small is an icon; what is large is looked into: areas that the
edges enclose are its shapes, such as the bars of a chart or the stones on a board, unless there are so many of one
colour that they are its ground. Frames, rules and dense texture are not figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from aci.observation.geometry import Point, Rect
from aci.observation.visibility import overlap

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["icon", "shape"]
Color = tuple[int, int, int]

_STEP = 16  # difference of a channel (0 to 255) at an edge; shading changes less
_LEAST_PX = 6  # smallest side of a figure
_THIN_PX = 10  # what is thinner is a part of an icon, such as a line of a menu button
_ICON_PX = 64  # longest side of an icon
_GAPS = (2, 5)  # least and most distance of the parts of an icon, px; they grow with the parts
_LONGEST, _STOUT_PX = 8, 12  # ratio of the sides beyond which what is thinner than this, px, is a line or a ruler
_LEAST_PART = 80  # px² of an area inside a larger figure
_FILLED = 0.25  # share of its box that such an area fills at least
_MAIN = 0.5  # share of its box from which on one area is the figure itself
_LARGEST = 0.6  # of the picture's width and height: larger figures are its ground
_FRAME_PX = 320  # longest side of an empty figure; larger ones are frames
_GROUND_PARTS, _GROUND_SHARE = 12, 0.4  # number and share of areas of one colour that are the ground of the others
_MOST_HOLES, _MOST_PARTS = 6, 80
_SAMPLES = 24  # rows and columns of an area that its colour is taken from
_NAMED = 0.6  # share of something within what is named, from which on it is a part of that
_ALIKE = 16  # difference of a channel between two areas of the same colour
_DENSE = 0.12  # share of edges in a figure without areas of one colour, from which on it is more than a line
_MOST_PIECES = 4000  # pieces of edges; a picture with more is a photograph


@dataclass(frozen=True, slots=True)
class Figure:
    """An icon or a shape in a picture."""

    rect: Rect  # its box, px
    point: Point  # a pixel of it
    kind: Kind
    color: Color  # RGB of its largest area, or of its edges


def find_figures(pixels: NDArray[np.uint8], visible: NDArray[np.bool_], named: NDArray[np.bool_]) -> list[Figure]:
    """Return the icons and shapes of a picture, from the top.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        visible: (H, W) bool, the pixels that belong to it.
        named: (H, W) bool, those of texts and other things that are known; what lies in them is left out, what
            extends beyond them is not.
    """
    found = _Picture(pixels, visible, named).figures()
    return sorted(_distinct(found), key=lambda figure: (figure.rect.y, figure.rect.x))


@dataclass(frozen=True, slots=True)
class _Area:
    """A connected area without edges."""

    label: int
    rect: Rect
    size: int
    color: Color


class _Picture:
    """The edges of a picture, and the areas between them."""

    def __init__(self, pixels: NDArray[np.uint8], visible: NDArray[np.bool_], named: NDArray[np.bool_]) -> None:
        self._pixels = pixels
        edges = _edges(pixels, visible)
        labels, stats = _connected(edges, 8)
        stats = stats[_unnamed(labels, stats, named)]
        # An edge is marked at the first pixel that differs, on the right and below one too far.
        boxes = [Rect(int(x), int(y), int(w) - int(w > 1), int(h) - int(h > 1)) for x, y, w, h, _ in stats]
        self._pieces = boxes if len(boxes) <= _MOST_PIECES else []
        self._edge_counts = [int(count) for count in stats[:, 4]]
        self._labels, self._stats = _connected((edges == 0).view(np.uint8), 4)
        self._unnamed = _unnamed(self._labels, self._stats, named)

    def figures(self) -> Iterable[Figure]:
        large = [number for number, box in enumerate(self._pieces) if max(box.width, box.height) > _ICON_PX]
        small = [box for box in self._pieces if max(box.width, box.height) <= _ICON_PX]
        icons = _without_inner(_joined(small, self._pixels.shape[:2]))
        inside = self._areas_inside([*(self._pieces[number] for number in large), *icons])
        for rect in icons:
            if _is_usable(rect):
                yield self._icon(rect)
        for number, areas in zip(large, inside, strict=False):
            box = self._pieces[number]
            yield from self._large(box, self._edge_counts[number], areas, icons)

    def _icon(self, rect: Rect) -> Figure:
        center = rect.center
        label = int(self._labels[center.y, center.x])
        if _lies_in(self._box_of(label), rect) and self._stats[label, 4] >= _MAIN * rect.area:
            return Figure(rect, center, "shape", self._area(label).color)
        return Figure(rect, center, "icon", self._ink(rect))

    def _large(self, box: Rect, edges: int, areas: Sequence[_Area], icons: Sequence[Rect]) -> Iterable[Figure]:
        parts = [
            area for area in areas if area.size >= max(_LEAST_PART, _FILLED * area.rect.area) and _is_usable(area.rect)
        ]
        main = max(parts, key=lambda area: area.size, default=None)
        if main is None:
            if self._fits(box) and _is_usable(box) and edges >= _DENSE * box.area:
                yield Figure(
                    box, box.center, "icon" if max(box.width, box.height) <= 2 * _ICON_PX else "shape", self._ink(box)
                )
            return
        around = self._around(box)
        if len(parts) == 1 or main.size >= _MAIN * box.area:
            hollow = _alike(main.color, around)
            whole = box if main.rect.area >= _MAIN * box.area else main.rect  # else it has a line to another figure
            frame = hollow and (
                max(whole.width, whole.height) > _FRAME_PX
                or sum(_is_usable(icon) and icon.intersection(whole) == icon for icon in icons) > 1
            )
            if not frame and self._fits(whole):
                yield Figure(whole, self._point(main, whole), "shape", self._ink(whole) if hollow else main.color)
            if len(parts) == 1 or self._fits(whole):
                return
        for area in _without_ground(parts, box, around):
            if self._fits(area.rect):
                yield Figure(area.rect, self._point(area, area.rect), "shape", area.color)

    def _fits(self, rect: Rect) -> bool:
        height, width = self._pixels.shape[:2]
        return bool(rect.width <= _LARGEST * width and rect.height <= _LARGEST * height)

    def _areas_inside(self, boxes: Sequence[Rect]) -> list[list[_Area]]:
        """Return the areas that lie in each box and in no smaller one."""
        found: list[list[_Area]] = [[] for _ in boxes]
        if not boxes:
            return found
        order = sorted(range(len(boxes)), key=lambda number: boxes[number].area)
        for label in self._unnamed[self._stats[self._unnamed, 4] >= _LEAST_PART]:
            rect = self._box_of(int(label))
            owner = next((number for number in order if _lies_in(rect, boxes[number])), None)
            if owner is not None:
                found[owner].append(self._area(int(label)))
        return found

    def _box_of(self, label: int) -> Rect:
        x, y, width, height, _ = (int(value) for value in self._stats[label])
        return Rect(x, y, width, height)

    def _area(self, label: int) -> _Area:
        rect = self._box_of(label)
        step = max(1, min(rect.width, rect.height) // _SAMPLES)
        part = slice(rect.y, rect.bottom, step), slice(rect.x, rect.right, step)
        inside = self._labels[part] == label
        if not inside.any():  # it is too thin for samples
            part = slice(rect.y, rect.bottom), slice(rect.x, rect.right)
            inside = self._labels[part] == label
        # The marked edges on its left and above are its own pixels.
        left, top = max(0, rect.x - 1), max(0, rect.y - 1)
        whole = Rect(left, top, rect.right - left, rect.bottom - top)
        return _Area(label, whole, int(self._stats[label, 4]), _median(self._pixels[part][inside]))

    def _point(self, area: _Area, box: Rect) -> Point:
        """Return the middle of a box if it lies in the area, else the area's pixel that is farthest from its border."""
        import cv2

        center = box.center
        if self._labels[center.y, center.x] == area.label:
            return center
        rect = area.rect
        inside = (self._labels[rect.y : rect.bottom, rect.x : rect.right] == area.label).astype(np.uint8)
        depth = cv2.distanceTransform(np.pad(inside, 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
        y, x = np.unravel_index(int(np.argmax(depth)), depth.shape)
        return Point(rect.x + int(x), rect.y + int(y))

    def _around(self, box: Rect) -> Color:
        """Return the most frequent colour next to a box."""
        height, width = self._pixels.shape[:2]
        left, top = max(0, box.x - 2), max(0, box.y - 2)
        right, bottom = min(width - 1, box.right + 2), min(height - 1, box.bottom + 2)
        rows, columns = self._pixels[top : bottom + 1, (left, right)], self._pixels[(top, bottom), left : right + 1]
        near = np.concatenate((rows.reshape(-1, 3), columns.reshape(-1, 3)))
        (red, green, blue), _ = Counter(map(tuple, near.tolist())).most_common(1)[0]
        return red, green, blue

    def _ink(self, rect: Rect) -> Color:
        """Return the colour in a box that differs most from its surroundings."""
        around = np.array(self._around(rect), dtype=np.int16)
        colors = self._pixels[rect.y : rect.bottom, rect.x : rect.right].reshape(-1, 3)
        differs = np.abs(colors.astype(np.int16) - around).max(axis=1)
        return _median(colors[differs >= np.quantile(differs, 0.8)])


def _connected(pixels: NDArray[np.uint8], connectivity: Literal[4, 8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the label of the connected pixels at each pixel, (H, W), and x, y, width, height and number of each."""
    import cv2

    _, labels, stats, _ = cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
    return np.asarray(labels, dtype=np.int32), np.asarray(stats, dtype=np.int32)


def _unnamed(labels: NDArray[np.int32], stats: NDArray[np.int32], named: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the labels of connected pixels that mostly lie outside of what is named, from 1."""
    covered = np.bincount(labels[named], minlength=len(stats))
    found: NDArray[np.intp] = np.flatnonzero(covered < _NAMED * stats[:, 4])
    return found[found > 0]


def _edges(pixels: NDArray[np.uint8], visible: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return (H, W) uint8: 1 where a channel differs from the pixel on the left or above."""
    import cv2

    edges = np.zeros(visible.shape, dtype=np.uint8)
    for channel in cv2.split(pixels):
        edges[:, 1:] |= (cv2.absdiff(channel[:, 1:], channel[:, :-1]) > _STEP).view(np.uint8)
        edges[1:] |= (cv2.absdiff(channel[1:], channel[:-1]) > _STEP).view(np.uint8)
    edges &= np.asarray(cv2.erode(visible.view(np.uint8), np.ones((2, 2), np.uint8)), dtype=np.uint8)
    return edges


def _joined(boxes: Sequence[Rect], shape: tuple[int, int]) -> list[Rect]:
    """Return boxes with the thin ones joined to what is next to them, as long as that remains an icon."""
    import cv2

    near = np.zeros(shape, dtype=np.uint8)
    for box in boxes:
        thin = min(box.width, box.height) < _THIN_PX
        grown = min(max(max(box.width, box.height) // 6, _GAPS[0]), _GAPS[1]) if thin else 1
        cv2.rectangle(near, (box.x - grown, box.y - grown), (box.right - 1 + grown, box.bottom - 1 + grown), 1, -1)
    _, labels = cv2.connectedComponents(near, connectivity=8)
    groups: dict[int, list[Rect]] = {}
    for box in boxes:
        groups.setdefault(int(labels[box.y, box.x]), []).append(box)
    joined = []
    for group in groups.values():
        left, top = min(box.x for box in group), min(box.y for box in group)
        whole = Rect(left, top, max(box.right for box in group) - left, max(box.bottom for box in group) - top)
        joined += [whole] if max(whole.width, whole.height) <= _ICON_PX else group
    return joined


def _without_inner(boxes: Sequence[Rect]) -> list[Rect]:
    """Return the boxes that lie in no other one."""
    kept: list[Rect] = []
    for box in sorted(boxes, key=lambda box: -box.area):
        if not any(_lies_in(box, other) for other in kept):
            kept.append(box)
    return kept


def _without_ground(areas: Sequence[_Area], box: Rect, around: Color) -> list[_Area]:
    """Return areas without their ground: many of one colour that fill much of their box, or else holes."""
    colors: list[tuple[Color, list[_Area]]] = []
    for area in areas:
        same = next((group for color, group in colors if _alike(color, area.color)), None)
        if same is None:
            colors.append((area.color, [area]))
        else:
            same.append(area)
    ground = [color for color, group in colors if _is_ground(group, box)]
    if not ground and sum(_alike(area.color, around) for area in areas) > _MOST_HOLES:
        ground = [around]
    kept = [area for area in areas if not any(_alike(area.color, color) for color in ground)]
    return kept if len(kept) <= _MOST_PARTS else []


def _is_ground(areas: Sequence[_Area], box: Rect) -> bool:
    return len(areas) >= _GROUND_PARTS and sum(area.size for area in areas) >= _GROUND_SHARE * box.area


def _distinct(figures: Iterable[Figure]) -> list[Figure]:
    """Return figures without those that nearly cover an earlier one."""
    kept: list[Figure] = []
    for figure in figures:
        if not any(overlap(figure.rect, other.rect) > 0.7 for other in kept):
            kept.append(figure)
    return kept


def _is_usable(rect: Rect) -> bool:
    short, long = sorted((rect.width, rect.height))
    return short >= _LEAST_PX and (short >= _STOUT_PX or long <= _LONGEST * short)


def _lies_in(inner: Rect, outer: Rect) -> bool:
    """Return whether a rectangle lies in another one, or beyond it by one pixel at most."""
    return (
        inner.x >= outer.x - 1
        and inner.y >= outer.y - 1
        and inner.x + inner.width <= outer.x + outer.width + 1
        and inner.y + inner.height <= outer.y + outer.height + 1
    )


def _alike(one: Color, other: Color) -> bool:
    return max(abs(mine - theirs) for mine, theirs in zip(one, other, strict=True)) <= _ALIKE


def _median(colors: NDArray[np.uint8]) -> Color:
    red, green, blue = (int(value) for value in np.median(colors, axis=0))
    return red, green, blue

"""Set-of-marks screenshots, with a numbered mark at each element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.snapshot import Element, Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

FONT_PX = 11
FOREIGN_COST = 30.0  # per pixel of another element, in brightness steps between neighboring pixels
TAKEN_COST = 1000.0  # per pixel of another tag
MAX_STEPS = 24  # maximum number of positions tried along the middle of a wide element
# dark enough for white digits
COLORS = ((200, 30, 30), (20, 90, 200), (0, 120, 60), (150, 60, 170), (180, 90, 0), (0, 120, 130))


def draw_marks(observation: Snapshot) -> NDArray[np.uint8]:
    """Return the screenshot with a frame and a number for each element, (H, W, 3) uint8 RGB.

    Each number is placed where it hides the least, next to its element or within it. Empty cells of a sheet get none.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(observation.screenshot)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=FONT_PX)
    marked = [
        replace(element, rect=common)
        for element in (*observation.elements, *observation.candidates)
        if _needs_mark(element) and (common := element.rect.intersection(observation.screen)) is not None
    ]
    for element in marked:
        rect = element.rect
        draw.rectangle((rect.x, rect.y, rect.right - 1, rect.bottom - 1), outline=_color(element))
    costs = _PlacementCost(observation.screenshot, [element.rect for element in marked])
    for element in marked:
        _draw_tag(draw, font, element, costs)
    return np.asarray(image)


def _needs_mark(element: Element) -> bool:
    if element.point is None:
        return False
    blank_cell = element.role == "table cell" and element.text == "" and "focused" not in element.states
    return not blank_cell


def _color(element: Element) -> tuple[int, int, int]:
    return COLORS[element.id % len(COLORS)]


def _draw_tag(draw: ImageDraw, font: FreeTypeFont | ImageFont, element: Element, costs: _PlacementCost) -> None:
    text = str(element.id)
    left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
    width, height = int(right - left) + 4, int(bottom - top) + 4
    spots = [(spot, costs.cost(spot, element.rect)) for spot in _spots(element.rect, width, height)]
    spot = min(spots, key=lambda item: item[1])[0]
    spot = costs.inside(spot)
    costs.take(spot)
    draw.rectangle((spot.x, spot.y, spot.right - 1, spot.bottom - 1), fill=_color(element))
    draw.text((spot.x + 2 - left, spot.y + 2 - top), text, fill=(255, 255, 255), font=font)


def _spots(rect: Rect, width: int, height: int) -> list[Rect]:
    """Return candidate positions for a tag, the most readable first.

    In wide elements, these are the end, which text seldom reaches, and gaps between words; for small ones, the outside.
    """
    right, bottom = rect.right - width, rect.bottom - height
    middle = rect.y + (rect.height - height) // 2
    inside = [(right, middle), (right, rect.y), (right, bottom), (rect.x, rect.y), (rect.x, bottom)]
    outside = [
        (rect.x, rect.y - height),
        (rect.x - width, middle),
        (rect.right, middle),
        (right, rect.y - height),
        (rect.x, rect.bottom),
        (right, rect.bottom),
    ]
    step = max(width // 2, rect.width // MAX_STEPS)
    between = [(x, middle) for x in range(right - step, rect.x, -step)]
    roomy = rect.width >= 4 * width and rect.height >= height
    places = [*inside[:1], *between, *inside[1:], *outside] if roomy else outside + inside
    return [Rect(x, y, width, height) for x, y in places]


class _PlacementCost:
    """Rates how much a tag would hide at each position."""

    def __init__(self, screenshot: NDArray[np.uint8], rects: Sequence[Rect]) -> None:
        self._height, self._width = screenshot.shape[:2]
        green = screenshot[:, :, 1].astype(np.int16)
        edges = np.zeros(green.shape, dtype=np.int64)
        edges[:, 1:] += np.abs(np.diff(green, axis=1))
        edges[1:, :] += np.abs(np.diff(green, axis=0))
        self._sums = np.pad(edges.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        self._taken = np.zeros(green.shape, dtype=bool)
        self._elements = np.zeros(green.shape, dtype=np.int16)
        for rect in rects:
            self._elements[rect.y : rect.bottom, rect.x : rect.right] += 1

    def cost(self, spot: Rect, own: Rect) -> float:
        """Return the cost of a tag for the element at `own`; infinite outside the screen.

        Positions within another element are penalized, since the tag would be mistaken for that element's number.
        """
        if spot.x < 0 or spot.y < 0 or spot.right > self._width or spot.bottom > self._height:
            return float("inf")
        taken = int(self._taken[spot.y : spot.bottom, spot.x : spot.right].sum())
        sums = self._sums
        hidden = (
            sums[spot.bottom, spot.right] - sums[spot.y, spot.right] - sums[spot.bottom, spot.x] + sums[spot.y, spot.x]
        )
        elements = int(self._elements[spot.y : spot.bottom, spot.x : spot.right].sum())
        common = spot.intersection(own)
        foreign = max(0, elements - (common.area if common is not None else 0))
        return float(hidden) + foreign * FOREIGN_COST + taken * TAKEN_COST

    def inside(self, spot: Rect) -> Rect:
        x = max(0, min(spot.x, self._width - spot.width))
        y = max(0, min(spot.y, self._height - spot.height))
        return Rect(x, y, spot.width, spot.height)

    def take(self, spot: Rect) -> None:
        self._taken[spot.y : spot.bottom, spot.x : spot.right] = True

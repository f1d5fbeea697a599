"""Frames: scaled pictures of the screen, and the mapping between a model's coordinates and screen pixels.

Providers silently shrink pictures that are too large, and the model's coordinates then refer to an unknown picture.
Therefore each picture is scaled to a size that the model accepts unchanged, and its frame stores the factor.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Observation
from agent_s.llm.conversation import Picture
from agent_s.llm.providers.structured import Unreadable

PATCH = 28  # edge of the square that Anthropic's models count as one token, px
MAX_PIXELS = 16_384 * PATCH * PATCH


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture of a part of the screen, and the coordinates that a model uses in it."""

    part: Rect  # the part of the screen, px
    width: int  # of the picture, px
    height: int
    units: int | None = None  # both axes go from 0 to this number; None for pixels of the picture

    @property
    def axes(self) -> tuple[int, int]:
        """Largest coordinates of both axes, plus 1 for pixels."""
        return (self.units, self.units) if self.units is not None else (self.width, self.height)

    def point(self, x: float, y: float) -> Point:
        """Return the pixel of the screen at coordinates of a model.

        A pixel of a shrunk picture covers several screen pixels, of which the middle one is returned.

        Raises:
            Unreadable: They lie outside of the picture.
        """
        across, down = self.axes
        if not (0 <= x <= across and 0 <= y <= down):
            raise Unreadable(f"the point {x:g},{y:g} lies outside of the picture, which is {across} by {down}")
        middle = 0.5 if self.units is None else 0.0
        return Point(
            self.part.x + min(math.floor((x + middle) * self.part.width / across), self.part.width - 1),
            self.part.y + min(math.floor((y + middle) * self.part.height / down), self.part.height - 1),
        )

    def coordinates(self, point: Point) -> tuple[int, int]:
        """Return the coordinates of a model at a pixel of the screen."""
        across, down = self.axes
        x, y = point.x - self.part.x + 0.5, point.y - self.part.y + 0.5
        return math.floor(x * across / self.part.width), math.floor(y * down / self.part.height)

    def region(self, left: float, top: float, right: float, bottom: float) -> Rect:
        """Return the part of the screen between two corners in coordinates of a model.

        Raises:
            Unreadable: It is empty, or lies outside of the picture.
        """
        if right <= left or bottom <= top:
            raise Unreadable("a region is left, top, right, bottom, and right and bottom are the larger ones")
        first, last = self.point(left, top), self.point(right, bottom)
        return Rect(first.x, first.y, max(1, last.x - first.x), max(1, last.y - first.y))

    def shot(self, observation: Observation) -> Picture:
        """Return the picture, without marks, as PNG."""
        from PIL import Image

        part = self.part
        image = Image.fromarray(observation.screenshot[part.y : part.bottom, part.x : part.right])
        if image.size != (self.width, self.height):
            image = image.resize((self.width, self.height), Image.Resampling.LANCZOS)
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=6)
        return Picture(file.getvalue(), "image/png", self.width, self.height)


def fit(part: Rect, longest_edge: int, most_patches: int) -> Frame:
    """Return the largest frame of the same shape within a longest edge, px, and a number of 28 px patches."""
    width, height = part.width, part.height
    scale = min(1.0, longest_edge / max(width, height))
    while True:
        size = max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
        patches = math.ceil(size[0] / PATCH) * math.ceil(size[1] / PATCH)
        if patches <= most_patches:
            return Frame(part, *size)
        scale *= min(0.999, math.sqrt(most_patches / patches))


def smart_resize(part: Rect, factor: int, least_pixels: int, most_pixels: int, units: int | None = None) -> Frame:
    """Return the frame that the image processor of Qwen-VL models would produce, so that it does not rescale again.

    Both sides become multiples of `factor`, within an area between two bounds, px.

    Raises:
        Unreadable: The part is too narrow for these models.
    """
    width, height = part.width, part.height
    if max(width, height) > 200 * min(width, height):
        raise Unreadable(f"a picture of {width} by {height} px is too narrow")
    sides = [max(factor, round(side / factor) * factor) for side in (width, height)]
    if sides[0] * sides[1] > most_pixels:
        shrink = math.sqrt(width * height / most_pixels)
        sides = [max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height)]
    elif sides[0] * sides[1] < least_pixels:
        grow = math.sqrt(least_pixels / (width * height))
        sides = [math.ceil(side * grow / factor) * factor for side in (width, height)]
    return Frame(part, sides[0], sides[1], units)

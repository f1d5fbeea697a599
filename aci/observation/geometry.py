"""Points and rectangles in screen pixels, origin at the top left corner of the screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A pixel of the screen."""

    x: int
    y: int


@dataclass(frozen=True, slots=True, order=True)
class Rect:
    """A rectangle of pixels; `x + width` and `y + height` lie just outside it."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """First column to the right of the rectangle."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below the rectangle."""
        return self.y + self.height

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, px."""
        return self.width, self.height

    @property
    def area(self) -> int:
        """Number of pixels; 0 for an empty rectangle."""
        return max(0, self.width) * max(0, self.height)

    @property
    def center(self) -> Point:
        """The pixel in the middle."""
        return Point(self.x + self.width // 2, self.y + self.height // 2)

    def scaled(self, factor: float) -> Rect:
        """Return the rectangle scaled about the origin, rounded to whole pixels."""
        left, top = round(self.x * factor), round(self.y * factor)
        return Rect(left, top, round(self.right * factor) - left, round(self.bottom * factor) - top)

    def contains(self, point: Point) -> bool:
        """Return whether a pixel lies inside."""
        return self.x <= point.x < self.right and self.y <= point.y < self.bottom

    def intersection(self, other: Rect) -> Rect | None:
        """Return the common part of two rectangles, or None."""
        x, y, right, bottom = self.x, self.y, self.x + self.width, self.y + self.height
        left, top = max(x, other.x), max(y, other.y)
        width, height = min(right, other.x + other.width) - left, min(bottom, other.y + other.height) - top
        if width <= 0 or height <= 0:
            return None
        if left == x and top == y and width == self.width and height == self.height:
            return self  # saves an allocation in the most common case
        return Rect(left, top, width, height)

    def subtract(self, other: Rect) -> list[Rect]:
        """Return at most four disjoint rectangles that cover the part outside `other`."""
        cut = self.intersection(other)
        if cut is None:
            return [self] if self.area else []
        parts = [
            Rect(self.x, self.y, self.width, cut.y - self.y),
            Rect(self.x, cut.bottom, self.width, self.bottom - cut.bottom),
            Rect(self.x, cut.y, cut.x - self.x, cut.height),
            Rect(cut.right, cut.y, self.right - cut.right, cut.height),
        ]
        return [part for part in parts if part.area]

    def grown(self, across: int, down: int) -> Rect:
        """Return the rectangle extended by this many px on each side."""
        return Rect(self.x - across, self.y - down, self.width + 2 * across, self.height + 2 * down)

    def moved(self, dx: int, dy: int) -> Rect:
        """Return the rectangle shifted by (dx, dy) px."""
        return Rect(self.x + dx, self.y + dy, self.width, self.height)

"""A page of MiniWoB++ whose geometry is read from its own DOM, and primitives that point at it on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aci.acting.actions import Click, DragAndDrop
from aci.acting.targets import element_at, fractions
from aci.observation.geometry import Point
from aci.observation.observation import Element, Observation
from evaluation.miniwob.arena import Arena

Spot = tuple[float, float]
"""A place in the page, CSS pixels from the corner of its view."""

_HELPERS = """
window.aBox = one => { const box = one.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; };
window.anyOf = selector => [...document.querySelectorAll(selector)];
window.freeSpot = one => {
  const [left, top, width, height] = aBox(one);
  for (const y of [0.5, 0.3, 0.7, 0.1, 0.9]) for (const x of [0.5, 0.3, 0.7, 0.1, 0.9]) {
    const spot = [left + width * x, top + height * y], hit = document.elementFromPoint(...spot);
    if (hit === one || one.contains(hit)) return spot;
  }
  return [left + width / 2, top + height / 2];
};
true
"""


class Page:
    """A page as its answers' author knows it."""

    def __init__(self, arena: Arena, seed: int) -> None:
        self._arena = arena
        self.seed = seed
        self.seen: Observation | None = None
        arena.evaluate(_HELPERS)

    def ask(self, script: str) -> Any:
        """Return the value of a script."""
        return self._arena.evaluate(script)

    def box(self, selector: str, number: int = 0) -> tuple[float, float, float, float]:
        """Return left, top, width and height of an element, CSS px."""
        left, top, width, height = self.ask(f"aBox(anyOf({selector!r})[{number}])")
        return left, top, width, height

    def middle(self, selector: str, number: int = 0) -> Spot:
        """Return the middle of an element."""
        left, top, width, height = self.box(selector, number)
        return left + width / 2, top + height / 2

    def at(self, spot: Spot) -> tuple[int, int]:
        """Return the pixel of the screen that shows a place of the page."""
        assert self.seen is not None
        window = next(one.rect for one in self.seen.windows if "chromium" in one.app.casefold() and not one.popup)
        width, height = self.ask("[innerWidth, innerHeight]")
        border = (window.width - width) // 2
        return window.x + border + round(spot[0]), window.bottom - border - height + round(spot[1])

    def click(self, selector: str, number: int = 0) -> Click:
        """Return a click on the middle of an element, by its pixel."""
        return Click(at=self.at(self.middle(selector, number)))

    def click_at(self, spot: Spot) -> Click:
        """Return a click on a place, as a part of the element there if one is known."""
        assert self.seen is not None
        pixel = Point(*self.at(spot))
        element = element_at(pixel, self.seen)
        if element is None:
            return Click(at=(pixel.x, pixel.y))
        return Click(element_id=element.id, at=fractions(pixel, element.rect))

    def drag(self, spots: Sequence[Spot]) -> DragAndDrop:
        """Return a drag along some places."""
        pixels = [self.at(spot) for spot in spots]
        return DragAndDrop(from_at=pixels[0], path=tuple(pixels[1:-1]), drop_at=pixels[-1])

    def words(self, text: str) -> Element:
        """Return the smallest element in the page's view with some words, below the instruction."""
        assert self.seen is not None
        below = self.at(self.box("#area")[:2])[1]
        return min(
            (one for one in self.seen.elements if text in f"{one.name} {one.text}" and one.rect.y >= below),
            key=lambda one: one.rect.area,
        )

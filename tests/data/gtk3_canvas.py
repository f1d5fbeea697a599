"""A GTK 3 program with nothing but a picture, of which the accessibility tree names no part.

Usage: `python3 gtk3_canvas.py FILE`. A red square waits for a click. Then an orange one is to be dragged onto a purple
one; the ends of each stroke are written to FILE, and the area turns green when it is done.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GdkPixbuf, Gtk  # noqa: E402

SIDE = 24
RED, ORANGE, PURPLE, GREEN, WHITE = 0xFF0000FF, 0xFF9900FF, 0x800080FF, 0x009900FF, 0xFFFFFFFF
SQUARES: dict[str, list[tuple[Any, int, int]]] = {
    "click": [(RED, 1217, 331)],
    "drag": [(ORANGE, 143, 617), (PURPLE, 1089, 203)],
    "done": [(GREEN, 600, 400)],
}


class Canvas(Gtk.Window):
    def __init__(self) -> None:
        super().__init__(title="Canvas")
        self.stage, self.start = "click", (0, 0)
        self.picture = Gtk.Image()
        self.picture.set_halign(Gtk.Align.START)
        self.picture.set_valign(Gtk.Align.START)
        area = Gtk.EventBox()
        area.connect("button-press-event", self.press)
        area.connect("button-release-event", self.release)
        area.add(self.picture)
        self.connect("destroy", Gtk.main_quit)
        self.add(area)
        self.draw_squares()
        self.show_all()

    def draw_squares(self) -> None:
        pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, True, 8, 1300, 760)
        pixels.fill(WHITE)
        for color, x, y in SQUARES[self.stage]:
            pixels.new_subpixbuf(x, y, SIDE, SIDE).fill(color)
        self.picture.set_from_pixbuf(pixels)

    def press(self, _: Any, event: Any) -> None:
        self.start = (int(event.x), int(event.y))

    def release(self, _: Any, event: Any) -> None:
        end = (int(event.x), int(event.y))
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(f"{self.stage} {self.start} {end}\n")
        first, last = SQUARES[self.stage][0], SQUARES[self.stage][-1]
        if inside(self.start, first) and inside(end, last):
            self.stage = {"click": "drag"}.get(self.stage, "done")
            self.draw_squares()


def inside(point: tuple[int, int], square: tuple[Any, int, int]) -> bool:
    _, x, y = square
    return x <= point[0] < x + SIDE and y <= point[1] < y + SIDE


Canvas()
Gtk.main()

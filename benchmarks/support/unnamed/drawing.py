"""A canvas that is drawn by commands, and remembers where the things are that have no name."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path

from aci.observation.geometry import Rect

SIZE = (1240, 680)
"""Of a page, px."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, and where its things without a name are, in pixels of the page."""

    name: str
    html: str
    truth: tuple[Rect, ...]


def tint(path: Path, dark: bool) -> str:
    """Return the CSS filter for an icon on dark or light ground."""
    return "invert(1)" if dark and "symbolic" in path.stem else "none"


class Canvas:
    """Collects drawing commands of a canvas, with the places of what has no name."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._commands: list[str] = []
        self._pictures: list[tuple[str, int, int, str]] = []
        self.truth: list[Rect] = []

    def do(self, command: str) -> None:
        """Add a command."""
        self._commands.append(command)

    def fill(self, rect: Rect, style: str) -> None:
        """Fill a rectangle, as a part of the background."""
        self.do(f"c.fillStyle={json.dumps(style)};c.fillRect({rect.x},{rect.y},{rect.width},{rect.height})")

    def shade(self, rect: Rect, first: str, second: str, down: bool) -> None:
        """Fill a rectangle with a gradient, as a part of the background."""
        to = (rect.x, rect.bottom) if down else (rect.right, rect.y)
        self.do(
            f"g=c.createLinearGradient({rect.x},{rect.y},{to[0]},{to[1]});g.addColorStop(0,'{first}');"
            f"g.addColorStop(1,'{second}');c.fillStyle=g;c.fillRect({rect.x},{rect.y},{rect.width},{rect.height})"
        )

    def text(self, text: str, x: int, y: int, ink: str, size: int = 14) -> None:
        """Write a text, from the left end of its base line."""
        self.do(f"c.fillStyle='{ink}';c.font='{size}px \"DejaVu Sans\"';c.fillText({json.dumps(text)},{x},{y})")

    def picture(self, path: Path, x: int, y: int, dark: bool = False) -> None:
        """Draw an icon; a symbolic one, which takes the colour of texts, is light on dark ground."""
        from PIL import Image

        image = Image.open(path).convert("RGBA")
        box = image.getchannel("A").point(lambda value: 255 if value > 60 else 0).getbbox()
        if box is None:
            return
        data = base64.b64encode(path.read_bytes()).decode()
        self._pictures.append((f"data:image/png;base64,{data}", x, y, tint(path, dark)))
        self.truth.append(Rect(x + box[0], y + box[1], box[2] - box[0], box[3] - box[1]))

    def path(self, points: Sequence[tuple[float, float]], fill: str | None, line: str | None, width: int = 2) -> None:
        """Draw a polygon."""
        way = "".join(f"c.{'lineTo' if number else 'moveTo'}({x:.1f},{y:.1f});" for number, (x, y) in enumerate(points))
        self._paint(f"c.beginPath();{way}c.closePath();", fill, line, width)

    def ellipse(self, rect: Rect, fill: str | None, line: str | None, width: int = 2) -> None:
        """Draw the ellipse in a rectangle."""
        x, y = rect.x + rect.width / 2, rect.y + rect.height / 2
        way = f"c.beginPath();c.ellipse({x},{y},{rect.width / 2},{rect.height / 2},0,0,7);"
        self._paint(way, fill, line, width)

    def _paint(self, way: str, fill: str | None, line: str | None, width: int) -> None:
        painted = f"c.fillStyle='{fill}';c.fill();" if fill else ""
        drawn = f"c.strokeStyle='{line}';c.lineWidth={width};c.stroke();" if line else ""
        self.do(way + painted + drawn)

    def page(self, name: str) -> Page:
        """Return the page with this canvas."""
        width, height = SIZE
        loads = f"""const pictures = {json.dumps(self._pictures)};
for (const [source, x, y, filter] of pictures) {{
  const image = new Image(); image.src = source;
  image.onload = () => {{ c.filter = filter; c.drawImage(image, x, y); c.filter = 'none'; }};
}}"""
        html = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>
<body style="margin:0;overflow:hidden"><canvas id="c" width="{width}" height="{height}" style="display:block"></canvas>
<script>const c = document.getElementById('c').getContext('2d'); let g;
{";".join(self._commands)}
{loads}</script></body></html>"""
        return Page(name, html, tuple(self.truth))


def _points(rect: Rect, corners: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(rect.x + x * rect.width, rect.y + y * rect.height) for x, y in corners]


def _polygon(corners: Sequence[tuple[float, float]]) -> Callable[[Canvas, Rect, str | None, str | None], None]:
    return lambda canvas, rect, fill, line: canvas.path(_points(rect, corners), fill, line)


_STAR = tuple(
    (0.5 + reach * sin(corner * pi / 5), 0.5 - reach * cos(corner * pi / 5))
    for corner in range(10)
    for reach in ((0.22, 0.5)[corner % 2 == 0],)
)
_CROSS = (
    (0.3, 0), (0.7, 0), (0.7, 0.3), (1, 0.3), (1, 0.7), (0.7, 0.7), (0.7, 1), (0.3, 1), (0.3, 0.7), (0, 0.7), (0, 0.3),
    (0.3, 0.3),
)  # fmt: skip
SHAPES: Mapping[str, Callable[[Canvas, Rect, str | None, str | None], None]] = {
    "rectangle": _polygon(((0, 0), (1, 0), (1, 1), (0, 1))),
    "ellipse": lambda canvas, rect, fill, line: canvas.ellipse(rect, fill, line),
    "triangle": _polygon(((0.5, 0), (1, 1), (0, 1))),
    "diamond": _polygon(((0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5))),
    "hexagon": _polygon(((0.25, 0), (0.75, 0), (1, 0.5), (0.75, 1), (0.25, 1), (0, 0.5))),
    "arrow": _polygon(((0, 0.3), (0.6, 0.3), (0.6, 0), (1, 0.5), (0.6, 1), (0.6, 0.7), (0, 0.7))),
    "star": _polygon(_STAR),
    "cross": _polygon(_CROSS),
}

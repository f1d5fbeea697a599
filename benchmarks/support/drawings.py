"""Whether shapes in GIMP and Draw are hit, told by the files that the applications save.

Each shape has a colour of its own, by which it is found on the screen, as eyes would find it; what is clicked is a
random pixel inside it, once as a pixel of the screen and once as a place in the element there. A click fills the shape
in GIMP, and selects it in Draw, where it then takes a text.
"""

from __future__ import annotations

import colorsys
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from aci.acting.actions import Action, Click, HoldAndPress, Hotkey
from aci.acting.targets import element_at, fractions
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Point
from aci.observation.observation import Observation
from benchmarks.support.figures import NotMeasured, tell
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr

SIZE = (1280, 900)
COLUMNS, ROWS = 4, 4
_LIMIT_S = 60.0
_INSIDE_PX = 4
"""Least distance of a pixel that is clicked from the edge of its shape."""
Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of a picture of 480 x 360 units."""

    kind: str  # circle, square or triangle
    color: Color
    x: int
    y: int
    half: int

    @property
    def corners(self) -> list[tuple[int, int]]:
        """Corners of a triangle, or the first and last one of the box of any other shape."""
        left, top, right, bottom = self.x - self.half, self.y - self.half, self.x + self.half, self.y + self.half
        return [(self.x, top), (right, bottom), (left, bottom)] if self.kind == "triangle" else [
            (left, top), (right, bottom)]  # fmt: skip


def shapes(seed: int) -> list[Shape]:
    """Return circles, squares and triangles of different size and colour, apart from each other."""
    chance = random.Random(seed)
    found = []
    for number in range(COLUMNS * ROWS):
        row, column = divmod(number, COLUMNS)
        red, green, blue = colorsys.hsv_to_rgb(number / (COLUMNS * ROWS), 0.7, 0.62)
        kind = ("circle", "square", "triangle")[number % 3]
        x, y = 60 + 120 * column + chance.randrange(-20, 21), 45 + 90 * row + chance.randrange(-10, 11)
        color = (round(red * 255), round(green * 255), round(blue * 255))
        found.append(Shape(kind, color, x, y, chance.randrange(14, 28)))
    return found


def measure_drawings(quick: bool) -> list[bool]:
    """Return whether each shape of a picture in GIMP and of a drawing in Draw was hit, by pixel and by place."""
    hits: list[bool] = []
    for number, (name, hit) in enumerate((("GIMP", _filled), ("Draw", _labelled))):
        drawn = shapes(70 + number)
        with desktop_without_ocr(SIZE) as desktop:
            found = hit(desktop, drawn, range(0, len(drawn), 4 if quick else 1))
        tell(f"  {name}: {sum(found)} of {len(found)} shapes")
        hits += found
    return hits


def _filled(desktop: VirtualDesktop, drawn: Sequence[Shape], chosen: Sequence[int]) -> list[bool]:
    """Fill shapes of a picture, first with black and then with white, and return which ones the file shows filled."""
    from PIL import Image, ImageDraw

    file = desktop.home / "shapes.png"
    image = Image.new("RGB", (480, 360), (244, 244, 244))
    pen = ImageDraw.Draw(image)
    for shape in drawn:
        draw = {"circle": pen.ellipse, "square": pen.rectangle, "triangle": pen.polygon}[shape.kind]
        draw(shape.corners, fill=shape.color)
    image.save(file)
    before = np.asarray(image)
    desktop.launch(["gimp", "--no-splash", str(file)], timeout_s=180.0)
    spots = _spots(desktop, drawn)
    _do(desktop, Hotkey(keys=("shift", "b")))  # the bucket, which fills with black at first
    hits = []
    for by_place in (False, True):
        for number in chosen:
            _do(desktop, _click(desktop.observe(), spots[number][by_place], by_place))
        written = file.stat().st_mtime_ns
        _press(desktop, "menu", "File")
        _press(desktop, "menu item", "Overwrite.*")
        if not wait_until(lambda then=written: file.stat().st_mtime_ns != then and _is_whole(file), _LIMIT_S):  # type: ignore[misc]
            raise NotMeasured("GIMP did not save the picture")
        after, filled = np.asarray(Image.open(file).convert("RGB")), 255 if by_place else 0
        for number in chosen:
            inside = (before == drawn[number].color).all(axis=2)
            hits.append(bool((after[inside] == filled).all()))
            if not hits[-1]:
                tell(f"    {drawn[number]} is not filled with {filled}")
        _do(desktop, Hotkey(keys=("x",)))  # fill with white from now on
    return hits


def _labelled(desktop: VirtualDesktop, drawn: Sequence[Shape], chosen: Sequence[int]) -> list[bool]:
    """Select shapes of a drawing, type a text into each, and return in which ones the file has it."""
    file = desktop.home / "shapes.fodg"
    file.write_text(drawing(drawn), encoding="utf-8")
    desktop.launch(["soffice", "--norestore", "--draw", str(file)], timeout_s=180.0)
    spots = _spots(desktop, drawn)
    for by_place in (False, True):
        for number in chosen:
            _do(desktop, _click(desktop.observe(), spots[number][by_place], by_place))
            _do(desktop, HoldAndPress(hold_keys=(), press_keys=("b" if by_place else "a", *f"{number:02}")))
            desktop.perform(HoldAndPress(hold_keys=(), press_keys=("Escape", "Escape")), settle=False)
    written = file.stat().st_mtime_ns
    _do(desktop, Hotkey(keys=("ctrl", "s")))
    if not wait_until(lambda: file.stat().st_mtime_ns != written and texts(file) is not None, _LIMIT_S):
        raise NotMeasured("Draw did not save the drawing")
    told = texts(file) or {}
    hits = []
    for letter in "ab":
        for number in chosen:
            label = f"{letter}{number:02}"
            holders = [name for name, text in told.items() if label in text.casefold()]
            hits.append(holders == [f"shape {number}"])
            if not hits[-1]:
                tell(f"    {label}: {holders}")
    return hits


def drawing(drawn: Iterable[Shape]) -> str:
    """Return a drawing as a file of OpenDocument."""
    styles, bodies = [], []
    for number, shape in enumerate(drawn):
        styles.append(
            f'<style:style style:name="s{number}" style:family="graphic"><style:graphic-properties draw:fill="solid" '
            f'draw:fill-color="#{bytes(shape.color).hex()}" draw:stroke="none" draw:auto-grow-height="false"/>'
            '<style:text-properties fo:font-size="6pt"/></style:style>'
        )
        size = f'svg:width="{shape.half / 12}cm" svg:height="{shape.half / 12}cm"'
        common = (
            f'draw:style-name="s{number}" draw:name="shape {number}" {size} '
            f'svg:x="{(shape.x - shape.half) / 24}cm" svg:y="{(shape.y - shape.half) / 24}cm"'
        )
        tag = {"circle": "ellipse", "square": "rect", "triangle": "polygon"}[shape.kind]
        points = ' svg:viewBox="0 0 100 100" draw:points="50,0 100,100 0,100"' if tag == "polygon" else ""
        bodies.append(f"<draw:{tag} {common}{points}/>")
    return (
        '<?xml version="1.0" encoding="UTF-8"?><office:document office:version="1.3" '
        'office:mimetype="application/vnd.oasis.opendocument.graphics" '
        + " ".join(f'xmlns:{short}="{name}"' for short, name in _NAMES.items())
        + f"><office:automatic-styles>{''.join(styles)}</office:automatic-styles><office:body><office:drawing>"
        f"<draw:page>{''.join(bodies)}</draw:page></office:drawing></office:body></office:document>"
    )


_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMES = {
    "office": _OASIS + "office:1.0", "draw": _OASIS + "drawing:1.0", "style": _OASIS + "style:1.0",
    "svg": _OASIS + "svg-compatible:1.0", "fo": _OASIS + "xsl-fo-compatible:1.0",
}  # fmt: skip


def texts(file: Path) -> dict[str, str] | None:
    """Return the texts of the named shapes of a drawing by name; None while the file is being written."""
    try:
        tree = ElementTree.fromstring(file.read_bytes())
    except ElementTree.ParseError:
        return None
    name = f"{{{_NAMES['draw']}}}name"
    return {one.attrib[name]: "".join(one.itertext()) for one in tree.iter() if "shape " in one.attrib.get(name, "")}


def _spots(desktop: VirtualDesktop, drawn: Sequence[Shape]) -> list[tuple[Point, Point]]:
    """Wait until all shapes are shown, and return two random pixels well inside each."""
    found: list[tuple[Point, Point]] = []
    chance = random.Random(len(drawn))

    def shown() -> bool:
        pixels = desktop.observe().screenshot.astype(int)
        found[:] = []
        for shape in drawn:
            inside = list(_inside(pixels, shape.color))
            if not inside:
                return False
            found.append((chance.choice(inside), chance.choice(inside)))
        return True

    if not wait_until(shown, _LIMIT_S):
        raise NotMeasured(f"only {len(found)} of {len(drawn)} shapes are shown")
    return found


def _inside(pixels: np.ndarray, color: Color) -> Iterator[Point]:
    """Yield the pixels around which all have a colour."""
    found = (np.abs(pixels - color) <= 2).all(axis=2)
    for axis in (0, 1):
        found = np.logical_and.reduce([np.roll(found, by, axis) for by in range(-_INSIDE_PX, _INSIDE_PX + 1)])
    yield from (Point(int(x), int(y)) for y, x in zip(*np.nonzero(found), strict=True))


def _click(seen: Observation, spot: Point, by_place: bool) -> Click:
    element = element_at(spot, seen) if by_place else None
    if element is None:
        return Click(at=(spot.x, spot.y))
    return Click(element_id=element.id, at=fractions(spot, element.rect))


def _press(desktop: VirtualDesktop, role: str, name: str) -> None:
    found: list[int] = []

    def shown() -> bool:
        found[:] = [one.id for one in desktop.observe().elements if one.role == role and re.fullmatch(name, one.name)]
        return bool(found)

    if not wait_until(shown, _LIMIT_S):
        raise NotMeasured(f"there is no {role} {name!r}")
    _do(desktop, Click(element_id=found[0]))


def _do(desktop: VirtualDesktop, action: Action) -> None:
    """Do something; what is refused counts as a shape that was not hit."""
    result = desktop.perform(action)
    if not result.ok:
        tell(f"    {action}: {result.error}")


def _is_whole(file: Path) -> bool:
    from PIL import Image

    try:
        with Image.open(file) as image:
            image.load()
    except OSError:  # it is being written
        return False
    return True

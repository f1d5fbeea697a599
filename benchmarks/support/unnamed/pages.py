"""Web pages with icons and shapes that neither the accessibility tree nor text recognition names."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path

from aci.observation.geometry import Rect
from benchmarks.fixtures.documents import WORDS
from benchmarks.support.figures import NotMeasured
from benchmarks.support.unnamed.drawing import SHAPES, SIZE, Canvas, Page, tint

ICONS = Path("/usr/share/icons/Adwaita")
_LIGHT = ("#ffffff", "#f6f5f4", "#eceff1", "#fdf6e3", "#e8eaf6")
_DARK = ("#241f31", "#2d2d2d", "#1e3a5f", "#263238", "#3c3836")
_VIVID = ("#e53935", "#1e88e5", "#43a047", "#fdd835", "#8e24aa", "#fb8c00", "#00897b", "#d81b60", "#6d4c41", "#546e7a")


def pages(seeds: Sequence[int], icons: Sequence[Path]) -> list[Page]:
    """Return the pages of all kinds, one of each for every seed."""
    return [make(random.Random(f"{name} {seed}"), icons) for seed in seeds for name, make in _KINDS.items()]


def theme_icons(part: int) -> list[Path]:
    """Return one of three disjoint thirds of the theme's icons, 0 to 2.

    Raises:
        NotMeasured: The theme is not installed.
    """
    wanted = {"16x16", "22x22", "24x24", "32x32", "48x48"}
    found = sorted(
        path
        for path in ICONS.rglob("*")
        if path.suffix == ".png" and path.relative_to(ICONS).parts[0] in wanted and "cursors" not in path.parts
    )
    if not found:
        raise NotMeasured(f"there are no icons in {ICONS}")
    return [path for path in found if sum(path.stem.encode()) % 3 == part]


def _toolbars(chance: random.Random, icons: Sequence[Path]) -> Page:
    """Rows of tools as drawn by an application that paints its own controls."""
    canvas = Canvas(chance)
    dark = chance.random() < 0.4
    canvas.fill(Rect(0, 0, *SIZE), chance.choice(_DARK if dark else _LIGHT))
    y = 0
    for size in chance.sample((16, 22, 24, 32), 3):
        height = size + chance.choice((10, 14, 18))
        tone = chance.choice(_DARK if dark else _LIGHT)
        if chance.random() < 0.5:
            canvas.shade(Rect(0, y, SIZE[0], height), tone, chance.choice(_DARK if dark else _LIGHT), down=True)
        else:
            canvas.fill(Rect(0, y, SIZE[0], height), tone)
        canvas.fill(Rect(0, y + height - 1, SIZE[0], 1), "#777777")
        x = 8
        for path in chance.sample([icon for icon in icons if f"{size}x{size}" in icon.parts], 14):
            canvas.picture(path, x, y + (height - size) // 2, dark)
            x += size + chance.choice((7, 9, 12))
            if chance.random() < 0.2:
                canvas.fill(Rect(x, y + 5, 1, height - 10), "#888888")
                x += 8
        y += height
    words = chance.sample(WORDS, 8)
    for line, word in enumerate(words):
        canvas.text(f"{word} {words[-line - 1].lower()}", 40, y + 60 + line * 40, "#eeeeee" if dark else "#222222")
    return canvas.page("Toolbars")


def _sheet(chance: random.Random, icons: Sequence[Path]) -> Page:
    """Icons with captions, on plain, shaded and checked backgrounds."""
    canvas = Canvas(chance)
    for column in range(3):
        area = Rect(column * 413, 0, 414, SIZE[1])
        kind = chance.choice(("plain", "shaded", "checked"))
        tones = chance.choice((_LIGHT, _DARK))
        canvas.fill(area, tones[0])
        if kind == "shaded":
            canvas.shade(area, chance.choice(tones), chance.choice(_VIVID), down=chance.random() < 0.5)
        if kind == "checked":
            for cell in range(9 * 15):
                square = Rect(area.x + cell % 9 * 46, cell // 9 * 46, 46, 46)
                if (cell % 9 + cell // 9) % 2 and square.right <= area.right:
                    canvas.fill(square, tones[1])
        ink = "#111111" if tones is _LIGHT else "#fafafa"
        for row in range(5):
            for place in range(3):
                path = chance.choice(icons)
                x, y = area.x + 30 + place * 130 + chance.randrange(20), 20 + row * 130 + chance.randrange(20)
                canvas.picture(path, x, y, tones is _DARK)
                if chance.random() < 0.6 and kind != "shaded":
                    canvas.text(chance.choice(WORDS), x - 8, y + 72, ink, 13)
    return canvas.page("Sheet")


def _diagram(chance: random.Random, icons: Sequence[Path]) -> Page:
    """Shapes of a drawing, filled or outlined, some with a word in them, some joined by lines, on paper or a grid."""
    canvas = Canvas(chance)
    paper = chance.choice(_LIGHT)
    canvas.fill(Rect(0, 0, *SIZE), paper)
    if chance.random() < 0.4:
        for x in range(0, SIZE[0], 20):
            canvas.fill(Rect(x, 0, 1, SIZE[1]), "#f0f0f0" if paper == "#ffffff" else "#eeeeee")
    places = [(column, row) for column in range(6) for row in range(4)]
    chance.shuffle(places)
    centers = []
    for column, row in places[:18]:
        width, height = chance.randrange(24, 150), chance.randrange(24, 120)
        x, y = 20 + column * 203 + chance.randrange(30), 20 + row * 165 + chance.randrange(30)
        rect = Rect(x, y, width, height)
        fill = chance.choice(_VIVID) if chance.random() < 0.7 else None
        line = chance.choice(("#000000", "#37474f", *_VIVID)) if fill is None or chance.random() < 0.5 else None
        SHAPES[chance.choice(sorted(SHAPES))](canvas, rect, fill, line)
        canvas.truth.append(rect)
        centers.append(rect)
        if width > 100 and height > 50 and chance.random() < 0.6:
            canvas.text(
                chance.choice(WORDS), x + width // 2 - 24, y + height // 2 + 5, "#ffffff" if fill else "#000000"
            )
    if chance.random() < 0.5:
        for one, other in pairwise(sorted(centers, key=lambda rect: (rect.y // 165, rect.x))):
            if other.x > one.right and abs(other.y - one.y) < 100:
                start, end = (one.right, one.center.y), (other.x, other.center.y)
                canvas.do(
                    f"c.strokeStyle='#555';c.lineWidth=1.5;c.beginPath();c.moveTo{start};c.lineTo{end};c.stroke()"
                )
    return canvas.page("Diagram")


def _chart(chance: random.Random, icons: Sequence[Path]) -> Page:
    """Bars, slices, markers and the keys of a legend."""
    canvas = Canvas(chance)
    dark = chance.random() < 0.4
    canvas.fill(Rect(0, 0, *SIZE), chance.choice(_DARK if dark else _LIGHT))
    ink = "#eeeeee" if dark else "#222222"
    width = chance.randrange(18, 40)
    for number in range(8):
        height = chance.randrange(30, 240)
        bar = Rect(80 + number * (width + 14), 300 - height, width, height)
        canvas.fill(bar, chance.choice(_VIVID))
        canvas.truth.append(bar)
        canvas.text(f"{chance.choice(WORDS)[:3]}", bar.x, 322, ink, 12)
    canvas.fill(Rect(70, 301, 460, 1), ink)
    turn, middle, radius = 0.3, (840.0, 180.0), 130.0
    colours = chance.sample(_VIVID, 5)
    for number, share in enumerate((0.3, 0.2, 0.25, 0.15, 0.1)):
        end = turn + share * 2 * pi
        arc = [
            (
                middle[0] + radius * cos(turn + (end - turn) * step / 24),
                middle[1] + radius * sin(turn + (end - turn) * step / 24),
            )
            for step in range(25)
        ]
        canvas.path([middle, *arc], colours[number], None)
        xs, ys = [x for x, _ in (middle, *arc)], [y for _, y in (middle, *arc)]
        canvas.truth.append(Rect(int(min(xs)), int(min(ys)), int(max(xs) - min(xs)), int(max(ys) - min(ys))))
        key = Rect(1040, 100 + number * 30, 16, 16)
        canvas.fill(key, colours[number])
        canvas.truth.append(key)
        canvas.text(chance.choice(WORDS), 1066, 113 + number * 30, ink)
        turn = end
    for _ in range(14):
        x, y = 80 + chance.randrange(1080), 400 + chance.randrange(220)
        side = chance.choice((9, 12, 16))
        rect = Rect(x, y, side, side)
        if any(rect.grown(6, 6).intersection(other) for other in canvas.truth):
            continue
        SHAPES[chance.choice(("ellipse", "diamond", "triangle"))](canvas, rect, chance.choice(_VIVID), None)
        canvas.truth.append(rect)
    return canvas.page("Chart")


def _board(chance: random.Random, icons: Sequence[Path]) -> Page:
    """Stones on a ruled board, with a row of captured ones beside it."""
    canvas = Canvas(chance)
    canvas.fill(Rect(0, 0, *SIZE), chance.choice(_LIGHT))
    board = Rect(60, 40, 600, 600)
    canvas.fill(board, chance.choice(("#dcb35c", "#8bc34a", "#b0bec5")))
    step = chance.choice((40, 60, 75))
    for at in range(board.x, board.right + 1, step):
        canvas.fill(Rect(at, board.y, 1, board.height), "#5d4037")
    for at in range(board.y, board.bottom + 1, step):
        canvas.fill(Rect(board.x, at, board.width, 1), "#5d4037")
    spots = [
        (x, y) for x in range(board.x + step, board.right, step) for y in range(board.y + step, board.bottom, step)
    ]
    for x, y in chance.sample(spots, 16):
        half = int(step * 0.4)
        rect = Rect(x - half, y - half, 2 * half, 2 * half)
        canvas.ellipse(rect, chance.choice(("#111111", "#fafafa")), "#444444", 1)
        canvas.truth.append(rect)
    for number in range(6):
        rect = Rect(720 + number * 60, 120, 36, 36)
        canvas.ellipse(rect, chance.choice(_VIVID), None)
        canvas.truth.append(rect)
    return canvas.page("Board")


def _icon_page(chance: random.Random, icons: Sequence[Path]) -> Page:
    """A page of elements without names: backgrounds, masks and drawings that the tree leaves out."""
    truth, parts = [], []
    dark = chance.random() < 0.4
    paper = chance.choice(_DARK if dark else _LIGHT)
    for row in range(5):
        for column in range(6):
            x, y = 40 + column * 200 + chance.randrange(60), 30 + row * 130 + chance.randrange(40)
            size = chance.choice((18, 24, 32, 40))
            if (row + column) % 2:
                canvas = Canvas(chance)
                path = chance.choice(icons)
                canvas.picture(path, x, y, dark)
                if not canvas.truth:
                    continue
                data = base64.b64encode(path.read_bytes()).decode()
                image = f"no-repeat url(data:image/png;base64,{data})"
                style = f"width:48px;height:48px;background:{image};filter:{tint(path, dark)}"
                truth += canvas.truth
            else:
                round_ = chance.choice(("50%", "4px", "0"))
                style = f"width:{size}px;height:{size}px;background:{chance.choice(_VIVID)};border-radius:{round_}"
                truth.append(Rect(x, y, size, size))
            parts.append(f'<div style="position:absolute;left:{x}px;top:{y}px;{style}"></div>')
    words = "".join(f"<p>{chance.choice(WORDS)}</p>" for _ in range(2))
    html = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Icons</title></head>
<body style="margin:0;overflow:hidden;background:{paper};color:{"#eee" if dark else "#222"}">
{words}{"".join(parts)}</body></html>"""
    return Page("Icons", html, tuple(truth))


_KINDS: Mapping[str, Callable[[random.Random, Sequence[Path]], Page]] = {
    "toolbars": _toolbars,
    "sheet": _sheet,
    "diagram": _diagram,
    "chart": _chart,
    "board": _board,
    "icons": _icon_page,
}

"""Whether pixels, places and words are hit exactly, checked by the page or the application that is pointed at.

A page draws shapes on a canvas and reports the device pixel and the shape of each press. Where its canvas begins on the
screen is told by a row of marked pixels in its corner, and not by the tree.

The pixel that is meant by a coordinate of a picture that was scaled down is that of the screen in which the middle of
the picture's pixel lies: such a picture cannot name each pixel of the screen.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from aci.acting.actions import Click, Hotkey, SelectText
from aci.acting.targets import fractions
from aci.desktop.virtual import VirtualDesktop
from aci.input.clipboard import Clipboard
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation
from agent_s.llm.computer_use.formats import find_format
from agent_s.llm.computer_use.frames import fit
from agent_s.llm.computer_use.inputs import Hand
from benchmarks.support.figures import NotMeasured, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import PageServer, wait_until
from benchmarks.support.screens import desktop_without_ocr

SIZE = (1280, 900)
SCALES = ("1", "1.25", "1.5", "2")
MONITORS = (("LEFT", "560/150x700/180+0+0", "screen"), ("RIGHT", "720/190x900/240+560+0", "none"))
"""Names, sizes and places of two monitors, with a dark area below the first, and the output of the X server."""
UNITS = "qwen3-vl"
"""A format of models whose coordinates go from 0 to 1000, whatever the size of the picture."""
_LIMIT_S = 20.0
_MARK = ((10, 200, 30), (200, 10, 30), (30, 10, 200))
_SHAPES = 16
STORY = (
    "The quick brown \U0001f600 fox jumps over the lazy dog.",
    "A naïve café owner paid 12.50 € for 3 boxes of tea.",
    "Nothing ends \U0001f44d so well as what was never begun; the dog agrees.",
)
SPANS = (
    ("quick brown", 1), ("\U0001f600 fox", 1), ("fox", 1), ("lazy dog", 1), ("naïve café", 1), ("12.50 €", 1),
    ("boxes of tea.", 1), ("\U0001f44d", 1), ("so well", 1), ("begun; the", 1),
)  # fmt: skip
EDITORS: Mapping[str, tuple[str, ...]] = {
    "GTK 3": ("mousepad",),
    "GTK 4": ("gnome-text-editor",),
    "Qt 5": ("featherpad",),
    "LibreOffice": ("soffice", "--norestore", "--writer"),
}
TEXTS = (*EDITORS, "Qt 6", "Chromium page", "Chromium field")
_QT_6 = """
import sys
from pathlib import Path
from PyQt6.QtWidgets import QApplication, QMainWindow, QTextEdit
app = QApplication([]); window, edit = QMainWindow(), QTextEdit(); window.setCentralWidget(edit)
edit.setPlainText(Path(sys.argv[1]).read_text(encoding="utf-8"))
window.setWindowTitle("Story"); window.resize(700, 300); window.show(); app.exec()
"""


def page(seed: int) -> str:
    """Return a page with a canvas of circles, squares and triangles at random places."""
    return f"""<!doctype html><meta charset="utf-8"><title>Shapes</title>
<body style="margin:0;overflow:hidden"><canvas id="c" role="img" aria-label="Drawing"></canvas><script>
const canvas = document.getElementById('c'), pen = canvas.getContext('2d'), shapes = [];
let state = {seed};
const chance = () => (state = (state * 16807) % 2147483647) / 2147483647;
const ratio = devicePixelRatio;
canvas.width = Math.floor(innerWidth * ratio); canvas.height = Math.floor(innerHeight * ratio);
canvas.style.width = canvas.width / ratio + 'px'; canvas.style.height = canvas.height / ratio + 'px';
pen.fillStyle = '#f4f4f4'; pen.fillRect(0, 0, canvas.width, canvas.height);
{json.dumps(_MARK)}.forEach((color, at) => {{ pen.fillStyle = `rgb(${{color}})`; pen.fillRect(at, 0, 1, 1); }});
for (let n = 0; n < {_SHAPES}; n++) {{
  const size = 8 + Math.floor(chance() * 24), path = new Path2D();
  const x = 60 + (n % 4) * (canvas.width - 120) / 4 + Math.floor(chance() * 40);
  const y = 40 + Math.floor(n / 4) * (canvas.height - 80) / 4 + Math.floor(chance() * 40);
  if (n % 3 == 0) path.arc(x, y, size, 0, 7);
  if (n % 3 == 1) path.rect(x - size, y - size, 2 * size, 2 * size);
  if (n % 3 == 2) {{ path.moveTo(x, y - size); path.lineTo(x + size, y + size); path.lineTo(x - size, y + size); }}
  pen.fillStyle = `hsl(${{n * 67}}, 70%, 45%)`; pen.fill(path); shapes.push([path, Math.floor(x), Math.floor(y)]);
}}
fetch('/text', {{method: 'POST', body: JSON.stringify(JSON.stringify(shapes.map(one => one.slice(1))))}});
canvas.addEventListener('pointerdown', event => {{
  const x = event.clientX * ratio, y = event.clientY * ratio;
  const hit = shapes.findIndex(([path]) => pen.isPointInPath(path, x + 0.5, y + 0.5));
  const [column, row] = [x, y].map(part => Math.floor(part + 0.01));  // a page may begin within a pixel of the screen
  fetch('/hit', {{method: 'POST', body: JSON.stringify(`${{column}} ${{row}} ${{hit}}`)}});
}});
</script>"""


def measure_canvas(quick: bool) -> tuple[list[bool], list[bool]]:
    """Return whether each pixel that was meant was pressed, and whether each shape was."""
    exact: list[bool] = []
    shapes: list[bool] = []
    for number, scale in enumerate(SCALES):
        server = PageServer({"/": page(1000 + 37 * number)})
        with server, desktop_without_ocr(SIZE) as desktop:
            desktop.launch(["chromium", f"--force-device-scale-factor={scale}", server.url + "/"])
            if not wait_until(lambda server=server: bool(server.text), _LIMIT_S):  # type: ignore[misc]
                raise NotMeasured("the page did not load")
            chance = random.Random(number)
            for meant, shape, action in _cases(desktop, json.loads(server.text), chance, quick):
                pressed, hit = _pressed(desktop, server, action)
                exact.append(pressed == meant)
                if not exact[-1]:
                    tell(f"  scale {scale}: {action.at} hit {pressed}, not {meant}")
                if shape is not None:
                    shapes.append(hit == shape)
            _set_monitors(desktop)
            for meant, picture, action in _picture_cases(desktop, chance, quick):
                pressed, _ = _pressed(desktop, server, action)
                exact.append(pressed == meant)
                if not exact[-1]:
                    tell(f"  scale {scale}, two monitors, {picture}: {action.at} hit {pressed}, not {meant}")
    return exact, shapes


def _pressed(desktop: VirtualDesktop, server: PageServer, action: Click) -> tuple[Point, int]:
    """Click, and return the pixel of the canvas that the page says was pressed, and the shape there; -1 for none."""
    before = len(server.lines())
    result = desktop.perform(action, settle=False)
    if not result.ok:
        tell(f"    {result.error}")
    wait_until(lambda: len(server.lines()) > before, 3.0 if result.ok else 0.0)
    x, y, hit = (int(word) for word in [*server.lines()[before:], "-1 -1 -1"][0].split())
    return Point(x, y), hit


def _set_monitors(desktop: VirtualDesktop) -> None:
    """Split the screen into monitors."""
    if shutil.which("xrandr") is None:
        raise NotMeasured("xrandr is not installed")
    for monitor in MONITORS:
        subprocess.run(["xrandr", "--setmonitor", *monitor], env=desktop.environment, check=True, capture_output=True)


def _picture_cases(desktop: VirtualDesktop, chance: random.Random, quick: bool) -> Iterator[tuple[Point, str, Click]]:
    """Yield the pixel of the canvas meant by coordinates of a picture, the picture, and the click that a model makes.

    The pictures are as large as the screen, and scaled down by each factor, and one has axes from 0 to 1000.
    """
    seen = desktop.observe()
    screen, origin, dark = seen.screen, _origin(seen), desktop.x11.screen.dark()
    canvas = next(one for one in seen.elements if one.name == "Drawing").rect
    frames = [fit(screen, round(screen.width / float(factor)), screen.area) for factor in SCALES]
    for frame in (*frames, find_format(UNITS).frame(screen)):
        across, down = frame.axes
        middle = Fraction(0 if frame.units else 1, 2)
        for _ in range(2 if quick else 12):
            while True:
                x, y = chance.randrange(across), chance.randrange(down)
                meant = Point(int((x + middle) * screen.width / across), int((y + middle) * screen.height / down))
                if canvas.contains(meant) and not any(area.contains(meant) for area in dark):
                    break
            [action] = Hand(frame).click([x, y])
            assert isinstance(action, Click)
            name = f"{x},{y} of {across} x {down}"
            yield Point(meant.x - origin.x, meant.y - origin.y), name, action


def _cases(
    desktop: VirtualDesktop, shapes: Sequence[Sequence[int]], chance: random.Random, quick: bool
) -> Iterator[tuple[Point, int | None, Click]]:
    """Yield the device pixel of the canvas that is meant, the shape there, and the click, by pixel or by place."""
    seen = desktop.observe()
    origin = _origin(seen)
    canvas = next(one for one in seen.elements if one.name == "Drawing")
    spots = [(Point(x, y), number) for number, (x, y) in enumerate(shapes)]
    box = canvas.rect
    free = [
        Point(chance.randrange(4, box.width - 4), chance.randrange(4, box.height - 4))
        for _ in range(4 if quick else 36)
    ]
    for spot, shape in [*spots[: 4 if quick else None], *((point, None) for point in free)]:
        on_screen = Point(origin.x + spot.x, origin.y + spot.y)
        yield spot, shape, Click(at=(on_screen.x, on_screen.y))
        yield spot, shape, Click(element_id=canvas.id, at=fractions(on_screen, box))


def _origin(seen: Observation) -> Point:
    """Return the pixel of the screen at which the canvas begins."""
    pixels = seen.screenshot.astype(int)
    found = np.ones((pixels.shape[0], pixels.shape[1] - 2), bool)
    for at, color in enumerate(_MARK):
        found &= np.abs(pixels[:, at : pixels.shape[1] - 2 + at] - color).max(axis=2) <= 3
    rows, columns = np.nonzero(found)
    if rows.size != 1:
        raise NotMeasured("the canvas cannot be seen")
    return Point(int(columns[0]), int(rows[0]))


def measure_spans(quick: bool) -> list[bool]:
    """Return whether each span that was to be selected is what the application then copies."""
    outcomes: list[bool] = []
    for toolkit in TEXTS:
        with desktop_without_ocr(SIZE) as desktop:
            show_story(desktop, toolkit)
            results = [_selected(desktop, words, occurrence) for words, occurrence in SPANS[:: 3 if quick else 1]]
            outcomes += results
            tell(f"  {toolkit}: {sum(results)} of {len(results)} spans")
    return outcomes


def show_story(desktop: VirtualDesktop, toolkit: str) -> None:
    """Open the story in an application of a toolkit, one of `TEXTS`."""
    story = desktop.home / "story.txt"
    story.write_text("\n".join(STORY) + "\n", encoding="utf-8")
    argv: Sequence[str]
    if toolkit in EDITORS:
        argv = (*EDITORS[toolkit], str(story))
    elif toolkit == "Qt 6":
        argv = (str(SYSTEM_PYTHON), "-c", _QT_6, str(story))
    else:
        body = "".join(f"<p>{line}</p>" for line in STORY)
        field = f"<textarea rows=5 cols=90>{chr(10).join(STORY)}</textarea>"
        page = desktop.home / "story.html"
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Story</title>{field if "field" in toolkit else body}',
            encoding="utf-8",
        )
        argv = ("chromium", page.as_uri())
    desktop.launch(argv, timeout_s=120.0)


def _selected(desktop: VirtualDesktop, words: str, occurrence: int) -> bool:
    """Select words, copy them, and return whether the clipboard holds exactly these."""
    element = element_with(desktop, words)
    if element is None:
        tell(f"    no element with {words!r}")
        return False
    result = desktop.perform(SelectText(element_id=element.id, text=words, occurrence=occurrence))
    if not result.ok:
        tell(f"    {result.error}")
        return False
    desktop.perform(Hotkey(keys=("ctrl", "c")))
    clipboard = Clipboard(desktop.display)
    try:
        copied = clipboard.content().text
    finally:
        clipboard.close()
    if copied != words:
        tell(f"    {words!r}: copied {copied!r}")
    return copied == words


def element_with(desktop: VirtualDesktop, words: str) -> Element | None:
    """Wait for the smallest element with these words in its text, and return it; None if there is none."""
    texts = desktop.x11.accessibility
    found: list[Element] = []

    def is_there() -> bool:
        found[:] = [
            one
            for one in desktop.observe().elements
            if one.rect != Rect(0, 0, 0, 0) and words in (texts.whole_text(one.id) or "") and one.role != "frame"
        ]
        return bool(found)

    wait_until(is_there, _LIMIT_S)
    return min(found, key=lambda one: one.rect.area, default=None)

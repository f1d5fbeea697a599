"""Icons and shapes without names, on a page that draws them on a canvas."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("rapidocr") is None or find_spec("cv2") is None, reason="pip install agent-s[ocr]"),
]
LIMIT_S = 60.0
PAGE = """<!doctype html><html lang="en"><title>Drawing</title><body style="margin:0">
<canvas id="c" width="700" height="400"></canvas><script>
const c = document.getElementById('c').getContext('2d');
const shapes = [[120, 120, 'red'], [300, 200, 'blue'], [500, 90, 'orange']];
for (const [x, y, color] of shapes) { c.fillStyle = color; c.beginPath(); c.arc(x, y, 40, 0, 7); c.fill(); }
document.getElementById('c').onclick = (event) => {
  const hit = shapes.find(([x, y]) => Math.hypot(event.offsetX - x, event.offsetY - y) < 40);
  document.title = hit ? 'Hit ' + hit[2] : 'Missed';
};</script></body></html>"""


def test_shapes_on_a_canvas_can_be_clicked_by_their_ids(tmp_path: Path) -> None:
    page = tmp_path / "drawing.html"
    page.write_text(PAGE)
    with VirtualDesktop(size=(900, 600)) as desktop:
        desktop.launch(["chromium", f"--app=file://{page}"])
        seen = until(desktop, lambda seen: len(round_shapes(seen)) == 3)
        assert all(f"{identity} shape {color}" in seen.to_text() for color, identity in round_shapes(seen).items())
        for color, identity in round_shapes(seen).items():
            assert desktop.perform(Click(element_id=identity)).ok
            until(desktop, lambda seen, color=color: seen.windows[0].title == f"Hit {color}")  # type: ignore[misc]
        assert round_shapes(desktop.observe()) == round_shapes(seen)


def round_shapes(seen: Observation) -> dict[str, int]:
    """Return the ids of the drawn shapes by color."""
    return {
        each.description.removeprefix("dark "): each.id for each in seen.candidates if each.rect.width in range(75, 86)
    }


def until(desktop: VirtualDesktop, ready: Callable[[Observation], bool]) -> Observation:
    deadline = time.monotonic() + LIMIT_S
    while not ready(seen := desktop.observe()):
        assert time.monotonic() < deadline, seen.to_text()
    return seen

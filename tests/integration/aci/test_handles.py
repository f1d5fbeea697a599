"""A shape is resized and rotated by its handles, checked in the file that the application saves."""

from __future__ import annotations

import math
import re
import shutil

import numpy as np
import pytest

from aci.acting.actions import Action, Click, DragAndDrop, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from tests.integration.aci.seeing import until, wait_until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="soffice is not installed"),
]

RED = (201, 33, 30)
DRAWING = """<?xml version="1.0" encoding="UTF-8"?>
<office:document office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.graphics"
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">
<office:automatic-styles><style:style style:name="red" style:family="graphic">
<style:graphic-properties draw:fill="solid" draw:fill-color="#c9211e" draw:stroke="none"/></style:style>
</office:automatic-styles><office:body><office:drawing><draw:page>
<draw:rect draw:style-name="red" svg:width="6cm" svg:height="4cm" svg:x="5cm" svg:y="5cm"/>
</draw:page></office:drawing></office:body></office:document>"""


def do(desktop: VirtualDesktop, action: Action) -> None:
    result = desktop.perform(action)
    assert result.ok, result.error


def red_box(seen: Observation) -> Rect | None:
    """Return the box of what is red in the middle of the screen, px."""
    part = seen.screenshot[:, 250:900].astype(int)
    rows, columns = np.nonzero((np.abs(part - RED) <= 2).all(axis=2))
    if rows.size < 1000:
        return None
    left, top = int(columns.min()) + 250, int(rows.min())
    return Rect(left, top, int(columns.max()) + 251 - left, int(rows.max()) + 1 - top)


def test_a_shape_is_resized_and_rotated_by_its_handles() -> None:
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        file = desktop.home / "shape.fodg"
        file.write_text(DRAWING, encoding="utf-8")
        desktop.launch(["soffice", "--norestore", "--draw", str(file)], timeout_s=180.0)
        box = red_box(until(desktop, red_box))
        assert box is not None
        per_cm = box.width / 6
        do(desktop, Click(at=(box.center.x, box.center.y)))
        corner = (box.right, box.bottom)
        larger = (round(corner[0] + 2 * per_cm), round(corner[1] + per_cm))
        do(desktop, DragAndDrop(from_at=corner, drop_at=larger))
        after = red_box(until(desktop, lambda seen: (now := red_box(seen)) is not None and now.width > box.width + 9))
        assert after is not None

        do(desktop, Click(at=(after.center.x, after.center.y)))  # a second click shows the handles for rotation
        x, y = after.center.x, after.center.y
        turned = [math.radians(angle) for angle in (0, 15, 30)]
        radius, start = math.hypot(after.right - x, after.bottom - y), math.atan2(after.bottom - y, after.right - x)
        path = [(round(x + radius * math.cos(start + by)), round(y + radius * math.sin(start + by))) for by in turned]
        do(desktop, DragAndDrop(from_at=path[0], path=tuple(path[1:-1]), drop_at=path[-1]))
        until(desktop, lambda seen: (now := red_box(seen)) is not None and now.height > after.height + 9)
        do(desktop, Hotkey(keys=("ctrl", "s")))
        wait_until(lambda: "rotate" in file.read_text(encoding="utf-8"))
        saved = file.read_text(encoding="utf-8")
        [width] = re.findall(r'<draw:rect[^>]*svg:width="([\d.]+)cm"', saved)
        [height] = re.findall(r'<draw:rect[^>]*svg:height="([\d.]+)cm"', saved)
        [angle] = re.findall(r"rotate \(([-\d.]+)\)", saved)
        assert float(width) == pytest.approx(8, abs=0.15)
        assert float(height) == pytest.approx(5, abs=0.15)
        assert math.degrees(abs(float(angle))) == pytest.approx(30, abs=2)

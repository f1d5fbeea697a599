"""A shape is resized and rotated by its handles, checked in the file that the application saves."""

from __future__ import annotations

import math
import re
import shutil
import time

import numpy as np
import pytest

from aci.acting.actions import Action, Click, DragAndDrop, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from tests.integration.aci.seeing import LIMIT_S, until, wait_until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="soffice is not installed"),
]

RED = (201, 33, 30)
DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.{kind}"
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">
<office:automatic-styles><style:style style:name="red" style:family="graphic">
<style:graphic-properties draw:fill="solid" draw:fill-color="#c9211e" draw:stroke="none"/></style:style>
</office:automatic-styles><office:body><office:{body}><draw:page>
<draw:rect draw:style-name="red" svg:width="5.08cm" svg:height="3.81cm" svg:x="5.08cm" svg:y="5.08cm"/>
</draw:page></office:{body}></office:body></office:document>"""


def do(desktop: VirtualDesktop, action: Action) -> None:
    """Do something; if the screen still changes, look at it again and repeat that."""
    result = desktop.perform(action)
    deadline = time.monotonic() + LIMIT_S
    while result.refusal == "stale" and time.monotonic() < deadline:
        desktop.observe()
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


@pytest.mark.parametrize(
    ("suffix", "kind", "body"), [("fodg", "graphics", "drawing"), ("fodp", "presentation", "presentation")]
)
def test_a_shape_is_resized_and_rotated_by_its_handles(suffix: str, kind: str, body: str) -> None:
    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        file = desktop.home / f"shape.{suffix}"
        file.write_text(DOCUMENT.format(kind=kind, body=body), encoding="utf-8")
        desktop.launch(["soffice", "--norestore", str(file)], timeout_s=180.0)
        box = red_box(until(desktop, red_box))
        assert box is not None
        per_inch = box.width / 2  # Impress snaps to half inches
        do(desktop, Click(at=(box.center.x, box.center.y)))
        corner = (box.right, box.bottom)
        larger = (round(corner[0] + per_inch), round(corner[1] + per_inch / 2))
        do(desktop, DragAndDrop(from_at=corner, drop_at=larger))
        after = red_box(until(desktop, lambda seen: (now := red_box(seen)) is not None and now.width > box.width + 9))
        assert after is not None

        around = (slice(after.bottom - 8, after.bottom + 8), slice(after.right - 8, after.right + 8))
        corner_before = desktop.observe().screenshot[around].copy()
        do(desktop, Click(at=(after.center.x, after.center.y)))  # a second click shows the handles for rotation
        until(desktop, lambda seen: (seen.screenshot[around] != corner_before).any())
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
        assert float(width) == pytest.approx(3 * 2.54, abs=0.15)
        assert float(height) == pytest.approx(2 * 2.54, abs=0.15)
        assert math.degrees(abs(float(angle))) == pytest.approx(30, abs=2)

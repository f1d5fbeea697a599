"""A path is traced in a picture, checked in the file that the application saves."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from aci.acting.actions import Action, Click, DragAndDrop, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from tests.integration.aci.seeing import element, until, wait_until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("gimp") is None, reason="GIMP is not installed: make setup-toolkits"),
]

RED = (201, 33, 30)


def do(desktop: VirtualDesktop, action: Action) -> None:
    result = desktop.perform(action)
    assert result.ok, result.error


def red_box(seen: Observation) -> Rect | None:
    """Return the box of the picture, which has more than 200 red pixels in a row, px."""
    red = (np.abs(seen.screenshot.astype(int) - RED) <= 2).all(axis=2)
    rows, columns = np.flatnonzero(red.sum(axis=1) > 200), np.flatnonzero(red.sum(axis=0) > 200)
    if not rows.size or not columns.size:
        return None
    left, top = int(columns[0]), int(rows[0])
    return Rect(left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)


def test_a_path_is_traced_in_a_picture() -> None:
    from PIL import Image

    with VirtualDesktop(size=(1280, 800), ocr=None) as desktop:
        file = desktop.home / "picture.png"
        Image.new("RGB", (300, 300), RED).save(file)
        desktop.launch(["gimp", "--no-splash", str(file)], timeout_s=180.0)
        box = red_box(until(desktop, lambda seen: (now := red_box(seen)) is not None and now.width >= 290))
        assert box is not None
        do(desktop, Hotkey(keys=("n",)))  # the pencil
        corners = [(60, 60), (240, 60), (240, 240), (60, 240)]
        scale = box.width / 300
        pixels = [(round(box.x + x * scale), round(box.y + y * scale)) for x, y in [*corners, corners[0]]]
        do(desktop, DragAndDrop(from_at=pixels[0], path=tuple(pixels[1:-1]), drop_at=pixels[-1]))
        do(desktop, Click(element_id=element(desktop, "menu", "File").id))
        do(desktop, Click(element_id=element(desktop, "menu item", "Overwrite picture.png").id))

        def traced() -> bool:
            try:
                with Image.open(file) as picture:
                    pixels = np.asarray(picture.convert("RGB"))
            except OSError:  # it is being written
                return False
            drawn = [tuple(pixels[y, x]) for x, y in ((150, 60), (240, 150), (150, 240), (60, 150))]
            return tuple(pixels[150, 150]) == RED and drawn == [(0, 0, 0)] * 4

        wait_until(traced)

"""Several monitors, and screens whose size changes, on a real X server."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.screen.screen import Screen, open_display
from tests.integration.aci.seeing import element, find, until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(shutil.which("xrandr") is None, reason="xrandr (x11-xserver-utils) is not there"),
]


def xrandr(desktop: VirtualDesktop, *arguments: str) -> None:
    subprocess.run(["xrandr", *arguments], env=desktop.environment, check=True, capture_output=True)


@pytest.fixture
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1200, 700), ocr=None) as running:
        yield running


def move(desktop: VirtualDesktop, window_id: int, x: int, y: int) -> None:
    display = open_display(desktop.display)
    display.create_resource_object("window", window_id).configure(x=x, y=y)
    display.sync()
    display.close()
    until(desktop, lambda seen: any(abs(one.rect.x - x) < 40 and one.id == window_id for one in seen.windows))


def test_only_elements_on_monitors_are_seen_and_clicked(desktop: VirtualDesktop) -> None:
    xrandr(desktop, "--setmonitor", "LEFT", "600/150x300/80+0+0", "screen")
    xrandr(desktop, "--setmonitor", "RIGHT", "600/150x700/180+600+0", "none")
    assert desktop.x11.screen.dark() == (Rect(0, 300, 600, 400),)
    process = desktop.launch(["gnome-calculator"])
    [window] = process.windows
    move(desktop, window.id, 20, 40)
    cut = until(desktop, lambda seen: find(seen, "push button", "Basic"))
    assert not find(cut, "push button", "=")  # in the gap below the smaller monitor
    assert all(item.point is None or item.point.y < 300 or item.point.x >= 600 for item in cut.elements)
    move(desktop, window.id, 750, 40)
    for key in "7×6=":
        assert desktop.perform(Click(element_id=element(desktop, "push button", key).id)).ok
    until(desktop, lambda seen: any(item.text == "42" for item in seen.elements))


def test_resized_screen_is_seen_at_its_new_size(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["mousepad"])
    [window] = process.windows
    move(desktop, window.id, 500, 100)
    stale = element(desktop, "menu", "Help")
    edge = desktop.x11.screen.size[0]
    assert stale.point is not None
    assert stale.point.x < edge
    xrandr(desktop, "--output", "screen", "--off", "--fb", f"{stale.rect.x - 20}x400")
    assert not desktop.perform(Click(element_id=stale.id)).ok
    small = desktop.observe()
    assert small.screenshot.shape[:2] == (400, stale.rect.x - 20)
    assert find(small, "menu", "Help") is None
    late = Screen(desktop.display)  # its camera knows the small screen first
    try:
        assert late.frame().shape == (400, stale.rect.x - 20)
        xrandr(desktop, "--fb", "1200x700")
        assert late.frame().shape == (700, 1200)
        assert (late.screenshot() == desktop.observe().screenshot).mean() > 0.99
    finally:
        late.close()
    found = element(desktop, "menu", "Help")
    assert found.id == stale.id
    assert desktop.perform(Click(element_id=found.id)).ok
    until(desktop, lambda seen: find(seen, "menu item", "About"))

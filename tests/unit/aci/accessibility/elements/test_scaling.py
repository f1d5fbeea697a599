from __future__ import annotations

import pytest

from aci.accessibility.elements.windows import enlarge, scale_of
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.trees import application, frame, node


def window(rect: Rect, framed: Rect | None = None, title: str = "App") -> Window:
    return Window(1, title, "app", rect, pid=7, frame=framed)


@pytest.mark.parametrize(
    ("toolkit", "top", "seen", "scale"),
    [
        ("gtk 3.24.38", Rect(159, 23, 642, 493), window(Rect(320, 67, 1280, 960), Rect(318, 46, 1284, 986)), 2),
        ("gtk 3.24.38", Rect(0, 0, 960, 540), window(Rect(0, 19, 1920, 1061), Rect(0, 0, 1920, 1080)), 2),
        ("gtk 3.24.38", Rect(318, 46, 642, 506), window(Rect(320, 67, 640, 480), Rect(318, 46, 642, 506)), 1),
        ("gtk 3.24.38", Rect(0, 0, 213, 160), window(Rect(20, 30, 640, 480)), 3),
        ("GTK 4.8.3", Rect(0, 0, 355, 498), window(Rect(595, 64, 730, 1016)), 2),
        ("GTK 4.8.3", Rect(0, 0, 355, 486), window(Rect(915, 304, 365, 496)), 1),
        ("Chromium 1.0", Rect(10, 10, 940, 520), window(Rect(20, 20, 1880, 1040)), 2),
        ("Chromium 1.0", Rect(13, 13, 1253, 693), window(Rect(20, 20, 1880, 1040)), 1.5),
        ("Chromium 1.0", Rect(20, 20, 1880, 1040), window(Rect(20, 20, 1880, 1040)), 1),
        ("Chromium 1.0", Rect(17, 17, 1640, 907), window(Rect(20, 20, 1880, 1040)), 1880 / 1640),
    ],
)
def test_sizes_of_windows_tell_the_factor(toolkit: str, top: Rect, seen: Window, scale: float) -> None:
    assert scale_of(toolkit, [("App", top)], [seen]) == scale


def test_windows_that_do_not_belong_together_tell_nothing() -> None:
    assert scale_of("gtk 3.24.38", [("App", Rect(0, 0, 100, 300))], [window(Rect(0, 0, 600, 600))]) == 1
    assert scale_of("Chromium 1.0", [("App", Rect(0, 0, 100, 300))], [window(Rect(0, 0, 600, 600))]) == 1
    assert scale_of("gtk 3.24.38", [("App", Rect(0, 0, 640, 480))], []) == 1
    assert scale_of("gtk 3.24.38", [], [window(Rect(0, 0, 640, 480))]) == 1


def test_large_window_counts_more_than_a_small_one_with_a_wide_shadow() -> None:
    tops = [("", Rect(0, 0, 60, 40)), ("", Rect(0, 0, 355, 498))]
    small, large = window(Rect(0, 0, 120, 80), title=""), window(Rect(200, 64, 730, 1016), title="")
    assert scale_of("GTK 4.8.3", tops, [small, large]) == 2


def test_extents_of_pages_stay_and_all_others_can_be_restored() -> None:
    button = node("push button", "Reload", Rect(37, 73, 13, 15))
    link = node("link", "there", Rect(326, 326, 57, 39))
    page = node("document web", "", Rect(28, 194, 1864, 858), link)
    top = frame(button, page, rect=Rect(10, 10, 940, 520))
    enlarge(application(top, toolkit="Chromium 1.0"), [window(Rect(20, 20, 1880, 1040))])
    assert (top.rect, button.rect) == (Rect(20, 20, 1880, 1040), Rect(74, 146, 26, 30))
    assert (page.rect, link.rect) == (Rect(28, 194, 1864, 858), Rect(326, 326, 57, 39))
    assert button.reported_rect == Rect(37, 73, 13, 15)
    button.restore_reported()
    assert (button.rect, button.enlarged) == (Rect(37, 73, 13, 15), None)

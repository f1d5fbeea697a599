from __future__ import annotations

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element
from aci.screen.monitors import gaps, shown

SCREEN = Rect(0, 0, 1600, 900)
LEFT, RIGHT = Rect(0, 0, 800, 600), Rect(800, 0, 800, 900)


def element(rect: Rect) -> Element:
    return Element(id=1, role="push button", name="OK", rect=rect, point=rect.center, window_id=7)


def test_gap_is_the_area_without_a_monitor() -> None:
    assert gaps(SCREEN, [LEFT, RIGHT]) == (Rect(0, 600, 800, 300),)
    assert gaps(SCREEN, [SCREEN]) == ()
    assert gaps(SCREEN, []) == ()


def test_elements_are_cut_at_the_edge_of_monitors() -> None:
    dark = gaps(SCREEN, [LEFT, RIGHT])
    whole, half, lost = element(Rect(900, 700, 80, 40)), element(Rect(10, 560, 80, 60)), element(Rect(10, 650, 80, 40))
    cut = shown([whole, half, lost], dark)
    assert [(item.rect, item.point) for item in cut] == [
        (Rect(900, 700, 80, 40), Point(940, 720)),
        (Rect(10, 560, 80, 40), half.point),
    ]
    [astride] = shown([element(Rect(600, 500, 400, 300))], dark)
    assert not any(gap.contains(astride.point) for gap in dark if astride.point is not None)

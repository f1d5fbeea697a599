from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aci.observation.geometry import Point, Rect

RECTS = st.builds(Rect, st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 12), st.integers(0, 12))


def pixels(rect: Rect | None) -> set[tuple[int, int]]:
    if rect is None:
        return set()
    return {(x, y) for x in range(rect.x, rect.right) for y in range(rect.y, rect.bottom)}


@given(RECTS, RECTS)
def test_intersection_and_difference_are_those_of_the_pixels(one: Rect, other: Rect) -> None:
    assert pixels(one.intersection(other)) == pixels(one) & pixels(other)
    parts = [pixels(part) for part in one.subtract(other)]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert set().union(*parts) == pixels(one) - pixels(other)


@given(RECTS)
def test_the_center_lies_inside(rect: Rect) -> None:
    assert rect.contains(rect.center) == bool(rect.area)
    assert rect.area == len(pixels(rect))
    assert rect.contains(Point(rect.right, rect.y)) is False

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aci.observation.geometry import Point, Rect
from aci.observation.visibility import SLIVER_PX, bounding, clipped, ground, overlap, reading_order, uncovered

SCREEN = Rect(0, 0, 200, 150)
rects = st.builds(Rect, st.integers(-40, 160), st.integers(-40, 120), st.integers(1, 90), st.integers(1, 90))


def pixels(rect: Rect) -> set[tuple[int, int]]:
    return {(x, y) for x in range(rect.x, rect.right) for y in range(rect.y, rect.bottom)}


def left_over(rect: Rect, clips: list[Rect], covers: list[Rect]) -> set[tuple[int, int]]:
    seen = pixels(rect)
    for clip in clips:
        seen &= pixels(clip)
    for cover in covers:
        seen -= pixels(cover)
    return seen


@given(rects, st.lists(rects, max_size=3), st.lists(rects, max_size=4))
def test_point_and_rectangle_lie_in_the_visible_part(rect: Rect, clips: list[Rect], covers: list[Rect]) -> None:
    visible = left_over(rect, [SCREEN, *clips], covers)
    placement = ground(rect, [SCREEN, *clips], covers)
    uncut = clipped(rect, [SCREEN, *clips])
    strip = uncut is not None and min(uncut.width, uncut.height) < SLIVER_PX <= min(rect.width, rect.height)
    assert (placement is None) == (not visible or strip)
    if placement is not None:
        assert (placement.point.x, placement.point.y) in visible
        assert placement.rect.contains(placement.point)
        assert len(pixels(placement.rect) & visible) >= 0.8 * placement.rect.area


@given(rects, st.lists(rects, max_size=4))
def test_pieces_are_disjoint_and_complete(rect: Rect, covers: list[Rect]) -> None:
    pieces = [pixels(piece) for piece in uncovered(rect, covers)]
    assert set().union(*pieces) == left_over(rect, [], covers)
    assert sum(map(len, pieces)) == len(set().union(*pieces))


@given(rects, rects)
def test_overlap_is_symmetric_and_bounded(one: Rect, other: Rect) -> None:
    assert overlap(one, other) == overlap(other, one)
    assert 0 <= overlap(one, other) <= 1
    assert overlap(one, one) == 1


@given(st.lists(rects, min_size=1, max_size=8))
def test_bounding_contains_all_and_order_is_a_permutation(many: list[Rect]) -> None:
    around = bounding(many)
    assert all(around.intersection(rect) == rect for rect in many)
    assert sorted(reading_order(many)) == list(range(len(many)))


def test_middle_is_clicked_where_it_can_be_seen() -> None:
    placement = ground(Rect(10, 10, 40, 20), [SCREEN], [Rect(0, 0, 20, 40)])
    assert placement is not None
    assert placement.rect == Rect(20, 10, 30, 20)
    assert placement.point == Point(35, 20)


def test_covered_middle_is_not_clicked() -> None:
    placement = ground(Rect(0, 0, 100, 100), [SCREEN], [Rect(30, 30, 40, 40)])
    assert placement is not None
    assert not Rect(30, 30, 40, 40).contains(placement.point)


def test_an_element_that_is_covered_completely_has_no_point() -> None:
    assert ground(Rect(10, 10, 40, 20), [SCREEN], [Rect(0, 0, 60, 20), Rect(0, 20, 60, 60)]) is None


def test_an_element_that_is_scrolled_out_of_view_has_no_point() -> None:
    assert ground(Rect(0, 300, 40, 20), [SCREEN, Rect(0, 0, 100, 100)], []) is None
    assert clipped(Rect(0, 0, 0, 10), []) is None


def test_a_row_that_is_cut_to_a_line_is_not_seen() -> None:
    row = Rect(10, 50, 100, 18)
    assert ground(row, [Rect(0, 0, 150, 51)], []) is None
    assert ground(row, [Rect(0, 0, 150, 52)], []) is not None
    assert ground(Rect(10, 50, 100, 1), [SCREEN], []) is not None


def test_smaller_control_inside_is_not_hit_by_mistake() -> None:
    tab, close = Rect(0, 0, 100, 30), Rect(40, 5, 20, 20)
    placement = ground(tab, [SCREEN], [], avoid=[close])
    assert placement is not None
    assert placement.rect == tab
    assert not close.contains(placement.point)


def test_control_that_is_all_filled_is_clicked_all_the_same() -> None:
    placement = ground(Rect(0, 0, 50, 20), [SCREEN], [], avoid=[Rect(0, 0, 50, 20)])
    assert placement is not None
    assert placement.point == Point(25, 10)


def test_reading_goes_by_rows() -> None:
    seven, eight, four = Rect(0, 50, 30, 20), Rect(40, 52, 30, 20), Rect(0, 80, 30, 20)
    title = Rect(20, 0, 50, 20)
    assert reading_order([four, eight, title, seven]) == [2, 3, 1, 0]

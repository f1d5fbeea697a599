from __future__ import annotations

import pytest

from aci.accessibility.scope import LAG_S, LateAreas, Scope
from aci.geometry import Rect

SCOPE = Scope(areas=(Rect(10, 100, 50, 50),))


@pytest.mark.parametrize(
    ("rect", "reached"),
    [
        (Rect(0, 90, 20, 20), True),
        (Rect(60, 100, 5, 5), False),
        (Rect(10, 100, 160, 0), True),  # it was empty, and got what now shows there
        (Rect(10, 99, 160, 0), False),
        (None, False),
    ],
)
def test_what_lies_where_the_screen_looks_different_is_asked(rect: Rect | None, reached: bool) -> None:
    assert SCOPE.reaches(rect) is reached


SCREEN = Rect(0, 0, 200, 200)
AREA, OTHER = Rect(10, 10, 20, 20), Rect(100, 100, 20, 20)


def test_an_area_is_asked_about_again_until_its_answer_cannot_be_the_old_one() -> None:
    late = LateAreas()

    assert late.added_to([AREA], SCREEN, 0.0) == [AREA]
    assert late.added_to([], SCREEN, LAG_S / 2) == [AREA]
    assert late.added_to([OTHER], SCREEN, 5 * LAG_S) == [OTHER, AREA]
    assert late.added_to([], SCREEN, 6 * LAG_S) == [OTHER]
    assert late.added_to([], SCREEN, 6 * LAG_S) == []


def test_areas_to_ask_about_do_not_overlap() -> None:
    late = LateAreas()
    late.added_to([AREA], SCREEN, 0.0)

    areas = late.added_to([Rect(20, 10, 20, 20)], SCREEN, 0.1)

    assert areas == [Rect(20, 10, 20, 20), Rect(10, 10, 10, 20)]


def test_after_everything_was_read_everything_is_asked_about_once_more() -> None:
    late = LateAreas()
    late.added_to([AREA], SCREEN, 0.0)

    assert late.added_to(None, SCREEN, 0.1) is None
    assert late.added_to([], SCREEN, 0.2) == [SCREEN]
    assert late.added_to([], SCREEN, 0.2 + LAG_S) == [SCREEN]
    assert late.added_to([], SCREEN, 0.3 + LAG_S) == []

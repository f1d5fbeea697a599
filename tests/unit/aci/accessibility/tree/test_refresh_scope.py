from __future__ import annotations

from dataclasses import replace

import pytest

from aci.accessibility.dbus.signals import EVERYTHING, NOTHING
from aci.accessibility.tree.refresh_scope import LAG_S, LateAreas, Scope, areas_by_window, joined, own_windows, scope_of
from aci.observation.geometry import Rect
from aci.observation.observation import Window

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
def test_objects_in_changed_areas_are_read(rect: Rect | None, reached: bool) -> None:
    assert SCOPE.reaches(rect) is reached


SCREEN = Rect(0, 0, 200, 200)
AREA, OTHER = Rect(10, 10, 20, 20), Rect(100, 100, 20, 20)


def test_an_area_is_asked_about_again_until_its_answer_cannot_be_the_old_one() -> None:
    late = LateAreas()

    assert late.take([AREA], SCREEN, 0.0) == []
    assert late.take([], SCREEN, LAG_S / 2) == [AREA]
    assert late.take([OTHER], SCREEN, 5 * LAG_S) == [AREA]
    assert late.take([], SCREEN, 6 * LAG_S) == [OTHER]
    assert late.take([], SCREEN, 6 * LAG_S) == []


def test_areas_to_ask_about_do_not_overlap() -> None:
    assert joined([Rect(20, 10, 20, 20)], [AREA]) == [Rect(20, 10, 20, 20), Rect(10, 10, 10, 20)]


def test_many_scattered_changes_are_asked_about_as_one_area() -> None:
    rows = [Rect(8 * column, row, 4, 1) for row in range(0, 200, 2) for column in range(8)]

    assert joined([AREA], rows) == [Rect(0, 0, 60, 199)]


def test_after_everything_was_read_everything_is_asked_about_once_more() -> None:
    late = LateAreas()
    late.take([AREA], SCREEN, 0.0)

    assert late.take(None, SCREEN, 0.1) == [AREA]
    assert late.take([], SCREEN, 0.2) == [SCREEN]
    assert late.take([], SCREEN, 0.2 + LAG_S) == [SCREEN]
    assert late.take([], SCREEN, 0.3 + LAG_S) == []


LOW = Window(1, "Low", "app", Rect(0, 0, 100, 100), pid=7)
HIGH = Window(2, "High", "app", Rect(50, 50, 100, 100), pid=8)
POPUP = Window(3, "", "app", Rect(0, 20, 40, 40), pid=7, popup=True)


def test_an_area_goes_to_the_topmost_window_that_shows_there() -> None:
    found = areas_by_window([Rect(40, 40, 20, 20)], [HIGH, LOW])

    assert found[HIGH.id] == [Rect(50, 50, 10, 10)]
    assert sum(piece.area for piece in found[LOW.id]) == 20 * 20 - 10 * 10
    assert all(piece.intersection(HIGH.rect) is None for piece in found[LOW.id])


def test_areas_on_the_background_belong_to_no_window() -> None:
    assert areas_by_window([Rect(500, 500, 10, 10)], [HIGH, LOW]) == {}


def test_moved_window_is_read_completely() -> None:
    moved = replace(LOW, rect=Rect(1, 0, 100, 100))

    assert scope_of([LOW], [moved], {}, NOTHING) == Scope(everything=True, redrawn=True)
    assert scope_of([LOW], [LOW], {}, EVERYTHING).everything


def test_new_window_does_not_have_the_others_read_again() -> None:
    assert scope_of([LOW], [HIGH, LOW], {}, NOTHING) == Scope(redrawn=True)


def test_window_with_a_new_popup_is_not_read_completely() -> None:
    opened = scope_of([LOW], [POPUP, LOW], {}, NOTHING)

    assert opened.redrawn
    assert not opened.everything


def test_what_lies_under_a_new_window_has_not_changed() -> None:
    opened = scope_of([LOW], [POPUP, LOW], {POPUP.id: [POPUP.rect], LOW.id: [Rect(80, 80, 10, 10)]}, NOTHING)

    assert not opened.reaches(Rect(10, 30, 10, 10), may_open=False)
    assert opened.reaches(Rect(10, 30, 10, 10))
    assert opened.reaches(Rect(85, 85, 10, 10), may_open=False)


def test_window_that_takes_the_place_of_another_may_show_the_same() -> None:
    replaced = scope_of([LOW], [replace(LOW, id=9)], {9: [LOW.rect]}, NOTHING)

    assert replaced.reaches(Rect(10, 30, 10, 10), may_open=False)


def test_windows_that_stand_still_leave_nothing_in_doubt() -> None:
    assert not scope_of([LOW], [LOW], {}, NOTHING)
    assert scope_of([LOW], [LOW], {LOW.id: [Rect(0, 0, 16, 16)]}, NOTHING)
    assert own_windows([replace(LOW, active=True), HIGH], 7) == (LOW,)

"""What means stop: keys and corners as values."""

from __future__ import annotations

import pytest

from aci.input.keys import UnknownKey, chord
from aci.input.user_watch import StopKey, outer_corners
from aci.observation.geometry import Point, Rect


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["ctrl", "shift", "escape"], True),
        (["Escape", "Shift_R", "Control_R"], True),
        (["ctrl", "alt", "shift", "escape"], True),
        (["ctrl", "escape"], False),
        (["ctrl", "shift"], False),
    ],
)
def test_keys_on_either_side_in_any_order(keys: list[str], expected: bool) -> None:
    assert StopKey("ctrl+shift+escape").pressed_by(chord(keys)) is expected


def test_a_stop_key_that_is_not_a_key_is_an_error() -> None:
    with pytest.raises(UnknownKey):
        StopKey("ctrl+frob")


def test_one_monitor_has_four_outer_corners() -> None:
    assert set(outer_corners([Rect(0, 0, 800, 600)])) == {Point(0, 0), Point(799, 0), Point(0, 599), Point(799, 599)}


def test_a_pointer_that_goes_from_one_monitor_to_the_next_passes_no_corner() -> None:
    side_by_side = [Rect(0, 0, 800, 600), Rect(800, 0, 1000, 900)]
    assert set(outer_corners(side_by_side)) == {
        *(Point(0, 0), Point(0, 599)),
        *(Point(1799, 0), Point(1799, 899), Point(800, 899)),
    }

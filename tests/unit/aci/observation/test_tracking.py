from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aci.observation.geometry import Rect
from aci.observation.tracking import IdTracker, Sighting


def sighting(key: str, looks: str = "ok", x: int = 0) -> Sighting:
    return Sighting(key, looks, Rect(x, 0, 10, 10))


def test_object_keeps_its_id_wherever_it_moves() -> None:
    tracker = IdTracker()
    first = tracker.assign([sighting("a"), sighting("b", "cancel")])
    assert tracker.assign([sighting("b", "cancel", 500), sighting("a", "renamed", 300)]) == first[::-1]


def test_object_that_comes_back_has_its_id_again() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("a")])
    tracker.assign([])
    assert tracker.assign([sighting("a")]) == [first]


def test_object_made_anew_in_the_same_place_takes_over() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("new", x=103)]) == [first]


def test_object_that_looks_different_or_is_far_away_is_new() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("other", "delete", 100)]) != [first]
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old", x=100)])
    assert tracker.assign([sighting("new", x=400)]) != [first]


def test_both_old_and_new_present_are_two() -> None:
    tracker = IdTracker()
    tracker.assign([sighting("old")])
    assert len(set(tracker.assign([sighting("old"), sighting("new", x=1)]))) == 2


def test_each_of_several_gets_the_nearest_predecessor() -> None:
    tracker = IdTracker()
    left, right = tracker.assign([sighting("l", x=0), sighting("r", x=30)])
    assert tracker.assign([sighting("r2", x=31), sighting("l2", x=1)]) == [right, left]


def test_predecessor_that_returns_does_not_share_the_id() -> None:
    tracker = IdTracker()
    [first] = tracker.assign([sighting("old")])
    assert tracker.assign([sighting("new")]) == [first]
    ids = tracker.assign([sighting("new"), sighting("old")])
    assert ids[0] == first
    assert ids[1] != first


@given(st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 300)), max_size=6), max_size=8))
def test_ids_are_unique_at_any_time_and_never_mean_two_looks_at_once(steps: list[list[tuple[int, int, int]]]) -> None:
    tracker = IdTracker()
    for step in steps:
        seen = {key: Sighting(key, looks, Rect(x, 0, 10, 10)) for key, looks, x in step}
        ids = tracker.assign(list(seen.values()))
        assert len(set(ids)) == len(ids)

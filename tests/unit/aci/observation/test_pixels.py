from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from aci.observation.geometry import Rect
from aci.observation.pixels import BLOCK_PX, MAX_AREAS, MAX_CARET_HEIGHT_PX, changed_areas

WIDTH, HEIGHT = 200, 120


def blank(width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint32]:
    return np.zeros((height, width), dtype=np.uint32)


def painted(*rects: Rect, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint32]:
    picture = blank(width, height)
    for rect in rects:
        picture[rect.y : rect.bottom, rect.x : rect.right] = 0x00FF00
    return picture


def areas(*rects: Rect, width: int = WIDTH, height: int = HEIGHT) -> tuple[Rect, ...]:
    found = changed_areas(blank(width, height), painted(*rects, width=width, height=height))
    assert found is not None
    return found


def test_equal_pictures_differ_nowhere() -> None:
    assert areas() == ()


def test_pictures_of_different_size_cannot_be_compared() -> None:
    assert changed_areas(blank(), blank(WIDTH + 1)) is None


def test_a_difference_is_given_in_whole_blocks_within_the_picture() -> None:
    assert areas(Rect(20, 20, 8, 8)) == (Rect(16, 16, 16, 16),)
    assert areas(Rect(WIDTH - 5, HEIGHT - 5, 5, 5)) == (Rect(192, 112, 8, 8),)


def test_equal_rows_of_blocks_are_one_area() -> None:
    assert areas(Rect(30, 30, 60, 50)) == (Rect(16, 16, 80, 64),)


@pytest.mark.parametrize("width", [1, 2])
def test_the_blinking_of_a_caret_is_left_out(width: int) -> None:
    assert areas(Rect(50, 30, width, 20)) == ()


def test_a_caret_across_two_blocks_is_left_out() -> None:
    assert areas(Rect(47, 30, 2, 20)) == ()


def test_change_larger_than_a_caret_is_not_left_out() -> None:
    assert areas(Rect(50, 30, 4, 20))
    assert areas(Rect(50, 0, 1, MAX_CARET_HEIGHT_PX + 20))


def test_caret_next_to_a_real_change_is_left_out() -> None:
    assert areas(Rect(4, 4, 1, 10), Rect(100, 60, 20, 20)) == (Rect(96, 48, 32, 32),)


def test_many_scattered_changes_give_few_areas_that_cover_them() -> None:
    size = 40 * BLOCK_PX
    dots = [Rect(x, y, 4, 4) for x in range(0, size, 2 * BLOCK_PX) for y in range(0, size, 2 * BLOCK_PX)]

    found = areas(*dots, width=size, height=size)

    assert len(found) <= MAX_AREAS < len(dots)
    assert all(any(area.intersection(dot) == dot for area in found) for dot in dots)


rects = st.builds(
    Rect, st.integers(0, WIDTH - 6), st.integers(0, HEIGHT - 6), st.integers(4, WIDTH), st.integers(1, HEIGHT)
)


@settings(max_examples=200, deadline=None)
@given(st.lists(rects, max_size=6))
def test_areas_are_disjoint_and_cover_exactly_the_blocks_with_differences(changes: list[Rect]) -> None:
    before, after = blank(), painted(*changes)
    found = changed_areas(before, after)
    assert found is not None

    covered = np.zeros((HEIGHT, WIDTH), dtype=int)
    for area in found:
        covered[area.y : area.bottom, area.x : area.right] += 1

    assert covered.max(initial=0) <= 1
    assert not ((before != after) & (covered == 0)).any()
    for top in range(0, HEIGHT, BLOCK_PX):
        for left in range(0, WIDTH, BLOCK_PX):
            block = np.s_[top : top + BLOCK_PX, left : left + BLOCK_PX]
            assert (covered[block] > 0).any() == (before != after)[block].any()

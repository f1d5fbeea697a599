from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aci.observation.geometry import Rect
from aci.ocr.text_areas import AreaFinder, blocks_within, changed_blocks, map_unread_windows, reports_its_text
from tests.unit.aci.ocr.pictures import SCREEN, blank, element, window, write

SMALL, LARGE = Rect(20, 20, 80, 20), Rect(20, 20, 300, 200)
LOW, WIDE = Rect(20, 200, 80, 20), Rect(20, 200, 300, 20)


def test_only_text_of_elements_is_left_out() -> None:
    silent = map_unread_windows([window()], [element(1, "Save", SMALL)], SCREEN, {1: 7})
    assert silent[30, 60] == 0
    assert silent[SMALL.y - 1, SMALL.x] == 0, "letters may stand out by a pixel"
    assert silent[60, 60] == 7


def test_element_of_a_covered_window_does_not_hide_the_window_above_it() -> None:
    above, below = window(2, Rect(0, 0, 100, 100)), window(1)
    silent = map_unread_windows([above, below], [element(1, "Save", SMALL, window_id=1)], SCREEN, {1: 1, 2: 2})
    assert silent[30, 60] == 2
    assert silent[200, 200] == 1


def test_text_on_both_sides_of_a_window_above_it_is_not_read() -> None:
    above, below = window(2, Rect(60, 0, 100, 200)), window(1)
    text = replace(element(1, "", Rect(160, 20, 120, 100), "text", "all of it"), extent=Rect(20, 20, 260, 100))
    silent = map_unread_windows([above, below], [text], SCREEN, {1: 1, 2: 2})
    assert silent[50, 40] == silent[50, 200] == 0
    assert silent[50, 100] == 2


def test_background_and_windows_without_a_code_are_not_looked_at() -> None:
    silent = map_unread_windows([window(1, Rect(0, 0, 50, 50)), window(9, Rect(100, 0, 50, 50))], [], SCREEN, {1: 1})
    assert silent[20, 20] == 1
    assert silent[20, 120] == silent[200, 200] == 0


@pytest.mark.parametrize(
    ("role", "name", "text", "rect", "told"),
    [
        ("push button", "Save", None, SMALL, True),
        ("push button", "", None, SMALL, False),
        ("entry", "", "", SMALL, True),
        ("text", "", "much text", LARGE, True),
        ("image", "A chart of sales", None, SMALL, False),
        ("canvas", "Drawing", None, LARGE, False),
        ("status bar", "Ready", None, LOW, True),
        ("status bar", "Ready", None, WIDE, False),
        ("frame", "0", None, WIDE, False),
        ("push button", "Save", None, WIDE, True),
        ("link", "Offer", None, LARGE, False),
        ("paragraph", "long " * 40, None, LARGE, True),
        ("table cell", "A1", "", SMALL, True),
        ("password text", "", None, SMALL, True),
    ],
)
def test_facts_of_an_element_are_listed(role: str, name: str, text: str | None, rect: Rect, told: bool) -> None:
    assert reports_its_text(element(1, name, rect, role, text)) is told


def test_password_is_never_read_whatever_the_role() -> None:
    assert reports_its_text(replace(element(1, "", SMALL, "entry"), states=frozenset({"password"})))


@pytest.mark.parametrize(("width", "height"), [(64, 48), (70, 50), (1366, 33)])
@pytest.mark.parametrize("depth", [None, 3])
def test_each_changed_pixel_marks_its_block_alone(width: int, height: int, depth: int | None) -> None:
    before = np.zeros((height, width) if depth is None else (height, width, depth), dtype=np.uint8)
    for x, y in ((0, 0), (width - 1, height - 1), (width // 2, height // 2), (17, 16)):
        now = before.copy()
        now[y, x] = 1
        marked = changed_blocks(before, now)
        assert marked.shape == (-(-height // 16), -(-width // 16))
        assert np.argwhere(marked).tolist() == [[y // 16, x // 16]]


def test_equal_pictures_have_no_changed_block() -> None:
    assert not changed_blocks(blank(), blank()).any()


def test_rectangle_is_asked_for_the_blocks_that_it_touches() -> None:
    marked = np.zeros((4, 4), dtype=bool)
    marked[2, 2] = True
    assert blocks_within(marked, Rect(30, 30, 3, 3))
    assert not blocks_within(marked, Rect(0, 0, 32, 64))
    assert blocks_within(marked, Rect(-20, -20, 200, 200))


def test_letters_to_the_left_of_a_cell_of_a_tree_are_its_own() -> None:
    cell = replace(element(1, "User Data", Rect(100, 20, 80, 20), "table cell"), path=("dialog:Options", "tree table:"))
    silent = map_unread_windows([window()], [cell], SCREEN, {1: 7})
    assert silent[30, 70] == 0
    assert map_unread_windows([window()], [replace(cell, path=("table:",))], SCREEN, {1: 7})[30, 70] == 7


def test_a_cell_that_shows_something_but_reports_nothing_is_looked_at() -> None:
    pixels = blank()
    write(pixels, 1, SMALL)
    shown, empty = (element(1, name, rect, "table cell", "") for name, rect in (("B2", SMALL.grown(8, 8)), ("B9", LOW)))
    [area] = AreaFinder().look(pixels, [shown, empty], [window()])
    assert SMALL.grown(4, 4).contains(area.rect.center)
    assert AreaFinder().look(pixels, [replace(shown, text="word"), empty], [window()]) == []


def test_a_field_for_a_number_is_looked_at_for_a_label_if_it_has_none() -> None:
    field = element(1, "", SMALL, "spin button", "100.0")
    assert not reports_its_text(field)
    assert reports_its_text(replace(field, name="Opacity"))
    assert reports_its_text(replace(field, label="Opacity"))

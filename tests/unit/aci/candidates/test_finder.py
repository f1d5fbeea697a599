"""Candidates of a screen: what they are, which ids they have, and what is left to the tree and to text recognition."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray

from aci.candidates.finder import CandidateFinder
from aci.observation.geometry import Point, Rect
from aci.observation.identity import describe, find_again
from aci.observation.observation import Observation
from aci.observation.snapshot import Element, Window

pytest.importorskip("cv2", reason="pip install agent-s[ocr]")

WINDOW = Window(1, "Board", "board", Rect(100, 50, 600, 400), active=True)
RED, BLUE = (229, 57, 53), (30, 136, 229)


def screen(*squares: tuple[int, int, tuple[int, int, int]]) -> NDArray[np.uint8]:
    """Return a screen with squares of 30 px."""
    pixels = np.full((600, 800, 3), 240, dtype=np.uint8)
    for x, y, color in squares:
        pixels[y : y + 30, x : x + 30] = color
    return pixels


def element(rect: Rect, role: str = "push button", name: str = "") -> Element:
    return Element(id=1, role=role, name=name, rect=rect, point=rect.center, window_id=1)


def test_a_candidate_has_a_role_and_a_color_but_no_name() -> None:
    (found,) = CandidateFinder(count(5)).find(screen((200, 200, RED)), (), [WINDOW])
    assert (found.id, found.role, found.name, found.description) == (5, "shape", "", "red")
    assert (found.rect, found.point, found.source) == (Rect(200, 200, 30, 30), Point(215, 215), "picture")
    assert (found.window_id, found.app) == (1, "board")


def test_ids_stay_while_others_come_and_go_and_when_the_window_moves() -> None:
    finder = CandidateFinder(count(1))
    first = {each.description: each.id for each in finder.find(screen((200, 200, RED), (300, 200, BLUE)), (), [WINDOW])}
    more = finder.find(screen((200, 200, RED), (300, 200, BLUE), (400, 300, (67, 160, 71))), (), [WINDOW])
    assert {each.description: each.id for each in more if each.description in first} == first
    moved = Window(1, "Board", "board", Rect(120, 80, 600, 400), active=True)
    after = finder.find(screen((220, 230, RED), (320, 230, BLUE)), (), [moved])
    assert {each.description: each.id for each in after} == first


def test_another_figure_at_the_same_place_gets_another_id() -> None:
    finder = CandidateFinder(count(1))
    (was,) = finder.find(screen((200, 200, RED)), (), [WINDOW])
    (now,) = finder.find(screen((200, 200, BLUE)), (), [WINDOW])
    assert was.id != now.id


def test_a_candidate_is_not_taken_for_a_nameless_element_of_the_tree() -> None:
    pixels = screen((200, 200, RED))
    found = CandidateFinder(count(5)).find(pixels, (), [WINDOW])
    drawn = Element(
        id=1, role="shape", name="", rect=Rect(300, 200, 30, 30), point=Point(315, 215), window_id=1, app="board"
    )
    seen = Observation(screenshot=pixels, elements=(drawn,), windows=(WINDOW,), candidates=found)
    assert find_again(describe(drawn, seen), seen) is drawn
    assert find_again(describe(found[0], seen), seen) is None


def test_what_an_element_stands_for_is_not_a_candidate() -> None:
    finder, pixels = CandidateFinder(count(1)), screen((200, 200, RED))
    assert finder.find(pixels, [element(Rect(196, 196, 38, 38))], [WINDOW]) == ()
    assert finder.find(pixels, [element(Rect(196, 196, 38, 38), "text line", "X")], [WINDOW]) == ()


def test_figures_on_both_sides_of_a_window_above_an_element_are_not_candidates() -> None:
    text = replace(element(Rect(400, 190, 200, 60), "text"), extent=Rect(190, 190, 410, 60))
    dialog = Window(2, "Dialog", "board", Rect(260, 100, 140, 200))
    figures = screen((200, 200, RED), (300, 200, BLUE), (450, 200, RED))
    found = CandidateFinder(count(1)).find(figures, [text], [dialog, WINDOW])
    assert [one.description for one in found] == ["blue"]


def test_a_large_canvas_is_looked_into_even_if_it_has_a_name() -> None:
    canvas = element(Rect(110, 60, 580, 380), "canvas", "Drawing")
    assert len(CandidateFinder(count(1)).find(screen((200, 200, RED)), [canvas], [WINDOW])) == 1


def test_nothing_is_claimed_about_text_that_has_not_been_read() -> None:
    finder, pixels = CandidateFinder(count(1)), screen((200, 200, RED))
    assert finder.find(pixels, (), [WINDOW], texts=[Rect(190, 190, 60, 60)]) == ()
    assert len(finder.find(pixels, (), [WINDOW])) == 1


def test_a_window_above_hides_what_lies_under_it() -> None:
    above = Window(2, "Note", "note", Rect(150, 150, 300, 200))
    found = CandidateFinder(count(1)).find(screen((200, 200, RED), (600, 380, BLUE)), (), [above, WINDOW])
    assert {(each.window_id, each.description) for each in found} == {(2, "red"), (1, "blue")}


def sheet(*drawn: str) -> tuple[NDArray[np.uint8], list[Element]]:
    """Return a screen with a sheet of 5 columns and 4 rows, of whose headers some have a mark, and its cells."""
    pixels = np.full((600, 800, 3), 240, dtype=np.uint8)
    boxes = {
        (column, row): Rect(200 + 80 * place, 100 + 20 * row, 80, 20)
        for place, column in enumerate("ABCDE")
        for row in range(1, 5)
    }
    for name in drawn:
        box = boxes["A", int(name)].moved(-60, 0) if name.isdecimal() else boxes[name, 1].moved(0, -20)
        pixels[box.y + 5 : box.bottom - 5, box.center.x - 5 : box.center.x + 5] = RED
    cells = [
        Element(n, "table cell", f"{column}{row}", box, box.center, window_id=1, text="")
        for n, ((column, row), box) in enumerate(boxes.items(), 100)
    ]
    return pixels, cells


def test_headers_of_a_sheet_are_named_after_its_columns_and_rows_even_where_little_is_drawn() -> None:
    pixels, cells = sheet("A", "B", "D", "1", "2", "4")
    found = CandidateFinder(count(1)).find(pixels, cells, [WINDOW])
    assert [(each.role, each.name) for each in found] == [
        *(("column header", name) for name in "ABCDE"),
        *(("row header", name) for name in "1234"),
    ]
    assert [each.point for each in found if each.name in ("C", "3")] == [Point(400, 110), Point(180, 170)]
    text = Observation(pixels, tuple(cells), (WINDOW,), candidates=found).to_text()
    assert "column headers A to E: ids 1 to 5" in text
    assert "row headers 1 to 4: ids 6 to 9" in text


def test_headers_that_are_not_drawn_are_not_made_up() -> None:
    assert CandidateFinder(count(1)).find(*sheet(), [WINDOW]) == ()
    assert [each.name for each in CandidateFinder(count(1)).find(*sheet("A"), [WINDOW])] == [""]


def test_a_figure_of_a_dialog_over_a_header_stays() -> None:
    pixels, cells = sheet(*"ABCDE", "1", "2", "3", "4")
    dialog = Window(2, "Sort", "board", Rect(590, 60, 100, 80))
    pixels[60:140, 590:690] = 240
    pixels[78:98, 600:620] = BLUE
    found = CandidateFinder(count(1)).find(pixels, cells, [dialog, WINDOW])
    assert [each.window_id for each in found if each.description == "blue"] == [2]


def test_headers_keep_their_ids_when_one_is_selected() -> None:
    finder = CandidateFinder(count(1))
    pixels, cells = sheet(*"ABCDE", "1", "2", "3", "4")
    before = finder.find(pixels, cells, [WINDOW])
    pixels[pixels[..., 0] == RED[0]] = BLUE
    assert [(each.id, each.name) for each in finder.find(pixels, cells, [WINDOW])] == [
        (each.id, each.name) for each in before
    ]

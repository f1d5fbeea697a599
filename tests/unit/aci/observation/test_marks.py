from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.observation.geometry import Point, Rect
from aci.observation.marks import draw_marks
from aci.observation.observation import Element, Observation

SAVE = Element(41, "push button", "Save", Rect(100, 80, 60, 24), Rect(100, 80, 60, 24).center, 1)


def marked(*elements: Element, picture: np.ndarray | None = None) -> np.ndarray:
    screenshot = np.full((200, 300, 3), 255, np.uint8) if picture is None else picture
    before = screenshot.copy()
    result = draw_marks(Observation(screenshot, elements, ()))
    assert (screenshot == before).all()
    return result


def changed(picture: np.ndarray, original: int | np.ndarray = 255) -> np.ndarray:
    return (picture != original).any(axis=2)


def test_element_gets_a_frame_and_a_number_at_it() -> None:
    difference = changed(marked(SAVE))
    assert difference[80, 100:160].all()
    assert difference[103, 100:160].all()
    assert not difference[90:94, 110:120].any()
    near = Rect(60, 50, 140, 84)
    rows, columns = np.nonzero(difference)
    assert all(near.contains(_point(x, y)) for x, y in zip(columns, rows, strict=True))


def _point(x: int, y: int) -> Point:
    return Point(int(x), int(y))


def test_number_does_not_hide_text() -> None:
    picture = np.full((200, 300, 3), 255, np.uint8)
    picture[60:80, 100:300:2] = 0  # writing above the element
    after = marked(SAVE, picture=picture)
    assert (after[60:79, 100:300] == picture[60:79, 100:300]).all()


def test_marks_at_the_edge_stay_on_the_screen() -> None:
    corner = replace(SAVE, rect=Rect(0, 0, 12, 8), point=Rect(0, 0, 12, 8).center)
    far = replace(SAVE, id=42, rect=Rect(290, 194, 10, 6), point=Rect(290, 194, 10, 6).center)
    assert changed(marked(corner, far)).any()


def test_covered_elements_and_blank_cells_have_no_mark() -> None:
    blank = replace(SAVE, role="table cell", text="")
    assert not changed(marked(replace(SAVE, point=None), blank)).any()


def test_numbers_do_not_cover_each_other() -> None:
    twin = replace(SAVE, id=42, rect=Rect(102, 82, 60, 24))
    alone = changed(marked(SAVE)).sum()
    both = changed(marked(SAVE, twin)).sum()
    assert both > alone + 150


def test_number_stands_between_the_words_of_an_entry_that_has_writing_at_both_ends() -> None:
    picture = np.full((200, 300, 3), 255, np.uint8)
    rows = replace(SAVE, role="menu item", rect=Rect(20, 90, 240, 24))
    picture[70:134, 20:100:2] = picture[70:134, 180:290:2] = picture[70:134, 0:20:2] = 0
    before = picture.copy()
    added = changed(marked(rows, picture=picture), before)
    _, columns = np.nonzero(added[92:112, 21:259])
    assert columns.min() + 21 >= 100
    assert columns.max() + 21 < 180

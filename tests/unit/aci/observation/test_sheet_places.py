"""Cells of a sheet are found again by the words of their row and column, or by their address."""

from __future__ import annotations

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.identity import describe, find_again
from aci.observation.observation import Element, Observation, Window
from aci.observation.sheet_places import AXES, CellPlace

WINDOW = Window(7, "stock.ods - Calc", "calc", Rect(0, 0, 800, 600), active=True)
ROWS = (("Item", "Count", ""), ("Paper", "12", ""), ("Ink", "30", "black"), ("Total", "42", ""))


def sheet(*rows: tuple[str, ...], name: str = "Sheet1") -> Observation:
    cells = tuple(
        Element(
            y * 10 + x,
            "table cell",
            f"{chr(65 + x)}{y + 1}",
            Rect(x * 80, y * 20, 80, 20),
            None,
            WINDOW.id,
            app="calc",
            text=text,
            path=("frame:", f"table:Sheet {name}"),
        )
        for y, row in enumerate(rows)
        for x, text in enumerate(row)
    )
    return Observation(np.zeros((600, 800, 3), np.uint8), cells, (WINDOW,))


def again(address: str, now: Observation, said: tuple[str, ...], alike: int = 1) -> str | None:
    before = sheet(*ROWS)
    description = describe(next(one for one in before.elements if one.name == address), before)
    assert description.cell is not None
    place = description.cell.model_copy(update={"said": said, "alike": alike})
    found = find_again(description.model_copy(update={"cell": place}), now)
    return found.name if found is not None else None


def test_a_cell_is_known_by_the_first_words_of_its_row_and_column() -> None:
    seen = sheet(*ROWS)
    places = {one.name: describe(one, seen).cell for one in seen.elements}
    assert places["B3"] == CellPlace(row="Ink", column="Count")
    assert places["C3"] == CellPlace(row="Ink")
    assert places["A3"] == CellPlace(column="Item")
    assert places["A1"] == CellPlace()


def test_rows_and_columns_that_a_task_names_are_found_where_they_are_now() -> None:
    assert again("B3", sheet(ROWS[0], ("Glue", "4", ""), *ROWS[1:]), AXES) == "B4"
    assert again("B3", sheet(*(("", *row) for row in ROWS)), AXES) == "C3"
    assert again("B3", sheet(("Stock of May", "", ""), *ROWS), AXES) == "B4"


def test_a_cell_that_a_task_does_not_name_is_taken_only_where_it_was() -> None:
    moved = sheet(ROWS[0], ("Glue", "4", ""), *ROWS[1:])
    assert again("B3", moved, ()) is None
    assert again("B3", moved, ("column",)) is None
    assert again("B3", moved, ("row",)) == "B4"
    assert again("B3", sheet(*ROWS[:3], ("Pens", "1", "")), ()) == "B3"


def test_a_row_that_is_gone_renamed_or_there_twice_is_not_replaced_by_another() -> None:
    assert again("B3", sheet(*ROWS[:2], *ROWS[3:]), AXES) is None
    assert again("B3", sheet(*ROWS[:2], ("Ink, black", "30", "")), AXES) is None
    assert again("B3", sheet(*ROWS, ROWS[2]), AXES) is None


def test_of_rows_that_were_alike_before_the_address_decides() -> None:
    assert again("B3", sheet(*ROWS, ROWS[2]), AXES, alike=2) == "B3"


def test_another_sheet_is_not_taken_for_the_one_that_differs_in_its_number() -> None:
    assert again("B3", sheet(*ROWS, name="Sheet2"), AXES) is None

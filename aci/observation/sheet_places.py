"""Identification of sheet cells by their row and column headers, which is robust against inserted rows and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase, digits
from typing import Literal

from pydantic import BaseModel, ConfigDict

from aci.observation.sheet_text import column_number, is_sheet_cell, row_number
from aci.observation.snapshot import Element

_LETTER = re.compile(r"[^\W\d_]")

Axis = Literal["row", "column"]
AXES: tuple[Axis, ...] = ("row", "column")


class CellPlace(BaseModel):
    """The place of a cell in its sheet, by the words in its row and column."""

    model_config = ConfigDict(frozen=True)

    row: str = ""  # the first words in its row, to the left of it
    column: str = ""  # the first words in its column, above it
    # axes that the task names, by the words above; both of them without words if it names the cell's address
    said: tuple[Axis, ...] = ()
    alike: int = 1  # number of cells that matched when it was learned


def cell_place(cell: Element, elements: Sequence[Element]) -> CellPlace | None:
    """Return the place of a cell; None for an element that is not a cell named by its address."""
    if not is_sheet_cell(cell):
        return None
    left, above = _words_around(cell, _cells_with_words(_sheet_of(cell, elements)))
    return CellPlace(row=left[0] if left else "", column=above[0] if above else "")


def find_cells(place: CellPlace, address: str, cells: Sequence[Element]) -> list[Element]:
    """Return the cells of a sheet that match a place.

    A row or column that the task names by its words is matched by these alone, any other also by its position.
    """
    worded = _cells_with_words(cells)

    def matches(cell: Element) -> bool:
        if not (place.row and "row" in place.said) and _digits(cell.name) != _digits(address):
            return False
        if not (place.column and "column" in place.said) and _letters(cell.name) != _letters(address):
            return False
        left, above = _words_around(cell, worded)
        return (not place.row or place.row in left) and (not place.column or place.column in above)

    return [cell for cell in cells if matches(cell)]


def find_cell(place: CellPlace, address: str, cells: Sequence[Element]) -> Element | None:
    """Return the described cell of a sheet; None if it is missing or ambiguous."""
    found = find_cells(place, address, cells)
    if len(found) > 1 and place.alike == len(found):
        found = [cell for cell in found if cell.name == address]
    return found[0] if len(found) == 1 else None


def _digits(address: str) -> str:
    return address.lstrip(ascii_uppercase)


def _letters(address: str) -> str:
    return address.rstrip(digits)


def _sheet_of(cell: Element, elements: Sequence[Element]) -> list[Element]:
    return [
        one
        for one in elements
        if is_sheet_cell(one) and one.window_id == cell.window_id and one.path[-1:] == cell.path[-1:]
    ]


def _cells_with_words(cells: Sequence[Element]) -> list[tuple[int, int, str]]:
    """Return row, column and content of the cells that contain words, in reading order."""
    held = ((row_number(cell), column_number(cell), (cell.text or "").strip()) for cell in cells)
    return sorted(one for one in held if _LETTER.search(one[2]))


def _words_around(cell: Element, worded: Sequence[tuple[int, int, str]]) -> tuple[list[str], list[str]]:
    """Return the words to the left of a cell and above it, the farthest ones first."""
    row, column = row_number(cell), column_number(cell)
    left = [text for y, x, text in worded if y == row and x < column]
    return left, [text for y, x, text in worded if x == column and y < row]

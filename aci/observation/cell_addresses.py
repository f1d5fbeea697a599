"""Addresses of the cells of a spreadsheet, such as "B7"."""

from __future__ import annotations

import re
from functools import cache

Cell = tuple[int, int]
"""Row and column, counted from 0."""

_ADDRESS = re.compile(r"(?:.*[.!])?\$?([A-Z]{1,3})\$?([1-9][0-9]{0,6})")


def parse_address(name: str) -> Cell | None:
    """Return the cell of an address such as "B7" or "$Sheet1.$B$7", None for anything else."""
    match = _ADDRESS.fullmatch(name.strip())
    return None if match is None else (int(match[2]) - 1, column_number(match[1]) - 1)


def address_of(cell: Cell) -> str:
    """Return the address of a cell, such as "B7" for row 6 and column 1."""
    row, column = cell
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row + 1}"


@cache
def column_number(letters: str) -> int:
    """Return the number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number

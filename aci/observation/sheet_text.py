"""Text form of spreadsheet cells: filled ones individually, empty ones and selections as address ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from string import ascii_uppercase, digits

from aci.observation import cell_addresses
from aci.observation.quoting import quote
from aci.observation.snapshot import Element

_ADDRESS = re.compile(r"[A-Z]{1,3}[0-9]{1,7}")


def is_sheet_cell(element: Element) -> bool:
    """Return whether an element is a cell that is named by its address, such as "B12"."""
    return element.role == "table cell" and element.text is not None and bool(_ADDRESS.fullmatch(element.name))


def sheet_lines(cells: Sequence[Element]) -> list[str]:
    """Return the lines for cells, row by row."""
    lines = []
    blank_rows: list[list[Element]] = []
    for row in (list(run) for _, run in groupby(cells, key=lambda cell: cell.name.lstrip(ascii_uppercase))):
        if all(not cell.text and _marks(cell) == _marks(row[0]) for cell in row) and _consecutive(row):
            if blank_rows and not _continues(blank_rows[-1], row):
                lines.append(_blank_rows(blank_rows))
                blank_rows = []
            blank_rows.append(row)
            continue
        if blank_rows:
            lines.append(_blank_rows(blank_rows))
            blank_rows = []
        lines.append("  cells: " + " | ".join(_sheet_row(row)))
    if blank_rows:
        lines.append(_blank_rows(blank_rows))
    return lines


def address_ranges(cells: Sequence[Element]) -> str:
    """Return the addresses of cells as rectangles, such as "A1 to C4, E7"."""
    places = sorted({(row_number(cell), column_number(cell)) for cell in cells})
    names = {(row_number(cell), column_number(cell)): cell.name for cell in cells}
    blocks: list[tuple[int, int, int, int]] = []  # first row, first column, last row, last column
    for _, members in groupby(places, key=lambda place: place[0]):
        for first, last in _runs(list(members)):
            left, right, row = first[1], last[1], first[0]
            above = next((block for block in blocks if block[1:] == (left, row - 1, right)), None)
            if above is not None:
                blocks[blocks.index(above)] = (above[0], left, row, right)
            else:
                blocks.append((row, left, row, right))
    return ", ".join(
        names[top, left] if (top, left) == (bottom, right) else f"{names[top, left]} to {names[bottom, right]}"
        for top, left, bottom, right in blocks
    )


def _runs(places: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    runs: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for place in places:
        if runs and runs[-1][1] == (place[0], place[1] - 1):
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return runs


def _continues(above: Sequence[Element], row: Sequence[Element]) -> bool:
    follows = row[0].id == above[-1].id + 1 and len(above) == len(row) and _marks(above[0]) == _marks(row[0])
    return (
        follows and column_number(above[0]) == column_number(row[0]) and row_number(row[0]) == row_number(above[0]) + 1
    )


def _marks(cell: Element) -> str:
    states = " ".join(state for state in ("focused", "selected") if state in cell.states)
    return f" [{states}]" if states else ""


def row_number(cell: Element) -> int:
    """Return the row of a cell that is named by its address, from 1."""
    return int(cell.name.lstrip(ascii_uppercase))


def _consecutive(cells: Sequence[Element]) -> bool:
    return all(
        later.id == earlier.id + 1 and column_number(later) == column_number(earlier) + 1
        for earlier, later in pairwise(cells)
    )


def column_number(cell: Element) -> int:
    """Return the column of a cell that is named by its address, from 1."""
    return cell_addresses.column_number(cell.name.rstrip(digits))


def _blank_rows(rows: Sequence[Sequence[Element]]) -> str:
    first, last = rows[0][0], rows[-1][-1]
    each = f", row by row, {len(rows[0])} a row" if len(rows) > 1 else ""
    return f"  empty cells {first.name} to {last.name}{_marks(first)}: ids {first.id} to {last.id}{each}"


def _sheet_row(row: Sequence[Element]) -> Iterable[str]:
    for (blank, marks), run in groupby(row, key=lambda cell: (not cell.text, _marks(cell))):
        members = list(run)
        if blank and len(members) > 1 and _consecutive(members):
            first, last = members[0], members[-1]
            yield f"empty {first.name} to {last.name}{marks}: ids {first.id} to {last.id}"
        else:
            for cell in members:
                yield f"{cell.id} {cell.name} {quote(cell.text or '')}{marks}"

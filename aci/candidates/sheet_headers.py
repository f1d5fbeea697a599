"""The headers of the rows and columns of a sheet, which LibreOffice draws and does not report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from string import digits
from typing import Literal

from aci.observation.geometry import Rect
from aci.observation.sheet_text import is_sheet_cell, row_number
from aci.observation.snapshot import Element
from aci.observation.visibility import bounding
from aci.ocr.repeats import HEADER_COLUMN_PX, HEADER_ROWS

_OFF_CENTER_PX = 4  # distance of what is drawn in a header from the middle of its row or column
_LEAST_DRAWN = 0.5  # share of the headers in which something is found; narrow letters are not
_LEAST = 3  # rows or columns with headers


@dataclass(frozen=True, slots=True)
class Header:
    """The header of one row or column."""

    role: Literal["column header", "row header"]
    name: str  # its letters or its number
    rect: Rect  # where, px


def sheet_headers(elements: Sequence[Element], drawn: Sequence[Rect]) -> list[Header]:
    """Return the headers of a sheet, columns first.

    Args:
        elements: Those of one window; the cells among them say which rows and columns are visible, and where.
        drawn: Places of figures in the window, px; they show that, and where, the headers are drawn.
    """
    cells = [element for element in elements if is_sheet_cell(element)]
    if not cells:
        return []
    around = bounding([cell.rect for cell in cells])
    columns = _narrowest(cells, lambda cell: cell.name.rstrip(digits), lambda rect: rect.width)
    rows = _narrowest(cells, lambda cell: str(row_number(cell)), lambda rect: rect.height)
    height = HEADER_ROWS * median(rect.height for rect in rows.values())
    above = Rect(around.x, around.y - round(height), around.width, round(height))
    beside = Rect(around.x - HEADER_COLUMN_PX, around.y, HEADER_COLUMN_PX, around.height)
    return [
        *_columns(columns, around, [rect for rect in drawn if above.contains(rect.center)]),
        *_rows(rows, around, [rect for rect in drawn if beside.contains(rect.center)]),
    ]


def _columns(columns: Mapping[str, Rect], around: Rect, drawn: Sequence[Rect]) -> Iterator[Header]:
    middles = [rect.center.x for rect in drawn]
    if _are_drawn([rect.center.x for rect in columns.values()], middles):
        half = around.y - round(median(rect.center.y for rect in drawn))
        for name, rect in sorted(columns.items(), key=lambda one: one[1].x):
            yield Header("column header", name, Rect(rect.x, around.y - 2 * half, rect.width, 2 * half))


def _rows(rows: Mapping[str, Rect], around: Rect, drawn: Sequence[Rect]) -> Iterator[Header]:
    if _are_drawn([rect.center.y for rect in rows.values()], [rect.center.y for rect in drawn]):
        half = around.x - round(median(rect.center.x for rect in drawn))
        for name, rect in sorted(rows.items(), key=lambda one: int(one[0])):
            yield Header("row header", name, Rect(around.x - 2 * half, rect.y, 2 * half, rect.height))


def _narrowest(
    cells: Sequence[Element], name: Callable[[Element], str], extent: Callable[[Rect], int]
) -> dict[str, Rect]:
    """Return the place of a cell of each row or column; merged cells are wider."""
    found: dict[str, Rect] = {}
    for cell in cells:
        place = found.setdefault(name(cell), cell.rect)
        if extent(cell.rect) < extent(place):
            found[name(cell)] = cell.rect
    return found


def _are_drawn(middles: Sequence[int], drawn: Sequence[int]) -> bool:
    marked = sum(any(abs(one - middle) <= _OFF_CENTER_PX for one in drawn) for middle in middles)
    return marked >= max(_LEAST, _LEAST_DRAWN * len(middles))

"""Workbooks (`*.xlsx`): cells, sheets, frozen panes, zoom, filters and charts, with openpyxl."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.metrics import Score, ValueRule, metrics_by_name, score_unless
from evaluation.state.parameters import Parameters
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

SheetIndex = int | Annotated[str, Field(pattern=r"^[RE](I\d+|N.+)$")]
"""A sheet: its number in the result; or `RI0`, `EI0`, `RNname`, `ENname` for result and expected, number and name."""


class _NoSheet(Exception):
    """A workbook does not have a sheet that a rule is about."""


@dataclass(frozen=True, slots=True)
class _Book:
    """A workbook with the calculated values, and the same with the formulas."""

    values: Workbook
    formulas: Workbook


@dataclass(frozen=True, slots=True)
class _Books:
    """The workbook to judge, and the expected one, if any."""

    found: _Book
    wanted: _Book | None

    def sheet(self, index: SheetIndex, *, formulas: bool = False) -> Any:
        """Return a sheet.

        Raises:
            _NoSheet: The workbook does not have it.
            CheckFailed: It is one of an expected workbook, and there is none.
        """
        text = f"RI{index}" if isinstance(index, int) else index
        book = self.found if text[0] == "R" else self.wanted
        if book is None:
            raise CheckFailed(f"the sheet {text} is of an expected workbook, and there is none")
        sheets = (book.formulas if formulas else book.values).worksheets
        named = text[1] == "N"
        for number, sheet in enumerate(sheets):
            if sheet.title == text[2:] if named else number == int(text[2:]):
                return sheet
        raise _NoSheet(f"there is no sheet {index}")


class CellRule(Parameters):
    """One cell, and what its `value`, `formula`, `font_name`, `font_size`, `bold` ... must be."""

    type: Literal["check_cell"]
    sheet_idx: SheetIndex = 0
    coordinates: str = Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]*$")
    props: dict[
        Literal["value", "formula", "font_name", "font_size", "bold", "italic", "number_format", "fill", "alignment"],
        ValueRule,
    ]

    def __str__(self) -> str:
        return ", ".join(f"{self.coordinates} {name} {wanted}" for name, wanted in self.props.items())

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what is wrong with the cell."""
        for name, value in self.props.items():
            is_formula = name == "formula"
            sheet = books.sheet(self.sheet_idx, formulas=is_formula)
            found = _PROPERTIES[name](sheet[self.coordinates])
            expected = value.model_copy(update={"ref": _plain_formula(value.ref)}) if is_formula else value
            if not expected.holds(found):
                yield f"{name} of {self.coordinates} is {found!r}, expected {expected}"


class SheetNames(Parameters):
    """The sheets have the names of the expected workbook, in its order."""

    type: Literal["sheet_name"]

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield how the names differ."""
        if books.wanted is None:
            raise CheckFailed("the rule sheet_name needs an expected workbook")
        found, wanted = books.found.values.sheetnames, books.wanted.values.sheetnames
        if found != wanted:
            yield f"the sheets are {found}, expected {wanted}"


class TwoSheets(Parameters):
    """An aspect in which two sheets must agree: values, frozen pane, filter, charts, or merged cells."""

    type: Literal["sheet_data", "freeze", "filter", "chart", "merged"]
    sheet_idx0: SheetIndex = 0
    sheet_idx1: SheetIndex = "EI0"

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield the first difference."""
        sheet, other = books.sheet(self.sheet_idx0), books.sheet(self.sheet_idx1)
        found, wanted = _ASPECTS[self.type](sheet), _ASPECTS[self.type](other)
        if found == wanted:
            return
        place = self.type
        if isinstance(found, dict):
            place = next(key for key in sorted(found.keys() | wanted.keys()) if found.get(key) != wanted.get(key))
            found, wanted = found.get(place), wanted.get(place)
        yield f"{place} of {sheet.title} is {found!r}, expected {wanted!r}"


class Zoom(ValueRule):
    """The zoom of a sheet, in %."""

    type: Literal["zoom"]
    sheet_idx: SheetIndex = 0

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what is wrong with the zoom."""
        scale = books.sheet(self.sheet_idx).sheet_view.zoomScale or 100
        if not self.holds(scale):
            yield f"the zoom is {scale}, expected {self}"


TableRule = Annotated[CellRule | SheetNames | TwoSheets | Zoom, Field(discriminator="type")]


def compare_table(
    result: Path, expected: Path | None = None, *, rules: Annotated[tuple[TableRule, ...], Field(min_length=1)]
) -> Score:
    """Every rule holds for a workbook.

    Args:
        result: The workbook.
        expected: Another one, for the rules that compare.
        rules: `value` is what the application calculated and stored, `formula` the text
            behind it, compared without blanks and in capitals.
    """
    books = _Books(_load(result), None if expected is None else _load(expected))
    problems: list[str] = []
    for rule in rules:
        try:
            problems += rule.problems(books)
        except _NoSheet as problem:
            problems.append(str(problem))
    return score_unless(problems, f"{result.name}: {', '.join(map(str, rules))}")


METRICS = metrics_by_name(compare_table)


def _load(path: Path) -> _Book:
    from openpyxl import load_workbook

    with as_format(path, "an xlsx workbook"):
        return _Book(load_workbook(path, data_only=True), load_workbook(path, data_only=False))


def _values(sheet: Any) -> dict[str, Any]:
    return {
        cell.coordinate: round(cell.value, 6) if isinstance(cell.value, float) else cell.value
        for row in sheet.iter_rows()
        for cell in row
        if cell.value not in (None, "")
    }


def _charts(sheet: Any) -> list[tuple[str, list[str]]]:
    return [
        (chart.tagname, [str(series.val.numRef.f) for series in chart.series if series.val is not None])
        for chart in sheet._charts
    ]


_ASPECTS: dict[str, Callable[[Any], Any]] = {
    "sheet_data": _values,
    "freeze": lambda sheet: sheet.freeze_panes,
    "filter": lambda sheet: sheet.auto_filter.ref,
    "chart": _charts,
    "merged": lambda sheet: sorted(map(str, sheet.merged_cells.ranges)),
}


def _plain_formula(text: Any) -> Any:
    return re.sub(r"\s", "", text).upper() if isinstance(text, str) else text


_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "value": lambda cell: cell.value,
    "formula": lambda cell: _plain_formula(cell.value),
    "font_name": lambda cell: cell.font.name,
    "font_size": lambda cell: cell.font.sz,
    "bold": lambda cell: bool(cell.font.b),
    "italic": lambda cell: bool(cell.font.i),
    "number_format": lambda cell: cell.number_format,
    "fill": lambda cell: cell.fill.fgColor.rgb if cell.fill.fill_type else None,
    "alignment": lambda cell: cell.alignment.horizontal,
}

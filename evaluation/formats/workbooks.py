"""Workbooks (`*.xlsx`) and rules about them, with openpyxl."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from evaluation.errors import CheckFailed
from evaluation.formats.workbook_parts import (
    CHART_PROPERTIES,
    PIVOT_PROPERTIES,
    STYLES,
    charts_of,
    dimensions_of,
    filters_of,
    pivots_of,
    sparklines_of,
    stored_value,
    styles_of,
    values_of,
)
from evaluation.state.context import TaskContext
from evaluation.state.metrics import Expected, Score, ValueRule, score_unless
from evaluation.state.parameters import Parameters
from evaluation.state.reading import Reading, WrongFormat, as_format, read_text

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

SheetIndex = int | Annotated[str, Field(pattern=r"^[RE](I\d+|N.+)$")]
"""A sheet: its number in the result; or `RI0`, `EI0`, `RNname`, `ENname` for result and expected, number and name."""


class _NoSheet(Exception):
    """A workbook does not have a sheet that a rule is about."""


@dataclass(frozen=True, slots=True)
class _Book:
    """A workbook with the calculated values, the same with the formulas, and its file."""

    values: Workbook
    formulas: Workbook
    path: Path


@dataclass(frozen=True, slots=True)
class _Books:
    """The workbook to judge, and the expected one, if any."""

    found: _Book
    wanted: _Book | None

    def sheet(self, index: SheetIndex, *, formulas: bool = False) -> Any:
        """Return a sheet; errors as for `find`."""
        book, number = self.find(index)
        return (book.formulas if formulas else book.values).worksheets[number]

    def find(self, index: SheetIndex) -> tuple[_Book, int]:
        """Return the workbook that a sheet is of, and the number of the sheet.

        Raises:
            _NoSheet: The workbook does not have it.
            CheckFailed: It is one of an expected workbook, and there is none.
        """
        text = f"RI{index}" if isinstance(index, int) else index
        book = self.found if text[0] == "R" else self.wanted
        if book is None:
            raise CheckFailed(f"the sheet {text} is of an expected workbook, and there is none")
        named = text[1] == "N"
        for number, sheet in enumerate(book.values.worksheets):
            if sheet.title == text[2:] if named else number == int(text[2:]):
                return book, number
        raise _NoSheet(f"there is no sheet {index}")


class CellRule(Parameters):
    """One cell, and what its `value`, `formula` or styles must be; see `workbook_parts.STYLES`."""

    type: Literal["check_cell"]
    sheet_idx: SheetIndex = 0
    coordinate: str = Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]*$")
    props: dict[Literal[("value", "formula", *STYLES)], ValueRule]  # type: ignore[valid-type]

    def __str__(self) -> str:
        return ", ".join(f"{self.coordinate} {name} {wanted}" for name, wanted in self.props.items())

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what is wrong with the cell."""
        for name, value in self.props.items():
            is_formula = name == "formula"
            cell = books.sheet(self.sheet_idx, formulas=is_formula)[self.coordinate]
            found = _plain_formula(cell.value) if is_formula else _READERS[name](cell)
            expected = value.model_copy(update={"ref": _plain_formula(value.ref)}) if is_formula else value
            if not expected.holds(found):
                yield f"{name} of {self.coordinate} is {found!r}, expected {expected}"


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


class _TwoSheets(Parameters):
    """Two sheets that must agree: of the result and of the expected workbook, if the rule does not say otherwise."""

    sheet_idx0: SheetIndex = 0
    sheet_idx1: SheetIndex = "EI0"

    def compared(self, what: str, found: Any, wanted: Any) -> Iterator[str]:
        """Yield the first difference."""
        if found == wanted:
            return
        if isinstance(found, dict) and isinstance(wanted, dict):
            what = next(key for key in sorted(found.keys() | wanted.keys()) if found.get(key) != wanted.get(key))
            found, wanted = found.get(what), wanted.get(what)
        yield f"{what} of {self.sheet_idx0} is {found!r}, expected {wanted!r}"


class SheetData(_TwoSheets):
    """The values of the cells, rounded to a number of decimals."""

    type: Literal["sheet_data"]
    precision: Annotated[int, Field(ge=0)] = 4

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield the first difference."""
        sheets = (books.sheet(index) for index in (self.sheet_idx0, self.sheet_idx1))
        yield from self.compared(self.type, *(values_of(sheet, self.precision) for sheet in sheets))


class SheetParts(_TwoSheets):
    """An aspect of the sheets, with the properties of it that count."""

    type: Literal["freeze", "filter", "merged", "chart", "style", "row_props", "col_props", "pivot_table"]
    props: tuple[str, ...] = ()
    chart_props: tuple[Literal[tuple(CHART_PROPERTIES)], ...] = ()  # type: ignore[valid-type]
    pivot_props: tuple[Literal[PIVOT_PROPERTIES], ...] = ()  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _known_styles(self) -> Self:
        if self.type == "style" and (unknown := sorted(set(self.props) - set(STYLES))):
            raise ValueError(f"unknown styles {unknown}; valid are: {', '.join(STYLES)}")
        return self

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield the first difference."""
        names = self.props or self.chart_props or self.pivot_props
        sheets = (books.sheet(index, formulas=self.type != "style") for index in (self.sheet_idx0, self.sheet_idx1))
        yield from self.compared(self.type, *(_ASPECTS[self.type](sheet, names) for sheet in sheets))


class SheetSparklines(_TwoSheets):
    """The small charts in cells."""

    type: Literal["sparkline"]

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield the first difference."""
        places = (books.find(index) for index in (self.sheet_idx0, self.sheet_idx1))
        found = (sparklines_of(book.path, book.values.sheetnames[number]) for book, number in places)
        yield from self.compared(self.type, *found)


class SheetPrint(_TwoSheets):
    """The lines of the CSV files beside the workbooks, `BOOK-SHEET.csv`; blank ones at the end do not count."""

    type: Literal["sheet_print"]
    ignore_case: bool = False

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield the first difference."""
        yield from self.compared(self.type, *(self._lines(books, one) for one in (self.sheet_idx0, self.sheet_idx1)))

    def _lines(self, books: _Books, index: SheetIndex) -> list[str]:
        book, number = books.find(index)
        path = book.path.with_name(f"{book.path.stem}-{book.values.sheetnames[number]}.csv")
        if not path.is_file():
            raise _NoSheet(f"there is no file {path.name}")
        text = read_text(path)
        return [line.strip() for line in (text.casefold() if self.ignore_case else text).strip().splitlines()]


class FuzzyRule(Parameters):
    """How the texts of the cells of ranges are compared, and what does not count."""

    range: Annotated[tuple[str, ...], Field(min_length=1)]
    type: Literal["includes", "included_by", "fuzzy_match", "exact_match"]
    threshold: float = 85
    ignore_case: bool = False
    ignore_chars: str = ""
    trim_leadings: str | None = None
    trim_trailings: str | None = None
    normalization: tuple[tuple[str, str], ...] = ()

    def holds(self, found: str, wanted: str) -> bool:
        """Return whether two texts agree."""
        from rapidfuzz.fuzz import ratio

        one, two = self._normal(found), self._normal(wanted)
        match self.type:
            case "includes":
                return two in one
            case "included_by":
                return one in two
            case "fuzzy_match":
                return ratio(one, two) >= self.threshold
        return one == two

    def _normal(self, text: str) -> str:
        for old, new in self.normalization:
            text = text.replace(old, new)
        if self.trim_leadings is not None:
            text = text.lstrip(self.trim_leadings)
        if self.trim_trailings is not None:
            text = text.rstrip(self.trim_trailings)
        text = "".join(sign for sign in text if sign not in self.ignore_chars)
        return text.lower() if self.ignore_case else text


class SheetFuzzy(_TwoSheets):
    """The texts of cells, one by one, with rules for how they are compared."""

    type: Literal["sheet_fuzzy"]
    rules: tuple[FuzzyRule, ...]

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what differs."""
        from openpyxl.worksheet.cell_range import MultiCellRange

        sheet, other = books.sheet(self.sheet_idx0), books.sheet(self.sheet_idx1)
        for rule in self.rules:
            for cells in MultiCellRange(" ".join(rule.range)).ranges:
                for row, column in cells.cells:
                    found, wanted = (str(stored_value(one.cell(row, column))) for one in (sheet, other))
                    if not rule.holds(found, wanted):
                        yield f"{sheet.cell(row, column).coordinate} is {found!r}, expected {wanted!r} ({rule.type})"


class DataValidation(Parameters):
    """What may be typed into cells: each restriction of the sheet is as one of `dv_props` says, and all are there."""

    type: Literal["data_validation"]
    sheet_idx: SheetIndex = 0
    dv_props: tuple[dict[str, ValueRule], ...]

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what is wrong with the restrictions."""
        found = books.sheet(self.sheet_idx).data_validations.dataValidation
        if len(found) < len(self.dv_props):
            yield f"there are {len(found)} restrictions, expected {len(self.dv_props)}"
        for one in found:
            if not any(_fits_all(one, wanted) for wanted in self.dv_props):
                yield f"the restriction of {one.sqref} is {one.type} {one.formula1}"


class Zoom(ValueRule):
    """The zoom of a sheet, in %."""

    type: Literal["zoom"]
    sheet_idx: SheetIndex = 0

    def problems(self, books: _Books) -> Iterator[str]:
        """Yield what is wrong with the zoom."""
        scale = books.sheet(self.sheet_idx).sheet_view.zoomScale or 100
        if not self.holds(scale):
            yield f"the zoom is {scale}, expected {self}"


TableRule = Annotated[
    CellRule | SheetNames | SheetData | SheetParts | SheetSparklines | SheetPrint | SheetFuzzy | DataValidation | Zoom,
    Field(discriminator="type"),
]


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


def compare_conference_city_in_order(result: Path, expected: Expected[tuple[str | tuple[str, ...], ...]]) -> Score:
    """The cells C2 to C22 of the active sheet have the expected names in them, in order."""
    cells = [row[0].value for row in _load(result).values.active["C2:C22"]]
    wrong = (
        f"C{number} is {value!r}, expected {names!r}"
        for number, (value, names) in enumerate(zip_longest(cells, expected.expected), 2)
        if not any(name in str(value or "") for name in ((names,) if isinstance(names, str) else names or ()))
    )
    return score_unless(wrong, "all names are as expected")


def content_from_vm_file(
    context: TaskContext, *, path: str, file_type: Literal["xlsx"], file_content: Literal["last_row"]
) -> Reading:
    """The last row of the first sheet of a workbook, as texts; `nan` for a cell without a value."""
    file = context.path(path)
    if not file.is_file():
        return Reading(None, f"{context.shown(file)} does not exist")
    try:
        rows = [row for row in _load(file).values.worksheets[0].values if any(value is not None for value in row)]
    except WrongFormat as problem:
        return Reading(None, str(problem))
    if len(rows) < 2:
        return Reading(None, f"{context.shown(file)} has no row below its headings")
    texts = ["nan" if value is None else str(value) for value in rows[-1]]
    return Reading(texts, f"the last row is {texts}")


def _load(path: Path) -> _Book:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    with as_format(path, "an xlsx workbook", InvalidFileException):
        return _Book(load_workbook(path, data_only=True), load_workbook(path, data_only=False), path)


def _fits_all(restriction: Any, wanted: dict[str, ValueRule]) -> bool:
    names = {"ranges": "sqref"}
    return all(rule.holds(getattr(restriction, names.get(name, name), None)) for name, rule in wanted.items())


_READERS = {"value": stored_value, **STYLES}
_ASPECTS: dict[str, Callable[[Any, tuple[str, ...]], Any]] = {
    "freeze": lambda sheet, _: sheet.freeze_panes,
    "filter": lambda sheet, _: filters_of(sheet),
    "merged": lambda sheet, _: sorted(map(str, sheet.merged_cells.ranges)),
    "chart": charts_of,
    "style": styles_of,
    "row_props": dimensions_of("row"),
    "col_props": dimensions_of("column"),
    "pivot_table": pivots_of,
}


def _plain_formula(text: Any) -> Any:
    return re.sub(r"\s", "", text).upper() if isinstance(text, str) else text

"""Workbooks (`*.xlsx`): cells, sheets, frozen panes, zoom, filters and charts, with openpyxl."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zipfile import BadZipFile

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.getters import Parameters
from evaluation.state.metrics import Metric, Score, ValueRule, by_name, score_of

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

SheetIndex = int | Annotated[str, Field(pattern=r"^[RE](I\d+|N.+)$")]
"""A sheet: its number in the result; or `RI0`, `EI0`, `RNname`, `ENname` for result and expected, number and name."""


class CellRule(Parameters):
    """One cell, and what its `value`, `formula`, `font_name`, `font_size`, `bold` ... must be."""

    type: Literal["check_cell"]
    sheet_idx: SheetIndex = 0
    coordinates: str = Field(pattern=r"^[A-Z]{1,3}[1-9][0-9]*$")
    props: dict[
        Literal["value", "formula", "font_name", "font_size", "bold", "italic", "number_format", "fill", "alignment"],
        ValueRule,
    ]


class SheetNames(Parameters):
    """The sheets have the names of the expected workbook, in its order."""

    type: Literal["sheet_name"]


class TwoSheets(Parameters):
    """An aspect in which two sheets must agree: values, frozen pane, filter, charts, or merged cells."""

    type: Literal["sheet_data", "freeze", "filter", "chart", "merged"]
    sheet_idx0: SheetIndex = 0
    sheet_idx1: SheetIndex = "EI0"


class Zoom(ValueRule):
    """The zoom of a sheet, in %."""

    type: Literal["zoom"]
    sheet_idx: SheetIndex = 0


TableRule = Annotated[CellRule | SheetNames | TwoSheets | Zoom, Field(discriminator="type")]


class TableOptions(Parameters):
    """Rules for a workbook."""

    rules: Annotated[tuple[TableRule, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class _Book:
    """A workbook with the calculated values, and the same with the formulas."""

    values: Workbook
    formulas: Workbook


def compare_table(result: Path, expected: Path | None = None, *, rules: Sequence[Any]) -> Score:
    """Every rule holds for a workbook.

    Args:
        result: The workbook.
        expected: Another one, for the rules that compare.
        rules: `value` is what the application calculated and stored, `formula` the text
            behind it, compared without blanks and in capitals.
    """
    try:
        found = _load(result)
    except _UNREADABLE as error:
        return Score(0.0, f"{result.name} is not an xlsx workbook: {error}")
    try:
        wanted = None if expected is None else _load(expected)
    except _UNREADABLE as error:
        raise CheckFailed(f"{expected} is not an xlsx workbook: {error}") from error
    wrong = [problem for rule in rules for problem in _problems(rule, found, wanted)]
    return score_of(not wrong, "; ".join(wrong) or f"{result.name}: {', '.join(_description(rule) for rule in rules)}")


_UNREADABLE = (BadZipFile, KeyError, ValueError, ElementTree.ParseError)


def _load(path: Path) -> _Book:
    from openpyxl import load_workbook

    return _Book(load_workbook(path, data_only=True), load_workbook(path, data_only=False))


def _description(rule: Any) -> str:
    if isinstance(rule, CellRule):
        return ", ".join(f"{rule.coordinates} {name} {wanted}" for name, wanted in rule.props.items())
    return f"{rule.type} is as expected"


def _problems(rule: Any, found: _Book, wanted: _Book | None) -> list[str]:
    match rule:
        case CellRule():
            return _cell_problems(rule, found, wanted)
        case Zoom():
            sheet = _sheet(rule.sheet_idx, found, wanted)
            if sheet is None:
                return [f"there is no sheet {rule.sheet_idx}"]
            scale = sheet.sheet_view.zoomScale or 100
            return [] if rule.holds(scale) else [f"the zoom is {scale}, expected {rule}"]
        case TwoSheets():
            one, two = (_sheet(index, found, wanted) for index in (rule.sheet_idx0, rule.sheet_idx1))
            if one is None or two is None:
                return [f"there is no sheet {rule.sheet_idx0 if one is None else rule.sheet_idx1}"]
            mine, other = _ASPECTS[rule.type](one), _ASPECTS[rule.type](two)
            return [] if mine == other else [f"{rule.type} of {one.title} differs: {_difference(mine, other)}"]
        case _:
            if wanted is None:
                raise CheckFailed("the rule sheet_name needs an expected workbook")
            mine, other = found.values.sheetnames, wanted.values.sheetnames
            return [] if mine == other else [f"the sheets are {mine}, expected {other}"]


def _sheet(index: SheetIndex, found: _Book, wanted: _Book | None, *, formulas: bool = False) -> Worksheet | None:
    text = f"RI{index}" if isinstance(index, int) else index
    book = found if text[0] == "R" else wanted
    if book is None:
        raise CheckFailed(f"the sheet {text} is of an expected workbook, and there is none")
    workbook = book.formulas if formulas else book.values
    if text[1] == "N":
        return workbook[text[2:]] if text[2:] in workbook.sheetnames else None
    number = int(text[2:])
    return workbook.worksheets[number] if 0 <= number < len(workbook.worksheets) else None


def _values(sheet: Worksheet) -> dict[str, Any]:
    return {
        cell.coordinate: round(cell.value, 6) if isinstance(cell.value, float) else cell.value
        for row in sheet.iter_rows()
        for cell in row
        if cell.value not in (None, "")
    }


def _charts(sheet: Worksheet) -> list[tuple[str, list[str]]]:
    return [
        (chart.tagname, [str(series.val.numRef.f) for series in chart.series if getattr(series, "val", None)])
        for chart in sheet._charts
    ]


_ASPECTS: dict[str, Any] = {
    "sheet_data": _values,
    "freeze": lambda sheet: sheet.freeze_panes,
    "filter": lambda sheet: sheet.auto_filter.ref,
    "chart": _charts,
    "merged": lambda sheet: sorted(map(str, sheet.merged_cells.ranges)),
}


def _difference(found: Any, wanted: Any) -> str:
    if isinstance(found, dict):
        place = next(key for key in sorted(found.keys() | wanted.keys()) if found.get(key) != wanted.get(key))
        return f"{place} is {found.get(place)!r}, expected {wanted.get(place)!r}"
    return f"{found!r}, expected {wanted!r}"


def _cell_problems(rule: CellRule, book: _Book, wanted: _Book | None) -> list[str]:
    problems = []
    for name, value in rule.props.items():
        sheet = _sheet(rule.sheet_idx, book, wanted, formulas=name == "formula")
        if sheet is None:
            return [f"there is no sheet {rule.sheet_idx}"]
        found = _PROPERTIES[name](sheet[rule.coordinates])
        expected = value.model_copy(update={"ref": _plain_formula(value.ref)}) if name == "formula" else value
        if not expected.holds(found):
            problems.append(f"{name} of {rule.coordinates} is {found!r}, expected {expected}")
    return problems


_PROPERTIES: dict[str, Any] = {
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


def _plain_formula(text: Any) -> Any:
    return re.sub(r"\s", "", text).upper() if isinstance(text, str) else text


METRICS = by_name(
    Metric(compare_table, options=TableOptions),
)

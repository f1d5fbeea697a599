"""Tasks in a spreadsheet and in a letter, and how the documents and what the screen shows of them are changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from aci.acting.actions import Action, Type
from aci.observation.observation import Observation
from benchmarks.fixtures.open_documents import Book, Cell, Letter, Sheet, paragraphs, read_book, read_letter
from benchmarks.support.changed_documents import Change, Contents, Job, Move, also_open, by, click, press, type_into

_ITEM, _COUNT, _REMARK = "Item", "Count", "Remark"
_ROWS: tuple[tuple[Cell, ...], ...] = (
    (_ITEM, _COUNT, _REMARK),
    ("Paper", 12, None),
    ("Ink", 30, None),
    ("Pens", 7, "blue"),
    ("Total", "=SUM([.B2:.B4])", None),
)
_OLD: tuple[tuple[Cell, ...], ...] = (_ROWS[0], ("Paper", 3, None), ("Ink", 5, None), ("Pens", 1, None))
STOCK = Book({"Stock": Sheet(_ROWS), "Archive": Sheet(_OLD)}, "Stock")
NUMBERED = Book({"Sheet1": Sheet(_ROWS), "Sheet2": Sheet(_OLD)}, "Sheet1")
LETTER = Letter(paragraphs("Dear Ada,", "this is the draft of our offer.", "The price is 40 EUR.", "Yours, Bob"))
_FREEZE = {
    "VerticalSplitMode": ("short", "2"),
    "VerticalSplitPosition": ("int", "1"),
    "PositionBottom": ("int", "1"),
}
_VALID = (
    '<table:content-validations><table:content-validation table:name="val1" table:base-cell-address="Stock.B3" '
    'table:condition="of:cell-content-is-whole-number() and cell-content()&lt;=40">'
    '<table:error-message table:display="true" table:message-type="stop"/>'
    "</table:content-validation></table:content-validations>"
)
_FILTER = (
    '<table:database-ranges><table:database-range table:name="db" table:target-range-address="Stock.A1:Stock.C5" '
    'table:display-filter-buttons="true"/></table:database-ranges>'
)


def _half_typed(seen: Observation) -> Action:
    return Type(text="half")


def _counted(now: Contents) -> Contents | None:
    """Return the book with the count of Ink and its remark, wherever they are; None if that is not clear."""
    inside = {(y, x): text for (sheet, y, x), text in now.items() if sheet == "Stock"}
    rows = [y for (y, _), text in inside.items() if text == "Ink"]
    places = [[x for (_, x), text in inside.items() if text == head] for head in (_COUNT, _REMARK)]
    if [len(one) for one in (rows, *places)] != [1, 1, 1]:
        return None
    ((counts,), (remarks,)) = places
    return {**now, ("Stock", rows[0], counts): "48", ("Stock", rows[0], remarks): "ordered"}


def _replaced(now: Contents) -> Contents | None:
    if not any("draft" in text for text in now.values()):
        return None
    return {at: text.replace("draft", "final version") for at, text in now.items()}


def _letter(path: Path) -> Contents:
    return {("", y, 0): text for y, text in enumerate(read_letter(path))}


def _with(rows: tuple[tuple[Cell, ...], ...] = _ROWS, **more: Any) -> Book:
    """Return the book with another first sheet."""
    return replace(STOCK, sheets={**STOCK.sheets, "Stock": Sheet(rows, **more)})


def _row(at: int, *cells: Cell) -> tuple[tuple[Cell, ...], ...]:
    return (*_ROWS[:at], cells, *_ROWS[at:])


def _column(at: int, *cells: Cell) -> tuple[tuple[Cell, ...], ...]:
    return tuple((*row[:at], cell, *row[at:]) for row, cell in zip(_ROWS, cells, strict=True))


def _cells(cells: Mapping[tuple[int, int], Cell]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(cells.get((y, x), cell) for x, cell in enumerate(row)) for y, row in enumerate(_ROWS))


def _menu(*names: str, last: str = "check menu item") -> Callable[..., None]:
    roles = [*["menu"] * (len(names) - 1), last]
    return by(*(click(role, name) for role, name in zip(roles, names, strict=True)))


def _screen_changes(document: Book | Letter, moves: Mapping[str, Move]) -> Iterator[Change]:
    """Yield what any document has: a file that is read-only, a small screen, and a move made beforehand."""
    yield Change("read-only file", document, mode=0o444)
    yield Change("small screen", document, size=(800, 600))
    yield from (Change(name, document, by(move)) for name, move in moves.items())


def stock_changes() -> Iterator[Change]:
    """Yield the changes of the spreadsheet and of what the screen shows of it."""
    sheets = STOCK.sheets
    documents = {
        "other counts": _with(_cells({(1, 1): 99, (2, 1): 8, (3, 1): 0})),
        "the count is there already": _with(_cells({(2, 1): 48})),
        "no count yet": _with(_cells({(2, 1): None})),
        "a remark is there": _with(_cells({(2, 2): "checked"})),
        "the count is a formula": _with(_cells({(2, 1): "=6*5"})),
        "a remark above begins alike": _with(_cells({(1, 2): "ordered in May"})),
        "row above": _with(_row(2, "Glue", 4, None)),
        "row above all": _with(_row(0, "Stock of May", None, None)),
        "row below": _with(_row(3, "Glue", 4, None)),
        "column before": _with(_column(0, "No.", 1, 2, 3, None)),
        "column between": _with(_column(1, "Unit", "box", "bottle", "piece", None)),
        "column between count and remark": _with(_column(2, "Price", 3, 9, 1, None)),
        "columns exchanged": _with(tuple((a, c, b) for a, b, c in _ROWS[:4])),
        "sorted by name": _with((_ROWS[0], _ROWS[2], _ROWS[1], *_ROWS[3:])),
        "item renamed": _with(_cells({(2, 0): "Ink, black"})),
        "item gone": _with((*_ROWS[:2], *_ROWS[3:])),
        "two of the item": _with(_row(4, "Ink", 2, "red")),
        "column renamed": _with(_cells({(0, 1): "Price"})),
        "other sheet active": replace(STOCK, active="Archive"),
        "sheet in front": replace(STOCK, sheets={"Notes": Sheet((("Read me",),)), **sheets}),
        "sheet renamed": replace(
            STOCK, sheets={"Stock 2026": sheets["Stock"], **{"Archive": sheets["Archive"]}}, active="Stock 2026"
        ),
        "sheets exchanged": replace(STOCK, sheets=dict(reversed(list(sheets.items()))), active="Archive"),
        "sheet protected": _with(attributes='table:protected="true"'),
        "cells merged": _with(
            _cells({}), cell_attributes={(2, 1): 'table:number-columns-spanned="2" table:number-rows-spanned="1"'}
        ),
        "rows merged": _with(
            _cells({(2, 1): None}),
            cell_attributes={(1, 1): 'table:number-columns-spanned="1" table:number-rows-spanned="2"'},
        ),
        "row hidden": _with(row_attributes={2: 'table:visibility="collapse"'}),
        "column hidden": _with(columns='<table:table-column/><table:table-column table:visibility="collapse"/>'),
        "only smaller numbers are valid": replace(
            _with(cell_attributes={(2, 1): 'table:content-validation-name="val1"'}), before=_VALID
        ),
        "filter buttons": replace(STOCK, behind=_FILTER),
        "first row frozen": replace(STOCK, sheet_view=_FREEZE),
        "no headers": replace(STOCK, view={"HasColumnRowHeaders": ("boolean", "false")}),
        "large": replace(STOCK, sheet_view={"ZoomType": ("short", "0"), "ZoomValue": ("int", "200")}),
        "scrolled away": replace(
            _with((*_ROWS, *((f"More {n}", n, None) for n in range(200)))),
            sheet_view={"PositionBottom": ("int", "120"), "CursorPositionY": ("int", "130")},
        ),
    }
    yield from (Change(name, book) for name, book in documents.items())
    moves = {
        "find and replace open": press("ctrl", "h"),
        "cell format open": press("ctrl", "1"),
        "printing": press("ctrl", "p"),
        "range selected": press("ctrl", "shift", "end"),
        "full screen": press("ctrl", "shift", "j"),
        "print preview": press("ctrl", "shift", "o"),
        "formulas shown": press("ctrl", "`"),
        "cursor in the cell below": type_into("table cell", "B4", ""),
    }
    yield from _screen_changes(STOCK, moves)
    yield Change("large screen", STOCK, size=(1920, 1080))
    yield Change("input not finished", STOCK, by(click("table cell", "E7"), _half_typed))
    yield Change("no formula bar", STOCK, _menu("View", "Formula Bar"))
    yield Change("no status bar", STOCK, _menu("View", "Status Bar"))
    yield Change("side bar", STOCK, _menu("View", "Sidebar"))


def numbered_changes() -> Iterator[Change]:
    """Yield changes of a spreadsheet whose sheets have the names that they get by themselves."""
    sheets = NUMBERED.sheets
    yield Change("other sheet active", replace(NUMBERED, active="Sheet2"))
    yield Change("row above", replace(NUMBERED, sheets={**sheets, "Sheet1": Sheet(_row(2, "Glue", 4, None))}))
    yield Change("another book in front", NUMBERED, also_open("localc", "old.ods"), beside={"old.ods": NUMBERED})
    yield Change("other counts", replace(NUMBERED, sheets={**sheets, "Sheet1": Sheet(_cells({(2, 1): 5}))}))


def letter_changes() -> Iterator[Change]:
    """Yield the changes of the letter and of what the screen shows of it."""
    documents = {
        "other text": Letter(paragraphs("Hello Bob,", "a draft lies here.", "Bye")),
        "the word twice": Letter(paragraphs("The draft is a draft.", "It is still a draft.")),
        "the word is not there": Letter(paragraphs("Dear Ada,", "this is our offer.")),
        "the word in a table": Letter(
            paragraphs("Dear Ada,") + "<table:table><table:table-column/><table:table-row><table:table-cell>"
            f"{paragraphs('draft')}</table:table-cell></table:table-row></table:table>" + paragraphs("Bob")
        ),
        "the word in a protected part": Letter(
            f'<text:section text:name="s" text:protected="true">{paragraphs("the draft")}</text:section>'
        ),
        "long": Letter(paragraphs(*(f"Line {n}" for n in range(120)), "the draft", "Bob")),
        "empty": Letter(paragraphs("")),
    }
    yield from (Change(name, letter) for name, letter in documents.items())
    moves = {
        "find and replace open": press("ctrl", "h"),
        "find bar open": press("ctrl", "f"),
        "everything selected": press("ctrl", "a"),
        "read-only mode": press("ctrl", "shift", "m"),
        "print preview": press("ctrl", "shift", "o"),
        "full screen": press("ctrl", "shift", "j"),
        "printing": press("ctrl", "p"),
    }
    yield from _screen_changes(LETTER, moves)
    yield Change("case matters", LETTER, by(press("ctrl", "h"), click("check box", "Match case"), press("escape")))
    yield Change(
        "another text was looked for",
        LETTER,
        by(press("ctrl", "h"), type_into("text", "Find:", "Ada", overwrite=True), press("escape")),
    )
    yield Change("another letter in front", LETTER, also_open("lowriter", "old.odt"), beside={"old.odt": LETTER})


JOBS = {
    "count": Job(
        "In the sheet Stock, set the count of Ink to 48 and its remark to 'ordered', and save the spreadsheet.",
        "stock.ods",
        "localc",
        STOCK,
        (
            type_into("table cell", "B3", "48", enter=True),
            type_into("table cell", "C3", "ordered", enter=True),
            press("ctrl", "s"),
        ),
        read_book,
        _counted,
        stock_changes,
    ),
    "address": Job(
        "Type 48 into the cell B3 of Sheet1 in stock.ods and save it.",
        "stock.ods",
        "localc",
        NUMBERED,
        (type_into("table cell", "B3", "48", enter=True), press("ctrl", "s")),
        read_book,
        lambda now: {**now, ("Sheet1", 2, 1): "48"},
        numbered_changes,
    ),
    "letter": Job(
        "Replace 'draft' with 'final version' in letter.odt, and save it.",
        "letter.odt",
        "lowriter",
        LETTER,
        (
            press("ctrl", "h"),
            type_into("text", "Find:", "draft", overwrite=True),
            type_into("text", "Replace:", "final version", overwrite=True),
            click("push button", "Replace All"),
            click("push button", "Close"),
            press("ctrl", "s"),
        ),
        _letter,
        _replaced,
        letter_changes,
    ),
}
"""The tasks by name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from aci.accessibility.atspi import ROLE_NAMES, Ref
from aci.accessibility.dbus.bus import Bus, Call
from aci.accessibility.tree.nodes import Node
from aci.accessibility.tree.tables import cell_node, read_rows, read_table, refresh_view
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.trees import SEEN, application, frame, node


class Table:
    """A list of two rows and two columns on a bus; its first column shows a picture and a text in each cell."""

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        return [self._answer(path, member, body) for _, path, _, member, _, body in calls]

    async def ask(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        return self._answer(path, member, body)

    def _answer(self, path: str, member: str, body: Sequence[Any]) -> Any:
        if member in ("Get", "GetAll"):
            columns = {"/head0": "Name", "/head1": "Size"}
            name = columns.get(path, "12 kB" if path.endswith("1") else "")
            if path[1] in "pt":
                name = "folder" if path[1] == "p" else path[2]
            own = {"Name": name, "ChildCount": 0 if name else 2}
            return own if member == "GetAll" else {"NColumns": 2, "NRows": 2, **own}.get(body[-1])
        cell = f"/cell{body[0]}{body[1]}" if len(body) == 2 else ""
        answers = {
            "GetAccessibleAt": (":1.5", cell),
            "GetColumnHeader": (":1.5", f"/head{body[0] if body else 0}"),
            "GetState": [SEEN & 0xFFFFFFFF, SEEN >> 32],
            "GetRole": ROLE_NAMES.index("table column header" if "head" in path else "table cell"),
            "GetInterfaces": ["org.a11y.atspi.Accessible"],
            "GetChildren": [(":1.5", f"/p{path[-2:]}"), (":1.5", f"/t{path[-2:]}")],
        }
        return answers.get(member)


def rows() -> list[Node]:
    table = node("table", "Files", Rect(0, 0, 200, 100))
    return asyncio.run(read_rows(cast(Bus, Table()), application(frame(table)), table, Rect(0, 0, 200, 100)))


def test_titles_of_the_columns_come_with_the_rows() -> None:
    assert [(cell.role, cell.name) for cell in rows()][:2] == [
        ("table column header", "Name"), ("table column header", "Size")
    ]  # fmt: skip


def test_cell_of_several_things_is_called_by_their_names() -> None:
    assert [cell.name for cell in rows()[2:]] == ["folder 0", "12 kB", "folder 1", "12 kB"]


class Answering:
    """A bus on which one sheet answers."""

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        return [self._answer(*call) for call in calls]

    async def ask(self, *call: Any) -> Any:
        [answer] = await self.ask_all([call])
        return answer

    def _answer(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        raise NotImplementedError


class Sheet(Answering):
    """A sheet of one row: A1 holds "one", B1 nothing any more, though its former object goes on giving "501"."""

    def _answer(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        column = "B" if "B" in path else "A"
        match member:
            case "GetAccessibleAtPoint":
                return (name, "/A/new" if body[0] < 100 else "/B/new")
            case "GetAccessibleAt":
                return (name, f"/{'AB'[body[1]]}/new")
            case "Get":
                return f"{column}1"
            case "GetExtents":
                return (0 if column == "A" else 100, 0, 100, 20)
            case "GetText":
                return {"/A/old": "one", "/A/new": "one", "/B/old": "501", "/B/new": ""}[path]
        raise AssertionError(member)


def test_emptied_cell_is_empty_although_its_former_object_keeps_its_text() -> None:
    sheet = node("table", "Sheet", Rect(0, 0, 200, 20))
    cells = [
        cell_node(sheet, (0, column), Ref(":1.5", f"/{'AB'[column]}/old"), text, Rect(100 * column, 0, 100, 20))
        for column, text in enumerate(("one", "501"))
    ]
    office = application(frame(sheet))
    known = office.cells[sheet.ref] = {cell.cell: cell.ref for cell in cells if cell.cell is not None}
    office.lines[sheet.ref] = {0: (0, 100), 1: (100, 100)}, {0: (0, 20)}

    changed = asyncio.run(refresh_view(cast(Bus, Sheet()), office, sheet, cells))

    assert changed
    assert [cell.text for cell in cells] == ["one", ""]
    assert known == {(0, 0): Ref(":1.5", "/A/old"), (0, 1): Ref(":1.5", "/B/new")}
    assert cells[1].ref == known[0, 1]


class WithCursor(Sheet):
    """The same, where B1 has the cursor, so that it keeps its object; the input line holds what is given."""

    def __init__(self, line: str) -> None:
        self._line = line

    def _answer(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        if member == "GetAccessibleAt" and body[1] == 1:
            return (name, "/B/old")
        if path == "/line" and member == "GetText":
            return self._line
        return super()._answer(name, path, interface, member, sign, body)


@pytest.mark.parametrize(("line", "text"), [("", ""), ("=500+1", "501")])
def test_emptied_cell_with_the_cursor_is_empty_as_the_input_line_is(line: str, text: str) -> None:
    sheet, above = node("table", "Sheet", Rect(0, 0, 200, 20)), node("text", "Input line", Rect(0, 0, 200, 20))
    above.text_at = (Ref(":1.5", "/line"),)
    cell = cell_node(sheet, (0, 1), Ref(":1.5", "/B/old"), "501", Rect(100, 0, 100, 20))
    office = application(frame(sheet, above))
    office.cells[sheet.ref] = {(0, 0): Ref(":1.5", "/A/new"), (0, 1): cell.ref}
    office.lines[sheet.ref] = {0: (0, 100), 1: (100, 100)}, {0: (0, 20)}

    changed = asyncio.run(refresh_view(cast(Bus, WithCursor(line)), office, sheet, [cell]))

    assert (changed, cell.text) == (text == "", text)


def test_sheet_that_cannot_be_edited_is_read_as_a_sheet() -> None:
    sheet = node("table", "Sheet", Rect(0, 0, 200, 20))
    office = application(frame(sheet))
    asyncio.run(read_table(cast(Bus, Sheet()), office, sheet))
    assert [(cell.name, cell.text, cell.rect) for cell in sheet.children] == [
        ("A1", "one", Rect(0, 0, 100, 20)), ("B1", "", Rect(100, 0, 100, 20))
    ]  # fmt: skip


class Grid(Answering):
    """A sheet of four columns and three rows of 100 x 20 px, each cell with its address as text.

    Args:
        merged: Corners of merged cells, rows and columns counted from 0.
        mirrored: Whether its columns run from right to left, and are reported as LibreOffice does.
    """

    def __init__(self, merged: tuple[tuple[int, int], tuple[int, int]] | None = None, mirrored: bool = False) -> None:
        self._merged, self._mirrored = merged, mirrored

    def _answer(self, name: str, path: str, interface: str, member: str, sign: str, body: Sequence[Any]) -> Any:
        match member:
            case "GetAccessibleAtPoint":
                column = body[0] // 100
                return (name, self._path(self._first(body[1] // 20, 3 - column if self._mirrored else column)))
            case "GetAccessibleAt":
                return (name, self._path(tuple(body)))
            case "GetExtents":
                return self._extents(*self._cell(path))
            case "Get" | "GetText":
                row, column = self._cell(path)
                return f"{'ABCD'[column]}{row + 1}"
        raise AssertionError(member)

    def _extents(self, row: int, column: int) -> tuple[int, int, int, int]:
        high = wide = 1
        if self._merged is not None and (row, column) == self._merged[0]:
            high, wide = (last - first + 1 for first, last in zip(*self._merged, strict=True))
        return (100 * (4 - column) if self._mirrored else 100 * column), 20 * row, 100 * wide, 20 * high

    def _first(self, row: int, column: int) -> tuple[int, int]:
        if self._merged is None:
            return row, column
        (top, left), (bottom, right) = self._merged
        return (top, left) if top <= row <= bottom and left <= column <= right else (row, column)

    @staticmethod
    def _path(cell: Sequence[int]) -> str:
        return f"/{cell[0]}/{cell[1]}"

    @staticmethod
    def _cell(path: str) -> tuple[int, int]:
        _, row, column = path.split("/")
        return int(row), int(column)


def cells_of(grid: Grid) -> dict[str, Rect | None]:
    sheet = node("table", "Sheet", Rect(0, 0, 400, 60))
    asyncio.run(read_table(cast(Bus, grid), application(frame(sheet)), sheet))
    return {cell.name: cell.rect for cell in sheet.children}


def test_merged_cells_are_one_cell() -> None:
    found = cells_of(Grid(merged=((0, 1), (1, 2))))
    assert found["B1"] == Rect(100, 0, 200, 40)
    assert sorted(found) == ["A1", "A2", "A3", "B1", "B3", "C3", "D1", "D2", "D3"]


def test_rows_and_columns_are_found_where_merged_cells_fill_corners() -> None:
    found = cells_of(Grid(merged=((1, 1), (2, 3))))
    assert sorted(found) == ["A1", "A2", "A3", "B1", "B2", "C1", "D1"]
    assert found["D1"] == Rect(300, 0, 100, 20)


def test_columns_from_right_to_left_are_where_they_are_drawn() -> None:
    found = cells_of(Grid(mirrored=True))
    assert (found["A1"], found["D3"]) == (Rect(300, 0, 100, 20), Rect(0, 40, 100, 20))


def test_merged_cells_from_right_to_left() -> None:
    found = cells_of(Grid(merged=((0, 0), (0, 1)), mirrored=True))
    assert found["A1"] == Rect(200, 0, 200, 20)
    assert "B1" not in found

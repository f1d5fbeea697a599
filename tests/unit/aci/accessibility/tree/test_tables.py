from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

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


class Sheet:
    """A sheet of one row: A1 holds "one", B1 nothing any more, though its former object goes on giving "501"."""

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        return [self._answer(*call) for call in calls]

    async def ask(self, *call: Any) -> Any:
        [answer] = await self.ask_all([call])
        return answer

    def _answer(self, name: str, path: str, _: str, member: str, __: str, body: Sequence[Any]) -> Any:
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

    changed = asyncio.run(refresh_view(cast(Bus, Sheet()), office, sheet, cells, cells))

    assert changed
    assert [cell.text for cell in cells] == ["one", ""]
    assert known == {(0, 0): Ref(":1.5", "/A/old"), (0, 1): Ref(":1.5", "/B/new")}
    assert cells[1].ref == known[0, 1]


def test_sheet_that_cannot_be_edited_is_read_as_a_sheet() -> None:
    sheet = node("table", "Sheet", Rect(0, 0, 200, 20))
    office = application(frame(sheet))
    asyncio.run(read_table(cast(Bus, Sheet()), office, sheet))
    assert [(cell.name, cell.text, cell.rect) for cell in sheet.children] == [
        ("A1", "one", Rect(0, 0, 100, 20)), ("B1", "", Rect(100, 0, 100, 20))
    ]  # fmt: skip

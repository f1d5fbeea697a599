"""Tables that are too large to list: which these are, and their visible part."""

from __future__ import annotations

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.tree.capture import is_managed, showing
from aci.accessibility.tree.details import read_details
from aci.accessibility.tree.nodes import Application, Node
from aci.accessibility.tree.refresh_scope import Scope
from aci.accessibility.tree.table_view import read_rows, read_view, refresh_view
from aci.observation.geometry import Rect


class TablesBefore:
    """The known rows of large tables, taken out of the tree, with corrected extents, while it is updated."""

    def __init__(self, application: Application, scope: Scope) -> None:
        self._application = application
        self._scope = scope
        self._rows: dict[Ref, list[Node]] = {}
        self._unclear: dict[Ref, list[Node]] = {}
        self._places: dict[Ref, Rect | None] = {}
        for ref in application.views:
            table = application.nodes.get(ref)
            if table is None:
                continue
            self._rows[ref], table.children = table.children, []
            self._unclear[ref] = [node for node in self._rows[ref] if scope.reaches(node.rect)]
            self._places[ref] = table.reported_rect

    async def read(self, bus: Bus) -> set[Ref]:
        """Put the rows back, re-reading those that may have changed; return the tables that differ."""
        changed: set[Ref] = set()
        for node in (node for rows in self._rows.values() for node in rows):
            self._application.nodes.pop(node.ref, None)
        for table in (tables := large_tables(self._application)):
            known = self._rows.get(table.ref)
            if known is None or table.ref in self._scope.touched.parents or table.rect != self._places[table.ref]:
                await read_table(bus, self._application, table)
                changed.add(table.ref)
            elif not self._doubtful(table):
                table.children = known
            elif (
                not is_sheet(table)
                or self._scope.everything
                or not known
                or (differ := await refresh_view(bus, self._application, table, known, self._unclear[table.ref]))
                is None
            ):
                await read_table(bus, self._application, table)
                changed.add(table.ref)
            else:
                table.children = known
                if differ:
                    changed.add(table.ref)
        self._application.views = {table.ref for table in tables}
        self._application.nodes.update({node.ref: node for table in tables for node in table.children})
        return changed

    def _doubtful(self, table: Node) -> bool:
        touched = self._scope.touched
        named = touched.objects | touched.items | touched.parents
        return bool(self._scope.everything or self._unclear[table.ref] or table.ref in named)


async def read_tables(bus: Bus, application: Application) -> None:
    """Read the visible part of all large tables."""
    application.views.clear()
    for table in large_tables(application):
        await read_table(bus, application, table)


async def read_table(bus: Bus, application: Application, table: Node) -> None:
    """Read the visible part of one table, whose extents are as its application reports them."""
    application.views.add(table.ref)
    area = table.rect
    if area is None or not area.area:
        table.children = []
        return
    if is_sheet(table):
        table.children = await read_view(bus, application, table, area)
    else:
        table.children = await read_rows(bus, application, table, area)
        await read_details(bus, application, table.children)
    application.nodes.update({node.ref: node for node in table.children})


def large_tables(application: Application) -> list[Node]:
    """Return the visible tables whose children were not listed; a sheet may list single cells."""
    return [
        node
        for node in showing(application)
        if is_managed(node) and "Table" in node.interfaces and node.child_count != len(node.children)
    ]


def is_sheet(table: Node) -> bool:
    """Return whether the cells of a table are known by their addresses."""
    return table.has(StateBit.EDITABLE) or table.role == "document spreadsheet"

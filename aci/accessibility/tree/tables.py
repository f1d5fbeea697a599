"""Tables that are too large to list, of which only the visible part is read: a sheet has millions of cells.

The cells along its edges give the range of rows and columns to read. The object of a cell stays valid while
its sheet lives, so later looks only read the texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product

from aci.accessibility.atspi import PREFIX, SCREEN_COORDINATES, Ref, StateBit, object_ref
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.tree.capture import (
    all_child_refs,
    all_properties,
    describe,
    get_property,
    is_managed,
    showing,
)
from aci.accessibility.tree.details import LONGEST_TEXT, all_extents, read_details
from aci.accessibility.tree.libreoffice import is_input_line
from aci.accessibility.tree.nodes import Application, Lines, Node
from aci.accessibility.tree.refresh_scope import Scope
from aci.observation.cell_addresses import Cell, address_of, parse_address
from aci.observation.geometry import Rect

MOST_CELLS = 2500  # a full HD screen shows about 1,600
MOST_LINES = 1000  # rows or columns; each is at least 1 px
MOST_PARTS = 16  # parts of a cell that may name it
INSET = 4  # distance of test points from the edges of a table, px
EDGE_POINTS = 5  # of a sheet, at which it is asked for cells


class KnownTables:
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
            named = scope.touched.objects
            self._unclear[ref] = [
                node for node in self._rows[ref] if node.ref in named or scope.reaches(node.rect, may_open=False)
            ]
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
                not (is_sheet(table) or table.ref in self._application.cells)
                or self._scope.everything
                or not known
                or (differ := await refresh_view(bus, self._application, table, self._unclear[table.ref])) is None
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
    if is_sheet(table) or await _has_addresses(bus, table.ref, area):
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
    """Return whether a table is a sheet that can be edited; see `_has_addresses` for others."""
    return table.has(StateBit.EDITABLE) or table.role == "document spreadsheet"


async def _has_addresses(bus: Bus, table: Ref, area: Rect) -> bool:
    """Return whether the cells of a table are named by their addresses.

    Such a table is a sheet, also if it cannot be edited, as while a dialog asks for a range of its cells.
    """
    found = await bus.ask(
        *table, "Component", "GetAccessibleAtPoint", "iiu", [area.x + INSET, area.y + INSET, SCREEN_COORDINATES]
    )
    ref = object_ref(found)
    name = None if ref is None else await get_property(bus, ref, "Accessible", "Name")
    cell = parse_address(name) if isinstance(name, str) else None
    if cell is None:
        return False
    (there,) = await _cells_at(bus, table, [cell])
    return there is not None and await get_property(bus, there, "Accessible", "Name") == name


async def read_view(bus: Bus, application: Application, table: Node, area: Rect) -> list[Node]:
    """Return nodes of the visible cells of a sheet in an area of reported coordinates, in rows from the top."""
    view = await _view(bus, table.ref, area)
    if view is None:
        return []
    rows, columns = view.rows, view.columns
    wanted = list(islice(product(rows, columns), MOST_CELLS))
    known = application.cells.setdefault(table.ref, {})
    for _ in range(2):
        former = dict(known)
        missing = [cell for cell in wanted if cell not in known]
        found = zip(missing, await _cells_at(bus, table.ref, missing), strict=True)
        known |= {cell: ref for cell, ref in found if ref is not None}
        nodes = await _read_cells(bus, application, table, known, view)
        if nodes is not None:
            await _replace_outdated(bus, application, table.ref, [node for node in nodes if node.cell in former])
            return nodes
        known.clear()  # they went out of date, as after another sheet was chosen
    return []


async def refresh_view(bus: Bus, application: Application, table: Node, unchecked: Sequence[Node]) -> bool | None:
    """Update the texts of `unchecked` cells of a view that still shows the same cells in the same places.

    Returns:
        Whether any text changed; None if the view must be read completely.
    """
    known = application.cells.get(table.ref, {})
    if table.rect is None or table.ref not in application.lines:
        return None
    view = await _view(bus, table.ref, table.rect)
    if view is None or await _lines(bus, known, view) != application.lines[table.ref]:
        return None
    texts = await _texts(bus, [node.ref for node in unchecked])
    if any(text is None for text in texts):
        return None
    places = await _places(bus, unchecked, view, application.lines[table.ref])
    if any(node.rect != place for node, place in zip(unchecked, places, strict=True)):
        return None
    before = [node.text for node in unchecked]
    for node, text in zip(unchecked, texts, strict=True):
        node.text = text
    await _replace_outdated(bus, application, table.ref, unchecked)
    return before != [node.text for node in unchecked]


async def _replace_outdated(bus: Bus, application: Application, table: Ref, nodes: Sequence[Node]) -> None:
    """Give cells that are empty now their new object and no text.

    After rows or columns were inserted or deleted, LibreOffice's known object of a now empty cell keeps returning its
    former text. The cell with the cursor keeps its object; what it holds is in the input line as well.
    """
    filled = {node.cell: node for node in nodes if node.text and node.cell is not None}
    found = [
        ref or node.ref for ref, node in zip(await _cells_at(bus, table, list(filled)), filled.values(), strict=True)
    ]
    texts = await _texts(bus, found)
    kept = list[Node]()
    for (cell, node), ref, text in zip(filled.items(), found, texts, strict=True):
        if text == "":
            node.ref = application.cells[table][cell] = ref
            node.text = ""
        elif ref == node.ref:
            kept.append(node)
    if len(kept) == 1:
        input_lines = [each.text_at for each in showing(application) if is_input_line(each)]
        if len(input_lines) == 1 and set(await _texts(bus, input_lines[0])) == {""}:
            kept[0].text = ""


def _span(first: int, last: int) -> range:
    return range(first, min(last + 1, first + MOST_LINES))


@dataclass(frozen=True, slots=True)
class _View:
    """The part of a sheet that is in view."""

    first: Cell  # the lowest row and column
    last: Cell
    mirrored: bool  # whether the columns run from right to left
    area: Rect  # where, in reported coordinates

    @property
    def rows(self) -> range:
        return _span(self.first[0], self.last[0])

    @property
    def columns(self) -> range:
        return _span(self.first[1], self.last[1])


async def _view(bus: Bus, table: Ref, area: Rect) -> _View | None:
    """Find out which rows and columns of a sheet are in view in an area of reported coordinates.

    At a merged cell, its first row and column are found, which may be scrolled out, so cells all along the edges tell.
    """
    inner = Rect(area.x + INSET, area.y + INSET, area.width - 2 * INSET, area.height - 2 * INSET)
    xs, ys = _spread(inner.x, inner.right), _spread(inner.y, inner.bottom)
    edges = ([(xs[0], y) for y in ys], [(xs[-1], y) for y in ys], [(x, ys[0]) for x in xs], [(x, ys[-1]) for x in xs])
    points = list(dict.fromkeys(point for edge in edges for point in edge))
    found = dict(zip(points, await asyncio.gather(*(_cell_at(bus, table, *point) for point in points)), strict=True))
    left, right, top, bottom = ([cell for point in edge if (cell := found[point]) is not None] for edge in edges)
    if not (left and right and top and bottom):
        return None
    one, other = max(column for _, column in left), max(column for _, column in right)
    first, last = max(row for row, _ in top), max(row for row, _ in bottom)
    return _View((first, min(one, other)), (last, max(one, other)), one > other, area)


def _spread(first: int, end: int) -> list[int]:
    """Return some numbers from the first one to the last one, evenly spread."""
    return [first + round((end - 1 - first) * place / (EDGE_POINTS - 1)) for place in range(EDGE_POINTS)]


async def _lines(bus: Bus, refs: dict[Cell, Ref], view: _View) -> tuple[Lines, Lines]:
    """Return start and length in px of the columns and rows in view by number; {} if a cell is gone."""
    lefts, tops = await asyncio.gather(
        _edges(bus, refs, [(view.last[0], column) for column in view.columns], across=True),
        _edges(bus, refs, [(row, view.last[1]) for row in view.rows], across=False),
    )
    return _mirrored(lefts, view.area) if view.mirrored else lefts, tops


def _mirrored(columns: Lines, area: Rect) -> Lines:
    """Return the places of columns that run from right to left: LibreOffice tells their right edges as left ones."""
    edges = [*(start for start, _ in columns.values()), area.x]
    return {
        column: (left, right - left)
        for column, right, left in zip(columns, edges, edges[1:], strict=False)
        if left < right
    }


async def _read_cells(
    bus: Bus, application: Application, table: Node, refs: dict[Cell, Ref], view: _View
) -> list[Node] | None:
    """Read the cells in view, without those that merged ones cover; None if one is gone."""
    if not view.rows or not view.columns:
        return None
    lefts, tops = await _lines(bus, refs, view)
    if not lefts or not tops:
        return None
    wanted = [cell for cell in product(tops, lefts) if cell in refs][:MOST_CELLS]
    texts = await _texts(bus, [refs[cell] for cell in wanted])
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    application.lines[table.ref] = lines = lefts, tops
    nodes = [
        cell_node(table, cell, refs[cell], text, _place(cell, lines)) for cell, text in zip(wanted, known, strict=True)
    ]
    merged: list[Rect] = []
    for node, place in zip(nodes, await _places(bus, nodes, view, lines), strict=True):
        if place != node.rect:
            node.rect = place
            merged.append(place)
    return [node for node in nodes if node.rect in merged or not _is_covered(node, merged)]


def _place(cell: Cell, lines: tuple[Lines, Lines]) -> Rect:
    (x, width), (y, height) = lines[0][cell[1]], lines[1][cell[0]]
    return Rect(x, y, width, height)


async def _places(bus: Bus, nodes: Sequence[Node], view: _View, lines: tuple[Lines, Lines]) -> list[Rect]:
    """Return the places of cells, which are larger than their row and column where cells are merged."""
    places = []
    for node, reported in zip(nodes, await all_extents(bus, [node.ref for node in nodes]), strict=True):
        assert node.cell is not None
        place = _place(node.cell, lines)
        if reported is not None and (reported.width > place.width or reported.height > place.height):
            width, height = max(place.width, reported.width), max(place.height, reported.height)
            place = Rect(place.right - width if view.mirrored else place.x, place.y, width, height)
        places.append(place)
    return places


def _is_covered(node: Node, merged: Sequence[Rect]) -> bool:
    return node.rect is not None and any(area.contains(node.rect.center) for area in merged)


async def _cell_at(bus: Bus, table: Ref, x: int, y: int) -> Cell | None:
    found = await bus.ask(*table, "Component", "GetAccessibleAtPoint", "iiu", [x, y, SCREEN_COORDINATES])
    ref = object_ref(found)
    if ref is None:
        return None
    name = await get_property(bus, ref, "Accessible", "Name")
    cell = parse_address(name) if isinstance(name, str) else None
    return cell if cell is not None else await _cell_by_index(bus, table, ref)


async def _cell_by_index(bus: Bus, table: Ref, ref: Ref) -> Cell | None:
    index = await bus.ask(*ref, "Accessible", "GetIndexInParent")
    if index is None or index < 0:
        return None
    row, column = await asyncio.gather(
        bus.ask(*table, "Table", "GetRowAtIndex", "i", [index]),
        bus.ask(*table, "Table", "GetColumnAtIndex", "i", [index]),
    )
    return None if row is None or column is None or row < 0 or column < 0 else (row, column)


async def _cells_at(bus: Bus, table: Ref, cells: Sequence[Cell]) -> list[Ref | None]:
    answers = await bus.ask_all([(*table, PREFIX + "Table", "GetAccessibleAt", "ii", cell) for cell in cells])
    refs = [object_ref(answer) for answer in answers]
    return [ref if ref is not None and ref.name == table.name else None for ref in refs]


async def _texts(bus: Bus, refs: Sequence[Ref]) -> list[str | None]:
    texts = await bus.ask_all([(*ref, PREFIX + "Text", "GetText", "ii", (0, -1)) for ref in refs])
    return [None if text is None else text[:LONGEST_TEXT] for text in texts]


async def _edges(bus: Bus, refs: dict[Cell, Ref], cells: Iterable[Cell], across: bool) -> Lines:
    """Return start and length in px of each column (`across`) or row by number; {} if a cell is gone.

    LibreOffice drops cell objects now and then, except the active one; hidden cells have an empty area.
    """
    asked = [cell for cell in cells if cell in refs]
    rects = await all_extents(bus, [refs[cell] for cell in asked])
    if None in rects:
        return {}
    starts = [
        (cell[1], rect.x, rect.width) if across else (cell[0], rect.y, rect.height)
        for cell, rect in zip(asked, rects, strict=True)
        if rect is not None and rect.area
    ]
    edges: Lines = {}
    for (number, start, length), following in zip(starts, [*starts[1:], None], strict=False):
        # A merged cell reaches over its neighbours: what counts is where the next one begins.
        adjacent = following is not None and following[0] == number + 1
        edges[number] = (start, following[1] - start if following is not None and adjacent else length)
    return edges


def cell_node(table: Node, cell: Cell, ref: Ref, text: str, rect: Rect | None) -> Node:
    """Return the node of a cell in a sheet."""
    shared = (StateBit.SHOWING | StateBit.VISIBLE | StateBit.ENABLED | StateBit.SENSITIVE | StateBit.SELECTABLE).value
    return Node(
        ref=ref,
        parent=table.ref,
        role="table cell",
        name=address_of(cell),
        description="",
        states=shared,
        interfaces=frozenset({"Accessible", "Component", "Text"}),
        text=text,
        cell=cell,
        rect=rect,
    )


async def read_rows(bus: Bus, application: Application, table: Node, area: Rect) -> list[Node]:
    """Return nodes of the visible cells of a long list, with their names and states.

    The counterpart of `read_view` for tables whose cells have names instead of addresses.
    """
    first, last = await asyncio.gather(
        _cell_at(bus, table.ref, area.x + INSET, area.y + INSET),
        _cell_at(bus, table.ref, area.x + INSET, area.bottom - INSET),
    )
    columns = await get_property(bus, table.ref, "Table", "NColumns")
    count = await get_property(bus, table.ref, "Table", "NRows")
    if not isinstance(columns, int) or not isinstance(count, int) or not count:
        return []
    top = first[0] if first is not None else 0
    bottom = last[0] if last is not None else count - 1
    places = list(islice(product(_span(top, bottom), _span(0, columns - 1)), MOST_CELLS))
    found = [ref for ref in await _cells_at(bus, table.ref, places) if ref is not None]
    heads = await bus.ask_all(
        [(*table.ref, PREFIX + "Table", "GetColumnHeader", "i", [at]) for at in _span(0, columns - 1)]
    )
    titles = [ref for head in heads if (ref := object_ref(head)) is not None]
    cells = await describe(bus, application, [*titles, *found], table.ref)
    await _name_by_parts(bus, [cell for cell in cells if not cell.name and cell.child_count > 0])
    return cells


async def _name_by_parts(bus: Bus, cells: Sequence[Node]) -> None:
    """Name cells with several parts, such as a picture and a text, after these."""
    parts = [listed[:MOST_PARTS] for listed in await all_child_refs(bus, [cell.ref for cell in cells])]
    names = iter(await all_properties(bus, [ref for listed in parts for ref in listed], "Accessible", "Name"))
    for cell, listed in zip(cells, parts, strict=True):
        names_found = [name for _ in listed if isinstance(name := next(names), str) and name]
        cell.name = " ".join(dict.fromkeys(names_found))

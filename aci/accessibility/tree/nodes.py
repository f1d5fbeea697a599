"""What is known of one application's accessible objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aci.accessibility.atspi import StateBit
from aci.observation.geometry import Rect
from aci.observation.observation import Window


class Ref(NamedTuple):
    """An accessible object: the unique name of its connection, and its path."""

    name: str
    path: str


@dataclass(slots=True)
class Node:
    """One accessible object as its application describes it.

    Attributes:
        ref: What calls to it are sent to.
        parent: The object it lies in; None where that is not known.
        role: Role name.
        name: Accessible name.
        description: Accessible description.
        states: The bits of `StateBit`.
        interfaces: Short names, such as "Text".
        index: Position among its siblings, -1 where not known.
        child_count: How many children it says it has, -1 where it does not say.
        children: Those of them that are known, in order.
        rect: Extents in screen px; None where it is not mapped or was not asked.
        text: Content of its text interface; None where it was not asked.
        value: Current value; None where it was not asked.
        attributes: Object attributes, such as `placeholder-text`.
        labels: Objects that label it.
        cell: Row and column in the sheet it lies in.
        choice: What a combo box stands on; None where it was not asked.
        shift: What was added to the extents it reports to get those on the screen, px.
        enlarged: By what its extents were multiplied before that, and what they were, where it counts in larger pixels.
        popup: The X11 window of its own that it and all in it lie in; None where that is the one of its parent.
        text_at: The objects that hold its text, a line each, where it does not do so itself.
        labelled_as: The object that its labels point to where that is not itself.
        asked: Whether it was asked for its extents since it can be seen.
        said: Role, name, states and child count as its application gives them, where they were mended; else None.
    """

    ref: Ref
    parent: Ref | None
    role: str
    name: str
    description: str
    states: int
    interfaces: frozenset[str]
    index: int = -1
    child_count: int = -1
    children: list[Node] = field(default_factory=list)
    rect: Rect | None = None
    text: str | None = None
    value: float | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    labels: tuple[Ref, ...] = ()
    cell: tuple[int, int] | None = None
    choice: str | None = None
    shift: tuple[int, int] = (0, 0)
    enlarged: tuple[float, Rect] | None = None
    popup: Window | None = None
    text_at: tuple[Ref, ...] = ()
    labelled_as: Ref | None = None
    asked: bool = False
    said: tuple[str, str, int, int] | None = None

    def keep_said(self) -> None:
        """Keep what the application says before it is mended, for `unmend`."""
        if self.said is None:
            self.said = (self.role, self.name, self.states, self.child_count)

    def unmend(self) -> None:
        """Turn back to what the application said and where it said it is."""
        if self.said is not None:
            self.role, self.name, self.states, self.child_count = self.said
            self.said, self.text_at, self.labelled_as = None, (), None
        self.rect = self.reported
        self.shift, self.enlarged, self.popup = (0, 0), None, None

    @property
    def reported(self) -> Rect | None:
        """Its extents as the application reports them."""
        if self.enlarged is not None:
            return self.enlarged[1]
        return self.rect.moved(-self.shift[0], -self.shift[1]) if self.rect is not None else None

    def has(self, state: StateBit) -> bool:
        """Tell whether a state holds."""
        return bool(self.states & state._value_)  # `value` takes several times as long, and this is asked very often


@dataclass(slots=True)
class Application:
    """A program on the accessibility bus, and the nodes it showed at the latest reading.

    Attributes:
        root: The object of role "application".
        name: What it calls itself.
        pid: Process id; 0 where the bus does not know it.
        toolkit: Name and version of its toolkit, such as "gtk 3.24".
        nodes: By reference; what the application dropped is dropped here as well.
        tops: Its windows: the children of the root.
        settled: Attributes and labels of objects, which are asked once.
        cells: Objects of the cells of each sheet by row and column, which stay valid while the sheet lives.
        views: Large tables of which only what can be seen was read.
        patchy: Whether its cache lacked nodes, so that reading it as a whole takes very many calls.
        holders: Objects in which documents lie or lay, such as the pages of a browser.
        windows: Its X11 windows when it was last read.
        introduced: Whether it has told its name and toolkit.
        strangers: Connections of other applications with windows of their own, whose objects are not its.
        cut: Whether it shows more than is read.
    """

    root: Ref
    name: str
    pid: int
    toolkit: str
    nodes: dict[Ref, Node] = field(default_factory=dict)
    tops: list[Node] = field(default_factory=list)
    settled: dict[tuple[Ref, str, str], tuple[dict[str, str], tuple[Ref, ...]]] = field(default_factory=dict)
    cells: dict[Ref, dict[tuple[int, int], Ref]] = field(default_factory=dict)
    views: set[Ref] = field(default_factory=set)
    patchy: bool = False
    holders: set[Ref] = field(default_factory=set)
    windows: tuple[Window, ...] = ()
    introduced: bool = False
    strangers: frozenset[str] = frozenset()
    cut: bool = False

    def unread(self) -> Application:
        """Return the same application as if nothing of it had been read yet."""
        return replace(self, nodes={}, tops=[], settled={}, cells={}, views=set(), patchy=False, cut=False)

    def doubt_cells(self, everywhere: bool, tables: Iterable[Ref]) -> None:
        """Have the cells of sheets found anew in which rows came or went.

        The object that LibreOffice gave for a cell that is empty now goes on giving its former text.
        """
        if everywhere:
            self.cells.clear()
        for table in tables:
            self.cells.pop(table, None)

    def forget_the_gone(self) -> None:
        """Drop what was kept of objects that are not there any more."""
        self.holders &= self.nodes.keys()
        self.cells = {table: cells for table, cells in self.cells.items() if table in self.nodes}
        if len(self.settled) > 2 * len(self.nodes) + 1000:
            self.settled = {key: value for key, value in self.settled.items() if key[0] in self.nodes}

    @property
    def shows_by(self) -> StateBit:
        """The state that tells whether a node can be on the screen; GTK 4 does not maintain SHOWING inside windows."""
        return StateBit.VISIBLE if self.toolkit.startswith("GTK 4") else StateBit.SHOWING

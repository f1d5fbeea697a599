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
        ref: The object.
        parent: Its parent, if known.
        role: Role name.
        name: Accessible name.
        description: Accessible description.
        states: Bits of `StateBit`.
        interfaces: Short names, such as "Text".
        index: Position among its siblings, or -1.
        child_count: Reported number of children, or -1.
        children: Known children in order.
        rect: Extents in screen px; None if not mapped or not read.
        text: Content of its text interface, if read.
        value: Current value, if read.
        attributes: Object attributes, such as `placeholder-text`.
        labels: Objects that label it.
        cell: Row and column in its sheet.
        choice: Selection of a combo box, if read.
        shift: Correction added to the reported extents, px.
        enlarged: Scale factor applied before that, and the unscaled extents.
        popup: Its own X11 window, if that is not its parent's.
        text_at: Other objects with its text, one per line.
        labelled_as: The object that its labels point to, if not itself.
        asked: Whether its extents were read since it became visible.
        said: Reported role, name, states and child count, if these were corrected.
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
        """Return whether a state holds."""
        return bool(self.states & state._value_)  # `value` takes several times as long, and this is asked very often


@dataclass(slots=True)
class Application:
    """A program on the accessibility bus, and its nodes at the latest reading.

    Attributes:
        root: The object of role "application".
        name: Name it reports.
        pid: Process id; 0 if unknown.
        toolkit: Name and version of its toolkit, such as "gtk 3.24".
        nodes: Live nodes by reference.
        tops: Its windows: the children of the root.
        settled: Attributes and labels, which are read once.
        cells: Cell objects of each sheet by row and column.
        views: Large tables of which only the visible part was read.
        patchy: Whether its cache lacks nodes, so that reading it completely takes many calls.
        holders: Objects that contain documents or did, such as the pages of a browser.
        windows: Its X11 windows when it was last read.
        introduced: Whether its name and toolkit are known.
        strangers: Connections of other applications with windows, whose objects are not its own.
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
        """Return a copy without nodes."""
        return replace(self, nodes={}, tops=[], settled={}, cells={}, views=set(), patchy=False, cut=False)

    def doubt_cells(self, everywhere: bool, tables: Iterable[Ref]) -> None:
        """Forget the cells of sheets in which rows were inserted or deleted.

        LibreOffice's object of a now empty cell keeps returning its former text.
        """
        if everywhere:
            self.cells.clear()
        for table in tables:
            self.cells.pop(table, None)

    def forget_the_gone(self) -> None:
        """Drop what is kept for objects that no longer exist."""
        self.holders &= self.nodes.keys()
        self.cells = {table: cells for table, cells in self.cells.items() if table in self.nodes}
        if len(self.settled) > 2 * len(self.nodes) + 1000:
            self.settled = {key: value for key, value in self.settled.items() if key[0] in self.nodes}

    @property
    def shows_by(self) -> StateBit:
        """The state of visible nodes; GTK 4 does not maintain SHOWING inside windows."""
        return StateBit.VISIBLE if self.toolkit.startswith("GTK 4") else StateBit.SHOWING

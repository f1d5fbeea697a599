"""The known accessible objects of one application."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aci.accessibility.atspi import Ref, StateBit
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window

GECKO = "Gecko"  # how the toolkit of Firefox and Thunderbird begins
JAVA = "J2SE-access-bridge"

Lines = dict[int, tuple[int, int]]
"""Start and length in px of columns or rows by number."""


@dataclass(slots=True)
class Node:
    """One accessible object as its application describes it."""

    ref: Ref  # the object
    parent: Ref | None  # its parent, if known
    role: str  # role name
    name: str  # accessible name
    description: str  # accessible description
    states: int  # bits of `StateBit`
    interfaces: frozenset[str]  # short names, such as "Text"
    index: int = -1  # position among its siblings, or -1
    child_count: int = -1  # reported number of children, or -1
    children: list[Node] = field(default_factory=list)  # known children in order
    rect: Rect | None = None  # extents in screen px; None if not mapped or not read
    text: str | None = None  # content of its text interface, if read
    value: float | None = None  # current value, if read
    attributes: dict[str, str] = field(default_factory=dict)  # object attributes, such as `placeholder-text`
    labels: tuple[Ref, ...] = ()  # objects that label it
    shortcut: str = ""  # keys that do the same, as its application reports them
    cell: tuple[int, int] | None = None  # row and column in its sheet
    caret: int | None = None  # characters before the caret, if it has the focus
    selection: tuple[int, int] | None = None  # start and end of the selected part of its text, if it has the focus
    choice: str | None = None  # selection of a combo box, if read
    shift: tuple[int, int] = (0, 0)  # correction added to the reported extents, px
    enlarged: tuple[float, Rect] | None = None  # scale factor applied before that, and the unscaled extents
    popup: Window | None = None  # its own X11 window, if that is not its parent's
    runs: tuple[Node, ...] = ()  # texts between its parts that are no objects of their own (`text_runs`)
    text_at: tuple[Ref, ...] = ()  # other objects with its text, one per line
    labelled_as: Ref | None = None  # the object that its labels point to, if not itself
    asked: bool = False  # whether its extents were read since it became visible
    # reported role, name, states and child count, if these were corrected
    as_reported: tuple[str, str, int, int] | None = None

    def keep_reported(self) -> None:
        """Store the reported values before they are corrected, for `restore_reported`."""
        if self.as_reported is None:
            self.as_reported = (self.role, self.name, self.states, self.child_count)

    def restore_reported(self) -> None:
        """Restore the reported values and extents."""
        if self.as_reported is not None:
            self.role, self.name, self.states, self.child_count = self.as_reported
            self.as_reported, self.text_at, self.labelled_as = None, (), None
        self.rect = self.reported_rect
        self.shift, self.enlarged, self.popup = (0, 0), None, None

    def move(self, by: tuple[int, int]) -> None:
        """Correct its place alone."""
        if self.rect is not None:
            self.rect = self.rect.moved(*by)
            self.shift = (self.shift[0] + by[0], self.shift[1] + by[1])

    def move_all(self, by: tuple[int, int]) -> None:
        """Correct its place and those of its descendants, except for popups in windows of their own."""
        pending = [self]
        while pending:
            current = pending.pop()
            if current is self or current.popup is None:
                current.move(by)
                pending.extend(current.children)

    @property
    def reported_rect(self) -> Rect | None:
        """Its extents as the application reports them."""
        if self.enlarged is not None:
            return self.enlarged[1]
        return self.rect.moved(-self.shift[0], -self.shift[1]) if self.rect is not None else None

    def has(self, state: StateBit) -> bool:
        """Return whether a state holds."""
        return bool(self.states & state._value_)  # `value` takes several times as long, and this is asked very often


@dataclass(slots=True)
class Application:
    """A program on the accessibility bus, and its nodes at the latest reading."""

    root: Ref  # the object of role "application"
    name: str  # name it reports
    pid: int  # process id; 0 if unknown
    toolkit: str  # name and version of its toolkit, such as "gtk 3.24"
    session: int = 0  # process that began its session; 0 if unknown
    nodes: dict[Ref, Node] = field(default_factory=dict)  # live nodes by reference
    tops: list[Node] = field(default_factory=list)  # its windows: the children of the root, and `unlisted`
    unlisted: tuple[Ref, ...] = ()  # popups that are not listed among the children of the root
    # attributes and labels, which are read once
    settled: dict[tuple[Ref, str, str], tuple[dict[str, str], tuple[Ref, ...]]] = field(default_factory=dict)
    shortcuts: dict[tuple[Ref, str, str], str] = field(default_factory=dict)  # of menu entries, read once
    # cell objects of each sheet by row and column
    cells: dict[Ref, dict[tuple[int, int], Ref]] = field(default_factory=dict)
    # columns and rows in view of each sheet
    lines: dict[Ref, tuple[Lines, Lines]] = field(default_factory=dict)
    views: set[Ref] = field(default_factory=set)  # large tables of which only the visible part was read
    patchy: bool = False  # whether its cache lacks nodes, so that reading it completely takes many calls
    # objects that contain documents or did, such as the pages of a browser
    holders: set[Ref] = field(default_factory=set)
    spilling: set[Ref] = field(default_factory=set)  # parts of pages of Gecko whose contents also show outside of them
    # how far lists of choices of Chromium are scrolled, by the ids of their windows, px; None where that is not known
    scrolls: dict[int, int | None] = field(default_factory=dict)
    windows: tuple[Window, ...] = ()  # its X11 windows when it was last read
    introduced: bool = False  # whether its name and toolkit are known
    # connections of other applications with windows, whose objects are not its own
    strangers: frozenset[str] = frozenset()
    embedded: set[str] = field(default_factory=set)  # connections of processes whose objects its windows show as well
    cut: bool = False  # whether it shows more than is read
    gently: bool = False  # whether it is asked for one property of one object at a time

    def unread(self) -> Application:
        """Return a copy without nodes that still knows the cells of its sheets."""
        cells = {table: dict(known) for table, known in self.cells.items()}
        unread = replace(self, nodes={}, tops=[], settled={}, shortcuts={}, cells=cells, lines={}, views=set())
        unread.patchy = unread.cut = False
        return unread

    def forget_cells(self, everywhere: bool, tables: Iterable[Ref]) -> None:
        """Forget the cells of sheets in which rows were inserted or deleted.

        LibreOffice's object of a now empty cell keeps returning its former text.
        """
        if everywhere:
            self.cells.clear()
        for table in tables:
            self.cells.pop(table, None)

    def forget_the_gone(self) -> None:
        """Drop cached data of objects that no longer exist."""
        self.holders &= self.nodes.keys()
        self.cells = {table: cells for table, cells in self.cells.items() if table in self.nodes}
        self.lines = {table: lines for table, lines in self.lines.items() if table in self.nodes}
        if len(self.settled) > 2 * len(self.nodes) + 1000:
            self.settled = {key: value for key, value in self.settled.items() if key[0] in self.nodes}
        if len(self.shortcuts) > 2 * len(self.nodes) + 1000:
            self.shortcuts = {key: value for key, value in self.shortcuts.items() if key[0] in self.nodes}

    @property
    def connections(self) -> tuple[str, ...]:
        """The unique names of its own connection and of those that it embeds."""
        return (self.root.name, *sorted(self.embedded))

    def keeps_texts(self, node: Node) -> bool:
        """Return whether the texts in a node are no objects of their own: in Gecko, and in pages of WebKit."""
        return self.toolkit.startswith(GECKO) or node.ref.name in self.embedded

    @property
    def shows_by(self) -> StateBit:
        """The state of visible nodes; GTK 4 does not maintain SHOWING inside windows."""
        return StateBit.VISIBLE if self.toolkit.startswith("GTK 4") else StateBit.SHOWING

    @property
    def hides_menus(self) -> bool:
        """Whether items of open menus are not marked as showing; GTK 2 calls its bridge GAIL."""
        return self.toolkit.startswith("GAIL")

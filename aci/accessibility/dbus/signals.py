"""What applications say has changed: accessibility events, gathered by sender until somebody looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from aci.accessibility.tree.nodes import Ref

MOST_OBJECTS = 4000
"""Objects of one application that are kept; beyond, the application counts as changed all over."""
MOST_SENDERS = 200
"""Applications that are kept apart; beyond, all count as changed all over."""

_IGNORED = frozenset({"TextCaretMoved", "TextSelectionChanged", "TextAttributesChanged", "MouseMove"})
"""Members of events about what no element tells."""
_BELOW = frozenset({"SelectionChanged", "VisibleDataChanged", "ActiveDescendantChanged", "ModelChanged"})
"""Members of events that are sent by an object and are about what is in it."""
_STRUCTURE = frozenset({"ChildrenChanged", "RowInserted", "RowDeleted", "RowReordered", "ColumnInserted",
                        "ColumnDeleted", "ColumnReordered"})  # fmt: skip


class Extent(Enum):
    """What of an object an event makes doubtful."""

    NOTHING = auto()
    ITSELF = auto()
    ITEMS = auto()
    CHILDREN = auto()


@dataclass(frozen=True, slots=True)
class Touched:
    """What changed of one application since it was last looked at, as far as events tell.

    Attributes:
        objects: Objects that may say something else of themselves.
        items: Objects whose children may say something else of themselves.
        parents: Objects whose children came or went.
        anything: Whether so much happened that anything may have changed.
    """

    objects: frozenset[Ref] = frozenset()
    items: frozenset[Ref] = frozenset()
    parents: frozenset[Ref] = frozenset()
    anything: bool = False

    def __bool__(self) -> bool:
        return bool(self.anything or self.objects or self.items or self.parents)


NOTHING = Touched()
EVERYTHING = Touched(anything=True)


def extent_of(member: str) -> Extent:
    """Tell what an event makes doubtful, by its member; one that is not known is about its sender."""
    if member in _IGNORED:
        return Extent.NOTHING
    if member in _BELOW:
        return Extent.ITEMS
    return Extent.CHILDREN if member in _STRUCTURE else Extent.ITSELF


@dataclass(slots=True)
class _Gathered:
    kinds: dict[Extent, set[str]] = field(
        default_factory=lambda: {Extent.ITSELF: set(), Extent.ITEMS: set(), Extent.CHILDREN: set()}
    )
    overflown: bool = False

    def add(self, extent: Extent, path: str) -> None:
        if self.overflown:
            return
        self.kinds[extent].add(path)
        if sum(map(len, self.kinds.values())) > MOST_OBJECTS:
            self.overflown = True
            self.kinds = {extent: set() for extent in self.kinds}


class Signals:
    """Gathers events; a flood of them costs no more than a bounded set of paths."""

    def __init__(self) -> None:
        self._gathered: dict[str, _Gathered] = {}
        self._all_doubtful = False

    def note(self, sender: str, path: str, member: str) -> None:
        """Take one event.

        Args:
            sender: Unique name of the application's connection.
            path: The object that it is about.
            member: Such as "StateChanged".
        """
        extent = extent_of(member)
        if extent is Extent.NOTHING or self._all_doubtful:
            return
        gathered = self._gathered.get(sender)
        if gathered is None:
            if len(self._gathered) >= MOST_SENDERS:
                self.doubt_all()
                return
            gathered = self._gathered[sender] = _Gathered()
        gathered.add(extent, path)

    def take(self, senders: Iterable[str]) -> dict[str, Touched]:
        """Return what changed of some applications, and forget all that was gathered.

        What others sent is dropped: they are not known, and are read as a whole when they come to be.
        """
        gathered, self._gathered = self._gathered, {}
        doubtful, self._all_doubtful = self._all_doubtful, False
        return {sender: EVERYTHING if doubtful else _touched(sender, gathered.get(sender)) for sender in senders}

    def doubt_all(self) -> None:
        """Hold anything of every application to be changed, as when events were lost."""
        self._gathered.clear()
        self._all_doubtful = True


def _touched(sender: str, gathered: _Gathered | None) -> Touched:
    if gathered is None:
        return NOTHING
    if gathered.overflown:
        return EVERYTHING
    objects, items, parents = (
        frozenset(Ref(sender, path) for path in gathered.kinds[extent])
        for extent in (Extent.ITSELF, Extent.ITEMS, Extent.CHILDREN)
    )
    return Touched(objects, items, parents)

"""Accessibility events, gathered by sender until the next reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from aci.accessibility.atspi import Ref

MOST_OBJECTS = 4000  # objects remembered per application; beyond that, everything counts as changed
MOST_SENDERS = 200  # applications remembered; beyond that, everything counts as changed

# events that change nothing in an element
_IGNORED = frozenset({"TextAttributesChanged", "MouseMove"})
# events about the children of their sender
_BELOW = frozenset({"SelectionChanged", "VisibleDataChanged", "ActiveDescendantChanged", "ModelChanged"})
_STRUCTURE = frozenset({"ChildrenChanged", "RowInserted", "RowDeleted", "RowReordered", "ColumnInserted",
                        "ColumnDeleted", "ColumnReordered"})  # fmt: skip


class Extent(Enum):
    """Which part of an object an event invalidates."""

    NOTHING = auto()
    ITSELF = auto()
    ITEMS = auto()
    CHILDREN = auto()


@dataclass(frozen=True, slots=True)
class Touched:
    """The changes that one application reported since it was last read."""

    objects: frozenset[Ref] = frozenset()  # objects whose own properties may have changed
    items: frozenset[Ref] = frozenset()  # objects whose children may have changed properties
    parents: frozenset[Ref] = frozenset()  # objects whose children were added or removed
    anything: bool = False  # whether anything may have changed, after too many events

    def __bool__(self) -> bool:
        return bool(self.anything or self.objects or self.items or self.parents)


def united(several: Iterable[Touched]) -> Touched:
    """Return the changes of several connections together."""
    first, *others = several
    if not others:
        return first
    each = (first, *others)
    return Touched(
        frozenset().union(*(one.objects for one in each)),
        frozenset().union(*(one.items for one in each)),
        frozenset().union(*(one.parents for one in each)),
        any(one.anything for one in each),
    )


NOTHING = Touched()
EVERYTHING = Touched(anything=True)


def extent_of(member: str) -> Extent:
    """Return what an event invalidates, by its member; an unknown one concerns its sender."""
    if member in _IGNORED:
        return Extent.NOTHING
    if member in _BELOW:
        return Extent.ITEMS
    return Extent.CHILDREN if member in _STRUCTURE else Extent.ITSELF


class Signals:
    """Gathers events in bounded memory."""

    def __init__(self) -> None:
        self._paths: dict[str, dict[Extent, set[str]]] = {}  # paths by sender; {} for one with too many events
        self._all_invalid = False

    def note(self, sender: str, path: str, member: str) -> None:
        """Record an event about the object at `path` of a connection; `member` is such as "StateChanged"."""
        extent = extent_of(member)
        if extent is Extent.NOTHING or self._all_invalid:
            return
        paths = self._paths.get(sender)
        if paths is None:
            if len(self._paths) >= MOST_SENDERS:
                self.invalidate_all()
                return
            paths = self._paths[sender] = {Extent.ITSELF: set(), Extent.ITEMS: set(), Extent.CHILDREN: set()}
        if paths:
            paths[extent].add(path)
            if sum(map(len, paths.values())) > MOST_OBJECTS:
                paths.clear()

    def take(self, senders: Iterable[str]) -> dict[str, Touched]:
        """Return what changed in some applications, and clear everything recorded."""
        paths, self._paths = self._paths, {}
        all_invalid, self._all_invalid = self._all_invalid, False
        return {sender: EVERYTHING if all_invalid else _touched(sender, paths.get(sender)) for sender in senders}

    def invalidate_all(self) -> None:
        """Mark all applications as changed, as when events were lost."""
        self._paths.clear()
        self._all_invalid = True


def _touched(sender: str, paths: dict[Extent, set[str]] | None) -> Touched:
    if not paths:
        return NOTHING if paths is None else EVERYTHING
    objects, items, parents = (frozenset(Ref(sender, path) for path in each) for each in paths.values())
    return Touched(objects, items, parents)

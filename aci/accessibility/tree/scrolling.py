"""Scroll bars, and objects that are scrolled out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.tree.names import collapse
from aci.accessibility.tree.nodes import Application, Node

_BAR = "scroll bar"
_SCROLLED = frozenset({"scroll pane", "viewport", "document web", "document frame"})


def find_out_of_sight(applications: Iterable[Application], role: str, name: str) -> Node | None:
    """Return the only object of a role and name that the active window has scrolled away; None if there are several."""
    found = [
        node
        for application in applications
        for node in application.nodes.values()
        if node.role == role and collapse(node.name) == name and _is_scrolled_away(node, application)
    ]
    return found[0] if len(found) == 1 else None


def _is_scrolled_away(node: Node, application: Application) -> bool:
    if node.has(application.shows_by) or not node.has(StateBit.VISIBLE):
        return False
    around: dict[Ref, Node] = {}  # what contains it, from the inside out
    while (parent := application.nodes.get(node.parent) if node.parent else None) and parent.ref not in around:
        node = around[parent.ref] = parent
    return node.has(StateBit.ACTIVE) and any(
        one.role in _SCROLLED and one.has(StateBit.SHOWING) for one in around.values()
    )


def find_scroll_bar(applications: Iterable[Application], ref: Ref, horizontal: bool) -> Node | None:
    """Return the scroll bar that moves an object: its own, or else the nearest one of what it lies in."""
    application = next((one for one in applications if ref in one.nodes), None)
    node = application.nodes[ref] if application is not None else None
    while application is not None and node is not None:
        for bar in _bars_of(node):
            if bar.has(application.shows_by) and bar.rect and (bar.rect.width > bar.rect.height) == horizontal:
                return bar
        node = application.nodes.get(node.parent) if node.parent else None
    return None


def _bars_of(node: Node) -> Iterator[Node]:
    """Yield the scroll bars among the children of an object; Qt puts each into a container of its own."""
    for child in node.children:
        if child.role == _BAR:
            yield child
        elif child.children and all(each.role == _BAR for each in child.children):
            yield from child.children

"""Scroll bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aci.accessibility.atspi import Ref
from aci.accessibility.tree.nodes import Application, Node

_BAR = "scroll bar"


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

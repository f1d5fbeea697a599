"""Objects that an application has scrolled out of sight."""

from __future__ import annotations

from collections.abc import Iterable

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.tree.names import collapse
from aci.accessibility.tree.nodes import Application, Node

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

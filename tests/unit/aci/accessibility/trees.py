"""Accessible trees made by hand."""

from __future__ import annotations

from itertools import count

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.observation import Window

SEEN = StateBit.SHOWING.value | StateBit.VISIBLE.value | StateBit.ENABLED.value | StateBit.SENSITIVE.value
PLACE, WHOLE = Rect(10, 10, 80, 20), Rect(0, 0, 500, 400)
SCREEN = Rect(0, 0, 1000, 800)
WINDOW = Window(1, "App", "app", Rect(0, 0, 500, 400), active=True, pid=7)
_numbers = count(1)


def node(
    role: str,
    name: str = "",
    rect: Rect | None = PLACE,
    *children: Node,
    states: int = SEEN,
    **more: object,
) -> Node:
    interfaces = frozenset({"Accessible", "Component"})
    made = Node(Ref(":1.5", f"/{next(_numbers)}"), None, role, name, "", states, interfaces, rect=rect)
    made.children = list(children)
    made.child_count = len(children)
    for key, value in more.items():
        setattr(made, key, value)
    return made


def application(*tops: Node, toolkit: str = "gtk 3.24.38") -> Application:
    made = Application(Ref(":1.5", "/root"), "app", 7, toolkit)
    made.tops = list(tops)
    pending = list(tops)
    while pending:
        current = pending.pop()
        made.nodes[current.ref] = current
        for child in current.children:
            child.parent = current.ref
        pending.extend(current.children)
    return made


def frame(*children: Node, rect: Rect = WHOLE) -> Node:
    return node("frame", "App", rect, *children)


def page(*children: Node) -> Node:
    return frame(node("document web", "Page", Rect(0, 0, 500, 400), *children))

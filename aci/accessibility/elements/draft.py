"""Elements before they have ids."""

from __future__ import annotations

from dataclasses import dataclass, field

from aci.accessibility.atspi import Ref
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import State, Window


@dataclass(slots=True)
class Draft:
    """An element before it has an id and before other windows are taken into account."""

    node: Node  # its source
    role: str  # role name
    name: str  # accessible name
    area: Rect  # full extents, px
    clip: Rect  # the part of the screen in which it can be visible, px
    window: Window  # its window
    path: tuple[str, ...]  # its ancestors
    text: str | None = None  # content, or None
    count: str = ""  # number at the end of the name that may be content instead
    label: str = ""  # name of another element that labels it
    description: str = ""  # tooltip, placeholder or the like
    states: frozenset[State] = frozenset()  # the states that hold
    holders: tuple[Ref, ...] = ()  # the objects that it lies in, from the window down
    items: tuple[Ref, ...] = ()  # those of them that are one of many of a kind; itself, if it is
    avoid: list[Rect] = field(default_factory=list)  # controls inside it
    target: Rect | None = None  # the part that is meant to be clicked; None for any
    outside: bool = False  # whether it may lie in a popup window

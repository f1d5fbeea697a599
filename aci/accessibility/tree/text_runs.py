"""Texts that Gecko (Firefox, Thunderbird) and WebKitGTK keep in an object itself, between the objects in it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from aci.accessibility.atspi import PREFIX, SCREEN_COORDINATES, Ref, StateBit
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.roles import BLOCKS, INLINE
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from aci.observation.visibility import bounding

EMBEDDED = "\ufffc"  # placeholder of an object in a text
MOST_RUNS = 100  # texts between the parts of one object
MOST_TRIES, TRY_AGAIN_S = 5, 0.03  # how often characters are asked where they lie, and the time between
UNNAMED = frozenset(
    {"panel", "document web", "document frame", "dialog", "tool bar", "scroll pane", "list", "menu", "embedded"}
)  # are not called by the text that they hold
HOLDS_TEXT = BLOCKS | UNNAMED
"""Roles of parts of a page that may hold text of their own."""

_RUN = re.compile(rf"[^{EMBEDDED}\s](?:[^{EMBEDDED}]*[^{EMBEDDED}\s])?")


def spoken_text(node: Node) -> str:
    """Return the text of a node, with the names of the objects in it where these are."""
    filled = filled_text(node, lambda child: child.name or spoken_text(child))
    return filled if filled is not None else node.text or ""


def has_own_text(node: Node) -> bool:
    """Return whether an object has a text besides those of the objects in it."""
    return node.text is not None and _RUN.search(node.text) is not None


def filled_text(node: Node, words: Callable[[Node], str]) -> str | None:
    """Return the text of a node, with words in place of each object in it; None if it does not tell where these are."""
    pieces = (node.text or "").split(EMBEDDED)
    if len(pieces) != len(node.children) + 1:
        return None
    return pieces[0] + "".join(words(child) + piece for child, piece in zip(node.children, pieces[1:], strict=True))


async def read_runs(bus: Bus, nodes: Sequence[Node]) -> None:
    """Read where the texts lie that have other things than links beside them: each counts as an object then.

    The text of a node must have been read. Gecko says where a character lies, but not where a range does.
    """
    wanted: list[tuple[Node, re.Match[str]]] = []
    for node in nodes:
        node.runs = ()
        apart = any(child.role not in INLINE and child.has(StateBit.SHOWING) for child in node.children)
        if node.text and node.role != "label" and (apart or node.role in UNNAMED):  # a label is called by its text
            wanted += [(node, found) for found in list(_RUN.finditer(node.text))[:MOST_RUNS]]
    ends = [(node.ref, at) for node, found in wanted for at in (found.start(), found.end() - 1)]
    places = await _character_extents(bus, ends)
    for _ in range(MOST_TRIES):
        if not places or any(rect is not None and rect.area for rect in places):
            break
        await asyncio.sleep(TRY_AGAIN_S)  # Gecko begins to gather them for a page when it is first asked
        places = await _character_extents(bus, ends)
    for (node, found), first, last in zip(wanted, places[::2], places[1::2], strict=True):
        if first is not None and last is not None and first.area and last.area:
            run = _run(node, found, _around(node, first, last))
            node.runs = node.runs if _is_in_a_child(run, node) else (*node.runs, run)


def _is_in_a_child(run: Node, node: Node) -> bool:
    """Return whether a text is that of an object in a node: WebKit repeats the texts of labels in what holds them."""
    said = ((child.rect, f"{child.name} {child.text or ''}") for child in node.children)
    place = run.rect.center if run.rect is not None else None
    return any(
        rect is not None and place is not None and rect.contains(place) and run.name in text for rect, text in said
    )


async def _character_extents(bus: Bus, ends: Sequence[tuple[Ref, int]]) -> list[Rect | None]:
    answers = await bus.call_all(
        [(*ref, PREFIX + "Text", "GetCharacterExtents", "iu", (at, SCREEN_COORDINATES)) for ref, at in ends]
    )
    return [Rect(*answer) if isinstance(answer, list) else None for answer in answers]


def _around(node: Node, first: Rect, last: Rect) -> Rect:
    """Return the box of a text by its first and last character; one of several lines is as wide as its object."""
    box = bounding([first, last])
    if last.y < first.bottom or node.rect is None:
        return box
    return replace(box, x=node.rect.x, width=node.rect.width)


def _run(node: Node, found: re.Match[str], rect: Rect) -> Node:
    ref = Ref(node.ref.name, f"{node.ref.path}/text/{found.start()}")
    text = " ".join(found[0].split())
    return Node(ref, node.ref, "static", text, "", node.states, frozenset(), child_count=0, rect=rect, asked=True)

"""Parts of pages without a box of their own, which Gecko (Firefox, Thunderbird) says are not showing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.tree.capture import HIDDEN, get_properties, identify, property_value, repair, showing
from aci.accessibility.tree.details import all_extents
from aci.accessibility.tree.nodes import GECKO, Application, Node
from aci.observation.geometry import Rect

MOST_ASKED = 64  # parts of one parent that are asked where they are, at once
MOST_LEVELS = 20  # levels of parts without a box


async def show_boxless(bus: Bus, application: Application) -> None:
    """Show what a page lays out with `display: contents`: it has no box, and its contents are on the screen.

    Gecko reports SHOWING for those contents only. A part beside what shows, or in a parent of which nothing shows, is
    asked for its extents, which are those of its contents.
    """
    if not application.toolkit.startswith(GECKO):
        return
    asked = set[Ref]()
    for _ in range(MOST_LEVELS):
        found = [node for node in _candidates(application) if node.ref not in asked]
        asked.update(node.ref for node in found)
        rects = await all_extents(bus, [node.ref for node in found])
        shown = [
            (node, rect) for node, rect in zip(found, rects, strict=True) if rect and _on_a_window(application, rect)
        ]
        if not shown:
            return
        await _describe(bus, application, [node for node, _ in shown if node.role == HIDDEN])
        for node, rect in shown:
            node.keep_reported()
            node.states |= StateBit.SHOWING.value
            node.rect = rect
        await repair(bus, application)


def _candidates(application: Application) -> Iterator[Node]:
    """Yield the parts of pages that may be on the screen although they are not said to be."""
    pending = [node for node in showing(application) if node.role.startswith("document")]
    seen = set[Ref]()
    while pending:
        node = pending.pop()
        if node.ref in seen:
            continue
        seen.add(node.ref)
        shows = [child.has(StateBit.SHOWING) for child in node.children]
        for place, child in enumerate(node.children):
            if shows[place]:
                pending.append(child)
                continue
            may_show = any(shows[max(0, place - 1) : place + 2]) if any(shows) else place < MOST_ASKED
            if may_show and child.has(StateBit.VISIBLE):
                yield child


def _on_a_window(application: Application, rect: Rect) -> bool:
    return bool(rect.area) and any(window.rect.intersection(rect) for window in application.windows)


async def _describe(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Read what is not read of an object that was never visible."""
    await identify(bus, nodes)
    answers = await get_properties(bus, application, [node.ref for node in nodes])
    for node, found in zip(nodes, answers, strict=True):
        if found is not None:
            node.name = property_value(found, "Name", "")
            node.description = property_value(found, "Description", "")
            node.child_count = property_value(found, "ChildCount", -1)

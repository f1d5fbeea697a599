"""Pages of GTK 4's stacks that are not on top.

GTK 4 marks all pages as visible, and a page that was shown keeps its extents, so that several pages seem to lie at one
place. Which of them is on top can be asked for by a point.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from aci.accessibility.atspi import SCREEN_COORDINATES, Ref, object_ref
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.forest import Forest
from aci.accessibility.tree.capture import get_property
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Element

SAMPLES = 4  # elements of a page whose points are asked for
LEAF_LEVELS = 4  # ancestors searched for a known node when the tree omits the hit object


async def hidden_pages(
    bus: Bus, forest: Forest, elements: Sequence[Element], drafts: Mapping[int, Draft]
) -> frozenset[Ref]:
    """Return the pages with elements none of which was hit, in stacks where another page was.

    The page on top may have no elements of its own, such as one that a dialog covers.
    """
    hidden: set[Ref] = set()
    for pages in _stacks(forest):
        of_pages = [
            (page, [each for each in elements if _holds(forest, page, drafts[each.id].node.ref)]) for page in pages
        ]
        asked = {page: await _hits(bus, forest, inside, drafts) for page, inside in of_pages if inside}
        hit = {page for page in pages for ref in chain(*asked.values()) if _holds(forest, page, ref)}
        if hit:
            hidden.update(forest.nodes[page].ref for page in asked if page not in hit)
    return frozenset(hidden)


async def nearest_known(bus: Bus, forest: Forest, found: Ref) -> Node | None:
    """Return the node of an object, or else that of the nearest ancestor that is in the forest."""
    for _ in range(LEAF_LEVELS):
        if found in forest.by_ref:
            return forest.by_ref[found]
        parent = await get_property(bus, found, "Accessible", "Parent")
        if parent is None:
            return None
        found = Ref(*parent)
    return None


def _stacks(forest: Forest) -> list[list[int]]:
    """Return the positions of the siblings that have the same extents."""
    at: dict[tuple[int, Rect], list[int]] = defaultdict(list)
    for place, (node, parent) in enumerate(zip(forest.nodes, forest.parents, strict=True)):
        # a page of a GtkStack is an object without extents around the widget
        rect = node.rect or (node.children[0].rect if node.children else None)
        if parent >= 0 and rect is not None and rect.area:
            at[parent, rect].append(place)
    return [places for places in at.values() if len(places) > 1]


async def _hits(bus: Bus, forest: Forest, inside: Sequence[Element], drafts: Mapping[int, Draft]) -> list[Ref]:
    sample = inside[:: max(1, len(inside) // SAMPLES)][:SAMPLES]
    hits = await asyncio.gather(*(_hit(bus, forest, each, drafts[each.id].node) for each in sample))
    return [hit.ref for hit in hits if hit is not None]


def _holds(forest: Forest, page: int, ref: Ref) -> bool:
    return page <= forest.places.get(ref, -1) < forest.ends[page]


async def _hit(bus: Bus, forest: Forest, element: Element, node: Node) -> Node | None:
    """Return what is drawn at the middle of an element; None if that is scrolled out, or nothing is known there."""
    reported = node.reported_rect
    if node.rect is None or reported is None or not element.rect.contains(node.rect.center):
        return None
    middle = reported.center
    top, where = forest.top_of(node).ref, [middle.x, middle.y, SCREEN_COORDINATES]
    found = object_ref(await bus.ask(*top, "Component", "GetAccessibleAtPoint", "iiu", where))
    return await nearest_known(bus, forest, found) if found is not None else None

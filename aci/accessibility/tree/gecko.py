"""What Gecko (Firefox, Thunderbird) does not say of pages: what shows without a box, and what clips its contents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aci.accessibility.atspi import PREFIX, SCREEN_COORDINATES, Ref, StateBit, object_ref
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.tree.capture import HIDDEN, get_properties, identify, property_value, repair, showing
from aci.accessibility.tree.details import all_extents
from aci.accessibility.tree.nodes import GECKO, Application, Node
from aci.observation.geometry import Point, Rect

MOST_ASKED = 64  # parts of one parent that are asked where they are, at once
MOST_LEVELS = 20  # levels of parts without a box
MOST_TESTED = 4  # parts that lie outside of one container and are tested
MOST_CONTAINERS = 32  # containers whose contents are tested in one application


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


async def find_spilling(bus: Bus, application: Application) -> None:
    """Find the containers in pages whose contents show outside of them too (`Application.spilling`).

    A page is asked what lies where a few of such contents are; a container that clips them hides them.
    """
    application.spilling = set()
    if not application.toolkit.startswith(GECKO):
        return
    around: dict[Ref, list[tuple[Node, Node, list[Node]]]] = {}
    for part, page, containers in _outside(application):
        tested = around.setdefault(containers[0].ref, [])
        if len(tested) < MOST_TESTED and len(around) <= MOST_CONTAINERS:
            tested.append((part, page, containers))
    tests = [test for tested in around.values() for test in tested]
    places = [part.rect.center if part.rect is not None else Point(0, 0) for part, _, _ in tests]
    answers = await bus.ask_all(
        [
            (*page.ref, PREFIX + "Component", "GetAccessibleAtPoint", "iiu", (at.x, at.y, SCREEN_COORDINATES))
            for (_, page, _), at in zip(tests, places, strict=True)
        ]
    )
    for (part, _, containers), answer in zip(tests, answers, strict=True):
        if part.ref in _with_ancestors(application, object_ref(answer)):
            application.spilling.update(node.ref for node in containers)


def _outside(application: Application) -> Iterator[tuple[Node, Node, list[Node]]]:
    """Yield the parts of pages that lie outside of what contains them, with their page and these containers.

    What is clipped in part does not count: Gecko goes by the whole of it when it is asked what lies at a point.
    """
    pages = [node for node in showing(application) if node.role.startswith("document") and node.rect is not None]
    pending: list[tuple[Node, Node, tuple[Node, ...]]] = [(page, page, ()) for page in pages]
    while pending:
        node, page, around = pending.pop()
        for child in node.children:
            if not child.has(StateBit.SHOWING) or child.role.startswith("document"):
                continue
            rect, left = child.rect, []
            if rect is not None and rect.area and page.rect is not None and page.rect.contains(rect.center):
                left = [each for each in around if each.rect is not None and each.rect.intersection(rect) is None]
                if left:
                    yield child, page, left
            if not left:
                pending.append((child, page, (*around, child) if rect is not None else around))


def _with_ancestors(application: Application, ref: Ref | None) -> set[Ref]:
    found = set[Ref]()
    while ref is not None and ref not in found:
        found.add(ref)
        node = application.nodes.get(ref)
        ref = node.parent if node is not None else None
    return found


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

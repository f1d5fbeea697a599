"""Open menus of GTK whose items are reported as visible, but not as showing.

GTK 2, whose bridge is GAIL, reports no item as showing. GTK 3 reports none of a menu that belongs to an entry which is
not selected; programs keep context menus and the menus of buttons in a hidden menu bar.
"""

from __future__ import annotations

from collections.abc import Sequence

from aci.accessibility.atspi import StateBit
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.roles import MENU_ENTRIES, OPENS_OUTSIDE
from aci.accessibility.tree.capture import repair, showing
from aci.accessibility.tree.details import all_extents
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.visibility import bounding

MOST_LEVELS = 8  # menus open within each other
BORDER_PX = 12  # of a popup window around its items


async def show_open_menus(bus: Bus, application: Application) -> None:
    """Show the menus that fill the application's popup windows.

    Items of menus that were never open have no extents; those of a closed menu keep the extents that they had.
    """
    popups = [window.rect for window in application.windows if window.popup]
    if not popups:
        return
    if application.hides_menus:
        await _show_all(bus, application, popups)
    elif application.toolkit.startswith("gtk"):
        await _show_of_unselected(bus, application, popups)


async def _show_all(bus: Bus, application: Application, popups: Sequence[Rect]) -> None:
    """Show the open menus below the visible menus and combo boxes of GTK 2, and those that open from them."""
    for _ in range(MOST_LEVELS):
        opened = False
        for node in showing(application):
            items = _visible(node)
            if node.role in OPENS_OUTSIDE and not _any_shows(items):
                opened |= await _show(bus, items, popups)
        if not opened:
            return
        await repair(bus, application)  # menus in them may lack their own items


async def _show_of_unselected(bus: Bus, application: Application, popups: Sequence[Rect]) -> None:
    """Show the open menus of GTK 3 that belong to entries which are not selected."""
    menus = [(node, items) for node in application.nodes.values() if (items := _entries(node))]
    if any(node.role != "menu bar" and _any_shows(items) for node, items in menus):
        return  # the popup windows are of menus that are reported as they are
    closed = [(node, items) for node, items in menus if not _any_shows(items)]
    first = await all_extents(bus, [items[0].ref for _, items in closed])
    for (node, items), rect in zip(closed, first, strict=True):
        if rect is None or not any(popup.contains(rect.center) for popup in popups):
            continue
        if await _show(bus, items, popups):
            _show_above(application, node)
            await repair(bus, application)  # menus in it may lack their own items
            return


def _visible(node: Node) -> list[Node]:
    return [child for child in node.children if child.has(StateBit.VISIBLE)]


def _entries(node: Node) -> list[Node]:
    return [child for child in node.children if child.role in MENU_ENTRIES and child.has(StateBit.VISIBLE)]


def _any_shows(items: Sequence[Node]) -> bool:
    return any(item.has(StateBit.SHOWING) for item in items)


async def _show(bus: Bus, items: Sequence[Node], popups: Sequence[Rect]) -> bool:
    """Show the items of a menu if they fill a popup window; return whether they do."""
    rects = await all_extents(bus, [item.ref for item in items])
    placed = [(item, rect) for item, rect in zip(items, rects, strict=True) if rect is not None and rect.area]
    if not placed:
        return False
    menu = bounding([rect for _, rect in placed])
    popup = next((popup for popup in popups if _fills(menu, popup)), None)
    within = [(item, rect) for item, rect in placed if popup is not None and popup.contains(rect.center)]
    for item, rect in within:
        item.keep_reported()
        item.states |= StateBit.SHOWING.value
        item.rect = rect
    return bool(within)


def _show_above(application: Application, node: Node) -> None:
    """Show what an open menu lies in, up to what shows."""
    above: Node | None = node
    while above is not None and not above.has(StateBit.SHOWING):
        above.keep_reported()
        above.states |= StateBit.SHOWING.value
        above = application.nodes.get(above.parent) if above.parent is not None else None


def _fills(menu: Rect, popup: Rect) -> bool:
    """Return whether a menu fills a popup window; one that is too long for the screen is cut at its top or bottom."""
    return (
        abs(menu.x - popup.x) <= BORDER_PX
        and abs(menu.right - popup.right) <= BORDER_PX
        and menu.y <= popup.y + BORDER_PX
        and menu.bottom >= popup.bottom - BORDER_PX
    )

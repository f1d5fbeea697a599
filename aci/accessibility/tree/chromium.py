"""Open lists of choices in pages of Chromium, of which it reports wrong places.

A list that does not fit below its box is reported as if it ended above the box, but is moved until it is on the page.
The entries of a list that scrolls are reported as if it did not. It opens at the entry that is chosen. Once more than
a highlight changes in its window, it may have been scrolled, and where its entries are is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aci.accessibility.atspi import StateBit
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.tree.capture import showing
from aci.accessibility.tree.details import all_extents
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window

EDGE_PX = 2  # between a combo box and its list
BORDER_PX = 1  # of the list
SCROLLED = 0.5  # share of the rows of pixels of a list that a scroll changes, and the move of a highlight does not


@dataclass(frozen=True, slots=True)
class _OpenList:
    menu: Node
    entries: Sequence[Node]
    popup: Window
    down: int  # how much lower the list is than reported, px


def note_scrolled(application: Application, windows: Sequence[Window], areas: Mapping[int, Sequence[Rect]]) -> None:
    """Note which open lists may have been scrolled, by the areas that changed in windows since the last look."""
    popups = {window.id: window for window in windows if window.popup and window.pid in (None, application.pid)}
    for number in [number for number in application.scrolls if number not in popups]:
        del application.scrolls[number]
    for number in application.scrolls:
        rows = {y for area in areas.get(number, ()) for y in range(area.y, area.bottom)}
        if len(rows) > SCROLLED * popups[number].rect.height:
            application.scrolls[number] = None


async def show_choices(bus: Bus, application: Application) -> None:
    """Show the entries that lie in the window of their list, and no others."""
    for found in _open_lists(application, application.windows):
        rects = await all_extents(bus, [entry.ref for entry in found.entries])
        for entry, rect in zip(found.entries, rects, strict=True):
            entry.rect = rect
        scroll = application.scrolls.setdefault(found.popup.id, _scroll_at_first(found))
        for entry in found.entries:
            entry.keep_reported()
            entry.states &= ~StateBit.SHOWING.value
            if scroll is None or entry.rect is None:
                continue
            if found.popup.rect.contains(entry.rect.moved(0, found.down - scroll).center):
                entry.states |= StateBit.SHOWING.value


def place_choices(application: Application, windows: Sequence[Window]) -> None:
    """Move the entries of open lists to where their windows show them."""
    for found in _open_lists(application, windows):
        menu = found.menu
        menu.popup = found.popup
        if menu.rect is not None and menu.enlarged is None:
            menu.enlarged, menu.rect = (1.0, menu.rect), found.popup.rect
        scroll = application.scrolls.get(found.popup.id)
        for entry in found.entries:
            if scroll is not None and entry.shift == (0, 0):
                entry.move((0, found.down - scroll))


def _scroll_at_first(found: _OpenList) -> int:
    """Return how far a list is scrolled when it opens: until the chosen entry shows, px."""
    bottoms = [entry.rect.bottom for entry in found.entries if entry.has(StateBit.SELECTED) and entry.rect is not None]
    return max(0, max(bottoms, default=0) + found.down - (found.popup.rect.bottom - BORDER_PX))


def _open_lists(application: Application, windows: Sequence[Window]) -> Iterator[_OpenList]:
    popups = [window for window in windows if window.popup and window.pid in (None, application.pid)]
    if not popups or not application.toolkit.startswith("Chromium"):
        return
    for box in showing(application):
        menu = next((child for child in box.children if child.role == "menu"), None)
        if box.role != "combo box" or box.rect is None or menu is None or not box.has(StateBit.EXPANDED):
            continue
        around = box.rect.grown(EDGE_PX, EDGE_PX)
        popup = next((each for each in popups if each.rect.intersection(around)), None)
        if popup is not None:
            below = popup.rect.y >= box.rect.bottom - EDGE_PX
            yield _OpenList(menu, list(_entries(menu)), popup, 0 if below else popup.rect.bottom - box.rect.y)


def _entries(menu: Node) -> Iterator[Node]:
    for node in menu.children:
        if node.role == "menu item":
            yield node
        yield from _entries(node)

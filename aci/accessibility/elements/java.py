"""Corrections of the extents that Swing reports for entries of menus, pages of tabs and headers of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aci.accessibility.atspi import StateBit
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding

BORDERS_PX = 12  # of a popup, both sides together


def place_java_parts(top: Node, popups: Sequence[Window]) -> None:
    """Correct the extents of entries of menus, pages of tabs and headers of tables.

    Java reports the entries of a menu as if they covered what opened it. They are children of the popup, or of the menu
    that opened it if the popup is a window of its own.
    """
    free = list(popups)  # that no menu is known to fill
    pending: list[tuple[Node, Rect | None]] = [(top, None)]
    while pending:
        node, outer = pending.pop()
        pending += [(child, node.rect) for child in node.children]
        if node.role == "panel" and node.rect is not None:
            _show_headers(node.children, node.rect.height)
        items = [child.rect for child in node.children if child.rect is not None and child.rect.area]
        if node.rect is None or not items:
            continue
        around = bounding(items)
        if node.role == "popup menu":
            # Of the list of a combo box, the items have their places, and the popup has not.
            popup = outer if outer is not None and outer.size == node.rect.size else node.rect
            if not _holds(popup, around):
                _move_parts(node, (popup.center.x - around.center.x, popup.center.y - around.center.y))
        elif node.role == "menu":
            window = _popup_of(node, around, free)
            if window is not None and not _holds(window, around):
                _move_parts(node, (window.x - node.rect.x, window.y - node.rect.y))
        elif node.role == "page tab" and outer is not None:
            for page in node.children:  # placed from the tab instead of the pane; what is in it has its place
                page.move((outer.x - node.rect.x, outer.y - node.rect.y) if page.shift == (0, 0) else (0, 0))


def _show_headers(labels: Sequence[Node], height: int) -> None:
    """Give the headers of a table, which report no height, that of the panel which they fill."""
    for label in labels:
        if label.role != "label" or label.rect is None or label.rect.height or not label.rect.width:
            return
    for label in labels:
        if label.rect is not None:
            label.keep_reported()
            label.role = "table column header"
            label.enlarged, label.rect = (1.0, label.rect), replace(label.rect, height=height)


def _holds(outer: Rect, inner: Rect) -> bool:
    return inner.intersection(outer) == inner


def _popup_of(menu: Node, items: Rect, free: list[Window]) -> Rect | None:
    """Return the nearest window that may be that of an open menu with these items; remove it from the free ones."""
    if menu.rect is None or not any(child.has(StateBit.SHOWING) for child in menu.children):
        return None
    fitting = [
        each
        for each in free
        if all(0 <= spare <= BORDERS_PX for spare in (each.rect.width - items.width, each.rect.height - items.height))
    ]
    opener = menu.rect
    nearest = min(fitting, key=lambda popup: _gap(opener, popup.rect), default=None)
    if nearest is None:
        return None
    free.remove(nearest)
    return nearest.rect


def _gap(one: Rect, other: Rect) -> int:
    across = max(0, one.x - other.right, other.x - one.right)
    return across + max(0, one.y - other.bottom, other.y - one.bottom)


def _move_parts(node: Node, by: tuple[int, int]) -> None:
    for child in node.children:
        child.move_all(by)

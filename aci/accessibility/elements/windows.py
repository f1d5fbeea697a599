"""Matching of accessible windows to X11 windows, and corrections of the extents that toolkits report.

With GDK_SCALE, Xft.dpi or --force-device-scale-factor, GTK and Chromium report extents in larger pixels of their own;
LibreOffice does as its GTK. Only the sizes of windows reveal the factor. Settings that enlarge only letters (Xft.dpi in
GTK, SAL_FORCEDPI) leave extents as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from aci.accessibility import roles
from aci.accessibility.atspi import Ref
from aci.accessibility.elements.java import place_java_parts
from aci.accessibility.tree.chromium import place_choices
from aci.accessibility.tree.names import is_java, visible_children
from aci.accessibility.tree.nodes import GECKO, Application, Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding, overlap

SHADOW_PX = 120  # largest shadow of a window that draws its own frame
MARGIN_PX = 24  # largest margin of a popup of GTK 4
SAME_PLACE = 0.6  # intersection over union from which on two rectangles are the same window
INTEGERS = (2, 3, 4)  # scale factors of GTK
MOST = 5.0
_POPOVER = re.compile(r"\w*Popover(?:Menu)?")  # classes of GTK 4
Margin = tuple[int, int]  # left and upper, px
QUARTER = 0.004  # a factor this close to a quarter is rounded to it
UNEVEN = 0.015  # largest relative difference between the horizontal and the vertical factor


def correct_windows(
    application: Application, windows: Sequence[Window]
) -> tuple[list[tuple[Node, Window]], list[Window]]:
    """Correct the extents in all windows; return these with their X11 windows, and those still unreliable."""
    enlarge(application, windows)
    matched = match_windows(application, windows)
    placed = [(top, matched[top.ref]) for top in application.tops if top.ref in matched]
    return placed, [window for top, window in placed if not correct_extents(application, top, window, windows)]


def match_windows(application: Application, windows: Sequence[Window]) -> dict[Ref, Window]:
    """Find the X11 window of each of an application's accessible windows; those without one are not on the screen."""
    own = [window for window in windows if window.pid is None or window.pid == application.pid]
    pairs = [
        (_likeness(application, top, window), -order, top, window)
        for top in application.tops
        for order, window in enumerate(own)
    ]
    matched: dict[Ref, Window] = {}
    taken: set[int] = set()
    for score, _, top, window in sorted(pairs, key=lambda pair: pair[:2], reverse=True):
        if score > 0 and top.ref not in matched and window.id not in taken:
            matched[top.ref] = window
            taken.add(window.id)
    return matched


def _likeness(application: Application, top: Node, window: Window) -> float:
    """Return how well an accessible and an X11 window match, 0 for not at all."""
    extents = _extents_of(application, top)
    if extents is None:
        return 0.0
    if _window_relative(application):
        wider, taller = window.rect.width - extents.width, window.rect.height - extents.height
        same_size = 0 <= wider <= SHADOW_PX and 0 <= taller <= SHADOW_PX
        place = 1.0 if same_size else 0.0
    else:
        place = overlap(extents, window.rect)
    titled = bool(top.name) and top.name == window.title
    known = window.pid is not None
    if titled and (known or place > 0):
        return 2.0 + place
    if place >= SAME_PLACE and known:
        return place
    return 0.0


def _extents_of(application: Application, top: Node) -> Rect | None:
    """Return the extents of an accessible window, or of what it shows: those of Java's windows are missing or wrong."""
    if top.rect is not None and not is_java(application):
        return top.rect if top.rect.area else None
    inner = [child.rect for child in visible_children(application, top) if child.rect is not None and child.rect.area]
    return bounding(inner) if inner else None


def _window_relative(application: Application) -> bool:
    return application.toolkit.startswith("GTK 4")


def correct_extents(application: Application, top: Node, window: Window, windows: Sequence[Window]) -> bool:
    """Convert the reported extents in the window `top` to screen coordinates; return whether the result is reliable.

    GTK 4 counts from the corner of the window without its shadow, and places popups at the origin of their parent.
    LibreOffice places what it draws itself as if there were no menu bar, until the pointer has moved over the window;
    its native parts are always right. Gecko is right, and shows its panels in windows of their own.
    """
    popups = [other for other in windows if other.popup and other.pid in (None, application.pid)]
    if _window_relative(application) and top.rect is not None:
        _place_popups(top, popups)
        inset_x = (window.rect.width - top.rect.width) // 2
        inset_y = (window.rect.height - top.rect.height) // 2
        top.move_all((window.rect.x + inset_x - top.rect.x, window.rect.y + inset_y - top.rect.y))
    elif is_java(application):
        _follow(application, top, window)
        place_java_parts(top, popups)
    elif application.toolkit.startswith(GECKO):
        _find_popups(top, popups)
    elif application.toolkit.startswith("Chromium"):
        place_choices(application, windows)
    else:
        return _correct_drawn(top)
    return True


def _follow(application: Application, top: Node, window: Window) -> None:
    """Move what is in a window of Java, which does not learn of a move by Openbox that also resizes it."""
    content = _extents_of(application, top)
    if content is not None and content.size == window.rect.size:
        top.move_all((window.rect.x - content.x, window.rect.y - content.y))


def _place_popups(top: Node, popups: Sequence[Window]) -> None:
    """Find the nodes that are popups, by the exact size of their X11 window or else by its size without margins."""
    free = _place_fitting(top, list(popups), _exact)
    if free:
        _place_fitting(top, free, _margin_of)


def _place_fitting(
    top: Node, free: list[Window], fit: Callable[[Node, Node | None, Window], Margin | None]
) -> list[Window]:
    """Move the nodes that fit a window into it, at the margin that `fit` returns; return the windows that are left."""
    pending: list[tuple[Node, Node | None]] = [(top, None)]
    while pending and free:
        node, parent = pending.pop()
        for popup in free if node.popup is None else ():
            margin = fit(node, parent, popup)
            if margin is not None and node.rect is not None:
                free.remove(popup)
                node.popup = popup
                node.move_all((popup.rect.x + margin[0] - node.rect.x, popup.rect.y + margin[1] - node.rect.y))
                break
        pending.extend((child, node) for child in reversed(node.children))
    return free


def _exact(node: Node, _: Node | None, popup: Window) -> Margin | None:
    return (0, 0) if node.rect is not None and node.rect.size == popup.rect.size else None


def _margin_of(node: Node, parent: Node | None, popup: Window) -> Margin | None:
    """Return the margin between a window and the popover in it; None if it does not fit.

    GTK reports a popover at this offset from the origin of its parent. The right and the lower margin are unknown.
    """
    if node.rect is None or parent is None or parent.rect is None:
        return None
    if not _POPOVER.fullmatch(node.name) and (parent.role != "combo box" or node.role not in roles.PLAIN):
        return None
    left, upper = node.rect.x - parent.rect.x, node.rect.y - parent.rect.y
    right, lower = popup.rect.width - node.rect.width - left, popup.rect.height - node.rect.height - upper
    return (left, upper) if all(0 <= margin <= MARGIN_PX for margin in (left, upper, right, lower)) else None


def _find_popups(top: Node, popups: Sequence[Window]) -> None:
    """Find the panels of Gecko, such as the menu of Firefox: parts of a window that have an X11 window of their own."""
    places = {popup.rect: popup for popup in popups}
    pending = [top] if places else []
    while pending:
        node = pending.pop()
        if node.rect in places and node.children:
            node.popup = places[node.rect]
        elif not node.role.startswith("document"):
            pending.extend(node.children)


def _correct_drawn(top: Node) -> bool:
    """Shift what LibreOffice draws itself; return False if a part has an unexpected size, so that the error is unknown.

    Where the drawn part begins (the "root pane") and where native parts are embedded in it, the outer and the inner
    object have the same size; the difference of their places is the error. A native part that lacks room is larger than
    its container; nothing that is drawn is.
    """
    known = True
    pending: list[tuple[Node, Rect | None, tuple[int, int]]] = [(top, None, (0, 0))]
    while pending:
        node, outer, by = pending.pop()
        reported = node.rect
        if reported is not None and outer is not None:
            fills = (reported.x, reported.y) == (outer.x, outer.y) and min(
                reported.width - outer.width, reported.height - outer.height
            ) >= 0
            if node.role == "root pane":
                fits = reported.size == outer.size
                known = known and fits
                by = (outer.x - reported.x, outer.y - reported.y) if fits else by
            elif by != (0, 0) and node.role == "panel" and fills:
                by = (0, 0)
            if by != (0, 0):
                node.rect = reported.moved(*by)
                node.shift = by
        pending.extend((child, node.rect, by) for child in node.children)
    return known


def enlarge(application: Application, windows: Sequence[Window]) -> None:
    """Convert the current extents of an application that uses larger pixels to screen px."""
    own = [window for window in windows if window.pid in (None, application.pid)]
    extents = [(top.name, _extents_of(application, top)) for top in application.tops]
    tops = [(name, rect) for name, rect in extents if rect is not None]
    scale = scale_of(application.toolkit, tops, own)
    if scale == 1:
        return
    pending = list(application.tops)
    while pending:
        node = pending.pop()
        if node.role == "document web":  # Chromium gives places in a page in pixels of the screen
            continue
        if node.rect is not None:
            node.enlarged, node.rect = (scale, node.rect), node.rect.scaled(scale)
        pending += node.children


def scale_of(toolkit: str, tops: Sequence[tuple[str, Rect]], windows: Sequence[Window]) -> float:
    """Return the factor from reported extents of named windows (`tops`) to screen px; 1.0 by default."""
    judge = _chromium_scale if toolkit.startswith("Chromium") else _gtk_scale
    anchored = not toolkit.startswith("GTK 4")
    scales = (judge(top, window, anchored) for top, window in _pairs(tops, windows))
    return next((scale for scale in scales if scale is not None), 1.0)


def _pairs(tops: Sequence[tuple[str, Rect]], windows: Sequence[Window]) -> Iterator[tuple[Rect, Window]]:
    """Yield windows that may match, best first: shadows matter less in large windows."""
    managed = [window for window in windows if not window.popup]
    named = sorted(((name, rect) for name, rect in tops if rect.area), key=lambda top: top[1].area, reverse=True)
    yield from ((rect, window) for name, rect in named for window in managed if name and name == window.title)
    yield from ((rect, window) for _, rect in named for window in managed)


def _gtk_scale(top: Rect, window: Window, anchored: bool) -> float | None:
    fitting = {scale: rest for scale in (1, *INTEGERS) if (rest := _rest(top, window, scale, anchored)) is not None}
    return 1.0 if 1 in fitting else min(fitting, key=fitting.__getitem__, default=None)


def _rest(top: Rect, window: Window, scale: int, anchored: bool) -> int | None:
    """Return how much larger a window is than a scaled accessible one, its shadow; None if they do not match."""
    scaled, margin = top.scaled(scale), SHADOW_PX * scale
    for rect in (window.frame or window.rect, window.rect):
        wider, taller = rect.width - scaled.width, rect.height - scaled.height
        near = max(abs(rect.x - scaled.x), abs(rect.y - scaled.y)) <= margin
        if -scale <= wider <= margin and -scale <= taller <= margin and (near or not anchored):
            return wider + taller
    return None


def _chromium_scale(top: Rect, window: Window, _anchored: bool) -> float | None:
    across, down = window.rect.width / top.width, window.rect.height / top.height
    scale = across if window.rect.width > window.rect.height else down  # the longer side is rounded less
    if scale > MOST or abs(across - down) > UNEVEN * scale:
        return None
    if max(abs(window.rect.x - top.x * scale), abs(window.rect.y - top.y * scale)) > SHADOW_PX:
        return None
    quarter = max(4, round(4 * scale)) / 4
    return quarter if abs(quarter - scale) <= QUARTER * scale else max(1.0, scale)

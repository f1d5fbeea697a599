"""How many pixels of the screen one pixel of an application is.

On a screen of high resolution GTK (GDK_SCALE) and Chromium (Xft.dpi, --force-device-scale-factor) count in larger
pixels of their own, in which they also report where things are; LibreOffice does as its GTK. Nothing tells the factor
but the sizes of windows. Settings that enlarge only letters (Xft.dpi in GTK, SAL_FORCEDPI) leave extents as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aci.accessibility.elements.windows import SHADOW_PX
from aci.accessibility.tree.nodes import Application
from aci.observation.geometry import Rect
from aci.observation.observation import Window

INTEGERS = (2, 3, 4)
"""GTK knows no others."""
MOST = 5.0
QUARTER = 0.004
"""A factor that is this near to a quarter is meant to be one: sizes are rounded."""
UNEVEN = 0.015
"""How far the factors across and down may differ, relatively."""


def enlarge(application: Application, windows: Sequence[Window]) -> None:
    """Turn the extents of an application that counts in larger pixels of its own into px of the screen.

    Args:
        application: All nodes in its windows must have been asked for their extents just now.
        windows: Its X11 windows are among them.
    """
    own = [window for window in windows if window.pid in (None, application.pid)]
    tops = [(top.name, top.rect) for top in application.tops if top.rect is not None]
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
    """Return by what the extents that an application reports are to be multiplied to get pixels of the screen.

    Args:
        toolkit: Name and version of its toolkit.
        tops: Name and extents of its windows, as it reports them.
        windows: Its X11 windows.

    Returns:
        1.0 where no window tells anything else.
    """
    judge = _chromium_scale if toolkit.startswith("Chromium") else _gtk_scale
    anchored = not toolkit.startswith("GTK 4")
    scales = (judge(top, window, anchored) for top, window in _pairs(tops, windows))
    return next((scale for scale in scales if scale is not None), 1.0)


def _pairs(tops: Sequence[tuple[str, Rect]], windows: Sequence[Window]) -> Iterator[tuple[Rect, Window]]:
    """Yield what may belong together, the surest first: shadows do not matter beside a large window."""
    managed = [window for window in windows if not window.popup]
    named = sorted(((name, rect) for name, rect in tops if rect.area), key=lambda top: top[1].area, reverse=True)
    yield from ((rect, window) for name, rect in named for window in managed if name and name == window.title)
    yield from ((rect, window) for _, rect in named for window in managed)


def _gtk_scale(top: Rect, window: Window, anchored: bool) -> float | None:
    fitting = {scale: rest for scale in (1, *INTEGERS) if (rest := _rest(top, window, scale, anchored)) is not None}
    return 1.0 if 1 in fitting else min(fitting, key=fitting.__getitem__, default=None)


def _rest(top: Rect, window: Window, scale: int, anchored: bool) -> int | None:
    """Return by how much a window is larger than an accessible one so many times enlarged, None where it is not it.

    What is larger is its shadow.
    """
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

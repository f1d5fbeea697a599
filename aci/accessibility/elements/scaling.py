"""The scale factor of applications on high resolution screens.

With GDK_SCALE, Xft.dpi or --force-device-scale-factor, GTK and Chromium report extents in larger pixels of their own;
LibreOffice does as its GTK. Only the sizes of windows reveal the factor. Settings that enlarge only letters (Xft.dpi in
GTK, SAL_FORCEDPI) leave extents as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aci.accessibility.elements.windows import SHADOW_PX
from aci.accessibility.tree.nodes import Application
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window

INTEGERS = (2, 3, 4)  # scale factors of GTK
MOST = 5.0
QUARTER = 0.004  # a factor this close to a quarter is rounded to it
UNEVEN = 0.015  # largest relative difference between the horizontal and the vertical factor


def enlarge(application: Application, windows: Sequence[Window]) -> None:
    """Convert the current extents of an application that uses larger pixels to screen px."""
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

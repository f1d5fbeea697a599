"""How much of an application is to be asked again: the decision, without asking anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aci.accessibility.dbus.signals import NOTHING, Touched
from aci.accessibility.tree.nodes import Application
from aci.observation.geometry import Rect
from aci.observation.observation import Window

MOST_PIECES = 400
"""Into more pieces than this the areas are not cut; what is left goes to every window that it reaches."""

LAG_S = 1.0
"""How long what a browser says may lag behind what it draws, s."""
_LAGGING = ("chromium", "gecko", "webkit")


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be asked of an application.

    Attributes:
        touched: What its events name.
        areas: Where its windows look different, px.
        everything: Whether all that can be seen is to be asked.
        redrawn: Whether its windows came, went or changed their order, so that elements have to be made anew.
    """

    touched: Touched = NOTHING
    areas: tuple[Rect, ...] = ()
    everything: bool = False
    redrawn: bool = False

    def __bool__(self) -> bool:
        return bool(self.everything or self.areas or self.touched or self.redrawn)

    def reaches(self, rect: Rect | None) -> bool:
        """Tell whether something at a place is to be asked."""
        if self.everything:
            return True
        if rect is None:
            return False
        # What had nothing in it, and so no height, may have got something. This is asked of thousands at each look.
        left, top = rect.x, rect.y
        right, bottom = left + max(1, rect.width), top + max(1, rect.height)
        return any(
            area.x < right and left < area.x + area.width and area.y < bottom and top < area.y + area.height
            for area in self.areas
        )


ALL = Scope(everything=True, redrawn=True)


def own_windows(windows: Sequence[Window], pid: int) -> tuple[Window, ...]:
    """Return the windows that may be those of a process, topmost first; which is active does not matter here."""
    return tuple(replace(window, active=False) for window in windows if window.pid in (None, pid))


def scope_of(before: Sequence[Window], now: Sequence[Window], areas: Sequence[Rect], touched: Touched) -> Scope:
    """Decide how much of an application is to be asked.

    Args:
        before: Its windows when it was last read, as `own_windows` gives them.
        now: Its windows now.
        areas: Where they look different, px.
        touched: What its events name.
    """
    known, shown = {window.id: window for window in before}, {window.id: window for window in now}
    moved = any(window.id not in known or known[window.id].rect != window.rect for window in now if not window.popup)
    redrawn = known != shown or _popups(before) != _popups(now)
    return Scope(touched, tuple(areas), touched.anything or moved, redrawn)


def _popups(windows: Sequence[Window]) -> list[int]:
    """Return the popups, whose order tells in which of them something lies."""
    return [window.id for window in windows if window.popup]


def areas_by_window(areas: Sequence[Rect], windows: Sequence[Window]) -> dict[int, list[Rect]]:
    """Give each area of the screen to the windows that show there; what lies on frames and background is left out.

    Args:
        areas: Disjoint, px.
        windows: Topmost first.

    Returns:
        The areas of each window by its id; windows without any are missing.
    """
    found: dict[int, list[Rect]] = {}
    left = list(areas)
    for window in windows:
        inside = [common for area in left if (common := area.intersection(window.rect)) is not None]
        if inside:
            found[window.id] = inside
        if len(left) <= MOST_PIECES:
            left = [piece for area in left for piece in area.subtract(window.frame or window.rect)]
    return found


def lags(application: Application) -> bool:
    """Tell whether an application may draw what it does not say yet: it shows web pages.

    These come from other processes, and what is asked is a copy of what they said last.
    """
    return application.toolkit.casefold().startswith(_LAGGING) or bool(application.holders)


class LateAreas:
    """Areas that are asked about once more, since their first answer may have come too soon.

    What a browser says lags behind what it draws, by some tenths of a second while a page loads, and no event tells
    when it has caught up. An area is asked again until that was done `LAG_S` after it was seen to change.
    """

    def __init__(self) -> None:
        self._late: list[tuple[float, tuple[Rect, ...]]] = []

    def added_to(self, changed: Sequence[Rect] | None, screen: Rect, now: float) -> list[Rect] | None:
        """Return the areas to ask about: those that changed, and the late ones; all disjoint.

        Where these would be very many pieces, as on a screen that never stands still, one rectangle holds them all.

        Args:
            changed: Disjoint, px; None for everything.
            screen: The whole screen, px.
            now: Seconds that only go forward.
        """
        late, self._late = self._late, [(seen, areas) for seen, areas in self._late if now - seen < LAG_S]
        if changed is None:
            self._late = [(now, (screen,))]
            return None
        if changed:
            self._late.append((now, tuple(changed)))
        areas = list(changed)
        for area in (area for _, seen in late for area in seen):
            if len(areas) > MOST_PIECES:
                return [_around([*changed, *(area for _, seen in late for area in seen)])]
            pieces = [area]
            for known in tuple(areas):
                pieces = [piece for part in pieces for piece in part.subtract(known)]
            areas += pieces
        return areas


def _around(areas: Sequence[Rect]) -> Rect:
    left, top = min(area.x for area in areas), min(area.y for area in areas)
    right, bottom = max(area.right for area in areas), max(area.bottom for area in areas)
    return Rect(left, top, right - left, bottom - top)

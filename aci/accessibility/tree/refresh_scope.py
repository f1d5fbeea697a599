"""Which parts of an application must be read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aci.accessibility.dbus.signals import NOTHING, Touched
from aci.accessibility.tree.nodes import Application
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding

MOST_PIECES = 400  # beyond this number areas are no longer split by window

LAG_S = 1.0  # how long a browser's tree may lag behind its pixels
_LAGGING = ("chromium", "gecko", "webkit")


@dataclass(frozen=True, slots=True)
class Scope:
    """What to read again of an application."""

    touched: Touched = NOTHING  # objects named by events
    areas: tuple[Rect, ...] = ()  # changed areas of its windows, px
    new_areas: tuple[Rect, ...] = ()  # areas of windows that have opened since, on top of the others, px
    everything: bool = False  # whether to read everything visible
    redrawn: bool = False  # whether its windows or their order changed, so that elements must be made again

    def __bool__(self) -> bool:
        return bool(self.everything or self.areas or self.new_areas or self.touched or self.redrawn)

    def reaches(self, rect: Rect | None, *, may_open: bool = True) -> bool:
        """Return whether an object at a place must be read again.

        Args:
            rect: Its place, px.
            may_open: Whether new windows may show something of it. Otherwise it merely lies under them.
        """
        if self.everything:
            return True
        if rect is None:
            return False
        # What had nothing in it, and so no height, may have got something. This is asked of thousands at each look.
        areas = self.areas + self.new_areas if may_open else self.areas
        left, top = rect.x, rect.y
        right, bottom = left + max(1, rect.width), top + max(1, rect.height)
        return any(
            area.x < right and left < area.x + area.width and area.y < bottom and top < area.y + area.height
            for area in areas
        )


ALL = Scope(everything=True, redrawn=True)


def own_windows(windows: Sequence[Window], pid: int) -> tuple[Window, ...]:
    """Return the windows that may belong to a process, topmost first, regardless of which is active."""
    return tuple(replace(window, active=False) for window in windows if window.pid in (None, pid))


def scope_of(
    before: Sequence[Window], now: Sequence[Window], areas: Mapping[int, Sequence[Rect]], touched: Touched
) -> Scope:
    """Return what to read again of an application.

    Args:
        before: Its windows when it was last read.
        now: Its windows now.
        areas: Changed areas of windows by their ids, px.
        touched: What its events name.
    """
    known, shown = {window.id: window for window in before}, {window.id: window for window in now}
    # A window may have taken the place of one that is gone, with the same contents.
    replaced = any(window.id not in shown for window in before if not window.popup)
    new = [] if replaced else [window.id for window in now if window.id not in known]
    # what a new window shows is not known yet, and so it is read
    moved = any(window.id in known and known[window.id].rect != window.rect for window in now if not window.popup)
    redrawn = known != shown or _popups(before) != _popups(now)
    return Scope(
        touched,
        tuple(area for window in now if window.id not in new for area in areas.get(window.id, ())),
        tuple(area for number in new for area in areas.get(number, ())),
        touched.anything or moved,
        redrawn,
    )


def _popups(windows: Sequence[Window]) -> list[int]:
    return [window.id for window in windows if window.popup]


def areas_by_window(areas: Sequence[Rect], windows: Sequence[Window]) -> dict[int, list[Rect]]:
    """Assign disjoint areas to the windows (topmost first) visible in them; frames and background are left out."""
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
    """Return whether an application may draw what its tree does not show yet, as browsers do."""
    return application.toolkit.casefold().startswith(_LAGGING) or bool(application.holders)


def delays_places(application: Application) -> bool:
    """Return whether an application reports the places of its elements at intervals, as Chromium does, also in Qt."""
    toolkit = application.toolkit
    return toolkit.startswith("Chromium") or (toolkit.startswith("Qt") and bool(application.holders))


class LateAreas:
    """Areas that are read again, since their first answer may have come too soon.

    A browser's tree lags behind its pixels by some tenths of a second while a page loads, without a final event. An
    area is read again until that was done `LAG_S` after it changed.
    """

    def __init__(self) -> None:
        self._late: list[tuple[float, tuple[Rect, ...]]] = []

    def take(self, changed: Sequence[Rect] | None, screen: Rect, now: float) -> list[Rect]:
        """Return the late areas, oldest first, and note changed ones, which are late next time.

        `changed` is None for the whole screen, and `now` a monotonic clock, s.
        """
        late, self._late = self._late, [(seen, areas) for seen, areas in self._late if now - seen < LAG_S]
        if changed is None:
            self._late = [(now, (screen,))]
        elif changed:
            self._late.append((now, tuple(changed)))
        return [area for _, seen in late for area in seen]


def joined(areas: Sequence[Rect], others: Sequence[Rect]) -> list[Rect]:
    """Return disjoint areas that cover disjoint areas and others; a bounding box if there are very many."""
    found = list(areas)
    for area in others:
        if len(found) > MOST_PIECES:
            return [bounding([*areas, *others])]
        pieces = [area]
        for known in tuple(found):
            pieces = [piece for part in pieces for piece in part.subtract(known)]
        found += pieces
    return found

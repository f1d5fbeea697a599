"""Recognizes known places by windows and pixels alone, without asking any application."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from aci.observation.snapshot import Window
from exploration.search.homes import HomeState
from exploration.search.states import HOVER_PX, Look, same_to_the_pixel

STILL_S = 0.25  # usual time without a change after which a picture does not come any more
_MENU_STILL_S = 0.1  # the same for the picture of a menu whose windows are in place


class Recognition:
    """Tells whether the screen shows what a known look shows: called, it takes a glimpse and compares exactly.

    Args:
        glimpse: Returns the present pixels, windows and pointer.
        known: The look.
        pointed: Returns the place of the element that the pointer was moved to last, px. It must look the same, since
            its own state may have changed; other controls may be lit up by the pointer.
        menus_only: Whether it is enough that the menus are there, whatever has changed below them; not for those that
            are drawn inside of a window.
        ignored: Settings that may have other values than they had then.
        besides: Places that may look otherwise, px.
        still_s: Time without a change after which it is not waited for any longer, where its windows are in place, s.

    Attributes:
        known: The look.
        menus_only: See above.
        still_s: See above; less for menus.
        has_windows: Whether the windows were those of the look at the latest call.
    """

    def __init__(
        self,
        glimpse: Callable[[], Observation],
        known: Look,
        pointed: Callable[[], Rect | None],
        menus_only: bool = False,
        ignored: frozenset[str] = frozenset(),
        besides: Sequence[Rect] = (),
        still_s: float = STILL_S,
    ) -> None:
        self.known = known
        self.menus_only = menus_only and min(known.menus, default=-1) >= 0
        self.still_s = _MENU_STILL_S if known.menus else still_s
        self._glimpse = glimpse
        self._pointed = pointed
        self._ignored = ignored
        self._besides = besides
        self._places = self._places_of(known.observation.windows)
        self._menus = [window.rect for window in known.observation.windows if window.popup] if self.menus_only else None
        self._latest: tuple[object, object, bool] = (None, None, False)
        self.has_windows = False

    def __call__(self) -> bool:
        """Return whether it does now."""
        seen = self._glimpse()
        if seen.screenshot is not self._latest[0] or seen.windows is not self._latest[1]:
            self.has_windows = self._places_of(seen.windows) == self._places
            shows = self.has_windows and self._looks_alike(seen)
            self._latest = seen.screenshot, seen.windows, shows
        return self._latest[2]

    def has_home(self, home: HomeState) -> bool:
        """Return whether the contents of the home are those of the look, too."""
        settings = [
            {key: value for key, value in each.settings.items() if key not in self._ignored}
            for each in (home, self.known.home)
        ]
        return home.files == self.known.home.files and settings[0] == settings[1]

    def has_same_ids(self, windows: Sequence[Window]) -> bool:
        """Return whether windows are not only in the same places, but the same ones."""
        ids = [[each.id for each in some] for some in map(self._compared, (windows, self.known.observation.windows))]
        return ids[0] == ids[1]

    def _compared(self, windows: Sequence[Window]) -> list[Window]:
        return [window for window in windows if window.popup or not self.menus_only]

    def _places_of(self, windows: Sequence[Window]) -> list[tuple[Rect, bool, str]]:
        """Return what tells windows apart but their ids, which menus change each time they open."""
        return [(window.rect, window.popup, window.title) for window in self._compared(windows)]

    def _looks_alike(self, seen: Observation) -> bool:
        later = self.known.redrawn(seen.screenshot, seen.pointer, self._pointed())
        return same_to_the_pixel(self.known, later, (*self._hovered(later), *self._besides), self._menus)

    def _hovered(self, later: Look) -> list[Rect]:
        """Return the places of controls that may be drawn otherwise only because the pointer is on them, or was."""
        pointers = {self.known.observation.pointer, later.observation.pointer}
        if len(pointers) == 1:
            return []
        places = [each.element.rect for each in self.known.candidates if each.element.rect != self._pointed()]
        under = [
            place for place in places if any(pointer is not None and place.contains(pointer) for pointer in pointers)
        ]
        return [place.grown(HOVER_PX, HOVER_PX) for place in under]

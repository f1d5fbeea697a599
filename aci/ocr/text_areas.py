"""The areas of the screen that may hold text without elements, cut out again only where they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.snapshot import Element, Window
from aci.ocr.lines import find_lines
from aci.ocr.missing_text import blocks_within, changed_blocks, map_unread_windows
from aci.ocr.tile_sheets import Tile, make_tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CODES = 255


@dataclass(frozen=True, slots=True)
class Area:
    """A piece of a window that may hold text."""

    window_id: int  # the window
    rect: Rect  # where it is on the screen, px
    tile: Tile  # its pixels


@dataclass(frozen=True, slots=True)
class _Look:
    """One look."""

    pixels: NDArray[np.uint8]  # (H, W, 3) uint8 RGB
    silent: NDArray[np.uint8]  # (H, W) uint8, codes of the windows where the tree has no text
    codes: dict[int, int]  # A number from 1 to 255 for each window
    without_elements: frozenset[int] = frozenset()  # windows without elements
    areas: dict[int, list[Area]] = field(default_factory=dict)  # the areas of each window


class AreaFinder:
    """Compares each look with the one before; use it from one thread at a time."""

    def __init__(self) -> None:
        self._last: _Look | None = None

    def knows(self, windows: Sequence[Window]) -> bool:
        """Return whether all of these windows were there at the last look."""
        return self._last is not None and all(window.id in self._last.codes for window in windows)

    def look(self, pixels: NDArray[np.uint8], elements: Sequence[Element], windows: Sequence[Window]) -> list[Area]:
        """Return the areas of all windows (topmost first) in a screenshot, (H, W, 3) uint8 RGB, in reading order."""
        codes = self._codes(windows)
        now = _Look(
            pixels,
            map_unread_windows(windows, elements, frame(pixels), codes),
            codes,
            frozenset(codes) - {element.window_id for element in elements},
        )
        now.areas.update(self._areas(windows, now))
        self._last = now
        return [area for window in windows for area in now.areas.get(window.id, ())]

    def look_ahead(self, pixels: NDArray[np.uint8], windows: Sequence[Window]) -> list[Area]:
        """Return the areas of windows without elements at the last look; stores nothing."""
        if self._last is None:
            return []
        mute = {key: code for key, code in self._last.codes.items() if key in self._last.without_elements}
        if not mute:
            return []
        now = _Look(pixels, map_unread_windows(windows, (), frame(pixels), mute), mute)
        return [area for areas in self._areas(windows, now).values() for area in areas]

    def _codes(self, windows: Sequence[Window]) -> dict[int, int]:
        """Return a number for each window, stable between looks; windows beyond 255 get none."""
        last = self._last.codes if self._last is not None else {}
        kept = {window.id: last[window.id] for window in windows if window.id in last}
        free = iter(sorted(set(range(1, _MOST_CODES + 1)) - set(kept.values())))
        for window in windows:
            if window.id not in kept and (code := next(free, None)) is not None:
                kept[window.id] = code
        return kept

    def _areas(self, windows: Sequence[Window], now: _Look) -> dict[int, list[Area]]:
        changed = self._changed(now)
        found: dict[int, list[Area]] = {}
        for window in windows:
            if window.id not in now.codes:
                continue
            if self._last is None or changed is None or _is_changed(changed, window, self._last, now):
                found[window.id] = _cut_out(window, now)
            else:
                found[window.id] = self._last.areas[window.id]
        return found

    def _changed(self, now: _Look) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        last = self._last
        if last is None or last.pixels.shape != now.pixels.shape:
            return None
        return changed_blocks(last.pixels, now.pixels), changed_blocks(last.silent, now.silent)


def frame(pixels: NDArray[np.uint8]) -> Rect:
    """Return the whole of a picture."""
    return Rect(0, 0, pixels.shape[1], pixels.shape[0])


def _is_changed(changed: tuple[NDArray[np.bool_], NDArray[np.bool_]], window: Window, last: _Look, now: _Look) -> bool:
    pixels, silent = changed
    if window.id not in last.areas or blocks_within(silent, window.rect):
        return True
    if not blocks_within(pixels, window.rect):
        return False
    mine = (now.silent == now.codes[window.id]).view(np.uint8)
    return bool((pixels & changed_blocks(np.zeros_like(mine), mine)).any())


def _cut_out(window: Window, now: _Look) -> list[Area]:
    visible = window.rect.intersection(frame(now.pixels))
    if visible is None:
        return []
    rows, columns = slice(visible.y, visible.bottom), slice(visible.x, visible.right)
    pixels, wanted = now.pixels[rows, columns], now.silent[rows, columns] == now.codes[window.id]
    areas = []
    for rect in find_lines(pixels, wanted):
        inner = (slice(rect.y, rect.bottom), slice(rect.x, rect.right))
        areas.append(Area(window.id, rect.moved(visible.x, visible.y), make_tile(pixels[inner], wanted[inner])))
    return areas

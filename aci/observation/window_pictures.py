"""What changed on the screen, where a window that lay under others comes into view again with the same content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect
from aci.observation.pixels import changed_areas
from aci.observation.snapshot import Window
from aci.observation.visibility import uncovered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint32]


_MOST_SCREENS = 4  # pixels that are kept at most, in screens, of the topmost windows


@dataclass(frozen=True, slots=True)
class _Picture:
    """What a window showed when each of its pixels was last in view."""

    rect: Rect  # the window, px
    pixels: Frame  # (H, W)
    seen: NDArray[np.bool_]  # (H, W): where it was ever in view


class WindowPictures:
    """Compares frames of the screen window by window.

    When a menu or dialog closes, the pixels under it change. What they belong to has not changed if it looks as it did
    before it was covered. Windows that have moved, or were gone meanwhile, are new.
    """

    def __init__(self) -> None:
        self._frame: Frame | None = None
        self._windows: tuple[Window, ...] = ()
        self._pictures: dict[int, _Picture] = {}

    def forget(self) -> None:
        """Count everything as changed at the next comparison."""
        self._frame = None
        self._pictures.clear()

    def changed(self, frame: Frame, windows: Sequence[Window]) -> tuple[Rect, ...] | None:
        """Return disjoint areas that cover all pixels of windows that changed since they were last in view, px.

        Blinking carets are left out.

        Args:
            frame: Pixels of the screen, (H, W) uint32; not changed afterwards.
            windows: Visible windows, topmost first.

        Returns:
            None if everything may have changed.
        """
        before, windows_before = self._frame, self._windows
        self._frame, self._windows = frame, tuple(windows)
        if before is None or before.shape != frame.shape:
            self._pictures.clear()
            return None
        if list(map(_place, windows)) == list(map(_place, windows_before)):
            return changed_areas(before, frame)
        self._take(before, windows_before)
        return changed_areas(self._last_seen(before), frame)

    def _take(self, frame: Frame, windows: Sequence[Window]) -> None:
        """Keep what each of the windows shows in a frame that is still there now."""
        import numpy as np

        staying = {window.id: window.rect for window in self._windows}
        kept: dict[int, _Picture] = {}
        left = _MOST_SCREENS * frame.size
        for window, pieces in _visible(windows, frame):
            if staying.get(window.id) != window.rect or not (pieces or window.id in self._pictures):
                continue
            left -= window.rect.area
            if left < 0:
                break
            picture = self._pictures.get(window.id)
            if picture is None or picture.rect != window.rect:
                shape = window.rect.height, window.rect.width
                picture = _Picture(window.rect, np.empty(shape, np.uint32), np.zeros(shape, np.bool_))
            for piece in pieces:
                inside = _slices(piece.moved(-window.rect.x, -window.rect.y))
                picture.pixels[inside] = frame[_slices(piece)]
                picture.seen[inside] = True
            kept[window.id] = picture
        self._pictures = kept

    def _last_seen(self, before: Frame) -> Frame:
        """Return what the windows in view now showed when each of their pixels was last in view.

        Pixels that never were differ from the present ones.
        """
        import numpy as np

        assert self._frame is not None
        seen = before.copy()
        for window, pieces in _visible(self._windows, self._frame):
            picture = self._pictures.get(window.id)
            for piece in pieces:
                there = _slices(piece)
                inside = _slices(piece.moved(-window.rect.x, -window.rect.y))
                if picture is None:
                    seen[there] = ~self._frame[there]
                elif picture.seen[inside].all():
                    seen[there] = picture.pixels[inside]
                else:
                    seen[there] = np.where(picture.seen[inside], picture.pixels[inside], ~self._frame[there])
        return seen


def _visible(windows: Sequence[Window], frame: Frame) -> Iterator[tuple[Window, list[Rect]]]:
    """Yield windows (topmost first) with disjoint rectangles that make up what can be seen of them in a frame."""
    height, width = frame.shape
    covers: list[Rect] = []
    for window in windows:
        shown = window.rect.intersection(Rect(0, 0, width, height))
        yield window, uncovered(shown, covers) if shown is not None else []
        covers.append(window.frame or window.rect)


def _place(window: Window) -> tuple[int, Rect]:
    return window.id, window.rect


def _slices(rect: Rect) -> tuple[slice, slice]:
    return slice(rect.y, rect.bottom), slice(rect.x, rect.right)

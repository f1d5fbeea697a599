"""Events about the windows of an X display."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aci.screen.event_thread import EventThread

_PROPERTIES = (
    *("_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_SUPPORTING_WM_CHECK"),  # of the root
    *("WM_CLASS", "WM_NAME", "WM_TRANSIENT_FOR", "_NET_WM_NAME", "_NET_WM_PID", "_NET_WM_STATE"),
    *("_NET_WM_WINDOW_TYPE", "_NET_FRAME_EXTENTS"),
)


class WindowWatch:
    """Counts the changes of an X display's windows: their order, places, properties and focus.

    Args:
        display: A connection that nothing else uses; it is closed at the end.
    """

    def __init__(self, display: Any) -> None:
        from Xlib import X

        self._display = display
        self._root = display.screen().root
        self._properties = frozenset(display.intern_atom(name) for name in _PROPERTIES)
        self._of_windows = X.StructureNotifyMask | X.PropertyChangeMask
        self._ends = X.DestroyNotify
        self._changing = frozenset(
            {
                *(X.DestroyNotify, X.UnmapNotify, X.MapNotify, X.ReparentNotify),
                *(X.ConfigureNotify, X.GravityNotify, X.CirculateNotify),
            }
        )
        self._changes_property = X.PropertyNotify
        self._followed: set[int] = set()
        self._changes = 0
        self._root.change_attributes(event_mask=X.SubstructureNotifyMask | self._of_windows)
        self._thread = EventThread("aci-windows", display, self._handle)

    def changes(self) -> int:
        """Return the number of changes so far.

        Raises:
            ConnectionLost: The display is gone.
        """
        return self._thread.do(self._count)

    def follow(self, windows: Iterable[int]) -> None:
        """From now on also count what changes in windows; the order and places of the topmost ones always count.

        Raises:
            ConnectionLost: The display is gone.
        """
        self._thread.do(lambda: self._select(windows))

    def close(self) -> None:
        """Stop watching."""
        self._thread.close()

    # What follows runs in the thread, the only one that uses the connection from then on.

    def _handle(self, event: Any) -> None:
        if event.type == self._ends:
            self._followed.discard(event.window.id)
        if event.type in self._changing or (event.type == self._changes_property and event.atom in self._properties):
            self._changes += 1

    def _count(self) -> int:
        self._thread.handle_arrived()
        return self._changes

    def _select(self, windows: Iterable[int]) -> None:
        from Xlib.error import BadWindow, CatchError

        self._thread.handle_arrived()  # a new window may have the id of one that is gone
        answers = {window: CatchError(BadWindow) for window in set(windows) - self._followed}
        for window, gone in answers.items():
            of_display = self._display.create_resource_object("window", window)
            of_display.change_attributes(event_mask=self._of_windows, onerror=gone)
        self._display.sync()
        self._followed |= {window for window, gone in answers.items() if gone.get_error() is None}

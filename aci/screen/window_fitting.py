"""Fits windows into the screen that are made larger than it, as the window managers of desktop environments do.

Openbox, which manages private desktops, leaves them as they are, and no pointer reaches what lies outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aci.screen.event_thread import EventThread

_MOST_TIMES = 3  # times that one window is fitted, since some insist on their size
_ADD, _FROM_APPLICATION = 1, 1  # of the Extended Window Manager Hints


class WindowFitter:
    """Asks the window manager to maximize windows in each direction in which they exceed the screen.

    Args:
        display: A connection that nothing else uses; it is closed at the end.
    """

    def __init__(self, display: Any) -> None:
        from Xlib import X

        self._display = display
        self._root = display.screen().root
        self._list = display.intern_atom("_NET_CLIENT_LIST")
        self._times: dict[int, int] = {}  # how often each window was fitted
        self._listing, self._placing = X.PropertyNotify, X.ConfigureNotify
        self._root.change_attributes(event_mask=X.PropertyChangeMask)
        self._thread = EventThread("aci-window-fitting", display, self._handle)

    def close(self) -> None:
        """Stop fitting windows."""
        self._thread.close()

    # What follows runs in the thread, the only one that uses the connection from then on.

    def _handle(self, event: Any) -> None:
        from Xlib import X
        from Xlib.error import BadDrawable, BadWindow, CatchError

        if event.type == self._placing and event.window.id in self._times:
            with suppress(BadWindow):  # it closed meanwhile
                self._fit(event.window, event.width, event.height)
        elif event.type == self._listing and event.atom == self._list:
            listed = set(self._values(self._root, "_NET_CLIENT_LIST"))
            new = listed - self._times.keys()
            self._times = {window: self._times.get(window, 0) for window in listed}
            for window in (self._display.create_resource_object("window", each) for each in new):
                with suppress(BadDrawable, BadWindow):
                    window.change_attributes(event_mask=X.StructureNotifyMask, onerror=CatchError(BadWindow))
                    size = window.get_geometry()
                    self._fit(window, size.width, size.height)

    def _fit(self, window: Any, width: int, height: int) -> None:
        left, right, top, bottom = self._values(window, "_NET_FRAME_EXTENTS") or (0, 0, 0, 0)
        screen = self._display.screen()
        exceeded = {
            "HORZ": left + width + right > screen.width_in_pixels,
            "VERT": top + height + bottom > screen.height_in_pixels,
        }
        if not any(exceeded.values()) or self._times[window.id] == _MOST_TIMES:
            return
        if self._display.intern_atom("_NET_WM_STATE_FULLSCREEN") not in self._values(window, "_NET_WM_STATE"):
            self._times[window.id] += 1
            self._maximize(window, [direction for direction, exceeds in exceeded.items() if exceeds])

    def _maximize(self, window: Any, directions: Sequence[str]) -> None:
        from Xlib import X
        from Xlib.protocol.event import ClientMessage

        states = [self._display.intern_atom(f"_NET_WM_STATE_MAXIMIZED_{direction}") for direction in directions]
        data = [_ADD, *states, *[0] * (2 - len(states)), _FROM_APPLICATION, 0]
        kind = self._display.intern_atom("_NET_WM_STATE")
        message = ClientMessage(window=window, client_type=kind, data=(32, data))
        self._root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.flush()

    def _values(self, window: Any, name: str) -> Sequence[int]:
        from Xlib import X

        found = window.get_full_property(self._display.intern_atom(name), X.AnyPropertyType)
        return found.value if found is not None else ()

"""Detection of the user's emergency stop: the stop key, or the pointer pushed into a corner.

Keys arrive as raw events of the X Input extension (XI 2.2), whatever window has the focus and whoever has grabbed the
keyboard; on servers without it the pressed keys are polled. Own input is not distinguishable by its device, since
remote desktops inject theirs through XTEST as well: so own input never presses the stop key, and announces pointer
positions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from aci.input.keys import chord, left_key
from aci.input.raw_events import keyboard_mapping, raw_event, select_raw_events
from aci.observation.geometry import Point, Rect
from aci.screen.emergency_stop import Halt, StopBy
from aci.screen.event_thread import EventThread
from aci.screen.screen import open_display

_TICK_S = 0.05  # interval of pointer checks
_POLL_S = 0.015  # interval of key checks on servers without raw events; people hold keys for longer
_CORNER_PX = 2
_OVERTAKEN_S = 0.2  # how long the previous own position still counts: the server may lag


class StopKey:
    """Keys that mean stop when they are pressed together, such as "ctrl+shift+escape".

    Raises:
        UnknownKey: The name stands for no keys.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._symbols = frozenset(left_key(symbol) for symbol in chord([name]))

    def pressed_by(self, symbols: Iterable[int]) -> bool:
        """Return whether pressed keysyms include it."""
        return self._symbols <= {left_key(symbol) for symbol in symbols}


class UserWatch:
    """A thread that watches a display and requests a stop.

    Raises:
        NoDisplay: There is no such display.
        UnknownKey: The stop key's name stands for no keys.
    """

    def __init__(self, display_name: str, stop_by: StopBy, halt: Halt) -> None:
        self.stop_key = StopKey(stop_by.key) if stop_by.key is not None else None
        self._watches_corners = stop_by.corner
        self._halt = halt
        self._display = open_display(display_name)
        self._root = self._display.screen().root
        self._down: set[int] = set()
        self._symbols_of: dict[int, set[int]] | None = None
        self._corners: tuple[Point, ...] = ()
        self._size = (0, 0)
        self._own, self._before = self._pointer(), (Point(-1, -1), 0.0)
        self._hears_keys = self.stop_key is not None and self._listen()
        self._thread = EventThread("aci-user-watch", self._display, self._handle, self._look)

    def own_motion(self, point: Point) -> None:
        """Announce where own input is about to move the pointer."""
        if point != self._own:
            self._before = (self._own, time.monotonic())
            self._own = point

    def refuses(self, symbols: Iterable[int]) -> bool:
        """Return whether pressing these keysyms together would be the stop key."""
        return self.stop_key is not None and self.stop_key.pressed_by(symbols)

    def close(self) -> None:
        """Stop watching."""
        self._thread.close()

    # What follows runs in the watching thread, the only one that uses the connection.

    def _look(self) -> float:
        """Look at what sends no events; return when to look again, s."""
        if self.stop_key is not None and not self._hears_keys:
            self._keys_are(_set_bits(self._display.query_keymap()))
        if self._watches_corners:
            self._look_at_pointer()
        return _TICK_S if self._hears_keys or self.stop_key is None else _POLL_S

    def _listen(self) -> bool:
        """Ask for raw key events; return whether they will come."""
        from Xlib.ext import xinput

        if not select_raw_events(self._display, xinput.RawKeyPressMask | xinput.RawKeyReleaseMask):
            return False
        self._down = _set_bits(self._display.query_keymap())
        return True

    def _handle(self, event: Any) -> None:
        from Xlib import X
        from Xlib.ext import xinput

        if event.type == X.MappingNotify:
            self._symbols_of = None
        match raw_event(event):
            case xinput.RawKeyPress, code:
                self._keys_are(self._down | {code})
            case xinput.RawKeyRelease, code:
                self._down.discard(code)

    def _keys_are(self, codes: set[int]) -> None:
        added, self._down = codes - self._down, codes
        # Two keys are the least that a stop key has, so that the mapping is not read for each key that is typed.
        if self.stop_key is None or not added or len(codes) < min(2, len(self.stop_key.name.split("+"))):
            return
        symbols = self._symbols()
        if self.stop_key.pressed_by(symbol for code in codes for symbol in symbols.get(code, ())):
            self._halt.call(f"the stop key {self.stop_key.name} was pressed")

    def _symbols(self) -> dict[int, set[int]]:
        if self._symbols_of is None:
            rows = keyboard_mapping(self._display)
            self._symbols_of = {code: {symbol for symbol in row if symbol} for code, row in rows.items()}
        return self._symbols_of

    def _look_at_pointer(self) -> None:
        here = self._pointer()
        corner = next((corner for corner in self._corners_now() if _near(corner, here)), None)
        if corner is None:
            if here != self._own and time.monotonic() - self._before[1] > _OVERTAKEN_S:
                self._own = here  # The user moved it away, so a way back to a corner is theirs, too.
            return
        before, overtaken_at = self._before
        ours = _near(here, self._own) or (_near(here, before) and time.monotonic() - overtaken_at < _OVERTAKEN_S)
        if not ours:
            self._own = here
            self._halt.call("the mouse was pushed into a corner of the screen")

    def _pointer(self) -> Point:
        answer = self._root.query_pointer()
        return Point(answer.root_x, answer.root_y)

    def _corners_now(self) -> tuple[Point, ...]:
        geometry = self._root.get_geometry()
        if (geometry.width, geometry.height) != self._size:
            self._size = (geometry.width, geometry.height)
            self._corners = outer_corners(self._monitors())
        return self._corners

    def _monitors(self) -> list[Rect]:
        whole = Rect(0, 0, *self._size)
        if not self._display.has_extension("RANDR"):
            return [whole]
        from Xlib.error import XError

        try:
            answer = self._root.xrandr_get_monitors()
        except XError:
            return [whole]
        rects = [Rect(each.x, each.y, each.width_in_pixels, each.height_in_pixels) for each in answer.monitors]
        return rects or [whole]


def outer_corners(monitors: Sequence[Rect]) -> tuple[Point, ...]:
    """Return the corners against which the pointer can be pushed: those without a neighbour across or down."""
    found = []
    for monitor in monitors:
        left, right, top, bottom = monitor.x, monitor.right - 1, monitor.y, monitor.bottom - 1
        for x, beyond_x in ((left, left - 1), (right, right + 1)):
            for y, beyond_y in ((top, top - 1), (bottom, bottom + 1)):
                neighbours = (Point(beyond_x, y), Point(x, beyond_y))
                if not any(other.contains(point) for other in monitors for point in neighbours):
                    found.append(Point(x, y))
    return tuple(found)


def _near(one: Point, other: Point) -> bool:
    return max(abs(one.x - other.x), abs(one.y - other.y)) <= _CORNER_PX


def _set_bits(keymap: Sequence[int]) -> set[int]:
    return {8 * at + bit for at, byte in enumerate(keymap) for bit in range(8) if byte >> bit & 1}

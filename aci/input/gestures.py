"""Clicks, drags and chords, composed of the keys, buttons and motions of a back end."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from aci.input.input_device import Button
from aci.input.modifiers import Modifiers
from aci.input.stuck_keys import release_stuck_keys
from aci.observation.geometry import Point
from aci.screen.screen import lost_connection_is_reported, open_display

Key = TypeVar("Key")

_DOUBLE_CLICK_S = 0.6  # toolkits take two clicks within 0.25 to 0.5 s for a double click
_DOUBLE_CLICK_PX = 6
_DRAG_STEPS = 12
_DRAG_PACE_S = 0.012  # a drag begins only after some motion was handled between press and release


class Gestures(ABC, Generic[Key]):
    """Keyboard and pointer, usable from several threads, one action at a time; see `InputDevice`.

    Connecting releases what an earlier, killed program left pressed. `Key` is what the back end calls a key.

    Args:
        display_name: Name of the X display.
        pause: Sleeps for some seconds.
        guard: Called before each key and click; what it raises ends the action.
        moving: Called before the pointer is moved.

    Raises:
        NoDisplay: There is no such display.
    """

    def __init__(
        self,
        display_name: str,
        pause: Callable[[float], None],
        guard: Callable[[], None],
        moving: Callable[[Point], None],
    ) -> None:
        self._lock = threading.RLock()
        self._display = open_display(display_name)
        self._pause = pause
        self._guard = guard
        self._moving = moving
        self._keys_down: list[Key] = []
        self._buttons_down: list[Button] = []
        self._last_click = (Point(-100, -100), 0.0)
        self._modifiers = Modifiers(self._display, pause)
        release_stuck_keys(self._display)

    def move(self, point: Point) -> None:
        """Move the pointer."""
        with self._acting(free_of_modifiers=False):
            self._motion(point)

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click, once or in quick succession; consecutive calls never make a double click."""
        with self._acting(hold), self._holding(hold):
            self._motion(point)
            self._await_new_click(point)
            for _ in range(count):
                self._guard()
                with self._button(button):
                    pass
            # Only now: waiting between the clicks could take longer than a double click may.
            self._display.sync()
            self._last_click = (point, time.monotonic())

    def scroll(self, point: Point, clicks: int) -> None:
        """Turn the wheel at a point; positive clicks scroll up."""
        with self._acting():
            self._motion(point)
            for _ in range(abs(clicks)):
                self._guard()
                self._turn_wheel(up=clicks > 0)

    def drag(self, start: Point, end: Point, hold: Sequence[int] = ()) -> None:
        """Press the left button at one point, move, and release it at another."""
        with self._acting(hold), self._holding(hold):
            self._motion(start)
            with self._button("left"):
                for step in range(1, _DRAG_STEPS + 1):
                    self._guard()
                    share = step / _DRAG_STEPS
                    x, y = start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share
                    self._motion(Point(round(x), round(y)))
                    self._pause(_DRAG_PACE_S)
                self._motion(Point(end.x + 1, end.y))
                self._motion(end)
                self._pause(_DRAG_PACE_S)
            self._display.sync()

    def press(self, chord: Sequence[int]) -> None:
        """Press keys together: held in order, released in reverse."""
        self.press_each(chord, ())

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        """Hold keys while others are pressed one after another."""
        with self._acting([*hold, *(key for chord in chords for key in chord)]), self._holding(hold):
            for chord in chords:
                self._guard()
                with self._holding(chord):
                    pass

    def release_all(self) -> None:
        """Release every key and button that is held."""
        with self._lock, lost_connection_is_reported():
            self._release_all()

    def close(self) -> None:
        """Release everything and disconnect; the server may already be gone."""
        from Xlib.error import ConnectionClosedError

        with self._lock:
            try:
                self._release_all()
                self._disconnect()
            except (ConnectionClosedError, OSError):
                return

    @abstractmethod
    def _prepare(self, keysyms: Sequence[int]) -> None:
        """Make sure that these can be pressed.

        Raises:
            CannotType: The back end has no key for one of them.
        """

    @abstractmethod
    def _keys(self, keysyms: Sequence[int]) -> list[Key]:
        """Return the keys to press for keysyms, in order."""

    @abstractmethod
    def _set_key(self, key: Key, down: bool) -> None:
        """Press or release a key."""

    @abstractmethod
    def _set_button(self, button: Button, down: bool) -> None:
        """Press or release a button where the pointer is."""

    @abstractmethod
    def _point(self, point: Point) -> None:
        """Move the pointer."""

    @abstractmethod
    def _turn_wheel(self, up: bool) -> None:
        """Turn the wheel by one click where the pointer is."""

    def _disconnect(self) -> None:
        self._display.close()

    @contextmanager
    def _acting(self, keysyms: Sequence[int] = (), free_of_modifiers: bool = True) -> Iterator[None]:
        """Release everything at the end of an action, also after an error, a stop or Ctrl-C."""
        with self._lock, lost_connection_is_reported():
            self._guard()
            if free_of_modifiers:
                self._await_free_modifiers()
            try:
                if keysyms:
                    self._prepare(keysyms)
                yield
            finally:
                self._release_all()

    @contextmanager
    def _holding(self, keysyms: Sequence[int]) -> Iterator[None]:
        keys = self._keys(keysyms)
        for key in keys:
            self._keys_down.append(key)
            self._set_key(key, down=True)
        yield
        for key in reversed(keys):
            self._set_key(key, down=False)
            self._keys_down.remove(key)
        self._display.flush()

    @contextmanager
    def _button(self, button: Button) -> Iterator[None]:
        self._buttons_down.append(button)
        self._set_button(button, down=True)
        yield
        self._set_button(button, down=False)
        self._buttons_down.remove(button)

    def _motion(self, point: Point) -> None:
        self._moving(point)
        self._point(point)

    def _release_all(self) -> None:
        for key in reversed(self._keys_down):
            self._set_key(key, down=False)
        for button in reversed(self._buttons_down):
            self._set_button(button, down=False)
        self._keys_down.clear()
        self._buttons_down.clear()
        self._display.sync()

    def _await_free_modifiers(self) -> None:
        self._modifiers.await_free()
        self._guard()

    def _await_new_click(self, point: Point) -> None:
        last, at = self._last_click
        near = abs(point.x - last.x) <= _DOUBLE_CLICK_PX and abs(point.y - last.y) <= _DOUBLE_CLICK_PX
        remaining = at + _DOUBLE_CLICK_S - time.monotonic()
        if near and remaining > 0:
            self._pause(remaining)

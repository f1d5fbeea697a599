"""Clicks, drags and chords, composed of the keys, buttons and motions of a back end."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import ceil, hypot
from typing import Generic, Literal, TypeVar

from aci.input.input_device import Button, Held
from aci.input.modifiers import Modifiers
from aci.input.stuck_keys import release_stuck_keys
from aci.observation.geometry import Point
from aci.screen.screen import lost_connection_is_reported, open_display

Key = TypeVar("Key")
Way = Literal["up", "down", "left", "right"]

_DOUBLE_CLICK_S = 0.6  # toolkits take two clicks within 0.25 to 0.5 s for a double click
_DOUBLE_CLICK_PX = 6
_ALONG: tuple[Way, Way] = ("up", "down")
_ACROSS: tuple[Way, Way] = ("right", "left")
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
        self._held_keys: dict[int, list[Key]] = {}
        self._held_buttons: list[Button] = []
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

    def scroll(self, point: Point, clicks: int, horizontal: bool = False, hold: Sequence[int] = ()) -> None:
        """Turn the wheel at a point; positive clicks scroll up, or to the right."""
        forth, back = _ACROSS if horizontal else _ALONG
        with self._acting(hold), self._holding(hold):
            self._motion(point)
            for _ in range(abs(clicks)):
                self._guard()
                self._turn_wheel(forth if clicks > 0 else back)

    def drag(self, points: Sequence[Point], hold: Sequence[int] = ()) -> None:
        """Press the left button at the first point, move through all of them, and release it at the last."""
        with self._acting(hold), self._holding(hold):
            self._motion(points[0])
            with self._button("left"):
                for point in _steps(points):
                    self._guard()
                    self._motion(point)
                    self._pause(_DRAG_PACE_S)
                if len(points) == 2:  # a target takes a drop only after motion over it; on a path it would draw
                    self._motion(Point(points[-1].x + 1, points[-1].y))
                    self._motion(points[-1])
                    self._pause(_DRAG_PACE_S)
            self._display.sync()

    def press_button(self, button: Button) -> None:
        """Press a button where the pointer is, and keep it down."""
        with self._acting():
            if button not in self._held_buttons:
                self._held_buttons.append(button)
                with self._for_longer():
                    self._set_button(button, down=True)

    def release_button(self, button: Button) -> None:
        """Release a button that `press_button` pressed."""
        with self._acting():
            if button in self._held_buttons:
                with self._for_longer():
                    self._set_button(button, down=False)
                self._held_buttons.remove(button)

    def hold_keys(self, keysyms: Sequence[int]) -> None:
        """Press keys, and keep them down."""
        with self._acting(keysyms):
            for keysym in keysyms:
                if keysym not in self._held_keys:
                    keys = self._held_keys[keysym] = self._keys([keysym])
                    with self._for_longer():
                        self._set_keys(keys, down=True)

    def release_keys(self, keysyms: Sequence[int]) -> None:
        """Release keys that `hold_keys` pressed."""
        with self._acting():
            for keysym in reversed(keysyms):
                with self._for_longer():
                    self._set_keys(self._held_keys.pop(keysym, [])[::-1], down=False)

    @property
    def held(self) -> Held:
        """What `press_button` and `hold_keys` keep down."""
        return Held(tuple(self._held_keys), tuple(self._held_buttons))

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
            self._let_go()

    def close(self) -> None:
        """Release everything and disconnect; the server may already be gone."""
        from Xlib.error import ConnectionClosedError

        with self._lock:
            try:
                self._let_go()
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
    def _turn_wheel(self, way: Way) -> None:
        """Turn the wheel by one click where the pointer is."""

    def _disconnect(self) -> None:
        self._display.close()

    @contextmanager
    def _acting(self, keysyms: Sequence[int] = (), free_of_modifiers: bool = True) -> Iterator[None]:
        """Release what an action pressed; after an error, a stop or Ctrl-C, also what is held over several."""
        with self._lock, lost_connection_is_reported():
            try:
                self._guard()
                if free_of_modifiers:
                    self._await_free_modifiers()
                if keysyms:
                    self._prepare(keysyms)
                yield
            except BaseException:
                self._let_go()
                raise
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

    @contextmanager
    def _for_longer(self) -> Iterator[None]:
        """Note what keys or buttons do to the modifiers that are pressed for longer than one action, or released."""
        before = self._modifiers.state()
        yield
        self._display.sync()
        now = self._modifiers.state()
        self._modifiers.own = (self._modifiers.own | now & ~before) & now

    def _let_go(self) -> None:
        """Release everything, also what is held on purpose."""
        for keys in reversed(self._held_keys.values()):
            self._set_keys(keys[::-1], down=False)
        for button in self._held_buttons:
            self._set_button(button, down=False)
        self._held_keys.clear()
        self._held_buttons.clear()
        self._modifiers.own = 0
        self._release_all()

    def _set_keys(self, keys: Sequence[Key], down: bool) -> None:
        for key in keys:
            self._set_key(key, down)

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


def _steps(points: Sequence[Point]) -> Iterator[Point]:
    """Yield the points of a drag after the first, with more between those that are far apart."""
    total = sum(hypot(end.x - start.x, end.y - start.y) for start, end in pairwise(points))
    for start, end in pairwise(points):
        steps = max(1, ceil(_DRAG_STEPS * hypot(end.x - start.x, end.y - start.y) / max(total, 1)))
        for step in range(1, steps + 1):
            share = step / steps
            yield Point(round(start.x + (end.x - start.x) * share), round(start.y + (end.y - start.y) * share))

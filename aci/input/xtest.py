"""Keyboard and pointer through the XTEST extension (XTEST 2.2), which makes input indistinguishable from the user's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from aci.input.input_device import Button
from aci.input.keymap import Keymap, Stroke
from aci.input.keys import characters, keysym
from aci.input.modifiers import Modifiers
from aci.input.stuck_keys import release_stuck_keys
from aci.observation.geometry import Point
from aci.screen.screen import lost_connection_is_reported, open_display

_BUTTONS: dict[str, int] = {"left": 1, "middle": 2, "right": 3}
_WHEEL_UP, _WHEEL_DOWN = 4, 5
_LOCK_MASK = 1 << 1
_GROUP_SHIFT, _GROUP_MASK = 13, 3  # position of the current layout in the modifier state (XKB)
_DOUBLE_CLICK_S = 0.6  # toolkits take two clicks within 0.25 to 0.5 s for a double click
_DOUBLE_CLICK_PX = 6
_DRAG_STEPS = 12
_DRAG_PACE_S = 0.012  # a drag begins only after some motion was handled between press and release
_BURST = 40
_BURST_PACE_S = 0.01


class Xtest:
    """Keyboard and pointer; usable from several threads, one action at a time.

    Connecting releases what an earlier, killed program left pressed.

    Args:
        display_name: Name of the X display.
        private: Whether nobody else uses the keyboard, so that more keys may be borrowed.
        pause: Sleeps for some seconds.
        guard: Called before each key and click; what it raises ends the action.
        moving: Called before the pointer is moved.

    Raises:
        NoDisplay: There is no such display.
    """

    def __init__(
        self,
        display_name: str,
        private: bool = False,
        pause: Callable[[float], None] = time.sleep,
        guard: Callable[[], None] = lambda: None,
        moving: Callable[[Point], None] = lambda point: None,
    ) -> None:
        self._lock = threading.RLock()
        self._display = open_display(display_name)
        self._private = private
        self._pause = pause
        self._guard = guard
        self._moving = moving
        self._keymap: Keymap | None = None
        self._keys_down: list[int] = []
        self._buttons_down: list[int] = []
        self._last_click = (Point(-100, -100), 0.0)
        self._modifiers = Modifiers(self._display, pause)
        release_stuck_keys(self._display)

    def close(self) -> None:
        """Release everything, return borrowed keys and disconnect; the server may already be gone."""
        from Xlib.error import ConnectionClosedError

        with self._lock:
            try:
                self._release_all()
                if self._keymap is not None:
                    self._keymap.take_back()
                self._display.close()
            except (ConnectionClosedError, OSError):
                return

    def move(self, point: Point) -> None:
        """Move the pointer."""
        with self._acting(free_of_modifiers=False):
            self._motion(point)

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click, once or in quick succession; consecutive calls never make a double click."""
        with self._acting(), self._holding(hold):
            self._motion(point)
            self._await_new_click(point)
            for _ in range(count):
                self._guard()
                with self._button(_BUTTONS[button]):
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
                with self._button(_WHEEL_UP if clicks > 0 else _WHEEL_DOWN):
                    pass
                self._display.sync()

    def drag(self, start: Point, end: Point, hold: Sequence[int] = ()) -> None:
        """Press the left button at one point, move, and release it at another."""
        with self._acting(), self._holding(hold):
            self._motion(start)
            with self._button(_BUTTONS["left"]):
                for step in range(1, _DRAG_STEPS + 1):
                    share = step / _DRAG_STEPS
                    self._guard()
                    self._motion(
                        Point(round(start.x + (end.x - start.x) * share), round(start.y + (end.y - start.y) * share))
                    )
                    self._pause(_DRAG_PACE_S)
                self._motion(Point(end.x + 1, end.y))
                self._motion(end)
                self._pause(_DRAG_PACE_S)
            self._display.sync()

    def press(self, chord: Sequence[int]) -> None:
        """Press keys together: held in order, released in reverse."""
        with self._acting():
            self._fresh_keymap(chord)
            with self._holding(chord):
                pass

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        """Hold keys while others are pressed one after another."""
        with self._acting():
            self._fresh_keymap([*hold, *(key for chord in chords for key in chord)])
            with self._holding(hold):
                for chord in chords:
                    self._guard()
                    with self._holding(chord):
                        pass

    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        """Type a text key by key, any character of Unicode.

        `drained` is called before a borrowed key changes its meaning.
        """
        with self._acting(), self._caps_lock_off():
            symbols = list(characters(text))
            keymap = self._fresh_keymap([])
            for batch in _batches(symbols, keymap):
                if keymap.lend(batch):
                    drained()
                keymap.commit()
                for start in range(0, len(batch), _BURST):
                    for symbol in batch[start : start + _BURST]:
                        # What is asked for each key also keeps keys from queueing up, so that a stop is one at once.
                        self._await_free_modifiers()
                        with self._holding([symbol]):
                            pass
                    self._display.sync()
                    self._pause(_BURST_PACE_S)

    def release_all(self) -> None:
        """Release every key and button that is held."""
        with self._lock, lost_connection_is_reported():
            self._release_all()

    @contextmanager
    def _acting(self, free_of_modifiers: bool = True) -> Iterator[None]:
        """Release everything at the end of an action, also after an error, a stop or Ctrl-C."""
        with self._lock, lost_connection_is_reported():
            self._guard()
            if free_of_modifiers:
                self._await_free_modifiers()
            try:
                yield
            finally:
                self._release_all()

    @contextmanager
    def _holding(self, keysyms: Sequence[int]) -> Iterator[None]:
        strokes = [self._stroke(symbol) for symbol in keysyms]
        codes: list[int] = []
        for stroke in strokes:
            codes += [self._shift_code()] if stroke.shift and self._shift_code() not in codes else []
            codes.append(stroke.keycode)
        for code in codes:
            self._key(code, down=True)
        yield
        for code in reversed(codes):
            self._key(code, down=False)
        self._display.flush()

    @contextmanager
    def _button(self, button: int) -> Iterator[None]:
        from Xlib import X
        from Xlib.ext import xtest

        self._buttons_down.append(button)
        xtest.fake_input(self._display, X.ButtonPress, button)
        yield
        xtest.fake_input(self._display, X.ButtonRelease, button)
        self._buttons_down.remove(button)

    @contextmanager
    def _caps_lock_off(self) -> Iterator[None]:
        locked = bool(self._modifiers.state() & _LOCK_MASK)
        caps_lock = [keysym("Caps_Lock")]
        if locked:
            with self._holding(caps_lock):
                pass
        try:
            yield
        finally:
            if locked:
                with self._holding(caps_lock):
                    pass

    def _key(self, code: int, down: bool) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        if down:
            self._keys_down.append(code)
            xtest.fake_input(self._display, X.KeyPress, code)
        else:
            xtest.fake_input(self._display, X.KeyRelease, code)
            self._keys_down.remove(code)

    def _motion(self, point: Point) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        self._moving(point)
        xtest.fake_input(self._display, X.MotionNotify, x=point.x, y=point.y)
        self._display.sync()

    def _release_all(self) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        for code in reversed(self._keys_down):
            xtest.fake_input(self._display, X.KeyRelease, code)
        for button in reversed(self._buttons_down):
            xtest.fake_input(self._display, X.ButtonRelease, button)
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

    def _stroke(self, symbol: int) -> Stroke:
        keymap = self._keymap or self._fresh_keymap([symbol])
        stroke = keymap.stroke(symbol)
        if stroke is None:
            keymap.lend([symbol])
            keymap.commit()
            stroke = keymap.stroke(symbol)
        assert stroke is not None  # It has just been lent a key.
        return stroke

    def _shift_code(self) -> int:
        return self._stroke(keysym("Shift_L")).keycode

    def _fresh_keymap(self, symbols: Sequence[int]) -> Keymap:
        """Read the mapping, which the user may have changed, and borrow keys for what it lacks."""
        group = self._modifiers.state() >> _GROUP_SHIFT & _GROUP_MASK
        if self._keymap is None:
            self._keymap = Keymap(self._display, self._private)
        self._keymap.refresh(group)
        self._keymap.lend(symbols)
        self._keymap.commit()
        return self._keymap


def _batches(symbols: Sequence[int], keymap: Keymap) -> Iterator[list[int]]:
    """Split keysyms so that each part needs no more borrowed keys than there are."""
    foreign = set(keymap.foreign(symbols))
    batch: list[int] = []
    borrowed: set[int] = set()
    for symbol in symbols:
        if symbol in foreign and symbol not in borrowed:
            if len(borrowed) >= max(1, keymap.room):
                yield batch
                batch, borrowed = [], set()
            borrowed.add(symbol)
        batch.append(symbol)
    if batch:
        yield batch

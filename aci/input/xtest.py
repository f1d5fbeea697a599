"""Keyboard and pointer through the XTEST extension (XTEST 2.2), which makes input indistinguishable from the user's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from aci.input.gestures import Gestures, Way
from aci.input.input_device import Button
from aci.input.keymap import Keymap, Stroke
from aci.input.keys import characters, keysym
from aci.observation.geometry import Point

_BUTTONS: dict[Button, int] = {"left": 1, "middle": 2, "right": 3}
_WHEEL: dict[Way, int] = {"up": 4, "down": 5, "left": 6, "right": 7}
_LOCK_MASK = 1 << 1
_GROUP_SHIFT, _GROUP_MASK = 13, 3  # position of the current layout in the modifier state (XKB)
_BURST = 40
_BURST_PACE_S = 0.01


class Xtest(Gestures[int]):
    """Keyboard and pointer; its keys are keycodes.

    `private` says whether nobody else uses the keyboard, so that more keys may be borrowed; the other arguments are
    those of `Gestures`.
    """

    def __init__(
        self,
        display_name: str,
        private: bool = False,
        pause: Callable[[float], None] = time.sleep,
        guard: Callable[[], None] = lambda: None,
        moving: Callable[[Point], None] = lambda point: None,
    ) -> None:
        super().__init__(display_name, pause, guard, moving)
        self._private = private
        self._keymap: Keymap | None = None

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
                        # The round trip also keeps keys from queueing up, so that a stop takes effect at once.
                        self._await_free_modifiers()
                        with self._holding([symbol]):
                            pass
                    self._display.sync()
                    self._pause(_BURST_PACE_S)

    def _prepare(self, keysyms: Sequence[int]) -> None:
        self._fresh_keymap(keysyms)

    def _keys(self, keysyms: Sequence[int]) -> list[int]:
        codes: list[int] = []
        for stroke in [self._stroke(symbol) for symbol in keysyms]:
            shift = self._stroke(keysym("Shift_L")).keycode if stroke.shift else None
            codes += [shift] if shift is not None and shift not in codes else []
            codes.append(stroke.keycode)
        return codes

    def _set_key(self, key: int, down: bool) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._display, X.KeyPress if down else X.KeyRelease, key)

    def _set_button(self, button: Button, down: bool) -> None:
        self._set_button_number(_BUTTONS[button], down)

    def _set_button_number(self, number: int, down: bool) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._display, X.ButtonPress if down else X.ButtonRelease, number)

    def _point(self, point: Point) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._display, X.MotionNotify, x=point.x, y=point.y)
        self._display.sync()

    def _turn_wheel(self, way: Way) -> None:
        for down in (True, False):
            self._set_button_number(_WHEEL[way], down)
        self._display.sync()

    def _disconnect(self) -> None:
        if self._keymap is not None:
            self._keymap.take_back()
        super()._disconnect()

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

    def _stroke(self, symbol: int) -> Stroke:
        keymap = self._keymap or self._fresh_keymap([symbol])
        stroke = keymap.stroke(symbol)
        if stroke is None:
            keymap.lend([symbol])
            keymap.commit()
            stroke = keymap.stroke(symbol)
        assert stroke is not None  # It has just been lent a key.
        return stroke

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

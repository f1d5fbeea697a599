"""Modifier keys and mouse buttons that the user holds, which would change the meaning of input."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from aci.errors import KeysHeld
from aci.input.keys import keysym

# Bits of the modifier state at the X server's default positions, locks excluded
_NAMES = {
    **{0: "Shift", 2: "Ctrl", 3: "Alt", 6: "Super", 7: "AltGr"},
    **{8: "the left mouse button", 9: "the middle mouse button", 10: "the right mouse button"},
}
_LIMIT_S = 3.0  # how long the user gets to release them
_POLL_S = 0.02


class Modifiers:
    """The modifier state of an open Xlib display, shared with the caller."""

    def __init__(self, display: Any, pause: Callable[[float], None]) -> None:
        self._root = display.screen().root
        self._pause = pause
        self._held = sum(1 << bit for bit in _NAMES) & ~_locks(display)
        self.own = 0  # bits that the caller itself holds, for longer than one action

    def state(self) -> int:
        """Return the current state, with locks and layout (X11 protocol, SETofKEYBUTMASK)."""
        answer: Any = self._root.query_pointer()
        return int(answer.mask)

    def await_free(self) -> None:
        """Wait until the user holds no modifier or button; call it while own input holds none but `own`.

        Raises:
            KeysHeld: They are still held.
        """
        deadline = time.monotonic() + _LIMIT_S
        while held := self.state() & self._held & ~self.own:
            if time.monotonic() >= deadline:
                names = " and ".join(name for bit, name in _NAMES.items() if held >> bit & 1)
                raise KeysHeld(
                    f"The user holds {names}, which would change the meaning of input. Release it and try again."
                )
            self._pause(_POLL_S)


def _locks(display: Any) -> int:
    """Return the bits of Num Lock and Scroll Lock, which are not held."""
    locks = {keysym("Num_Lock"), keysym("Scroll_Lock")}
    mask = 0
    for index, codes in enumerate(display.get_modifier_mapping()):
        if any(code and display.keycode_to_keysym(code, 0) in locks for code in codes):
            mask |= 1 << index
    return mask

"""A person's input as raw events of the X Input extension (XI 2.2), whatever window has the focus.

Nothing is grabbed, so that no key or click comes later or elsewhere than without it. Input that a program injects, as a
remote desktop does for the person behind it, arrives in the same way.
"""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from aci.errors import NoDisplay
from aci.input.raw_events import keyboard_mapping, raw_event, select_raw_events
from aci.observation.geometry import Point
from aci.screen.event_thread import EventThread
from aci.screen.screen import open_display

_GROUP_SHIFT, _GROUP_MASK = 13, 3  # where the state of the keyboard holds its layout (XKB protocol, section 2.2.2)
_SHIFT, _CAPS_LOCK, _CONTROL, _ALT, _NUM_LOCK, _SUPER, _ALT_GR = 1, 2, 4, 8, 16, 64, 128
_HELD_KEYS = (("ctrl", _CONTROL), ("alt", _ALT), ("shift", _SHIFT), ("super", _SUPER))
_HELD = _CONTROL | _ALT | _SHIFT | _SUPER | _ALT_GR
_UNICODE = 0x01000000
_KEYPAD = range(0xFF80, 0xFFBE)

Kind = Literal["press", "release", "motion", "key"]


@dataclass(frozen=True, slots=True)
class Input:
    """One event of a mouse or keyboard."""

    kind: Kind  # what happened; the release of a key is not an event, and motion only counts while a button is held
    at: float  # when it arrived, on the monotonic clock, s
    point: Point  # where the pointer is, px
    button: int = 0  # number of the button in X, from 1; 4 to 7 are the wheel. 0 for keys
    key: str = ""  # name of the key without modifiers, such as "a", "Return" or "F5"; empty for the mouse
    text: str = ""  # what the key types; empty if it types nothing
    held: tuple[str, ...] = ()  # the modifiers that are held, of "ctrl", "alt", "shift" and "super"


class Listener:
    """A thread that collects what a person does on a display until it is closed.

    Raises:
        NoDisplay: There is no such display, or it has no X Input extension.
    """

    def __init__(self, display_name: str) -> None:
        self._events: queue.SimpleQueue[Input] = queue.SimpleQueue()
        self._display = open_display(display_name)
        self._root = self._display.screen().root
        self._symbols: dict[int, list[int]] = {}
        self._modifiers: dict[int, int] = {}  # the bit of each key that is a modifier
        self._down: set[int] = set()  # those of them that are down
        self._held_buttons: set[int] = set()
        self._listen(display_name)
        self._thread = EventThread("aci-recording", self._display, self._handle)

    def take(self, limit_s: float = 0.0) -> list[Input]:
        """Return what came since the last call, oldest first; wait for it if there is nothing yet."""
        found: list[Input] = []
        try:
            found.append(self._events.get(timeout=limit_s) if limit_s > 0 else self._events.get_nowait())
            while True:
                found.append(self._events.get_nowait())
        except queue.Empty:
            return found

    @property
    def holds_button(self) -> bool:
        """Whether a button of the mouse is held."""
        return bool(self._held_buttons)

    def close(self) -> None:
        """Stop listening."""
        self._thread.close()

    def _listen(self, display_name: str) -> None:
        from Xlib.ext import xinput

        keys = xinput.RawKeyPressMask | xinput.RawKeyReleaseMask
        mouse = xinput.RawButtonPressMask | xinput.RawButtonReleaseMask | xinput.RawMotionMask
        if not select_raw_events(self._display, keys | mouse):
            self._display.close()
            raise NoDisplay(f"The display {display_name} has no X Input extension, so nothing can be recorded on it.")
        self._read_keyboard()

    # What follows runs in the listening thread, the only one that uses the connection from then on.

    def _handle(self, event: Any) -> None:
        from Xlib import X
        from Xlib.ext import xinput

        if event.type == X.MappingNotify:
            self._read_keyboard()
            return
        if (raw := raw_event(event)) is None:
            return
        kind, detail = raw
        match kind:
            case xinput.RawButtonPress:
                self._held_buttons |= {detail} if detail <= 3 else set()
                self._report("press", detail)
            case xinput.RawButtonRelease:
                self._held_buttons.discard(detail)
                self._report("release", detail)
            case xinput.RawMotion if self._held_buttons:
                self._report("motion")
            case xinput.RawKeyPress if detail in self._modifiers:
                self._down.add(detail)
            case xinput.RawKeyRelease:
                self._down.discard(detail)
            case xinput.RawKeyPress:
                self._report("key", code=detail)

    def _report(self, kind: Kind, button: int = 0, code: int = 0) -> None:
        at, answer = time.monotonic(), self._root.query_pointer()
        state = answer.mask & ~_HELD  # which may have changed since the event
        for modifier in self._down:
            state |= self._modifiers[modifier] & _HELD
        key, text = self._meaning(code, state) if code else ("", "")
        held = tuple(name for name, bit in _HELD_KEYS if state & bit)
        self._events.put(Input(kind, at, Point(answer.root_x, answer.root_y), button, key, text, held))

    def _meaning(self, code: int, state: int) -> tuple[str, str]:
        """Return the name of a key without modifiers, and what it types with them."""
        row = [*self._symbols.get(code, []), *[0] * 8]
        group = (state >> _GROUP_SHIFT) & _GROUP_MASK
        plain, shifted = (row[2 * group], row[2 * group + 1]) if group < 2 and row[2 * group] else (row[0], row[1])
        symbol = plain
        if state & _ALT_GR:
            symbol = row[5 if state & _SHIFT else 4] or plain
        elif bool(state & _SHIFT) != bool(state & _NUM_LOCK and shifted in _KEYPAD):
            symbol = shifted or plain
        text = _character(symbol)
        if state & _CAPS_LOCK and text.isalpha():
            text = text.swapcase()
        return _name(plain), "" if state & (_CONTROL | _ALT | _SUPER) else text

    def _read_keyboard(self) -> None:
        self._symbols = keyboard_mapping(self._display)
        rows = self._display.get_modifier_mapping()
        self._modifiers = {code: 1 << bit for bit, row in enumerate(rows) for code in row if code}


def _character(symbol: int) -> str:
    """Return the character that a keysym stands for; empty if it stands for none."""
    if symbol & 0xFF000000 == _UNICODE:
        return chr(symbol & 0xFFFFFF)
    if 0x20 <= symbol <= 0x7E or 0xA0 <= symbol <= 0xFF:
        return chr(symbol)
    if symbol in range(0xFFAA, 0xFFBA):  # the keypad, in the order of ASCII
        return chr(symbol - 0xFF80)
    return ""


def _name(symbol: int) -> str:
    """Return the name of a key, as `aci.input.keys.keysym` reads it."""
    character = _character(symbol).strip()
    return character.lower() if character else _names_of_keys().get(symbol, f"0x{symbol:x}")


@cache
def _names_of_keys() -> dict[int, str]:
    from Xlib import XK

    names = {getattr(XK, name): name.removeprefix("XK_") for name in dir(XK) if name.startswith("XK_")}
    return {**names, XK.XK_Prior: "Page_Up", XK.XK_Next: "Page_Down", XK.XK_KP_Enter: "Return"}

"""Input through PyAutoGUI, as in the reference implementation.

PyAutoGUI only knows the keys of an ASCII keyboard, silently drops everything else, and connects at import to the
display that the environment names, once per process. This module refuses texts that it would drop or garble, and a
second display.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

from aci.errors import CannotType, DesktopError, MissingDependency
from aci.input.input_device import Button
from aci.input.keys import keysym
from aci.input.modifiers import Modifiers
from aci.input.stuck_keys import release_stuck_keys
from aci.observation.geometry import Point
from aci.screen.screen import lost_connection_is_reported, open_display

# --no-deps, since its dependency python3-xlib overwrites python-xlib's files
INSTALL = "pip install --no-deps pyautogui pytweening"
# PyAutoGUI's names of keys by keysym name
_NAMES = {
    **{name: name.casefold() for name in ("BackSpace", "Tab", "Return", "Escape", "Delete", "Insert", "Home", "End")},
    **{name: name.casefold() for name in ("Left", "Right", "Up", "Down", "Pause", "space", "Print", "Help")},
    **{f"F{number}": f"f{number}" for number in range(1, 25)},
    **{"Page_Up": "pageup", "Page_Down": "pagedown", "Menu": "apps", "Caps_Lock": "capslock", "Num_Lock": "numlock"},
    **{"Shift_L": "shift", "Shift_R": "shiftright", "Control_L": "ctrl", "Control_R": "ctrlright"},
    **{"Alt_L": "alt", "Alt_R": "altright", "Super_L": "win", "Super_R": "winright", "KP_Enter": "enter"},
    **{"Scroll_Lock": "scrolllock"},
}
_DOUBLE_CLICK_S = 0.6
_DOUBLE_CLICK_PX = 6
_DRAG_STEPS = 12
_DRAG_PACE_S = 0.012
_TYPING_PACE_S = 0.001
_SHOWN = 20


def key_name(symbol: int) -> str:
    """Return PyAutoGUI's name of a key.

    Raises:
        CannotType: It has none.
    """
    if 0x20 <= symbol <= 0x7E:
        return chr(symbol)
    for name, its_name in _NAMES.items():
        if keysym(name) == symbol:
            return its_name
    raise CannotType(
        f"PyAutoGUI has no name for the key with the keysym {symbol:#x}; the input `xtest` presses any key."
    )


class PyAutoGui:
    """Keyboard and pointer through PyAutoGUI; arguments as for `aci.input.xtest.Xtest`.

    `environment` is where PyAutoGUI looks for the display's name at import: that of the process.

    Raises:
        NoDisplay: There is no such display.
        MissingDependency: It is not installed.
        DesktopError: It is already connected to another display.
    """

    def __init__(
        self,
        display_name: str,
        pause: Callable[[float], None],
        guard: Callable[[], None],
        moving: Callable[[Point], None],
        environment: MutableMapping[str, str],
    ) -> None:
        self._lock = threading.RLock()
        self._display = open_display(display_name)
        self._gui = _load(display_name, environment)
        self._pause = pause
        self._guard = guard
        self._moving = moving
        self._keys_down: list[str] = []
        self._buttons_down: list[Button] = []
        self._last_click = (Point(-100, -100), 0.0)
        self._modifiers = Modifiers(self._display, pause)
        release_stuck_keys(self._display)

    def move(self, point: Point) -> None:
        """Move the pointer."""
        with self._acting(free_of_modifiers=False):
            self._motion(point)

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click; two calls at the same place stay two single clicks, however soon they follow each other."""
        names = [key_name(symbol) for symbol in hold]
        with self._acting(), self._holding(names):
            self._motion(point)
            self._await_new_click(point)
            for _ in range(count):
                self._guard()
                with self._button(point, button):
                    pass
            self._last_click = (point, time.monotonic())

    def scroll(self, point: Point, clicks: int) -> None:
        """Turn the wheel at a point; positive clicks scroll up."""
        with self._acting():
            self._motion(point)
            for _ in range(abs(clicks)):
                self._guard()
                self._gui.scroll(1 if clicks > 0 else -1, point.x, point.y)

    def drag(self, start: Point, end: Point, hold: Sequence[int] = ()) -> None:
        """Press the left button at one point, move, and release it at another."""
        names = [key_name(symbol) for symbol in hold]
        with self._acting(), self._holding(names):
            self._motion(start)
            with self._button(start, "left", released_at=end):
                for step in range(1, _DRAG_STEPS + 1):
                    self._guard()
                    share = step / _DRAG_STEPS
                    x, y = start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share
                    self._motion(Point(round(x), round(y)))
                    self._pause(_DRAG_PACE_S)

    def press(self, chord: Sequence[int]) -> None:
        """Press keys together: held in order, released in reverse."""
        names = [key_name(symbol) for symbol in chord]
        with self._acting(), self._holding(names):
            pass

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        """Hold keys while others are pressed one after another."""
        held = [key_name(symbol) for symbol in hold]
        names = [[key_name(symbol) for symbol in chord] for chord in chords]
        with self._acting(), self._holding(held):
            for each in names:
                self._guard()
                with self._holding(each):
                    pass

    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        """Type a text key by key.

        Raises:
            CannotType: PyAutoGUI would drop or garble a part of it; nothing was typed.
        """
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        refused = sorted({character for character in plain if not self._types(character)})
        if refused:
            listed = "".join(refused[:_SHOWN])
            raise CannotType(f"PyAutoGUI has no keys for {listed!r}, so that nothing was typed; the input `xtest` has.")
        with self._acting():
            for character in plain:
                self._modifiers.await_free()
                self._guard()
                self._gui.press(character, _pause=False)
                self._pause(_TYPING_PACE_S)

    def release_all(self) -> None:
        """Release every key and button that is held."""
        with self._lock, lost_connection_is_reported():
            self._release_all()

    def close(self) -> None:
        """Release everything and disconnect; PyAutoGUI itself stays connected as long as the process lives."""
        from Xlib.error import ConnectionClosedError

        with self._lock:
            try:
                self._release_all()
                self._display.close()
            except (ConnectionClosedError, OSError):
                return  # The server went first.

    @contextmanager
    def _acting(self, free_of_modifiers: bool = True) -> Iterator[None]:
        with self._lock, lost_connection_is_reported():
            self._guard()
            if free_of_modifiers:
                self._modifiers.await_free()
            try:
                yield
            finally:
                self._release_all()

    @contextmanager
    def _holding(self, names: Sequence[str]) -> Iterator[None]:
        for name in names:
            self._keys_down.append(name)
            self._gui.keyDown(name, _pause=False)
        yield
        for name in reversed(names):
            self._gui.keyUp(name, _pause=False)
            self._keys_down.remove(name)

    @contextmanager
    def _button(self, point: Point, button: Button, released_at: Point | None = None) -> Iterator[None]:
        end = released_at or point
        self._buttons_down.append(button)
        self._gui.mouseDown(point.x, point.y, button=button, _pause=False)
        yield
        self._gui.mouseUp(end.x, end.y, button=button, _pause=False)
        self._buttons_down.remove(button)

    def _motion(self, point: Point) -> None:
        self._moving(point)
        self._gui.moveTo(point.x, point.y, _pause=False)

    def _release_all(self) -> None:
        for name in reversed(self._keys_down):
            self._gui.keyUp(name, _pause=False)
        for button in reversed(self._buttons_down):
            self._gui.mouseUp(button=button, _pause=False)
        self._keys_down.clear()
        self._buttons_down.clear()

    def _await_new_click(self, point: Point) -> None:
        last, at = self._last_click
        near = abs(point.x - last.x) <= _DOUBLE_CLICK_PX and abs(point.y - last.y) <= _DOUBLE_CLICK_PX
        remaining = at + _DOUBLE_CLICK_S - time.monotonic()
        if near and remaining > 0:
            self._pause(remaining)

    def _types(self, character: str) -> bool:
        """Return whether the key that PyAutoGUI presses for a character types that character on this keyboard."""
        if character in "\n\t":
            return True
        platform: Any = self._gui.platformModule
        code = platform.keyboardMapping.get(character)
        if not code or not " " <= character <= "~":
            return False
        column = 1 if self._gui.isShiftCharacter(character) else 0
        symbol = self._display.keycode_to_keysym(code, column)
        if symbol == 0 and column:  # a key without a second level gives its first one with Shift, too
            symbol = self._display.keycode_to_keysym(code, 0)
        return bool(symbol == ord(character))


def _load(display_name: str, environment: MutableMapping[str, str]) -> Any:
    before = environment.get("DISPLAY")
    environment["DISPLAY"] = display_name
    try:
        import pyautogui
    except ImportError as error:
        raise MissingDependency(f"PyAutoGUI cannot be used ({error}).", INSTALL) from error
    finally:
        if before is None:
            del environment["DISPLAY"]
        else:
            environment["DISPLAY"] = before
    connected = str(pyautogui.platformModule._display.get_display_name())
    if connected != display_name:
        raise DesktopError(
            f"PyAutoGUI is connected to the display {connected} and cannot be used for {display_name} in the same "
            "process. Use the input `xtest` (`desktop.input: xtest`)."
        )
    pyautogui.PAUSE = 0
    pyautogui.FAILSAFE = False  # The corners are watched by `aci.input.user_watch`, which can be switched off.
    return pyautogui

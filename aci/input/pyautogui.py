"""Input through PyAutoGUI, as in the reference implementation.

PyAutoGUI only knows the keys of an ASCII keyboard, silently drops everything else, and connects at import to the
display that the environment names, once per process. This module refuses texts that it would drop or garble, and a
second display.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from aci.errors import CannotType, DesktopError, MissingDependency
from aci.input.gestures import Gestures, Way
from aci.input.input_device import Button
from aci.input.keys import keysym
from aci.observation.geometry import Point

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
    **{"Scroll_Lock": "scrolllock", "KP_Add": "add", "KP_Divide": "divide", "KP_Multiply": "multiply"},
    **{"KP_Subtract": "subtract"},
}
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


class PyAutoGui(Gestures[str]):
    """Keyboard and pointer through PyAutoGUI, whose names stand for keys; arguments as for `Gestures`.

    `environment` is where PyAutoGUI looks for the display's name at import: that of the process. It stays connected as
    long as the process lives.

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
        super().__init__(display_name, pause, guard, moving)
        self._gui = _load(display_name, environment)

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
                self._await_free_modifiers()
                self._gui.press(character, _pause=False)
                self._pause(_TYPING_PACE_S)

    def _prepare(self, keysyms: Sequence[int]) -> None:
        self._keys(keysyms)

    def _keys(self, keysyms: Sequence[int]) -> list[str]:
        return [key_name(symbol) for symbol in keysyms]

    def _set_key(self, key: str, down: bool) -> None:
        (self._gui.keyDown if down else self._gui.keyUp)(key, _pause=False)

    def _set_button(self, button: Button, down: bool) -> None:
        (self._gui.mouseDown if down else self._gui.mouseUp)(button=button, _pause=False)

    def _point(self, point: Point) -> None:
        self._gui.moveTo(point.x, point.y, _pause=False)

    def _turn_wheel(self, way: Way) -> None:
        turn = self._gui.scroll if way in ("up", "down") else self._gui.hscroll
        turn(1 if way in ("up", "right") else -1, _pause=False)

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

"""The protocol of keyboard and pointer, which `xtest` and `pyautogui` implement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from aci.observation.geometry import Point

Button = Literal["left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class Held:
    """Keys and buttons that are held down over several actions."""

    keys: tuple[int, ...] = ()  # keysyms, in the order in which they were pressed
    buttons: tuple[Button, ...] = ()


class InputDevice(Protocol):
    """Keyboard and pointer; nothing stays pressed after an action, but for what is held on purpose.

    Keys are X keysyms, from `aci.input.keys`. All actions raise `Halted` after a stop request, `KeysHeld` while
    the user holds a modifier, and `ConnectionLost` when the display is gone.
    """

    def move(self, point: Point) -> None:
        """Move the pointer."""

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click `count` times in quick succession while keys are held; consecutive calls never make a double click."""

    def scroll(self, point: Point, clicks: int, horizontal: bool = False, hold: Sequence[int] = ()) -> None:
        """Turn the wheel at a point while keys are held; positive clicks scroll up, or to the right."""

    def drag(self, points: Sequence[Point], hold: Sequence[int] = ()) -> None:
        """Press the left button at the first of two or more points, move through all, and release it at the last."""

    def press_button(self, button: Button) -> None:
        """Press a button where the pointer is; it stays down until it is released, or until an action fails."""

    def release_button(self, button: Button) -> None:
        """Release a button that `press_button` pressed."""

    def hold_keys(self, keysyms: Sequence[int]) -> None:
        """Press keys; they stay down until they are released, or until an action fails."""

    def release_keys(self, keysyms: Sequence[int]) -> None:
        """Release keys that `hold_keys` pressed."""

    @property
    def held(self) -> Held:
        """What `press_button` and `hold_keys` keep down."""

    def press(self, chord: Sequence[int]) -> None:
        """Press keys together: held in order, released in reverse."""

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        """Hold keys while others are pressed one after another."""

    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        """Type a text key by key; line ends press Return, tabs press Tab.

        `drained` waits until the application has handled the input so far.

        Raises:
            CannotType: The back end has no keys for it; nothing was typed.
        """

    def release_all(self) -> None:
        """Release every key and button that is held."""

    def close(self) -> None:
        """Release everything and disconnect."""

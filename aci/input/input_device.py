"""The protocol of keyboard and pointer, which `xtest` and `pyautogui` implement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from aci.observation.geometry import Point

Button = Literal["left", "middle", "right"]


class InputDevice(Protocol):
    """Keyboard and pointer; nothing stays pressed after an action.

    Keys are X keysyms, from `aci.input.keys`. All actions raise `Halted` after a stop request, `KeysHeld` while
    the user holds a modifier, and `ConnectionLost` when the display is gone.
    """

    def move(self, point: Point) -> None:
        """Move the pointer."""

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click `count` times in quick succession while keys are held; consecutive calls never make a double click."""

    def scroll(self, point: Point, clicks: int) -> None:
        """Turn the wheel at a point; positive clicks scroll up."""

    def drag(self, start: Point, end: Point, hold: Sequence[int] = ()) -> None:
        """Press the left button at one point, move, and release it at another, while keys are held."""

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

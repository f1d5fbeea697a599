"""What acting needs of keyboard and pointer; `xtest` and `pyautogui` are two ways to have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from aci.observation.geometry import Point

Button = Literal["left", "middle", "right"]


class Hands(Protocol):
    """Keyboard and pointer. Nothing stays pressed, however an action ends.

    Keys are X keysyms, as `aci.input.keys` finds them by name. All actions raise `Halted` when the person calls for a
    stop, `KeysHeld` while somebody holds a modifier, and `ConnectionLost` when the display went away.
    """

    def move(self, point: Point) -> None:
        """Move the pointer."""
        ...

    def click(self, point: Point, count: int = 1, button: Button = "left", hold: Sequence[int] = ()) -> None:
        """Click `count` times in quick succession while keys are held."""
        ...

    def scroll(self, point: Point, clicks: int) -> None:
        """Turn the wheel at a point; positive clicks scroll up."""
        ...

    def drag(self, start: Point, end: Point, hold: Sequence[int] = ()) -> None:
        """Press the left button at one point, move, and release it at another, while keys are held."""
        ...

    def press(self, chord: Sequence[int]) -> None:
        """Press keys together: held in order, released in reverse."""
        ...

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        """Hold keys while others are pressed one after another."""
        ...

    def type_text(self, text: str, drained: Callable[[], None]) -> None:
        """Type a text key by key.

        Args:
            text: What to type; line ends press Return, tabs press Tab.
            drained: Waits until the application has handled what was typed so far.

        Raises:
            CannotType: These hands have no keys for it; nothing was typed.
        """
        ...

    def release_all(self) -> None:
        """Release every key and button that is held."""
        ...

    def close(self) -> None:
        """Release everything and disconnect."""
        ...

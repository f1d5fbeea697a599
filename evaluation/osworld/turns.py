"""A desktop whose actions and screens a harness exchanges one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Queue
from typing import TYPE_CHECKING, Literal

from aci.acting.actions import Action
from aci.acting.result import ActionResult
from aci.desktop.desktop import Desktop, Settles
from aci.errors import ConnectionLost, NotTranslatable
from aci.observation.observation import Observation
from aci.remote.computer_13 import Step, computer_13
from aci.remote.pyautogui_code import pyautogui_code
from aci.remote.refusals import done_without_input, refused, unusable_target
from aci.remote.view import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ActionSpace = Literal["pyautogui", "computer_13"]
_FORMS: dict[ActionSpace, Callable[[Action, Observation], Sequence[Step]]] = {
    "pyautogui": lambda action, seen: [pyautogui_code(action, seen)],
    "computer_13": computer_13,
}


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen that the harness provides."""

    screenshot: NDArray[np.uint8]  # (H, W, 3) uint8 RGB
    tree: str | None  # the accessibility tree as XML; None if it is not known


class TurnDesktop(Desktop):
    """The desktop as an agent sees it whose actions the harness carries out.

    One thread calls `observe` and `perform`, another one `next_actions` and `end`.
    """

    def __init__(self, view: View, space: ActionSpace) -> None:
        self._view = view
        self._form = _FORMS[space]
        self._screens: Queue[Screen | None] = Queue()
        self._turns: Queue[Sequence[Step] | None] = Queue()
        self._screen: Screen | None = None
        self._seen: Observation | None = None
        self._buffer: list[str] = []

    @property
    def private(self) -> bool:
        """Whether nothing on it can be harmed: the machines of benchmarks are made for it."""
        return True

    # For the agent

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Return the latest screen; waits for the first one."""
        screen = self._screen or self._next_screen()
        if self._seen is None:
            self._seen = self._view.observe(screen.screenshot, screen.tree, read_texts=read_texts)
        return replace(self._seen, buffer=tuple(self._buffer))

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Hand out an action, and wait for the screen after it."""
        if (result := done_without_input(action, self._buffer)) is not None:
            return result
        seen = self.observe()
        if (problem := unusable_target(action, seen)) is not None:
            return problem
        try:
            steps = self._form(action, seen)
        except NotTranslatable as error:
            return refused(str(error), "no_key")
        self.hand_out(steps)
        return ActionResult(ok=True)

    def hand_out(self, steps: Sequence[Step]) -> None:
        """Hand out actions that are in the form of the space already, and wait for the screen after them."""
        self._turns.put(steps)
        self._next_screen()

    def clear_buffer(self) -> None:
        """See `Desktop.clear_buffer`."""
        self._buffer.clear()

    def _next_screen(self) -> Screen:
        screen = self._screens.get()
        if screen is None:
            raise ConnectionLost("the harness has ended the episode")
        self._screen, self._seen = screen, None
        return screen

    # For the harness

    def next_actions(self, screen: Screen) -> Sequence[Step] | None:
        """Hand in a screen, and return the actions that follow; None if the agent has ended."""
        self._screens.put(screen)
        return self._turns.get()

    def end(self) -> None:
        """Wake the agent, for which there is no further screen."""
        self._screens.put(None)

    def agent_ended(self) -> None:
        """Wake the harness, since there is no further action."""
        self._turns.put(None)

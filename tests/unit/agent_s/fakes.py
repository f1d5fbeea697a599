"""A desktop made of values, for tests of the loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aci.acting.actions import Action, SaveToBuffer
from aci.desktop.desktop import ActionResult, Desktop, Settles
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from aci.screen.emergency_stop import Halt

EDITOR = Window(id=1, title="Editor", app="editor", rect=Rect(0, 0, 800, 600), active=True)


def button(element_id: int, name: str, role: str = "push button") -> Element:
    rect = Rect(10, 40 * element_id, 80, 30)
    return Element(element_id, role, name, rect, rect.center, EDITOR.id, app="editor")


def screen(*elements: Element, windows: tuple[Window, ...] = (EDITOR,), buffer: tuple[str, ...] = ()) -> Observation:
    pixels = np.zeros((600, 800, 3), np.uint8)
    return Observation(screenshot=pixels, elements=elements, windows=windows, buffer=buffer)


class FakeDesktop(Desktop):
    """Shows a screen; an action changes it as `react` says."""

    def __init__(
        self,
        start: Observation,
        react: Callable[[Action, Observation], Observation | ActionResult] | None = None,
        emergency_stop: Halt | None = None,
    ) -> None:
        self.emergency_stop = emergency_stop
        self.screen = start
        self.performed: list[Action] = []
        self.released = 0
        self.cleared = 0
        self.read_texts: list[bool] = []  # whether each look was to recognize texts
        self.checked: list[bool] = []  # whether each look was to wait for what comes late
        self._react = react or (lambda action, seen: seen)

    @property
    def halt(self) -> Halt | None:
        return self.emergency_stop

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        self.read_texts.append(read_texts)
        self.checked.append(check)
        return self.screen

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        self.performed.append(action)
        if isinstance(action, SaveToBuffer):
            seen = self.screen
            self.screen = Observation(seen.screenshot, seen.elements, seen.windows, buffer=(*seen.buffer, action.text))
            return ActionResult(ok=True)
        answer = self._react(action, self.screen)
        if isinstance(answer, ActionResult):
            return answer
        self.screen = answer
        return ActionResult(ok=True)

    def clear_buffer(self) -> None:
        self.cleared += 1

    def release_all(self) -> None:
        self.released += 1

"""A person who shows a task: a second X client with mouse and keyboard, who looks before each action."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from aci.desktop.virtual import VirtualDesktop
from aci.input.backends import open_input_device
from aci.input.keys import chord
from aci.observation.observation import Element, Observation
from agent_s.demonstration.capture import Capture
from agent_s.demonstration.demonstration import Demonstration, write_run
from agent_s.demonstration.interpretation import Shown
from agent_s.demonstration.noise import without_noise
from agent_s.records import new_id

LIMIT_S = 40.0


class Person:
    """Uses mouse and keyboard through XTEST, and waits until what they did has shown.

    Args:
        display: Name of the X display.
        capture: What records them; the person sees what it saw last.
    """

    def __init__(self, display: str, capture: Capture) -> None:
        self._device = open_input_device("xtest", display)
        self._capture = capture
        self.taught = 0  # how often actions were understood

    def heard(self, steps: list[Shown]) -> None:
        """Count an action that was understood."""
        self.taught += 1

    def type(self, text: str) -> None:
        """Type a text."""
        self._do(lambda: self._device.type_text(text, lambda: time.sleep(0.05)))

    def press(self, *keys: str) -> None:
        """Press keys one after another, each with modifiers such as "ctrl+s", and pause after each."""
        for each in keys:
            self._do(lambda each=each: self._device.press(chord([each])))  # type: ignore[misc]

    def click(self, role: str, name: str = "", times: int = 1, which: int = 0) -> None:
        """Click an element as soon as it can be seen."""
        place = self.find(role, name, which).point
        assert place is not None
        self._do(lambda: self._device.click(place, times))

    def find(self, role: str, name: str = "", which: int = 0) -> Element:
        """Return an element as soon as it can be seen, by its role, its name or label, and its number among several."""
        found: list[Element] = []

        def is_there(seen: Observation) -> bool:
            found[:] = [
                one
                for one in seen.elements
                if one.role == role and (not name or name in (one.name, one.label)) and one.point is not None
            ]
            return len(found) > which

        self.wait(is_there, f"{role} {name!r}")
        return found[which]

    def wait(self, holds: Callable[[Observation], object], what: str = "") -> None:
        """Wait until the screen shows something."""
        deadline = time.monotonic() + LIMIT_S
        while not holds(seen := self._capture.last.seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} was not seen; there is:\n{seen.to_text()}")
            time.sleep(0.05)

    def _do(self, act: Callable[[], None]) -> None:
        before = self.taught
        act()
        deadline = time.monotonic() + LIMIT_S
        while self.taught == before:
            if time.monotonic() > deadline:
                raise AssertionError("what the person did was not understood")
            time.sleep(0.05)

    def close(self) -> None:
        """Let go of mouse and keyboard."""
        self._device.close()


def show(
    desktop: VirtualDesktop, task: Callable[[Person], None], wording: str, runs: Path
) -> tuple[Demonstration, Path]:
    """Let a person show a task on a desktop; return what was recorded, which is not finished, and its folder."""
    capture = Capture(desktop, desktop.x11.applications)
    person = Person(desktop.display, capture)
    capture.on_shown = person.heard
    problems: list[BaseException] = []
    over = threading.Event()

    def act() -> None:
        try:
            task(person)
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
            problems.append(error)
        finally:
            over.set()

    thread = threading.Thread(target=act, name="person")
    thread.start()
    try:
        last = capture.run(over.is_set)
    finally:
        thread.join(LIMIT_S)
        person.close()
    if problems:
        raise problems[0]
    kept, left_out = without_noise(capture.steps)
    return write_run(kept, left_out, last, wording, "virtual", new_id(), runs, desktop.home)

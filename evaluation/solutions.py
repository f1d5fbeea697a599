"""Scripted solutions: what a person would do for a task, in primitives, on elements named by role and name.

A solution lies beside its task file as `solutions/FILE` of the same name: a list of steps such as
`{"do": "click", "role": "push button", "name": "Save"}`, `{"do": "type", "text": "hello", "into": {...}}`,
`{"do": "hotkey", "keys": ["ctrl", "s"]}`, `{"do": "launch", "command": ["mousepad"]}` and
`{"do": "window", "title": "Save"}`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from aci.actions import Action, Click, HoldAndPress, Hotkey, Type
from aci.observation import Element
from aci.virtual import VirtualDesktop
from evaluation.errors import EvaluationError, TaskFileError

LIMIT_S = 15.0
"""How long an element or window may take to come, s."""
_POLL_S = 0.1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class On(_Part):
    """An element: its role, its name, label or description, which of several (from 0), and its window's title."""

    role: str
    name: str = ""
    nth: Annotated[int, Field(ge=0)] = 0
    window: str = ""


class ClickStep(On):
    """A click, or several."""

    do: Literal["click"]
    times: Annotated[int, Field(ge=1, le=3)] = 1


class TypeStep(_Part):
    """A text, into an element in the place of what it holds, or where the keyboard is."""

    do: Literal["type"]
    text: str
    into: On | None = None
    enter: bool = False


class KeepStep(On):
    """An element whose text stands for `{kept}` in the texts that follow."""

    do: Literal["keep"]


class HotkeyStep(_Part):
    """A chord."""

    do: Literal["hotkey"]
    keys: Annotated[tuple[str, ...], Field(min_length=1)]


class PressStep(_Part):
    """Keys one after another."""

    do: Literal["press"]
    keys: Annotated[tuple[str, ...], Field(min_length=1)]


class LaunchStep(_Part):
    """A program to start."""

    do: Literal["launch"]
    command: Annotated[tuple[str, ...], Field(min_length=1)]


class WindowStep(_Part):
    """A window to wait for, by a part of its title."""

    do: Literal["window"]
    title: str


SolutionStep = Annotated[
    ClickStep | KeepStep | TypeStep | HotkeyStep | PressStep | LaunchStep | WindowStep, Field(discriminator="do")
]
_STEPS: TypeAdapter[list[SolutionStep]] = TypeAdapter(list[SolutionStep])


def load_solution(task_file: Path) -> list[SolutionStep]:
    """Read the solution of a task.

    Raises:
        TaskFileError: There is none, or it is not understood.
    """
    path = task_file.parent / "solutions" / task_file.name
    try:
        return _STEPS.validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskFileError(f"{path}: there is no scripted solution: {error.strerror or error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise TaskFileError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from error


class Hand:
    """Carries out a solution on a desktop.

    Args:
        desktop: Where.
        clock: Seconds that only go forward.
    """

    def __init__(self, desktop: VirtualDesktop, clock: Callable[[], float] = time.monotonic) -> None:
        self._desktop = desktop
        self._clock = clock
        self._kept = ""

    def carry_out(self, steps: Sequence[SolutionStep]) -> None:
        """Do one step after another.

        Raises:
            EvaluationError: An element or window did not come, or a primitive was refused; the message names the step.
        """
        for number, step in enumerate(steps, start=1):
            try:
                self._do(step)
            except EvaluationError as error:
                raise EvaluationError(f"step {number} of the solution ({step.do}): {error}") from error

    def _do(self, step: SolutionStep) -> None:
        match step:
            case ClickStep():
                self._perform(Click(element_id=self._find(step).id, num_clicks=step.times))
            case KeepStep():
                self._kept = self._find(step).text or ""
            case TypeStep(into=None):
                self._perform(Type(text=self._filled(step.text), enter=step.enter))
            case TypeStep(into=On() as place):
                text, found = self._filled(step.text), self._find(place)
                self._perform(Type(text=text, element_id=found.id, overwrite=True, enter=step.enter))
            case HotkeyStep():
                self._perform(Hotkey(keys=step.keys))
            case PressStep():
                self._perform(HoldAndPress(hold_keys=(), press_keys=step.keys))
            case LaunchStep():
                self._desktop.launch([self._filled(part) for part in step.command])
            case WindowStep():
                self._wait_for_window(step.title)

    def _filled(self, text: str) -> str:
        text = text.replace("{kept}", self._kept)
        return str(self._desktop.home) + text[1:] if text.startswith("~/") else text

    def _perform(self, action: Action) -> None:
        result = self._desktop.perform(action)
        if not result.ok:
            raise EvaluationError(result.error or "it was refused")

    def _find(self, wanted: On) -> Element:
        deadline = self._clock() + LIMIT_S
        while True:
            observation = self._desktop.observe()
            titles = {window.id: window.title for window in observation.windows}
            found = [
                element
                for element in observation.elements
                if element.role == wanted.role
                and wanted.name in (element.name, element.label, element.description)
                and wanted.window in titles.get(element.window_id, "")
            ]
            if len(found) > wanted.nth:
                return found[wanted.nth]
            if self._clock() > deadline:
                raise EvaluationError(f"no {wanted.role} {wanted.name!r} came within {LIMIT_S:g} s")
            time.sleep(_POLL_S)

    def _wait_for_window(self, title: str) -> None:
        deadline = self._clock() + LIMIT_S
        while not any(title in window.title for window in self._desktop.observe().windows):
            if self._clock() > deadline:
                raise EvaluationError(f"no window {title!r} came within {LIMIT_S:g} s")
            time.sleep(_POLL_S)

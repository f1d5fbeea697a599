"""Scripted solutions of tasks: primitives on elements that are named by role and name.

The solution of a task file is `solutions/FILE` next to it, with the same name: a list of steps such as
`{"do": "click", "role": "push button", "name": "Save"}`, `{"do": "type", "text": "hello", "into": {...}}`,
`{"do": "hotkey", "keys": ["ctrl", "s"]}`, `{"do": "launch", "command": ["mousepad"]}` and
`{"do": "window", "title": "Save"}`. Steps use no coordinates, and no waits of a fixed time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from aci.acting.actions import Action, Click, DragAndDrop, HoldAndPress, Hotkey, Scroll, SwitchApplications, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from aci.waiting import Clock
from evaluation.errors import EvaluationError, TaskFileError

LIMIT_S = 30.0  # time an element or window may take to appear, s
NO_FILE = ()
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
    """A click, or several, with keys held."""

    do: Literal["click"]
    times: Annotated[int, Field(ge=1, le=3)] = 1
    button: Literal["left", "middle", "right"] = "left"
    hold: tuple[str, ...] = ()


class DragStep(On):
    """A drag from an element onto another, with keys held."""

    do: Literal["drag"]
    onto: On
    hold: tuple[str, ...] = ()


class ScrollStep(On):
    """Turns of the wheel over an element, upwards where positive."""

    do: Literal["scroll"]
    clicks: Annotated[int, Field(ge=-100, le=100)]


class TypeStep(_Part):
    """A text, into an element in place of its content, or at the keyboard focus."""

    do: Literal["type"]
    text: str
    into: On | None = None
    enter: bool = False


class KeepStep(On):
    """An element whose text stands for `{kept}` in the texts that follow."""

    do: Literal["keep"]


class KeysStep(_Part):
    """A chord, or keys one after another."""

    do: Literal["hotkey", "press"]
    keys: Annotated[tuple[str, ...], Field(min_length=1)]


class LaunchStep(_Part):
    """A program to start."""

    do: Literal["launch"]
    command: Annotated[tuple[str, ...], Field(min_length=1)]


class SwitchStep(_Part):
    """An application to bring to the front."""

    do: Literal["switch"]
    app: str


class WindowStep(_Part):
    """A window to wait for by a part of its title, until it opens or until it is gone."""

    do: Literal["window"]
    title: str
    gone: bool = False


class FileStep(_Part):
    """A file to wait for until it has been written since the solution began, and no longer changes."""

    do: Literal["file"]
    path: str


Primitive = ClickStep | DragStep | ScrollStep | TypeStep | KeysStep | SwitchStep
SolutionStep = Annotated[Primitive | KeepStep | LaunchStep | WindowStep | FileStep, Field(discriminator="do")]
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


@dataclass(eq=False)
class SolutionPlayer:
    """Carries out a solution on a desktop."""

    desktop: VirtualDesktop  # in the initial state of the task
    clock: Callable[[], float] = time.monotonic
    _kept: str = field(default="", init=False)
    _before: dict[Path, tuple[int, ...]] = field(default_factory=dict, init=False)

    def play(self, steps: Sequence[SolutionStep]) -> None:
        """Carry out one step after another.

        Raises:
            EvaluationError: An element or window did not come, or a primitive was refused; the message names the step.
        """
        waited_for = (Path(self._filled(step.path)) for step in steps if isinstance(step, FileStep))
        self._before = {path: _stamp(path) for path in waited_for}
        for number, step in enumerate(steps, start=1):
            try:
                self._play(step)
            except EvaluationError as error:
                raise EvaluationError(f"step {number} of the solution ({step.do}): {error}") from error

    def _play(self, step: SolutionStep) -> None:
        match step:
            case KeepStep():
                self._kept = self._find(step).text or ""
            case LaunchStep():
                self.desktop.launch([self._filled(part) for part in step.command])
            case WindowStep():
                self._wait_until(
                    lambda: step.gone != any(step.title in one.title for one in self.desktop.observe().windows),
                    f"the window {step.title!r} did not {'go' if step.gone else 'come'}",
                )
            case FileStep():
                self._wait_for_file(Path(self._filled(step.path)))
            case _:
                result = self.desktop.perform(self._primitive(step))
                if not result.ok:
                    raise EvaluationError(result.error or "it was refused")

    def _primitive(self, step: Primitive) -> Action:
        match step:
            case ClickStep():
                id_ = self._find(step).id
                return Click(element_id=id_, num_clicks=step.times, button_type=step.button, hold_keys=step.hold)
            case DragStep():
                onto = self._find(step.onto).id
                return DragAndDrop(drag_from_id=self._find(step).id, drop_on_id=onto, hold_keys=step.hold)
            case ScrollStep():
                return Scroll(element_id=self._find(step).id, clicks=step.clicks)
            case TypeStep():
                target = None if step.into is None else self._find(step.into).id
                text = self._filled(step.text)
                return Type(text=text, element_id=target, overwrite=target is not None, enter=step.enter)
            case KeysStep():
                chord = step.do == "hotkey"
                return Hotkey(keys=step.keys) if chord else HoldAndPress(hold_keys=(), press_keys=step.keys)
            case SwitchStep():
                return SwitchApplications(app_code=step.app)

    def _filled(self, text: str) -> str:
        text = text.replace("{kept}", self._kept)
        return str(self.desktop.home) + text[1:] if text.startswith("~/") else text

    def _find(self, wanted: On) -> Element:
        found: list[Element] = []

        def is_there() -> bool:
            observation = self.desktop.observe()
            titles = {window.id: window.title for window in observation.windows}
            found[:] = [
                element
                for element in observation.elements
                if element.role == wanted.role
                and wanted.name in (element.name, element.label, element.description)
                and wanted.window in titles.get(element.window_id, "")
            ]
            return len(found) > wanted.nth

        self._wait_until(is_there, f"no {wanted.role} {wanted.name!r} came")
        return found[wanted.nth]

    def _wait_for_file(self, path: Path) -> None:
        seen = [self._before[path]]

        def is_complete() -> bool:
            seen.append(_stamp(path))
            return seen[-1] == seen[-2] != self._before[path] and seen[-1] != NO_FILE

        self._wait_until(is_complete, f"the file {path.name} was not written")

    def _wait_until(self, holds: Callable[[], bool], otherwise: str) -> None:
        if not Clock(self.clock).until(holds, LIMIT_S, _POLL_S):
            raise EvaluationError(f"{otherwise} within {LIMIT_S:g} s")


def _stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes whenever a file is written; `NO_FILE` if it is absent or empty."""
    if not path.is_file():
        return NO_FILE
    status = path.stat()
    return (status.st_ino, status.st_ctime_ns, status.st_size) if status.st_size else NO_FILE

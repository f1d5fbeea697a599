"""Observations made by hand, and a small desktop that answers primitives from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from aci.acting.actions import Action, Done, Fail
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Source, State, Window
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest
from agent_s.offline import OfflineModel
from agent_s.records import Step, Subtask, Task

PIXELS = np.zeros((1, 1, 3), dtype=np.uint8)


def window(
    number: int = 1, title: str = "Form", app: str = "demo", *, active: bool = True, popup: bool = False,
    modal: bool = False, rect: Rect | None = None,
) -> Window:  # fmt: skip
    return Window(number, title, app, rect or Rect(0, 0, 800, 600), active=active, popup=popup, modal=modal)


def element(
    number: int, role: str, name: str = "", at: tuple[int, int] = (10, 10), size: tuple[int, int] = (80, 24), *,
    text: str | None = None, value: float | None = None, states: Iterable[State] = (), label: str = "", description: str = "",
    path: tuple[str, ...] = (), window_id: int = 1, app: str = "demo", covered: bool = False, source: Source = "accessibility",
) -> Element:  # fmt: skip
    rect = Rect(*at, *size)
    return Element(
        id=number, role=role, name=name, rect=rect, point=None if covered else rect.center, window_id=window_id, app=app,
        text=text, value=value, states=frozenset(states), description=description, label=label, path=path, source=source,
    )  # fmt: skip


def field(number: int, name: str = "", at: tuple[int, int] = (100, 10), text: str = "", **more: object) -> Element:
    return element(number, "entry", name, at, (160, 24), text=text, states=("editable",), **more)  # type: ignore[arg-type]


def seen(
    *elements: Element, windows: Sequence[Window] = (), focus: int | None = None, buffer: tuple[str, ...] = ()
) -> Observation:
    return Observation(PIXELS, tuple(elements), tuple(windows) or (window(),), focus_id=focus, buffer=buffer)


React = Callable[[Observation, Action], "Observation | str"]
"""What a desktop does with a primitive: the screen that it leads to, or why it was refused."""


class Acted:
    """What a subtask came to.

    Attributes:
        actions: The primitives that were performed, in order.
        ending: The last answer, whose action is `done` or `fail`.
        steps: The steps, for verification.
        last: The screen at the end.
    """

    def __init__(self, actions: list[Action], ending: ActResponse, steps: tuple[Step, ...], last: Observation) -> None:
        self.actions = actions
        self.ending = ending
        self.steps = steps
        self.last = last

    @property
    def ok(self) -> bool:
        return isinstance(self.ending.action, Done)

    @property
    def reason(self) -> str:
        return self.ending.action.reason if isinstance(self.ending.action, Fail) else ""


def nothing_happens(observation: Observation, action: Action) -> Observation:
    return observation


def act_out(
    clause: str,
    observation: Observation,
    react: React = nothing_happens,
    left: tuple[Subtask, ...] = (),
    most: int = 40,
) -> Acted:
    """Let the offline model work on a subtask, with a desktop that answers from a function."""
    model, steps = OfflineModel(), []
    subtask, task = Subtask(name=clause[:200], info=clause), Task(instruction=clause)
    for number in range(most):
        context = ActContext(task, subtask, observation, left=left, steps=tuple(steps))
        response = model.complete(ModelRequest(context)).output
        assert isinstance(response, ActResponse)
        if isinstance(response.action, Done | Fail):
            return Acted([step.response.action for step in steps], response, tuple(steps), observation)
        answer = react(observation, response.action)
        result = ActionResult(ok=False, error=answer) if isinstance(answer, str) else ActionResult(ok=True)
        step = Step(number, observation, response, result)
        observation = observation if isinstance(answer, str) else answer
        steps.append(step.followed_by(observation))
    raise AssertionError(f"no end after {most} steps: {[step.response.next_action for step in steps][-5:]}")

"""The trajectory reflector: watches a subtask and speaks when it goes wrong (paper, section 3.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from aci.actions import Action, Scroll, Wait
from aci.observation import Observation
from agent_s.llm.protocol import Model, ModelRequest, ReflectContext, ReflectResponse
from agent_s.records import Step, Subtask, Task

REPEATS = 3


class Reflector:
    """Speaks only when there is reason to, since every word costs a call.

    Args:
        model: Answers the reflect calls.
        every: Also speak after every so many steps; 0 for never.
    """

    def __init__(self, model: Model, every: int = 0) -> None:
        self._model = model
        self._every = every

    def trouble(self, steps: Sequence[Step], observation: Observation) -> str:
        """Say why a reflection is wanted now; empty where there is no reason.

        Args:
            steps: What was done in the subtask so far, oldest first.
            observation: The screen after the last of them.
        """
        if not steps:
            return ""
        last = steps[-1]
        if not last.result.ok:
            return f"the last action was refused: {last.result.error}"
        if same_screen(last.observation, observation) and not isinstance(last.response.action, Wait):
            return "the last action changed nothing on the screen"
        if _repeats(steps):
            return f"the same action was performed {REPEATS} times in a row"
        if _alternates(steps):
            return "two actions undo each other in turn"
        if self._every and len(steps) % self._every == 0:
            return f"{len(steps)} steps have gone by"
        return ""

    def reflect(
        self, task: Task, subtask: Subtask, observation: Observation, steps: Sequence[Step], trouble: str
    ) -> str:
        """Ask the model for a reflection on the trajectory.

        Raises:
            ModelError: The model gave no usable answer.
        """
        context = ReflectContext(task, subtask, observation, tuple(steps), trouble)
        return cast(ReflectResponse, self._model.complete(ModelRequest(context)).output).reflection


def same_screen(before: Observation, after: Observation) -> bool:
    """Tell whether nothing that a model is shown differs: windows, elements and kept texts."""
    return (before.windows, before.elements, before.buffer) == (after.windows, after.elements, after.buffer)


def _actions(steps: Sequence[Step], count: int) -> list[Action]:
    return [step.response.action for step in steps[-count:]]


def _repeats(steps: Sequence[Step]) -> bool:
    latest = _actions(steps, REPEATS)
    same = len(latest) == REPEATS and all(action == latest[0] for action in latest)
    return same and not isinstance(latest[0], Scroll)


def _alternates(steps: Sequence[Step]) -> bool:
    latest = _actions(steps, 4)
    return len(latest) == 4 and latest[0] == latest[2] != latest[1] == latest[3]

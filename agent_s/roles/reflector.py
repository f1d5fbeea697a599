"""The trajectory reflector: watches a subtask and speaks when it goes wrong (paper, section 3.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from aci.observation.observation import Observation
from agent_s.llm.protocol import Model, ModelRequest, ReflectContext, ReflectResponse
from agent_s.loop.stall_detection import trouble as find_trouble
from agent_s.records import Step, Subtask, Task


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
        found = find_trouble(steps, observation)
        if not found and steps and self._every and len(steps) % self._every == 0:
            return f"{len(steps)} steps have gone by"
        return found

    def reflect(
        self,
        task: Task,
        subtask: Subtask,
        observation: Observation,
        steps: Sequence[Step],
        trouble: str,
        constraints: tuple[str, ...] = (),
    ) -> str:
        """Ask the model for a reflection on the trajectory.

        Raises:
            ModelError: The model gave no usable answer.
        """
        context = ReflectContext(task, subtask, observation, tuple(steps), trouble, constraints)
        return cast(ReflectResponse, self._model.complete(ModelRequest(context)).output).reflection

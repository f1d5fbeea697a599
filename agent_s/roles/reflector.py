"""The trajectory reflector: gives feedback when a subtask goes wrong (paper, section 3.1.2)."""

from __future__ import annotations

from agent_s.llm.protocol import Model, ReflectContext, ReflectResponse, ask


class Reflector:
    """Puts what looks wrong with a trajectory into advice for the Worker.

    Args:
        model: Answers the reflect calls.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def reflect(self, context: ReflectContext) -> str:
        """Return feedback on the trajectory; empty if there is nothing to say."""
        return ask(self._model, context, ReflectResponse).reflection

"""The trajectory reflector: gives feedback when a subtask goes wrong (paper, section 3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.llm.protocol import Model, ReflectContext, ReflectResponse, ask


@dataclass(frozen=True, slots=True)
class Reflector:
    """Puts what looks wrong with a trajectory into advice for the Worker."""

    model: Model  # answers the reflect calls

    def reflect(self, context: ReflectContext) -> str:
        """Return feedback on the trajectory; empty if there is nothing to say."""
        return ask(self.model, context, ReflectResponse).reflection

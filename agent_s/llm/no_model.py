"""A placeholder for the model of runs that only replay."""

from __future__ import annotations

from agent_s.errors import ModelUnavailable
from agent_s.llm.protocol import ModelRequest, ModelResponse


class NoModel:
    """Refuses every request."""

    name = "none"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Raise ModelUnavailable."""
        raise ModelUnavailable(f"the call {request.kind!r} was not made: this run may not call a model (replay=only)")

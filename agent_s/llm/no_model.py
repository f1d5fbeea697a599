"""No model at all, for runs that only do again what memory holds."""

from __future__ import annotations

from agent_s.errors import ModelUnavailable
from agent_s.llm.protocol import ModelRequest, ModelResponse


class NoModel:
    """Answers nothing; whoever asks is told so.

    Attributes:
        name: How records of runs call it.
    """

    name = "none"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Refuse.

        Raises:
            ModelUnavailable: Always.
        """
        raise ModelUnavailable(f"the call {request.kind!r} was not made: this run may ask no model (replay=only)")

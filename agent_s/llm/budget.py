"""A model that counts what it is asked, and stops at a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from agent_s.errors import LimitReached
from agent_s.llm.protocol import Kind, Model, ModelRequest, ModelResponse, TokenUsage


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was made."""

    kind: Kind
    seconds: float
    usage: TokenUsage


class MeteredModel:
    """Passes requests on to another model and keeps count.

    Args:
        model: The model that answers.
        max_calls: Calls that are allowed.
        clock: Seconds that only go forward.

    Attributes:
        calls: The calls made so far, oldest first.
    """

    def __init__(self, model: Model, max_calls: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.calls: list[Call] = []
        self._model = model
        self._max_calls = max_calls
        self._clock = clock

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            LimitReached: The budget of calls is used up.
            ModelError: There is no usable answer.
        """
        if len(self.calls) >= self._max_calls:
            raise LimitReached(f"{self._max_calls} model calls are used up (limits.max_model_calls)")
        started = self._clock()
        response = self._model.complete(request)
        self.calls.append(Call(request.kind, self._clock() - started, response.usage))
        return response

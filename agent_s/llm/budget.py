"""A model that counts what it is asked, and stops at a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agent_s.errors import LimitReached
from agent_s.llm.protocol import Kind, Model, ModelRequest, ModelResponse, TokenUsage
from agent_s.records import Limits


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was made; a search is one by the model's provider."""

    kind: Kind | Literal["search"]
    seconds: float
    usage: TokenUsage


KEPT_SHARE = 0.1
"""Of the tokens, dollars and seconds of a run, for judging its end."""


def used_up(what: str, used: float, allowed: float, setting: str) -> str:
    """Say that a budget is used up but for what is kept of it for judging the end.

    Args:
        what: Is counted, such as "steps".
        used: How many were used.
        allowed: How many there are, those that are kept included.
        setting: Name of the limit.
    """
    if used >= allowed:
        return f"{_number(allowed)} {what} are used up (limits.{setting})"
    return (
        f"{_number(used)} of {_number(allowed)} {what} are used up (limits.{setting}); the last "
        f"{_number(allowed - used)} are kept for verifying what was done (limits.max_looks)"
    )


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


class MeteredModel:
    """Passes requests on to another model and keeps count.

    Args:
        model: The model that answers.
        limits: Calls, tokens and dollars that are allowed.
        clock: Seconds that only go forward.

    Attributes:
        calls: The calls made so far, oldest first.
        kept: Calls that are allowed and not to be made yet; while there are any, so is `KEPT_SHARE` of the tokens and
            dollars.
    """

    def __init__(self, model: Model, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.calls: list[Call] = []
        self.kept = 0
        self._model = model
        self._limits = limits
        self._clock = clock

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            LimitReached: A budget is used up, or what was used has no known price although dollars are limited.
            ModelError: There is no usable answer.
        """
        self.check()
        started = self._clock()
        response = self._model.complete(request)
        self.calls.append(Call(request.kind, self._clock() - started, response.usage))
        return response

    def charge(self, usage: TokenUsage, seconds: float) -> None:
        """Count what a search by the provider used; it belongs to the same budgets."""
        self.calls.append(Call("search", seconds, usage))

    def check(self) -> None:
        """Make sure that something may still be asked.

        Raises:
            LimitReached: A budget is used up, or what was used has no known price although dollars are limited.
        """
        limits, share = self._limits, KEPT_SHARE if self.kept else 0.0
        if len(self.calls) >= limits.max_model_calls - self.kept:
            raise LimitReached(used_up("model calls", len(self.calls), limits.max_model_calls, "max_model_calls"))
        tokens = sum(call.usage.input_tokens + call.usage.output_tokens for call in self.calls)
        if limits.max_tokens is not None and tokens >= limits.max_tokens * (1 - share):
            raise LimitReached(used_up("tokens", tokens, limits.max_tokens, "max_tokens"))
        if limits.max_dollars is not None and (spent := self._dollars()) >= limits.max_dollars * (1 - share):
            raise LimitReached(used_up("dollars", spent, limits.max_dollars, "max_dollars"))

    def _dollars(self) -> float:
        used = [call.usage for call in self.calls if call.usage.input_tokens or call.usage.output_tokens]
        if any(usage.dollars is None for usage in used):
            raise LimitReached("the price of the model is not known, so that limits.max_dollars cannot be kept")
        return sum(usage.dollars or 0.0 for usage in used)

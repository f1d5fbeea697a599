"""Budgets of model calls, tokens and dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_s.errors import LimitReached, ModelError
from agent_s.llm.protocol import Model, ModelRequest, ModelResponse, model_name
from agent_s.records import NO_USAGE, Limits, Usage

RESERVED_SHARE = 0.1  # share of the tokens, dollars and seconds of a run that is reserved for verification


class Budget:
    """Counts the usage of model calls against limits.

    Args:
        limits: Limits, of which `max_model_calls`, `max_tokens` and `max_dollars` apply.
    """

    def __init__(self, limits: Limits) -> None:
        self.calls: list[Usage] = []  # usage of the calls so far, oldest first
        # number of reserved calls; if positive, `RESERVED_SHARE` of the tokens and dollars is reserved, too
        self.reserved = 0
        self._limits = limits

    def charge(self, usage: Usage) -> None:
        """Count one call."""
        self.calls.append(usage)

    def charge_unanswered(self, spent: Sequence[Usage]) -> Usage:
        """Count a call without a usable answer, and return its usage."""
        if spent:
            self.charge(sum(spent, Usage(dollars=0.0)))
        return self.calls[-1] if spent else NO_USAGE

    @property
    def used(self) -> Usage:
        """Sum of the calls so far."""
        return sum(self.calls, Usage(dollars=0.0)).model_copy(update={"model_calls": len(self.calls)})

    def check(self) -> None:
        """Check that another call is allowed.

        Raises:
            LimitReached: A budget is used up, or dollars are limited and the price of a call is unknown.
        """
        limits, used = self._limits, self.used
        share = 1 - (RESERVED_SHARE if self.reserved else 0.0)
        if used.model_calls >= limits.max_model_calls - self.reserved:
            raise LimitReached(used_up("model calls", used.model_calls, limits.max_model_calls, "max_model_calls"))
        if limits.max_tokens is not None and used.tokens >= limits.max_tokens * share:
            raise LimitReached(used_up("tokens", used.tokens, limits.max_tokens, "max_tokens"))
        if limits.max_dollars is None:
            return
        paid = [call.dollars for call in self.calls if call.tokens]
        dollars = sum(price for price in paid if price is not None)
        if None in paid:
            raise LimitReached("the price of the model is unknown, so limits.max_dollars cannot be enforced")
        if dollars >= limits.max_dollars * share:
            raise LimitReached(used_up("dollars", dollars, limits.max_dollars, "max_dollars"))


class MeteredModel:
    """A model that charges the requests to another model to a budget."""

    def __init__(self, model: Model, limits: Limits) -> None:
        self.name = model_name(model)
        self.budget = Budget(limits)
        self._model = model

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; a used-up budget raises LimitReached."""
        self.budget.check()
        spent: list[Usage] = []
        try:
            response = self._model.complete(replace(request, on_usage=spent.append))
        except ModelError:
            self.budget.charge_unanswered(spent)
            raise
        self.budget.charge(response.usage)
        return response


def used_up(what: str, used: float, allowed: float, setting: str) -> str:
    """Return the message for a used-up budget; `allowed` includes the share reserved for verification."""
    if used >= allowed:
        return f"{_number(allowed)} {what} are used up (limits.{setting})"
    return (
        f"{_number(used)} of {_number(allowed)} {what} are used up (limits.{setting}); the last "
        f"{_number(allowed - used)} are kept for verifying what was done (limits.max_looks)"
    )


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"

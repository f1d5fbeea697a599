"""What the newest models of each provider refuse, as rules of a simulated server (facts of November 2026)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from tests.wire.formats import Format, optional_fields, strictness, unions
from tests.wire.server import Http, Seen

Rule = Callable[[Any], bool]
"""Returns whether a request breaks the rule."""


def _blocks(body: Any) -> list[Any]:
    return [block for message in body["messages"] for block in message["content"]]


def _schema(body: Any) -> Any:
    return body.get("output_config", {}).get("format", {}).get("schema")


def _thinking(body: Any) -> dict[str, Any]:
    """Return how Gemini is asked to think; it reads names in either form."""
    return {to_camel(name): value for name, value in body["generationConfig"].get("thinkingConfig", {}).items()}


def _sampled(body: Any) -> bool:
    return bool({"temperature", "top_p", "top_k"} & set(body))


ANTHROPIC: dict[str, Rule] = {
    "thinking cannot be disabled for this model": lambda body: body.get("thinking", {}).get("type") == "disabled",
    "thinking.budget_tokens is not supported": lambda body: "budget_tokens" in body.get("thinking", {}),
    "tool_choice: only auto and none are supported": lambda body: (
        body.get("tool_choice", {}).get("type") in ("any", "tool")
    ),
    "sampling parameters are not supported": _sampled,
    "assistant message prefill is not supported": lambda body: body["messages"][-1]["role"] == "assistant",
    "thinking blocks are bound to an unedited history": lambda body: any(
        block["type"] in ("thinking", "redacted_thinking") for block in _blocks(body)
    ),
    "output_config.effort: unknown level": lambda body: (
        body.get("output_config", {}).get("effort", "high") not in ("low", "medium", "high", "xhigh", "max")
    ),
    "at most 4 blocks with cache_control": lambda body: (
        sum("cache_control" in block for block in (*body["system"], *_blocks(body))) > 4
    ),
    "output_config.format.schema: unsupported keywords": lambda body: bool(strictness(_schema(body), False)),
    "schemas contain too many optional parameters (limit: 24)": lambda body: optional_fields(_schema(body)) > 24,
    "schemas contain too many parameters with union types (limit: 16)": lambda body: unions(_schema(body)) > 16,
    "at most 100 images": lambda body: sum(block["type"] == "image" for block in _blocks(body)) > 100,
    "max_tokens exceeds the maximum of 128000 output tokens": lambda body: body["max_tokens"] > 128_000,
    "older computer tools are not supported": lambda body: any(
        str(tool.get("type", "")).startswith("computer_20") for tool in body.get("tools", ())
    ),
}

OPENAI: dict[str, Rule] = {
    "Unsupported parameter: sampling is not supported with this model": _sampled,
    "Unsupported parameter: 'max_tokens'": lambda body: "max_tokens" in body,
    "Unsupported value: reasoning.effort": lambda body: (
        body.get("reasoning", {}).get("effort", "none")
        not in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    ),
    "Previous response cannot be used: it was not stored": lambda body: "previous_response_id" in body,
    "Invalid schema for response_format in strict mode": lambda body: bool(
        strictness(body.get("text", {}).get("format", {}).get("schema"))
    ),
    "'prompt_cache_retention' is deprecated": lambda body: "prompt_cache_retention" in body,
}

GEMINI: dict[str, Rule] = {
    "Only one of thinkingBudget and thinkingLevel may be set": lambda body: (
        {"thinkingBudget", "thinkingLevel"} <= set(_thinking(body))
    ),
    "Budget 0 is invalid: this model only works in thinking mode (thinkingBudget)": lambda body: (
        _thinking(body).get("thinkingBudget") == 0
    ),
    "Please ensure that multiturn requests alternate between user and model": lambda body: any(
        one["role"] == other["role"] for one, other in itertools.pairwise(body["contents"])
    ),
    "responseSchema: only one of responseSchema and responseJsonSchema": lambda body: (
        {"responseSchema", "responseJsonSchema"} <= set(body["generationConfig"])
    ),
}

RULES: dict[str, Mapping[str, Rule]] = {"anthropic": ANTHROPIC, "openai": OPENAI, "gemini": GEMINI, "chat": {}}


def broken(form: Format, body: Any) -> list[str]:
    """Return the rules of the newest models that a request breaks."""
    return [message for message, rule in RULES[form.name].items() if rule(body)]


def strict(form: Format, answer: Http) -> Callable[[Seen], Http]:
    """Return a turn of a server that refuses what the newest models refuse, and otherwise answers."""

    def turn(seen: Seen) -> Http:
        problems = broken(form, seen.body)
        return form.error(400, problems[0]) if problems else answer

    return turn

"""The wire formats of the providers, as their servers see them: checks of requests, and responses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Protocol

from tests.wire.server import Http, Seen

KEY = "sk-test-0123456789abcdef-NEVER-SHOWN"


class Format(Protocol):
    name: str

    def answer(self, text: str, *, stop: str = "end", refusal: str = "") -> Http: ...

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Http: ...

    def problems(self, seen: Seen) -> list[str]: ...

    def texts(self, body: Any) -> list[str]: ...

    def pictures(self, body: Any) -> int: ...

    def model(self, url: str) -> str: ...

    def environment(self, url: str) -> dict[str, str]: ...


class AnthropicFormat:
    """POST /v1/messages."""

    name = "anthropic"

    def answer(self, text: str, *, stop: str = "end", refusal: str = "") -> Http:
        reasons = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}
        blocks = [{"type": "text", "text": text}] if text else []
        details = {"type": "refusal", "category": "cyber", "explanation": refusal} if refusal else None
        body = {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}, *blocks],
            "stop_reason": reasons[stop],
            "stop_sequence": None,
            "stop_details": details,
            "usage": {
                "input_tokens": 100,
                "cache_creation_input_tokens": 40,
                "cache_read_input_tokens": 860,
                "output_tokens": 50,
            },
        }
        return Http(body=body, headers={"request-id": "req_01"})

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Http:
        kinds = {
            400: "invalid_request_error",
            401: "authentication_error",
            404: "not_found_error",
            429: "rate_limit_error",
            529: "overloaded_error",
        }
        error: dict[str, Any] = {"type": kinds.get(status, "api_error"), "message": message}
        if code:
            error["details"] = {"error_code": code}
        return Http(status, {"type": "error", "error": error, "request_id": "req_01"}, headers or {})

    def problems(self, seen: Seen) -> list[str]:
        body, found = seen.body, []
        if seen.path != "/v1/messages":
            found.append(f"path {seen.path}")
        if KEY not in credentials(seen) or "anthropic-version" not in seen.headers:
            found.append("headers")
        if not isinstance(body.get("max_tokens"), int) or not body.get("model"):
            found.append("max_tokens, model")
        roles = [message["role"] for message in body["messages"]]
        if roles[0] != "user" or any(one == other for one, other in itertools.pairwise(roles)):
            found.append(f"roles {roles}")
        blocks = [*body["system"], *(block for message in body["messages"] for block in message["content"])]
        if sum("cache_control" in block for block in blocks) > 4:
            found.append("more than 4 breakpoints")
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            found.append("an empty text")
        return found + strictness(body.get("output_config", {}).get("format", {}).get("schema"), every_field=False)

    def texts(self, body: Any) -> list[str]:
        blocks = [block for message in body["messages"] for block in message["content"]]
        return [block["text"] for block in [*body["system"], *blocks] if block["type"] == "text"]

    def pictures(self, body: Any) -> int:
        return sum(block["type"] == "image" for message in body["messages"] for block in message["content"])

    def model(self, url: str) -> str:
        return "anthropic:claude-test"

    def environment(self, url: str) -> dict[str, str]:
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}


class ResponsesFormat:
    """POST /v1/responses."""

    name = "openai"

    def answer(self, text: str, *, stop: str = "end", refusal: str = "") -> Http:
        content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        if stop == "refusal":
            content = [{"type": "refusal", "refusal": refusal or "I cannot help with that."}]
        reasons = {"length": "max_output_tokens", "filter": "content_filter"}
        body = {
            "id": "resp_01",
            "object": "response",
            "created_at": 1700000000,
            "status": "incomplete" if stop in reasons else "completed",
            "incomplete_details": {"reason": reasons[stop]} if stop in reasons else None,
            "error": None,
            "model": "gpt-test",
            "output": [
                {"type": "reasoning", "id": "rs_01", "summary": []},
                {"type": "message", "id": "msg_01", "role": "assistant", "status": "completed", "content": content},
            ],
            "usage": {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 860, "cache_write_tokens": 40},
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 20},
                "total_tokens": 1050,
            },
        }
        return Http(body=body, headers={"x-request-id": "req_01"})

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Http:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
        return Http(status, {"error": error}, headers or {})

    def problems(self, seen: Seen) -> list[str]:
        body, found = seen.body, []
        if seen.path != "/v1/responses":
            found.append(f"path {seen.path}")
        if seen.headers.get("authorization") != f"Bearer {KEY}":
            found.append("headers")
        if body.get("store") is not False or not body.get("prompt_cache_key") or "temperature" in body:
            found.append("store, prompt_cache_key, temperature")
        form = body.get("text", {}).get("format", {})
        return found + strictness(form.get("schema"))

    def texts(self, body: Any) -> list[str]:
        texts = [body["instructions"]]
        for message in body["input"]:
            content = message["content"]
            texts += (
                [content] if isinstance(content, str) else [p["text"] for p in content if p["type"] == "input_text"]
            )
        return texts

    def pictures(self, body: Any) -> int:
        parts = [
            part for message in body["input"] if isinstance(message["content"], list) for part in message["content"]
        ]
        return sum(part["type"] == "input_image" for part in parts)

    def model(self, url: str) -> str:
        return "openai:gpt-test"

    def environment(self, url: str) -> dict[str, str]:
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"}


class ChatFormat:
    """POST /v1/chat/completions."""

    name = "chat"

    def answer(self, text: str, *, stop: str = "end", refusal: str = "") -> Http:
        reasons = {"end": "stop", "length": "length", "filter": "content_filter", "refusal": "stop"}
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if stop == "refusal":
            message |= {"content": None, "refusal": refusal or "I cannot help with that."}
        body = {
            "id": "chatcmpl-01",
            "object": "chat.completion",
            "created": 1700000000,
            "model": "served",
            "choices": [{"index": 0, "message": message, "finish_reason": reasons[stop], "logprobs": None}],
            "usage": {
                "prompt_tokens": 1000,
                "completion_tokens": 50,
                "total_tokens": 1050,
                "prompt_tokens_details": {"cached_tokens": 860},
            },
        }
        return Http(body=body)

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Http:
        return Http(
            status, {"object": "error", "message": message, "type": "Error", "code": code or status}, headers or {}
        )

    def problems(self, seen: Seen) -> list[str]:
        body, found = seen.body, []
        if seen.path != "/v1/chat/completions":
            found.append(f"path {seen.path}")
        if seen.headers.get("authorization") != f"Bearer {KEY}":
            found.append("headers")
        roles = [message["role"] for message in body["messages"]]
        if roles[:2] != ["system", "user"] or any(one == other for one, other in itertools.pairwise(roles)):
            found.append(f"roles {roles}")
        form = body.get("response_format", {}).get("json_schema", {})
        return found + strictness(form.get("schema"), every_field=False)

    def texts(self, body: Any) -> list[str]:
        texts = []
        for message in body["messages"]:
            content = message["content"]
            texts += [content] if isinstance(content, str) else [p["text"] for p in content if p["type"] == "text"]
        return texts

    def pictures(self, body: Any) -> int:
        parts = [p for message in body["messages"] if isinstance(message["content"], list) for p in message["content"]]
        return sum(part["type"] == "image_url" for part in parts)

    def model(self, url: str) -> str:
        return f"{url}/v1#served"

    def environment(self, url: str) -> dict[str, str]:
        return {"AGENT_S_API_KEY": KEY}


class GeminiFormat:
    """POST /v1beta/models/NAME:generateContent."""

    name = "gemini"

    def answer(self, text: str, *, stop: str = "end", refusal: str = "") -> Http:
        reasons = {"end": "STOP", "length": "MAX_TOKENS", "filter": "PROHIBITED_CONTENT", "refusal": "SAFETY"}
        parts: list[dict[str, Any]] = [{"text": "I wonder.", "thought": True, "thoughtSignature": "c2lnbmVk"}]
        parts += [{"text": text}] if text else []
        body: dict[str, Any] = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reasons[stop], "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 1000,
                "cachedContentTokenCount": 860,
                "candidatesTokenCount": 30,
                "thoughtsTokenCount": 20,
                "totalTokenCount": 1050,
            },
            "modelVersion": "gemini-test",
            "responseId": "resp_01",
        }
        if refusal:
            body |= {"candidates": [], "promptFeedback": {"blockReason": refusal}}
        return Http(body=body)

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Http:
        kinds = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        error: dict[str, Any] = {"code": status, "message": message, "status": kinds.get(status, "INTERNAL")}
        if code:
            error["details"] = {"error_code": code}
        return Http(status, {"error": error}, headers or {})

    def problems(self, seen: Seen) -> list[str]:
        body, found = seen.body, []
        if seen.path != "/v1beta/models/gemini-test:generateContent":
            found.append(f"path {seen.path}")
        if seen.headers.get("x-goog-api-key") != KEY:
            found.append("headers")
        roles = [content["role"] for content in body["contents"]]
        if roles[0] != "user" or any(one == other for one, other in itertools.pairwise(roles)):
            found.append(f"roles {roles}")
        config = body["generationConfig"]
        if config.get("responseMimeType") != "application/json" or not config.get("maxOutputTokens"):
            found.append("responseMimeType, maxOutputTokens")
        return found + strictness(config.get("responseJsonSchema"), every_field=False)

    def texts(self, body: Any) -> list[str]:
        contents = (body["systemInstruction"], *body["contents"])
        return [part["text"] for content in contents for part in content["parts"] if "text" in part]

    def pictures(self, body: Any) -> int:
        return sum("inlineData" in part for content in body["contents"] for part in content["parts"])

    def model(self, url: str) -> str:
        return "gemini:gemini-test"

    def environment(self, url: str) -> dict[str, str]:
        return {"GEMINI_API_KEY": KEY, "GEMINI_BASE_URL": url}


FORMATS: tuple[Format, ...] = (AnthropicFormat(), ResponsesFormat(), ChatFormat(), GeminiFormat())


def credentials(seen: Seen) -> set[str]:
    """Return the keys of a request: in the header of the API, or as a bearer token."""
    return {seen.headers.get("x-api-key", ""), seen.headers.get("authorization", "").removeprefix("Bearer ")}


def strictness(schema: Any, every_field: bool = True) -> list[str]:
    """Return the parts of a schema that a provider would refuse in strict mode.

    Args:
        schema: The schema, or a part of one; None for none.
        every_field: Whether every field must be required, as OpenAI demands.
    """
    if isinstance(schema, list):
        return [problem for item in schema for problem in strictness(item, every_field)]
    if not isinstance(schema, dict):
        return []
    found = []
    if "properties" in schema:
        fields = set(schema["properties"])
        if schema.get("additionalProperties") is not False:
            found.append("additionalProperties")
        if not set(schema.get("required", ())) <= fields or (every_field and set(schema["required"]) != fields):
            found.append("required")
    refused = {"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "format",
               "prefixItems", "oneOf", "default", "discriminator"}  # fmt: skip
    found += sorted(refused & set(schema))
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        schema.get("items"),
        schema.get("anyOf"),
    ]
    return found + [problem for value in inner for problem in strictness(value, every_field)]


def optional_fields(schema: Any) -> int:
    """Return how many fields may be left out; Anthropic allows 24 in a request."""
    return sum(len(node["properties"]) - len(node["required"]) for node in _nodes(schema) if "properties" in node)


def unions(schema: Any) -> int:
    """Return how many parameters have several types; Anthropic allows 16 in a request."""
    return sum("anyOf" in node or isinstance(node.get("type"), list) for node in _nodes(schema))


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _nodes(item)
    if isinstance(schema, dict):
        yield schema
        inner = (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values())
        for value in (*inner, schema.get("items"), schema.get("anyOf")):
            yield from _nodes(value)

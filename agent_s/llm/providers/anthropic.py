"""Anthropic's Messages API, through the official SDK."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from agent_s.llm.conversation import Conversation, Message, Part, Picture, Reply, Stop
from agent_s.llm.providers.sdk_client import Answer, SdkClient, nested
from agent_s.records import Usage
from agent_s.settings import RequestSettings

ADDRESS = "https://api.anthropic.com"
CLIENT_ARGUMENTS = {"open_telemetry": False}
CACHED = {"cache_control": {"type": "ephemeral"}}
MAX_BREAKPOINTS = 3  # in addition to the one after the instructions; the API accepts four
_STOPS: dict[str | None, Stop] = {
    "max_tokens": "length",
    "refusal": "refusal",
    "model_context_window_exceeded": "context",
}


class Counts(Answer):
    """The token counts of a message."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    searches: int | None = nested(None, "server_tool_use", "web_search_requests")

    def as_usage(self) -> Usage:
        """Return the counts, with cached tokens included in the input."""
        read, written = self.cache_read_input_tokens or 0, self.cache_creation_input_tokens or 0
        return Usage(
            input_tokens=self.input_tokens + read + written,
            cached_tokens=read,
            written_tokens=written,
            output_tokens=self.output_tokens,
            searches=self.searches or 0,
        )


class _Block(Answer):
    type: str
    text: str = ""


class Ending(Answer):
    """What a message says besides its content."""

    id: str = ""
    stop_reason: str | None = None
    stop_category: str | None = nested(None, "stop_details", "category")
    stop_explanation: str | None = nested(None, "stop_details", "explanation")
    usage: Counts

    def as_reply(self, text: str) -> Reply:
        """Return the answer, given its text."""
        stop = _STOPS.get(self.stop_reason, "end")
        return Reply(text, stop, self.usage.as_usage(), self.stop_explanation or self.stop_category or "", self.id)


class _Message(Ending):
    content: tuple[_Block, ...]


def send(
    client: SdkClient, settings: RequestSettings, conversation: Conversation, schema: dict[str, Any] | None
) -> Reply:
    """Send a conversation and read the answer; a `provider.Send`."""
    config: dict[str, Any] = {"effort": settings.effort} if settings.effort is not None else {}
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    request: dict[str, Any] = {
        "model": client.model,
        "max_tokens": settings.max_output_tokens,
        "system": [{"type": "text", "text": conversation.system, **CACHED}],
        "messages": [_message(message) for message in conversation.messages],
    }
    if config:
        request["output_config"] = config
    if settings.thinking is not None:
        request["thinking"] = {"type": "adaptive" if settings.thinking else "disabled"}
    message = client.call(lambda sdk: sdk.messages.with_raw_response.create, _Message, **request)
    return message.as_reply("".join(block.text for block in message.content if block.type == "text"))


def _message(message: Message) -> dict[str, Any]:
    marked = breakpoints(message.parts) if message.role == "user" else ()
    content = [
        {**_part(part), **CACHED} if position in marked else _part(part) for position, part in enumerate(message.parts)
    ]
    return {"role": message.role, "content": content}


def breakpoints(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return the positions of the parts after which to set cache breakpoints.

    These are the first part, which never changes; the part before the oldest picture, up to which the text stays when
    pictures are dropped; and the part before the closing question, from which the next request continues.
    """
    if len(parts) < 2:
        return ()
    oldest = next((position for position, part in enumerate(parts) if isinstance(part, Picture)), 0)
    return tuple(sorted({0, max(0, oldest - 1), len(parts) - 2}))[-MAX_BREAKPOINTS:]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        data = base64.b64encode(part.data).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": data}}
    return {"type": "text", "text": part.text}

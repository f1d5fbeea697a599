"""OpenAI's Responses API, through the official SDK."""

from __future__ import annotations

import base64
from typing import Any

from agent_s.errors import ModelError, ModelRefused
from agent_s.llm.conversation import Conversation, Message, Part, Picture, Reply, Stop
from agent_s.llm.providers.retries import TransientError
from agent_s.llm.providers.sdk_client import Answer, SdkClient, nested
from agent_s.records import Usage
from agent_s.settings import RequestSettings

ADDRESS = "https://api.openai.com/v1"
_STOPS: dict[str | None, Stop] = {"max_output_tokens": "length", "content_filter": "filter"}


class _Content(Answer):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(Answer):
    type: str
    content: tuple[_Content, ...] | None = None


class Counts(Answer):
    """The token counts of a response."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = nested(0, "input_tokens_details", "cached_tokens")
    written_tokens: int = nested(0, "input_tokens_details", "cache_write_tokens")

    def as_usage(self, searches: int = 0) -> Usage:
        """Return the counts."""
        return Usage(**dict(self), searches=searches)


class Ending(Answer):
    """What a response says besides its output."""

    id: str = ""
    status: str = "completed"
    incomplete_reason: str | None = nested(None, "incomplete_details", "reason")
    error_code: str = nested("", "error", "code")
    error_message: str = nested("", "error", "message")
    usage: Counts | None = None

    def as_reply(self, text: str, refusal: str) -> Reply:
        """Return the answer, given its text and why it was refused.

        Raises:
            ModelError: The response failed.
        """
        if self.status == "failed" or self.error_message:
            raise _failure(self.error_code, self.error_message)
        stop: Stop = "refusal" if refusal else "end"
        if self.status == "incomplete":
            stop = _STOPS.get(self.incomplete_reason, "length")
        return Reply(text, stop, self.usage.as_usage() if self.usage else Usage(), refusal, self.id)


class _Response(Ending):
    output: tuple[_Item, ...]


def send(
    client: SdkClient, settings: RequestSettings, conversation: Conversation, schema: dict[str, Any] | None
) -> Reply:
    """Send a conversation with storage turned off, and read the answer; a `provider.Send`."""
    request: dict[str, Any] = {
        "model": client.model,
        "instructions": conversation.system,
        "input": [_message(message) for message in conversation.messages],
        "max_output_tokens": settings.max_output_tokens,
        "prompt_cache_key": conversation.key,
        "store": False,
    }
    if schema is not None:
        form = {"name": "answer", "schema": schema, "strict": True}
        request["text"] = {"format": {"type": "json_schema", **form}}
    request |= reasoning(settings)
    response = client.call(lambda sdk: sdk.responses.with_raw_response.create, _Response, **request)
    contents = [part for item in response.output if item.type == "message" for part in item.content or ()]
    text = "".join(part.text for part in contents if part.type == "output_text")
    return response.as_reply(text, " ".join(part.refusal for part in contents if part.type == "refusal"))


def reasoning(settings: RequestSettings) -> dict[str, Any]:
    """Return the part of a request that sets the reasoning effort."""
    effort = "none" if settings.thinking is False else settings.effort
    return {} if effort is None else {"reasoning": {"effort": effort}}


def _failure(code: str, message: str) -> ModelError:
    """Return the error for a response that failed."""
    said = " ".join(message.split())[:300] or "no reason given"
    if code in ("server_error", "rate_limit_exceeded"):
        return TransientError(f"OpenAI is temporarily unavailable ({code}: {said}).")
    if "policy" in code:
        return ModelRefused(f"OpenAI stopped the model ({code}: {said}).")
    return ModelError(f"OpenAI returned no answer ({code or 'failed'}: {said}).")


def _message(message: Message) -> dict[str, Any]:
    if message.role == "assistant":
        text = "".join(part.text for part in message.parts if not isinstance(part, Picture))
        return {"role": "assistant", "content": text}
    return {"role": "user", "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        return {"type": "input_image", "image_url": data_url(part), "detail": "high"}
    return {"type": "input_text", "text": part.text}


def data_url(picture: Picture) -> str:
    """Return a picture as a data URL."""
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode('ascii')}"

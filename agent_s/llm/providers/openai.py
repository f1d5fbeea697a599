"""OpenAI's Responses API, through the official SDK."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_s.errors import ModelError, ModelRefused
from agent_s.llm.protocol import Response
from agent_s.llm.providers.anthropic import Effort
from agent_s.llm.providers.connections import OpenConnections
from agent_s.llm.providers.conversation import Conversation, Message, Part, Picture, Reply, Spent, Stop
from agent_s.llm.providers.retries import PassingFault
from agent_s.llm.providers.structured import schema_for
from agent_s.llm.providers.wire import Answer, SchemaRefused, Service, client_options, read_answer, translated

if TYPE_CHECKING:
    from openai import OpenAI

ADDRESS = "https://api.openai.com/v1"
_STOPS: dict[str | None, Stop] = {"max_output_tokens": "length", "content_filter": "filter"}


class _Content(Answer):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(Answer):
    type: str
    content: tuple[_Content, ...] | None = None


class _InputDetails(Answer):
    cached_tokens: int = 0
    cache_write_tokens: int = 0


class Usage(Answer):
    """What a response says that it used."""

    input_tokens: int
    output_tokens: int
    input_tokens_details: _InputDetails = _InputDetails()


class _Incomplete(Answer):
    reason: str | None = None


class _Error(Answer):
    code: str = ""
    message: str = ""


class _Response(Answer):
    id: str = ""
    status: str = "completed"
    output: tuple[_Item, ...]
    incomplete_details: _Incomplete | None = None
    error: _Error | None = None
    usage: Usage | None = None


class OpenAIWire:
    """Carries conversations to the Responses API; nothing is stored there.

    Args:
        model: Name of the model, such as the API lists it.
        key: API key.
        address: Base URL.
        timeout_s: Longest wait for an answer, s.
        max_output_tokens: Longest answer, reasoning included.
        effort: How much thought an answer is worth; None for the model's default.
    """

    def __init__(
        self,
        model: str,
        key: str,
        address: str = ADDRESS,
        timeout_s: float = 120.0,
        max_output_tokens: int = 16_000,
        effort: Effort | None = None,
    ) -> None:
        self.service = Service("OpenAI", address, model, "OPENAI_API_KEY", key)
        self._timeout_s = timeout_s
        self._max_output_tokens = max_output_tokens
        self._effort = effort
        self._enforces_schema = True
        self._client: OpenAI | None = None
        self._connections = OpenConnections()

    def send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        """Send and wait; without a schema where the model takes none.

        Raises:
            ModelError: There is no answer.
        """
        if self._enforces_schema:
            try:
                return self._send(conversation, response_type)
            except SchemaRefused:
                self._enforces_schema = False
        return self._send(conversation, response_type)

    def check(self) -> None:
        """Ask for the description of the model.

        Raises:
            ModelUnavailable: Provider, key or model is not there.
        """
        import openai

        with translated(openai, self.service):
            self.connect().models.with_raw_response.retrieve(self.service.model)

    def cut(self) -> None:
        """End what another thread is waiting for."""
        self._connections.cut()

    def _send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        import openai

        request = self.request(conversation, response_type)
        with translated(openai, self.service):
            raw = self.connect().responses.with_raw_response.create(**request)
        return _reply(read_answer(raw.http_response.content, _Response, self.service))

    def request(self, conversation: Conversation, response_type: type[Response]) -> dict[str, Any]:
        """Return the body of the request."""
        request: dict[str, Any] = {
            "model": self.service.model,
            "instructions": conversation.system,
            "input": [_message(message) for message in conversation.messages],
            "max_output_tokens": self._max_output_tokens,
            "prompt_cache_key": conversation.key,
            "store": False,
        }
        if self._enforces_schema:
            name = response_type.__name__
            form = {"type": "json_schema", "name": name, "schema": schema_for(response_type), "strict": True}
            request["text"] = {"format": form}
        if self._effort is not None:
            request["reasoning"] = {"effort": self._effort}
        return request

    def connect(self) -> OpenAI:
        """Return the SDK's client, which is made once; nothing is sent."""
        if self._client is None:
            import openai

            with translated(openai, self.service):
                self._client = openai.OpenAI(
                    api_key=self.service.key,
                    base_url=self.service.address,
                    max_retries=0,
                    timeout=self._timeout_s,
                    http_client=openai.DefaultHttpxClient(**client_options(self._timeout_s, self._connections)),
                )
        return self._client


def _reply(response: _Response) -> Reply:
    if response.status == "failed" or (response.error is not None and response.error.message):
        raise _failure(response.error or _Error())
    contents = [part for item in response.output if item.type == "message" for part in item.content or ()]
    refusal = " ".join(part.refusal for part in contents if part.type == "refusal")
    stop: Stop = "refusal" if refusal else "end"
    if response.status == "incomplete":
        reason = response.incomplete_details.reason if response.incomplete_details else None
        stop = _STOPS.get(reason, "length")
    return Reply(
        text="".join(part.text for part in contents if part.type == "output_text"),
        stop=stop,
        spent=spent_by(response.usage),
        explanation=refusal,
        request_id=response.id,
    )


def _failure(error: _Error) -> ModelError:
    said = " ".join(error.message.split())[:300] or "no reason given"
    if error.code in ("server_error", "rate_limit_exceeded"):
        return PassingFault(f"OpenAI has trouble ({error.code}: {said}).")
    if "policy" in error.code:
        return ModelRefused(f"OpenAI stopped the model ({error.code}: {said}).")
    return ModelError(f"OpenAI could not make an answer ({error.code or 'failed'}: {said}).")


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
    """Return a picture as a URL that holds it."""
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode('ascii')}"


def spent_by(usage: Usage | None) -> Spent:
    """Count as the other providers do."""
    if usage is None:
        return Spent()
    details = usage.input_tokens_details
    return Spent(usage.input_tokens, details.cached_tokens, details.cache_write_tokens, usage.output_tokens)

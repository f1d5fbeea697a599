"""Anthropic's Messages API, through the official SDK."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from agent_s.llm.protocol import Response
from agent_s.llm.providers.connections import OpenConnections
from agent_s.llm.providers.conversation import Conversation, Message, Part, Picture, Reply, Spent, Stop
from agent_s.llm.providers.structured import schema_for
from agent_s.llm.providers.wire import Answer, SchemaRefused, Service, client_options, read_answer, translated

if TYPE_CHECKING:
    from anthropic import Anthropic

Effort = Literal["low", "medium", "high"]

ADDRESS = "https://api.anthropic.com"
CACHED = {"cache_control": {"type": "ephemeral"}}
MOST_BREAKPOINTS = 3
"""Besides the one after the instructions; the API takes four."""
_STOPS: dict[str | None, Stop] = {
    "max_tokens": "length",
    "refusal": "refusal",
    "model_context_window_exceeded": "context",
}


class _Block(Answer):
    type: str
    text: str = ""


class _ServerTools(Answer):
    web_search_requests: int = 0


class Usage(Answer):
    """What a message says that it used."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    server_tool_use: _ServerTools | None = None


class _StopDetails(Answer):
    category: str | None = None
    explanation: str | None = None


class _Message(Answer):
    id: str = ""
    content: tuple[_Block, ...]
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: Usage


class AnthropicWire:
    """Carries conversations to the Messages API.

    Args:
        model: Name of the model, such as the API lists it.
        key: API key.
        address: Base URL.
        timeout_s: Longest wait for an answer, s.
        max_output_tokens: Longest answer, thinking included.
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
        self.service = Service("Anthropic", address, model, "ANTHROPIC_API_KEY", key)
        self._timeout_s = timeout_s
        self._max_output_tokens = max_output_tokens
        self._effort = effort
        self._enforces_schema = True
        self._client: Anthropic | None = None
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
        import anthropic

        with translated(anthropic, self.service):
            self.connect().models.with_raw_response.retrieve(self.service.model)

    def cut(self) -> None:
        """End what another thread is waiting for."""
        self._connections.cut()

    def _send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        import anthropic

        request = self.request(conversation, response_type)
        with translated(anthropic, self.service):
            raw = self.connect().messages.with_raw_response.create(**request)
        message = read_answer(raw.http_response.content, _Message, self.service)
        details = message.stop_details or _StopDetails()
        return Reply(
            text="".join(block.text for block in message.content if block.type == "text"),
            stop=_STOPS.get(message.stop_reason, "end"),
            spent=spent_by(message.usage),
            explanation=details.explanation or details.category or "",
            request_id=message.id,
        )

    def request(self, conversation: Conversation, response_type: type[Response]) -> dict[str, Any]:
        """Return the body of the request."""
        config: dict[str, Any] = {}
        if self._enforces_schema:
            config["format"] = {"type": "json_schema", "schema": schema_for(response_type)}
        if self._effort is not None:
            config["effort"] = self._effort
        request: dict[str, Any] = {
            "model": self.service.model,
            "max_tokens": self._max_output_tokens,
            "system": [{"type": "text", "text": conversation.system, **CACHED}],
            "messages": [_message(message) for message in conversation.messages],
        }
        return {**request, "output_config": config} if config else request

    def connect(self) -> Anthropic:
        """Return the SDK's client, which is made once; nothing is sent."""
        if self._client is None:
            import anthropic

            with translated(anthropic, self.service):
                self._client = anthropic.Anthropic(
                    api_key=self.service.key,
                    base_url=self.service.address,
                    max_retries=0,
                    open_telemetry=False,
                    timeout=self._timeout_s,
                    http_client=anthropic.DefaultHttpxClient(**client_options(self._timeout_s, self._connections)),
                )
        return self._client


def _message(message: Message) -> dict[str, Any]:
    marked = breakpoints(message.parts) if message.role == "user" else ()
    content = [
        {**_part(part), **CACHED} if position in marked else _part(part) for position, part in enumerate(message.parts)
    ]
    return {"role": message.role, "content": content}


def breakpoints(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return the parts after which the provider is to keep a cache.

    After the first one, which stays; before the oldest picture, up to where the text remains when pictures are left
    out; and before the closing question, up to where the next request goes on.
    """
    if len(parts) < 2:
        return ()
    oldest = next((position for position, part in enumerate(parts) if isinstance(part, Picture)), 0)
    return tuple(sorted({0, max(0, oldest - 1), len(parts) - 2}))[-MOST_BREAKPOINTS:]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        data = base64.b64encode(part.data).decode("ascii")
        return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": data}}
    return {"type": "text", "text": part.text}


def spent_by(usage: Usage) -> Spent:
    """Count as the other providers do: all that was sent, the cached part included."""
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    searches = usage.server_tool_use.web_search_requests if usage.server_tool_use else 0
    return Spent(usage.input_tokens + read + written, read, written, usage.output_tokens, searches)

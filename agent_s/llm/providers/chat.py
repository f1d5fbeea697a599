"""Any server that speaks OpenAI's chat completions: vLLM, Ollama, llama.cpp, LM Studio, gateways.

Such servers differ in what they enforce and report, so that little is asked of them and little is believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_s.errors import ModelUnavailable
from agent_s.llm.protocol import Response
from agent_s.llm.providers.connections import OpenConnections
from agent_s.llm.providers.conversation import Conversation, Message, Picture, Reply, Spent, Stop
from agent_s.llm.providers.openai import data_url
from agent_s.llm.providers.structured import schema_for
from agent_s.llm.providers.wire import Answer, SchemaRefused, Service, client_options, read_answer, translated

if TYPE_CHECKING:
    from openai import OpenAI

KEY_NAME = "AGENT_S_API_KEY"
_STOPS: dict[str | None, Stop] = {"length": "length", "content_filter": "filter"}


class _Part(Answer):
    type: str = "text"
    text: str = ""


class _Message(Answer):
    content: str | tuple[_Part, ...] | None = None
    refusal: str | None = None


class _Choice(Answer):
    message: _Message
    finish_reason: str | None = None


class _PromptDetails(Answer):
    cached_tokens: int | None = None


class _Usage(Answer):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Completion(Answer):
    id: str = ""
    choices: tuple[_Choice, ...]
    usage: _Usage | None = None


class _Listed(Answer):
    id: str


class _Models(Answer):
    data: tuple[_Listed, ...]


class ChatWire:
    """Carries conversations to `POST {address}/chat/completions`.

    Args:
        address: Base URL, such as http://localhost:8000/v1.
        model: Name of the model there; empty for the only one that the server has.
        key: API key; empty where the server wants none.
        timeout_s: Longest wait for an answer, s.
        max_output_tokens: Longest answer.
    """

    def __init__(
        self, address: str, model: str = "", key: str = "", timeout_s: float = 120.0, max_output_tokens: int = 16_000
    ) -> None:
        self.service = Service("The model server", address, model or "its model", KEY_NAME, key)
        self._model = model
        self._timeout_s = timeout_s
        self._max_output_tokens = max_output_tokens
        self._enforces_schema = True
        self._client: OpenAI | None = None
        self._connections = OpenConnections()

    def send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        """Send and wait; without a schema where the server takes none.

        Raises:
            ModelError: There is no answer.
        """
        if not self._model:
            self._model = self._only_model()
        if self._enforces_schema:
            try:
                return self._send(conversation, response_type)
            except SchemaRefused:
                self._enforces_schema = False
        return self._send(conversation, response_type)

    def check(self) -> None:
        """Ask for the list of models.

        Raises:
            ModelUnavailable: The server is not there, or has no such model.
        """
        names = self._names()
        if self._model and names and self._model not in names:
            raise ModelUnavailable(f"{self.service.address} has no model {self._model!r}; there are: {_list(names)}.")

    def _only_model(self) -> str:
        names = self._names()
        if len(names) == 1:
            return names[0]
        there = f"has {len(names)} models ({_list(names)})" if names else "lists no model"
        raise ModelUnavailable(f"{self.service.address} {there}. Name one: --model {self.service.address}#NAME")

    def _names(self) -> list[str]:
        import openai

        with translated(openai, self.service):
            raw = self._connect().models.with_raw_response.list(extra_headers=self._headers())
        return [model.id for model in read_answer(raw.http_response.content, _Models, self.service).data]

    def cut(self) -> None:
        """End what another thread is waiting for."""
        self._connections.cut()

    def _send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        import openai

        request = self.request(conversation, response_type)
        with translated(openai, self.service):
            raw = self._connect().chat.completions.with_raw_response.create(**request, extra_headers=self._headers())
        return _reply(read_answer(raw.http_response.content, _Completion, self.service))

    def request(self, conversation: Conversation, response_type: type[Response]) -> dict[str, Any]:
        """Return the body of the request."""
        turns = [_turn(message) for message in conversation.messages]
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "system", "content": conversation.system}, *turns],
            "max_tokens": self._max_output_tokens,
        }
        if self._enforces_schema:
            name = response_type.__name__
            form = {"name": name, "schema": schema_for(response_type), "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return request

    def _headers(self) -> dict[str, Any]:
        """Return what takes the SDK's authorization away where the server wants no key."""
        import openai

        return {} if self.service.key else {"Authorization": openai.omit}

    def _connect(self) -> OpenAI:
        if self._client is None:
            import openai

            with translated(openai, self.service):
                self._client = openai.OpenAI(
                    api_key=self.service.key or "none",
                    base_url=self.service.address,
                    max_retries=0,
                    timeout=self._timeout_s,
                    http_client=openai.DefaultHttpxClient(**client_options(self._timeout_s, self._connections)),
                )
        return self._client


def _turn(message: Message) -> dict[str, Any]:
    """Write one turn; as plain text where it has no picture, since some servers take nothing else."""
    texts = [part.text for part in message.parts if not isinstance(part, Picture)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n\n".join(texts)}
    content = [
        {"type": "image_url", "image_url": {"url": data_url(part)}}
        if isinstance(part, Picture)
        else {"type": "text", "text": part.text}
        for part in message.parts
    ]
    return {"role": message.role, "content": content}


def _reply(completion: _Completion) -> Reply:
    usage = completion.usage or _Usage()
    details = usage.prompt_tokens_details or _PromptDetails()
    spent = Spent(usage.prompt_tokens, details.cached_tokens or 0, 0, usage.completion_tokens)
    if not completion.choices:
        return Reply("", spent=spent, request_id=completion.id)
    choice = completion.choices[0]
    content = choice.message.content or ""
    text = content if isinstance(content, str) else "".join(part.text for part in content if part.type == "text")
    refusal = choice.message.refusal or ""
    stop: Stop = "refusal" if refusal else _STOPS.get(choice.finish_reason, "end")
    return Reply(text, stop, spent, refusal, completion.id)


def _list(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

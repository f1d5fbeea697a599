"""Client for any server with OpenAI's chat completions API: vLLM, Ollama, llama.cpp, LM Studio, gateways.

Such servers differ in what they enforce and report, so requests use few features, and answers are not trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_s.errors import ModelError, ModelUnavailable
from agent_s.llm.conversation import Conversation, Message, Part, Picture, Reply, Stop
from agent_s.llm.providers.openai import data_url
from agent_s.llm.providers.retries import TransientError
from agent_s.llm.providers.sdk_client import Answer, AnswerT, SdkClient, nested
from agent_s.llm.providers.sdk_errors import Service
from agent_s.records import Usage
from agent_s.settings import RequestSettings

KEY_NAME = "AGENT_S_API_KEY"
_STOPS: dict[str | None, Stop] = {"length": "length", "content_filter": "filter"}


class _Part(Answer):
    type: str = "text"
    text: str = ""


class _Choice(Answer):
    content: str | tuple[_Part, ...] | None = nested(None, "message", "content")
    refusal: str | None = nested(None, "message", "refusal")
    finish_reason: str | None = None


class _Counts(Answer):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = nested(None, "prompt_tokens_details", "cached_tokens")


class _Completion(Answer):
    id: str = ""
    choices: tuple[_Choice, ...]
    usage: _Counts | None = None


class _Listed(Answer):
    id: str


class _Models(Answer):
    data: tuple[_Listed, ...]


class ServerClient(SdkClient):
    """A client of `{address}/chat/completions`.

    Args:
        address: Base URL, such as http://localhost:8000/v1.
        model: Name of the model; empty for a server with only one.
        key: API key; empty if the server needs none.
        timeout_s: Longest wait for an answer, s.
    """

    def __init__(self, address: str, model: str, key: str, timeout_s: float = 120.0) -> None:
        service = Service("The model server", address, model or "its model", KEY_NAME, key)
        super().__init__("openai", service, timeout_s)
        self._model = model

    @property
    def model(self) -> str:
        """Name of the model; by default, that of the only model that the server lists.

        Raises:
            ModelUnavailable: The server lists several models, or none.
        """
        if not self._model:
            names = self._names()
            if len(names) != 1:
                found = f"has {len(names)} models ({_list(names)})" if names else "lists no model"
                address = self.service.address
                raise ModelUnavailable(f"{address} {found}. Name one: --model {address}#NAME")
            self._model = names[0]
        return self._model

    def call(self, endpoint: Callable[[Any], Any], form: type[AnswerT], **request: Any) -> AnswerT:
        """Call a method of an endpoint; without the SDK's authorization if there is no key."""
        import openai

        headers = {} if self.service.key else {"Authorization": openai.omit}
        return super().call(endpoint, form, **request, extra_headers=headers)

    def check(self) -> None:
        """Check that the server lists the model, or else that a request for one token succeeds.

        Ollama lists names in a different form than it accepts, and `transformers serve` lists only downloaded models,
        or reports an error if there are none.

        Raises:
            ModelUnavailable: The server is not available, or has no such model.
        """
        names: list[str] = []
        try:
            names = self._names()
            answers = not self._model or not names or self._model in names
        except TransientError:
            if not self._model:
                raise
            answers = False
        if answers:
            return
        request = {"model": self._model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
        try:
            exchange(self, request)
        except TransientError:
            raise
        except ModelError as error:
            listed = f" It lists: {_list(names)}." if names else ""
            raise ModelUnavailable(f"{error}{listed}") from error

    def _names(self) -> list[str]:
        return [model.id for model in self.call(lambda sdk: sdk.models.with_raw_response.list, _Models).data]


def send(
    client: SdkClient, settings: RequestSettings, conversation: Conversation, schema: dict[str, Any] | None
) -> Reply:
    """Send a conversation and read the answer; a `provider.Send`."""
    turns = [_turn(message) for message in conversation.messages]
    request: dict[str, Any] = {
        "model": client.model,
        "messages": [{"role": "system", "content": conversation.system}, *turns],
        "max_tokens": settings.max_output_tokens,
    }
    if schema is not None:
        form = {"name": "answer", "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": form}
    if settings.effort is not None:
        request["reasoning_effort"] = settings.effort
    if settings.thinking is not None:
        request["extra_body"] = {"chat_template_kwargs": {"enable_thinking": settings.thinking}}
    return exchange(client, request)


def exchange(client: SdkClient, request: Mapping[str, Any]) -> Reply:
    """Send a request and read the answer.

    Raises:
        SchemaRefused: The server supports no schemas.
        TransientError: A retry may work.
        ModelError: A retry will not.
    """
    completion = client.call(lambda sdk: sdk.chat.completions.with_raw_response.create, _Completion, **request)
    counts = completion.usage or _Counts()
    usage = Usage(
        input_tokens=counts.prompt_tokens,
        cached_tokens=counts.cached_tokens or 0,
        output_tokens=counts.completion_tokens,
    )
    if not completion.choices:
        return Reply("", usage=usage, request_id=completion.id)
    choice = completion.choices[0]
    content = choice.content or ""
    text = content if isinstance(content, str) else "".join(part.text for part in content if part.type == "text")
    refusal = choice.refusal or ""
    stop: Stop = "refusal" if refusal else _STOPS.get(choice.finish_reason, "end")
    return Reply(text, stop, usage, refusal, completion.id)


def _turn(message: Message) -> dict[str, Any]:
    """Return one turn; as plain text if it has no picture, since some servers accept nothing else."""
    texts = [part.text for part in message.parts if not isinstance(part, Picture)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n\n".join(texts)}
    return {"role": message.role, "content": [as_content(part) for part in message.parts]}


def as_content(part: Part) -> dict[str, Any]:
    """Return a part of a turn in the wire format."""
    if isinstance(part, Picture):
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return {"type": "text", "text": part.text}


def _list(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

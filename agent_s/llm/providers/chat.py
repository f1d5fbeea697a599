"""Any server with OpenAI's chat completions: vLLM, Ollama, llama.cpp, LM Studio, gateways.

Such servers differ in what they enforce and report, so requests use few features and answers are not trusted.
"""

from __future__ import annotations

from typing import Any

from agent_s.errors import ModelUnavailable
from agent_s.llm.conversation import Conversation, Message, Picture, Reply, Stop
from agent_s.llm.protocol import Response
from agent_s.llm.providers.openai import data_url
from agent_s.llm.providers.structured import schema_for
from agent_s.llm.providers.wire import Answer, SdkWire, Service, read_answer
from agent_s.records import Usage

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


class _Counts(Answer):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Completion(Answer):
    id: str = ""
    choices: tuple[_Choice, ...]
    usage: _Counts | None = None


class _Listed(Answer):
    id: str


class _Models(Answer):
    data: tuple[_Listed, ...]


class ChatWire(SdkWire):
    """Carries conversations to `POST {address}/chat/completions`.

    Args:
        address: Base URL, such as http://localhost:8000/v1.
        model: Name of the model; empty for a server with only one.
        key: API key; empty if the server needs none.
        timeout_s: Longest wait for an answer, s.
        max_output_tokens: Maximum length of an answer.
    """

    sdk = "openai"
    client_class = "OpenAI"

    def __init__(
        self, address: str, model: str = "", key: str = "", timeout_s: float = 120.0, max_output_tokens: int = 16_000
    ) -> None:
        service = Service("The model server", address, model or "its model", KEY_NAME, key)
        super().__init__(service, timeout_s=timeout_s, max_output_tokens=max_output_tokens)
        self._model = model

    def check(self) -> None:
        """Ask for the list of models.

        Raises:
            ModelUnavailable: The server is not available, or has no such model.
        """
        names = self._names()
        if self._model and names and self._model not in names:
            raise ModelUnavailable(f"{self.service.address} has no model {self._model!r}; there are: {_list(names)}.")

    def exchange(self, request: dict[str, Any]) -> Reply:
        """Send a request and read the answer."""
        completion = self.call(
            lambda client: client.chat.completions, _Completion, **request, extra_headers=self._headers()
        )
        counts = completion.usage or _Counts()
        details = counts.prompt_tokens_details or _PromptDetails()
        usage = Usage(
            input_tokens=counts.prompt_tokens,
            cached_tokens=details.cached_tokens or 0,
            output_tokens=counts.completion_tokens,
        )
        if not completion.choices:
            return Reply("", usage=usage, request_id=completion.id)
        choice = completion.choices[0]
        content = choice.message.content or ""
        text = content if isinstance(content, str) else "".join(part.text for part in content if part.type == "text")
        refusal = choice.message.refusal or ""
        stop: Stop = "refusal" if refusal else _STOPS.get(choice.finish_reason, "end")
        return Reply(text, stop, usage, refusal, completion.id)

    def request(self, conversation: Conversation, response_type: type[Response]) -> dict[str, Any]:
        """Return the body of the request."""
        self._model = self._model or self._only_model()
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

    def _only_model(self) -> str:
        names = self._names()
        if len(names) == 1:
            return names[0]
        found = f"has {len(names)} models ({_list(names)})" if names else "lists no model"
        raise ModelUnavailable(f"{self.service.address} {found}. Name one: --model {self.service.address}#NAME")

    def _names(self) -> list[str]:
        with self.translated():
            raw = self.client.models.with_raw_response.list(extra_headers=self._headers())
        return [model.id for model in read_answer(raw.http_response.content, _Models, self.service).data]

    def _headers(self) -> dict[str, Any]:
        """Return headers that remove the SDK's authorization if there is no key."""
        import openai

        return {} if self.service.key else {"Authorization": openai.omit}


def _turn(message: Message) -> dict[str, Any]:
    """Return one turn; as plain text if it has no picture, since some servers accept nothing else."""
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


def _list(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")

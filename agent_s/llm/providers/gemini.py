"""Google's Gemini API, through the official SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from agent_s.errors import ModelError
from agent_s.llm.conversation import Conversation, Message, Part, Picture, Reply, Stop
from agent_s.llm.providers.sdk_client import Answer, AnswerT, SdkClient, nested
from agent_s.llm.providers.sdk_errors import Failure, Service, connection_error, status_error
from agent_s.records import Usage
from agent_s.settings import RequestSettings

ADDRESS = "https://generativelanguage.googleapis.com"
VERSION = "v1beta"
_FILTERS = ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT", "MODEL_ARMOR")  # fmt: skip
_STOPS: dict[str | None, Stop] = {"MAX_TOKENS": "length", **{reason: "filter" for reason in _FILTERS}}
_RETRY = "type.googleapis.com/google.rpc.RetryInfo"


class CamelAnswer(Answer):
    """Base of Google's formats."""

    model_config = ConfigDict(alias_generator=to_camel)


class _Part(CamelAnswer):
    text: str = ""
    thought: bool = False


class Candidate(CamelAnswer):
    """A candidate answer; only the first one is used."""

    parts: tuple[_Part, ...] = nested((), "content", "parts")
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The text, without thoughts."""
        return "".join(part.text for part in self.parts if not part.thought)


class Counts(CamelAnswer):
    """The token counts of an answer."""

    prompt_token_count: int = 0
    cached_content_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0
    tool_use_prompt_token_count: int = 0

    def as_usage(self, searches: int = 0) -> Usage:
        """Return the counts, with thoughts included in the output."""
        return Usage(
            input_tokens=self.prompt_token_count + self.tool_use_prompt_token_count,
            cached_tokens=self.cached_content_token_count,
            output_tokens=self.candidates_token_count + self.thoughts_token_count,
            searches=searches,
        )


class _Response(CamelAnswer):
    response_id: str = ""
    candidates: tuple[Candidate, ...] = ()
    block_reason: str | None = nested(None, "promptFeedback", "blockReason")
    usage_metadata: Counts  # always present, which distinguishes it from responses of other servers


class GeminiClient(SdkClient):
    """A client of the Gemini API."""

    def __init__(self, service: Service, timeout_s: float = 120.0) -> None:
        super().__init__("google.genai", service, timeout_s)

    def call(self, endpoint: Callable[[Any], Any], form: type[AnswerT], **request: Any) -> AnswerT:
        """Call a method of an endpoint and read the answer; see `SdkClient.call`."""
        import httpx

        errors = self._sdk.errors
        try:
            raw = endpoint(self._client)(**request)
        except errors.APIError as error:
            raise status_error(_failure(error), self.service) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            late = isinstance(error, httpx.TimeoutException)
            raise connection_error(error, self.service, late) from None
        except (UnicodeError, ValueError) as error:
            raise ModelError(self.service.tidy(f"{self.service.name}: {error}")) from None
        return self._read(raw.sdk_http_response.body or "", form)

    def check(self) -> None:
        """Check that provider, key and model are available, without a request to the model."""
        self.call(lambda sdk: lambda: _Checked(sdk.models.get(model=self.model)), Answer)

    @cached_property
    def _client(self) -> Any:
        import httpx

        options = self._http_options("httpx")
        return self._sdk.Client(
            api_key=self.service.key,
            vertexai=False,
            http_options=self._sdk.types.HttpOptions(
                base_url=self.service.address,
                api_version=VERSION,
                httpx_client=httpx.Client(**options),
                timeout=int(self._timeout_s * 1000),
            ),
        )


class _Checked:
    """A description of a model, in the shape of an answer."""

    body = "{}"

    def __init__(self, _: object) -> None:
        self.sdk_http_response = self


def send(
    client: SdkClient, settings: RequestSettings, conversation: Conversation, schema: dict[str, Any] | None
) -> Reply:
    """Send a conversation and read the answer; a `provider.Send`."""
    config: dict[str, Any] = {
        "system_instruction": conversation.system,
        "max_output_tokens": settings.max_output_tokens,
        "response_mime_type": "application/json",
        "should_return_http_response": True,
    }
    if schema is not None:
        config["response_json_schema"] = schema
    if settings.thinking is False:  # the API takes either a budget or a level
        config["thinking_config"] = {"thinkingBudget": 0}
    elif settings.effort is not None:
        config["thinking_config"] = {"thinkingLevel": settings.effort.upper()}
    response = client.call(
        lambda sdk: sdk.models.generate_content,
        _Response,
        model=client.model,
        contents=[_content(message) for message in conversation.messages],
        config=config,
    )
    usage, identity = response.usage_metadata.as_usage(), response.response_id
    if not response.candidates:
        stop: Stop = "filter" if response.block_reason else "end"
        return Reply("", stop, usage, response.block_reason or "", identity)
    first = response.candidates[0]
    stop = _STOPS.get(first.finish_reason, "end")
    reason = "" if first.finish_reason in (None, "STOP", "MAX_TOKENS") else first.finish_reason
    return Reply(first.text, stop, usage, reason, identity)


def _content(message: Message) -> dict[str, Any]:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        return {"inline_data": {"mime_type": part.media_type, "data": part.data}}
    return {"text": part.text}


def _failure(error: Any) -> Failure:
    """Convert an error of the SDK; the requested wait is in the body."""
    headers: Mapping[str, str] = error.response.headers if error.response is not None else {}
    body = error.details if isinstance(error.details, Mapping) else {}
    inner = body.get("error", body)
    details = inner.get("details", ()) if isinstance(inner, Mapping) else ()
    infos = [one for one in details if isinstance(one, Mapping) and one.get("@type") == _RETRY]
    waits = [str(info.get("retryDelay", "")) for info in infos]
    if waits and "retry-after" not in headers:
        headers = {**headers, "retry-after": waits[0].removesuffix("s")}
    return Failure(int(error.code), body or {"message": json.dumps(error.details)}, headers, str(error))

"""A client of a provider's SDK whose answers are bounded, typed and cancellable.

The SDKs of Anthropic and OpenAI have the same shape, so one class serves them.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from types import ModuleType
from typing import Any, Literal, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from agent_s.llm.providers.cancellation import OpenConnections
from agent_s.llm.providers.retries import TransientError
from agent_s.llm.providers.sdk_errors import MAX_MESSAGE, Service, translated

MAX_ANSWER_BYTES = 8_000_000


class Answer(BaseModel):
    """Base of the wire formats; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def nested(default: Any, *path: str) -> Any:
    """Return the field of an `Answer` that is nested inside others, with a default if one of them is absent."""
    return Field(default, validation_alias=AliasPath(path[0], *path[1:]))


AnswerT = TypeVar("AnswerT", bound=Answer)


class SdkClient:
    """Exchanges requests and answers with a provider."""

    def __init__(
        self,
        sdk: Literal["anthropic", "openai", "google.genai"],
        service: Service,
        timeout_s: float = 120.0,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.service = service
        self._sdk_name = sdk
        self._timeout_s = timeout_s
        self._arguments = arguments or {}
        self._connections = OpenConnections()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.service.model

    def call(self, endpoint: Callable[[Any], Any], form: type[AnswerT], **request: Any) -> AnswerT:
        """Call a method of an endpoint, such as `lambda sdk: sdk.messages.create`, and read the answer.

        Raises:
            TransientError: A retry may work, as when the answer is the page of a proxy.
            ModelError: A retry will not.
        """
        with translated(self._sdk, self.service):
            raw = endpoint(self._client)(**request)
        return self._read(raw.http_response.content, form)

    def _read(self, content: bytes | str, form: type[AnswerT]) -> AnswerT:
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            text = content if isinstance(content, str) else content[:MAX_MESSAGE].decode(errors="replace")
            raise TransientError(
                f"{self.service} answers, but not in its own format: {self.service.tidy(text)} Check the address, and "
                "that no proxy answers instead.",
                max_tries=3,
            ) from error

    def check(self) -> None:
        """Check that the provider, the key and the model are available, without a request to the model.

        Raises:
            ModelUnavailable: Something is not available; the message suggests a fix.
        """
        self.call(lambda sdk: partial(sdk.models.with_raw_response.retrieve, self.model), Answer)

    def cancel(self) -> None:
        """Cancel the calls that other threads are waiting for; they get a `TransientError`."""
        self._connections.cancel()

    @cached_property
    def _sdk(self) -> ModuleType:
        return importlib.import_module(self._sdk_name)

    @cached_property
    def _client(self) -> Any:
        make = self._sdk.Anthropic if self._sdk_name == "anthropic" else self._sdk.OpenAI
        with translated(self._sdk, self.service):
            return make(
                api_key=self.service.key or "none",
                base_url=self.service.address,
                max_retries=0,
                timeout=self._timeout_s,
                http_client=self._sdk.DefaultHttpxClient(**self._http_options()),
                **self._arguments,
            )

    def _http_options(self, library: str = "httpx2") -> dict[str, Any]:
        """Return the options of the HTTP client; redirects are not followed, since they could leak the key.

        Args:
            library: The client's library: httpx, or its successor httpx2.
        """
        http, limit_s = importlib.import_module(library), self._timeout_s
        return {
            "follow_redirects": False,
            "timeout": http.Timeout(limit_s, connect=min(10.0, limit_s)),
            "event_hooks": {
                "request": [self._connections.track],
                "response": [lambda response: _bound(http, response, limit_s)],
            },
        }


def _bound(http: Any, response: Any, limit_s: float) -> None:
    """Limit the size and the duration of a response body; `http` is the client's library."""

    class Bounded(http.SyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            ends, size = time.monotonic() + limit_s, 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    raise http.ReadError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
                if time.monotonic() > ends:
                    raise http.ReadTimeout("the answer does not end")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    if isinstance(response.stream, http.SyncByteStream):
        response.stream = Bounded(response.stream)

"""The common part of all providers: one SDK client, bounds on an answer, and the translation of errors.

Both SDKs have the same shape, so one class and one translation serve them. No error that is raised here holds a key.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_s.errors import ModelError, ModelRefused, ModelUnavailable, ResponseCutOff
from agent_s.llm.conversation import Conversation, Reply
from agent_s.llm.protocol import Response
from agent_s.llm.providers.cancellation import OpenConnections
from agent_s.llm.providers.retries import TransientError, retry_after_s

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 8_000_000
MAX_MESSAGE = 300
"""Characters of a server's error message that are passed on."""

Effort = Literal["low", "medium", "high"]

_ACCOUNT_USED_UP = frozenset(("insufficient_quota", "billing_hard_limit_reached", "enforced_spend_limit_reached"))
"""Error codes of status 429 that waiting does not fix."""
_NO_VISION = re.compile(r"image|vision|multimodal|multi-modal|mmproj", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"too long|context.{0,12}(length|window|size)|maximum.{0,20}tokens|exceed.{0,20}context", re.IGNORECASE
)
_NO_SCHEMA = re.compile(
    r"output_config|output format|response_format|json_schema|structured output|grammar", re.IGNORECASE
)


class Wire(Protocol):
    """Carries one conversation to a provider and its answer back."""

    def send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        """Send and wait.

        Raises:
            TransientError: A retry may work.
            ModelError: A retry will not.
        """
        ...

    def check(self) -> None:
        """Check that provider, key and model are available, without a request to the model.

        Raises:
            ModelUnavailable: They are not; the message suggests a fix.
        """
        ...

    def cancel(self) -> None:
        """Cancel the requests that other threads are waiting for; they get a `TransientError`."""
        ...


class SchemaRefused(ModelError):
    """The server does not support schemas; the same request may work without one."""


@dataclass(frozen=True, slots=True)
class Service:
    """A provider's service.

    Attributes:
        name: Such as "Anthropic".
        address: Base URL.
        model: Name of the model.
        key_name: Environment variable of the key.
        key: The key; empty if none is needed.
    """

    name: str
    address: str
    model: str
    key_name: str
    key: str = field(repr=False)


AnswerT = TypeVar("AnswerT", bound="Answer")


class SdkWire:
    """Base of the wires that use a provider's SDK.

    Args:
        service: The provider's service.
        timeout_s: Longest wait for an answer, s.
        max_output_tokens: Maximum length of an answer, including reasoning.
        effort: Reasoning effort; None for the model's default.
    """

    sdk: ClassVar[Literal["anthropic", "openai"]]
    client_class: ClassVar[str]
    client_arguments: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        service: Service,
        *,
        timeout_s: float = 120.0,
        max_output_tokens: int = 16_000,
        effort: Effort | None = None,
    ) -> None:
        self.service = service
        self._timeout_s = timeout_s
        self._max_output_tokens = max_output_tokens
        self._effort = effort
        self._enforces_schema = True
        self._connections = OpenConnections()

    def request(self, conversation: Conversation, response_type: type[Response]) -> dict[str, Any]:
        """Return the body of the request."""
        raise NotImplementedError

    def exchange(self, request: dict[str, Any]) -> Reply:
        """Send a request and read the answer."""
        raise NotImplementedError

    def send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        """Send and wait; without a schema if the model does not support it.

        Raises:
            ModelError: There is no answer.
        """
        try:
            return self.exchange(self.request(conversation, response_type))
        except SchemaRefused:
            if not self._enforces_schema:
                raise
            self._enforces_schema = False
            return self.exchange(self.request(conversation, response_type))

    def check(self) -> None:
        """Ask for the description of the model.

        Raises:
            ModelUnavailable: Provider, key or model is not available.
        """
        with self.translated():
            self.client.models.with_raw_response.retrieve(self.service.model)

    def cancel(self) -> None:
        """Cancel the requests that other threads are waiting for."""
        self._connections.cancel()

    def call(self, endpoint: Callable[[Any], Any], form: type[AnswerT], **request: Any) -> AnswerT:
        """Send a request to an endpoint of the client, such as `lambda client: client.messages`, and read the answer.

        Raises:
            ModelError: There is no usable answer.
        """
        with self.translated():
            raw = endpoint(self.client).with_raw_response.create(**request)
        return read_answer(raw.http_response.content, form, self.service)

    def translated(self) -> AbstractContextManager[None]:
        """Translate the SDK's errors in a `with` block; see `translated`."""
        return translated(importlib.import_module(self.sdk), self.service)

    @cached_property
    def client(self) -> Any:
        """The SDK's client."""
        sdk = importlib.import_module(self.sdk)
        with translated(sdk, self.service):
            return getattr(sdk, self.client_class)(
                api_key=self.service.key or "none",
                base_url=self.service.address,
                max_retries=0,
                timeout=self._timeout_s,
                http_client=sdk.DefaultHttpxClient(**client_options(self._timeout_s, self._connections)),
                **self.client_arguments,
            )


class Answer(BaseModel):
    """Base of the wire formats; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def read_answer(body: bytes, form: type[AnswerT], service: Service) -> AnswerT:
    """Read the body of an answer.

    Raises:
        TransientError: It is not in the provider's format, such as the page of a proxy.
    """
    try:
        return form.model_validate_json(body)
    except ValidationError as error:
        raise TransientError(
            f"{service.name} at {service.address} does not answer in its own format. Is there a proxy between?",
            max_tries=3,
        ) from error


def client_options(timeout_s: float, connections: OpenConnections) -> dict[str, Any]:
    """Return the options of an HTTP client whose answers are bounded in size and time.

    Redirects are not followed, since they could carry the key elsewhere.

    Args:
        timeout_s: Longest wait for the first byte of an answer, and from there to its end, s.
        connections: Tracks the client's connections.
    """
    import httpx2

    return {
        "follow_redirects": False,
        "timeout": httpx2.Timeout(timeout_s, connect=min(10.0, timeout_s)),
        "event_hooks": {"request": [connections.track], "response": [lambda response: _bound(response, timeout_s)]},
    }


def _bound(response: httpx2.Response, timeout_s: float) -> None:
    """Bound the stream of an answer in size and time."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            ends, size = time.monotonic() + timeout_s, 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    raise httpx2.ReadError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
                if time.monotonic() > ends:
                    raise httpx2.ReadTimeout("the answer does not end")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Bounded(response.stream)


@contextmanager
def translated(sdk: ModuleType, service: Service) -> Iterator[None]:
    """Translate the errors of an SDK into those of this package; without causes, which may repeat the key."""
    try:
        yield
    except sdk.APIStatusError as error:
        raise _status_fault(error, service) from None
    except sdk.APITimeoutError:
        raise TransientError(
            f"{service.name} at {service.address} did not answer in time (provider.timeout_s).", max_tries=2
        ) from None
    except sdk.APIConnectionError as error:
        raise _connection_fault(error, service) from None
    except (sdk.APIError, UnicodeError, ValueError) as error:
        raise ModelUnavailable(f"{service.name}: {_tidy(str(error), service)}") from None


def _connection_fault(error: Exception, service: Service) -> ModelError:
    cause = error.__cause__
    detail = _tidy(str(cause or error), service)
    where = f"{service.name} at {service.address}"
    if "CERTIFICATE" in detail.upper():
        return ModelUnavailable(
            f"The certificate of {where} is not accepted: {detail}. Check this machine's clock, and for a proxy in "
            "between."
        )
    if "larger than" in detail:
        return ModelError(f"{where}: {detail}.")
    if type(cause).__name__ == "ProxyError":
        return ModelUnavailable(f"The proxy in front of {where} refuses: {detail}. Check HTTPS_PROXY and NO_PROXY.")
    return TransientError(
        f"{where} cannot be reached: {detail or 'connection lost'}. Check the network and the address; a proxy is "
        "taken from HTTPS_PROXY."
    )


def _status_fault(error: Any, service: Service) -> ModelError:
    """Return the error for an HTTP status, with a fix."""
    status = int(error.status_code)
    said = _tidy(_message(error.body) or str(error), service)
    headers: Mapping[str, str] = error.response.headers
    if status in (408, 409, 429) or status >= 500:
        return _busy(status, said, headers, _code(error.body), service)
    where = f"{service.name} at {service.address}"
    match status:
        case 401 | 403:
            refused = f"{service.name} refuses the key (HTTP {status}: {said})."
            return ModelUnavailable(f"{refused} Set {service.key_name} to one that is valid for {service.model}.")
        case 402:
            return ModelUnavailable(f"{service.name} requires payment (HTTP 402: {said}).")
        case 404:
            return ModelUnavailable(
                f"{where} has no model {service.model!r} (HTTP 404: {said}). Check the name and the address."
            )
        case 407:
            return ModelUnavailable(f"The proxy in front of {where} requires a password. Set it in HTTPS_PROXY.")
        case 413:
            return ResponseCutOff(f"{where} rejects a request of this size. Lower provider.max_pictures.")
        case 300 | 301 | 302 | 303 | 307 | 308:
            return ModelUnavailable(f"{where} redirects (HTTP {status}). Set the final address.")
    return _rejected(status, said, service)


def _busy(status: int, said: str, headers: Mapping[str, str], code: str, service: Service) -> ModelError:
    if status == 429 and code in _ACCOUNT_USED_UP:
        return ModelUnavailable(f"The account at {service.name} is used up (HTTP 429: {said}). Raise its limit.")
    if headers.get("x-should-retry") == "false":
        return ModelUnavailable(f"{service.name} is not available (HTTP {status}: {said}).")
    words = {429: "limits the rate", 529: "is overloaded"}.get(status, "has trouble")
    return TransientError(f"{service.name} {words} (HTTP {status}: {said}).", retry_after_s(headers))


def _rejected(status: int, said: str, service: Service) -> ModelError:
    """Return the error for a rejected request, as far as the server's message explains it."""
    message = f"{service.name} rejects the request for {service.model} (HTTP {status}: {said})."
    if _NO_SCHEMA.search(said):
        return SchemaRefused(message)
    if _TOO_LONG.search(said):
        return ResponseCutOff(f"{message} The conversation is too long; lower limits.max_subtask_steps.")
    if _NO_VISION.search(said):
        return ModelUnavailable(f"{message} For a model without vision, set provider.max_pictures to 0.")
    if re.search(r"credit|billing|quota", said, re.IGNORECASE):
        return ModelUnavailable(message)
    if re.search(r"content.{0,3}(filter|policy|management)|safety", said, re.IGNORECASE):
        return ModelRefused(message)
    return ModelError(message)


def _tidy(text: str, service: Service) -> str:
    """Return a foreign message as one short line without the key."""
    if service.key:
        text = text.replace(service.key, "[key]")
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]}..."


def _fields(body: object) -> Mapping[str, Any]:
    """Return the description in an error's body, which some servers nest."""
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error", body)
    return inner if isinstance(inner, Mapping) else {"message": inner}


def _message(body: object) -> str:
    return str(_fields(body).get("message") or (body if isinstance(body, str) else ""))


def _code(body: object) -> str:
    fields = _fields(body)
    details = fields.get("details")
    inner = details.get("error_code") if isinstance(details, Mapping) else None
    return str(inner or fields.get("code") or fields.get("type") or "")

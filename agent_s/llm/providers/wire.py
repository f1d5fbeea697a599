"""What the providers' wires have in common: bounds on an answer, and what each fault on the way means.

Both SDKs raise errors of the same shape, so one translation serves them. Nothing that is raised here holds a key.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_s.errors import ModelError, ModelRefused, ModelUnavailable, ResponseCutOff
from agent_s.llm.protocol import Response
from agent_s.llm.providers.connections import OpenConnections
from agent_s.llm.providers.conversation import Conversation, Reply
from agent_s.llm.providers.retries import PassingFault, retry_after_s

if TYPE_CHECKING:
    import httpx2

LARGEST_ANSWER = 8_000_000
"""Bytes; nothing that is asked for comes near it."""
LONGEST_MESSAGE = 300
"""Characters of what a server says that are passed on."""

_SPENT = frozenset(("insufficient_quota", "billing_hard_limit_reached", "enforced_spend_limit_reached"))
"""Error codes under 429 that no waiting mends."""
_NO_SIGHT = re.compile(r"image|vision|multimodal|multi-modal|mmproj", re.IGNORECASE)
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
            PassingFault: It may work the next time.
            ModelError: It will not.
        """
        ...

    def check(self) -> None:
        """Find out whether provider, key and model are there, without asking the model anything.

        Raises:
            ModelUnavailable: They are not; the message names the mend.
        """
        ...

    def cut(self) -> None:
        """End what another thread is waiting for; it gets a `PassingFault`. What is sent later is not concerned."""
        ...


class SchemaRefused(ModelError):
    """The server does not enforce schemas; the same request may work without one."""


@dataclass(frozen=True, slots=True)
class Service:
    """Who is talked to, for messages.

    Attributes:
        name: Such as "Anthropic".
        address: Base URL.
        model: Name of the model.
        key_name: Where the key comes from.
        key: The key; only held to keep it out of messages.
    """

    name: str
    address: str
    model: str
    key_name: str
    key: str = field(repr=False)


class Answer(BaseModel):
    """What the models of wire formats share: fields that are not needed are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


AnswerT = TypeVar("AnswerT", bound=Answer)


def read_answer(body: bytes, form: type[AnswerT], service: Service) -> AnswerT:
    """Read the body of an answer.

    Raises:
        PassingFault: It is not in the form that the provider promises, as pages of proxies are not.
    """
    try:
        return form.model_validate_json(body)
    except ValidationError as error:
        raise PassingFault(
            f"{service.name} at {service.address} does not answer in its own format. Is there a proxy between?",
            most_tries=3,
        ) from error


def client_options(timeout_s: float, connections: OpenConnections) -> dict[str, Any]:
    """Return the options of an HTTP client whose answers are bounded in size and time.

    Redirects are not followed: they would carry the key to wherever they point.

    Args:
        timeout_s: Longest wait for the first byte of an answer, and longest time from there to its end, s.
        connections: Can cut those of the client.
    """
    import httpx2

    return {
        "follow_redirects": False,
        "timeout": httpx2.Timeout(timeout_s, connect=min(10.0, timeout_s)),
        "event_hooks": {"request": [connections.follow], "response": [lambda response: _bound(response, timeout_s)]},
    }


def _bound(response: httpx2.Response, timeout_s: float) -> None:
    """Replace the stream of an answer by one that ends in time."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            ends, size = time.monotonic() + timeout_s, 0
            for chunk in self._stream:
                size += len(chunk)
                if size > LARGEST_ANSWER:
                    raise httpx2.ReadError(f"the answer is larger than {LARGEST_ANSWER} bytes")
                if time.monotonic() > ends:
                    raise httpx2.ReadTimeout("the answer does not end")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Bounded(response.stream)


@contextmanager
def translated(sdk: ModuleType, service: Service) -> Iterator[None]:
    """Turn what an SDK raises into the errors of this package.

    The causes are left out on purpose: a server may repeat the key in its error.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        raise _status_fault(error, service) from None
    except sdk.APITimeoutError:
        raise PassingFault(
            f"{service.name} at {service.address} did not answer in time (provider.timeout_s).", most_tries=2
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
            f"The certificate of {where} is not accepted: {detail}. Check this machine's clock, and whether a proxy "
            "stands between."
        )
    if "larger than" in detail:
        return ModelError(f"{where}: {detail}.")
    if type(cause).__name__ == "ProxyError":
        return ModelUnavailable(f"The proxy before {where} refuses: {detail}. Check HTTPS_PROXY and NO_PROXY.")
    return PassingFault(
        f"{where} cannot be reached: {detail or 'connection lost'}. Check the network and the address; a proxy is "
        "taken from HTTPS_PROXY."
    )


def _status_fault(error: Any, service: Service) -> ModelError:
    """Say what a status of HTTP means, and what mends it."""
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
            return ModelUnavailable(f"{service.name} wants to be paid first (HTTP 402: {said}).")
        case 404:
            return ModelUnavailable(
                f"{where} has no model {service.model!r} (HTTP 404: {said}). Check the name and the address."
            )
        case 407:
            return ModelUnavailable(f"The proxy before {where} wants a password. Set it in HTTPS_PROXY.")
        case 413:
            return ResponseCutOff(f"{where} takes no request this large. Set provider.max_pictures lower.")
        case 300 | 301 | 302 | 303 | 307 | 308:
            return ModelUnavailable(f"{where} sends elsewhere (HTTP {status}). Give the address itself.")
    return _rejected(status, said, service)


def _busy(status: int, said: str, headers: Mapping[str, str], code: str, service: Service) -> ModelError:
    if status == 429 and code in _SPENT:
        return ModelUnavailable(f"The account at {service.name} is used up (HTTP 429: {said}). Raise its limit.")
    if headers.get("x-should-retry") == "false":
        return ModelUnavailable(f"{service.name} is not available (HTTP {status}: {said}).")
    words = {429: "limits the rate", 529: "is overloaded"}.get(status, "has trouble")
    return PassingFault(f"{service.name} {words} (HTTP {status}: {said}).", retry_after_s(headers))


def _rejected(status: int, said: str, service: Service) -> ModelError:
    """Find out why a request is not accepted, as far as what the server says tells it."""
    told = f"{service.name} rejects the request for {service.model} (HTTP {status}: {said})."
    if _NO_SCHEMA.search(said):
        return SchemaRefused(told)
    if _TOO_LONG.search(said):
        return ResponseCutOff(f"{told} What it is sent is longer than it can read; set limits.max_subtask_steps lower.")
    if _NO_SIGHT.search(said):
        return ModelUnavailable(f"{told} For a model that takes no pictures set provider.max_pictures to 0.")
    if re.search(r"credit|billing|quota", said, re.IGNORECASE):
        return ModelUnavailable(told)
    if re.search(r"content.{0,3}(filter|policy|management)|safety", said, re.IGNORECASE):
        return ModelRefused(told)
    return ModelError(told)


def _tidy(text: str, service: Service) -> str:
    """Return what somebody else says as one short line without the key."""
    if service.key:
        text = text.replace(service.key, "[key]")
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}..."


def _fields(body: object) -> Mapping[str, Any]:
    """Return the part of an error's body that describes it; servers nest it or do not."""
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

"""Translation of SDK errors into errors of this package, with a fix in each message and without API keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from agent_s.errors import ModelError, ModelRefused, ModelUnavailable, ResponseCutOff
from agent_s.llm.providers.retries import TransientError, retry_after_s

MAX_MESSAGE = 300  # maximum number of characters of a server's error message

_ACCOUNT_USED_UP = frozenset(("insufficient_quota", "billing_hard_limit_reached", "enforced_spend_limit_reached"))
"""Error codes of status 429 that waiting does not fix."""
_NO_VISION = re.compile(r"image|vision|multimodal|multi-modal|mmproj", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"too long|context.{0,12}(length|window|size|limit)|exceed.{0,20}context|token count.{0,30}exceed", re.IGNORECASE
)
_NO_SCHEMA = re.compile(
    r"output_config|output format|response_format|response_?schema|json_schema|structured output|grammar|"
    r"schema is too complex|schemas? contains? too many",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"credit|billing|quota", re.IGNORECASE)
# settings of requests, by words in servers' messages that refuse their values
_REFUSED_SETTINGS = {
    "provider.effort": re.compile(r"\beffort\b|reasoning_effort|thinking_level|thinkingLevel", re.IGNORECASE),
    "provider.thinking": re.compile(r"\bthinking\b|thinking_budget|thinkingBudget", re.IGNORECASE),
    "provider.max_output_tokens": re.compile(r"max_(output_|completion_)?tokens|maxOutputTokens", re.IGNORECASE),
}
_WRONG_KEY = re.compile(r"api.?key not valid|invalid api.?key", re.IGNORECASE)
_FILTERED = re.compile(r"content.{0,3}(filter|policy|management)|safety", re.IGNORECASE)


class SchemaRefused(ModelError):
    """The server does not support schemas; the same request may work without one."""


@dataclass(frozen=True, slots=True)
class Service:
    """A provider's service."""

    name: str  # such as "Anthropic"
    address: str  # base URL
    model: str  # name of the model
    key_name: str  # environment variable of the key
    key: str = field(repr=False)  # the key; empty if none is needed

    def __str__(self) -> str:
        """Return name and address."""
        return f"{self.name} at {self.address}"

    def tidy(self, text: str) -> str:
        """Return a server's message as one short line without the key."""
        if self.key:
            text = text.replace(self.key, "[key]")
        line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
        return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]}..."


@dataclass(frozen=True, slots=True)
class Failure:
    """A response with an HTTP error status."""

    status: int
    body: object  # its body, as JSON
    headers: Mapping[str, str]
    text: str  # the SDK's message, if the body has none


@contextmanager
def translated(sdk: ModuleType, service: Service) -> Iterator[None]:
    """Translate SDK errors into errors of this package, without causes, which may contain the key."""
    try:
        yield
    except sdk.APIStatusError as error:
        failure = Failure(int(error.status_code), error.body, error.response.headers, str(error))
        raise status_error(failure, service) from None
    except sdk.APITimeoutError:
        raise _late(service) from None
    except sdk.APIConnectionError as error:
        raise connection_error(error.__cause__ or error, service) from None
    except (sdk.APIError, UnicodeError, ValueError) as error:
        raise ModelUnavailable(f"{service.name}: {service.tidy(str(error))}") from None


def connection_error(error: BaseException, service: Service, late: bool = False) -> ModelError:
    """Return the error for a lost connection, with a fix."""
    if late:
        return _late(service)
    detail = service.tidy(str(error)).rstrip(".")
    if "CERTIFICATE" in detail.upper():
        return ModelUnavailable(
            f"The certificate of {service} is not accepted: {detail}. Check this machine's clock, and for a proxy in "
            "between."
        )
    if "larger than" in detail:
        return ModelError(f"{service}: {detail}.")
    if type(error).__name__ == "ProxyError":
        return ModelUnavailable(f"The proxy in front of {service} refuses: {detail}. Check HTTPS_PROXY and NO_PROXY.")
    return TransientError(
        f"{service} cannot be reached: {detail or 'connection lost'}. Check the network and the address; a proxy is "
        "taken from HTTPS_PROXY."
    )


def _late(service: Service) -> TransientError:
    return TransientError(f"{service} did not answer in time (provider.timeout_s).", max_tries=2)


def status_error(failure: Failure, service: Service) -> ModelError:
    """Return the error for an HTTP status, with a fix."""
    status, name = failure.status, service.name
    fields = _fields(failure.body)
    said = service.tidy(str(fields.get("message") or fields.get("detail") or failure.text))
    if status in (408, 409, 429) or status >= 500:
        return _busy(status, said, failure.headers, _code(fields), name)
    if status == 400 and _WRONG_KEY.search(said):
        status = 401
    match status:
        case 401 | 403:
            refused = f"{name} refuses the key (HTTP {status}: {said})."
            return ModelUnavailable(f"{refused} Set {service.key_name} to one that is valid for {service.model}.")
        case 402:
            return ModelUnavailable(f"{name} requires payment (HTTP 402: {said}).")
        case 404:
            absent = f"{service} has no model {service.model!r} (HTTP 404: {said})."
            return ModelUnavailable(f"{absent} Check the name and the address.")
        case 407:
            return ModelUnavailable(f"The proxy in front of {service} requires a password. Set it in HTTPS_PROXY.")
        case 413:
            return ResponseCutOff(f"{service} rejects a request of this size. Lower provider.max_pictures.")
        case 300 | 301 | 302 | 303 | 307 | 308:
            return ModelUnavailable(f"{service} redirects (HTTP {status}). Set the final address.")
    return _rejected(f"{name} rejects the request for {service.model} (HTTP {status}: {said}).", said)


def _busy(status: int, said: str, headers: Mapping[str, str], code: str, name: str) -> ModelError:
    if status == 429 and code in _ACCOUNT_USED_UP:
        return ModelUnavailable(f"{name}: the account is used up (HTTP 429: {said}). Raise its limit.")
    if headers.get("x-should-retry") == "false":
        return ModelUnavailable(f"{name} is not available (HTTP {status}: {said}).")
    trouble = {429: "limits the rate", 529: "is overloaded"}.get(status, "reports a server error")
    return TransientError(f"{name} {trouble} (HTTP {status}: {said}).", retry_after_s(headers))


def _rejected(message: str, said: str) -> ModelError:
    """Return the error for a rejected request, as far as the server's message explains it."""
    for setting, words in _REFUSED_SETTINGS.items():
        if words.search(said) and not _TOO_LONG.search(said):
            return ModelUnavailable(f"{message} Change {setting}, or leave it out for the model's default.")
    if _NO_SCHEMA.search(said):
        return SchemaRefused(message)
    if _TOO_LONG.search(said):
        return ResponseCutOff(
            f"{message} The conversation is too long; lower limits.max_subtask_steps, or have "
            "the server allow a longer one."
        )
    if _NO_VISION.search(said):
        return ModelUnavailable(f"{message} For a model without vision, set provider.max_pictures to 0.")
    if _NO_CREDIT.search(said):
        return ModelUnavailable(message)
    return ModelRefused(message) if _FILTERED.search(said) else ModelError(message)


def _fields(body: object) -> Mapping[str, Any]:
    """Return the description in an error's body, which some servers nest or send as text."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    return inner if isinstance(inner, Mapping) else {"message": inner if isinstance(inner, str) else ""}


def _code(fields: Mapping[str, Any]) -> str:
    details = fields.get("details")
    inner = details.get("error_code") if isinstance(details, Mapping) else None
    return str(inner or fields.get("code") or fields.get("type") or "")

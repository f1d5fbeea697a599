"""One bounded HTTP exchange with a search engine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_s.errors import SearchError, SettingsError
from agent_s.llm.providers.cancellation import OpenConnections

if TYPE_CHECKING:
    import httpx

MAX_ANSWER_BYTES = 4_000_000
MAX_MESSAGE = 200
"""Characters of a server's error message that are passed on."""


class Reply(BaseModel):
    """Base of the answers; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


ReplyT = TypeVar("ReplyT", bound=Reply)


@dataclass(frozen=True, slots=True)
class Server:
    """A search engine's server.

    Attributes:
        name: Name for messages, such as "SearXNG".
        address: Base URL, without a trailing slash.
        timeout_s: Longest time for one exchange, s.
    """

    name: str
    address: str
    timeout_s: float
    _connections: OpenConnections = field(default_factory=OpenConnections, init=False, repr=False, compare=False)

    @classmethod
    def at(cls, name: str, address: str, timeout_s: float) -> Server:
        """Return the server at an address.

        Raises:
            SettingsError: The address is not an HTTP URL, or holds a password.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(
                f"search.url is {address!r}; set it to the address of {name}, such as http://HOST:PORT."
            )
        if parts.password is not None:
            raise SettingsError("search.url must not hold a password, since it is shown in messages. Use a proxy.")
        return cls(name, address.rstrip("/"), timeout_s)

    def get(self, path: str, form: type[ReplyT], parameters: Mapping[str, str] | None = None) -> ReplyT:
        """Send a GET request.

        Raises:
            SearchError: There is no usable answer; `Refused` for an HTTP error status.
        """
        return self._exchange("GET", path, form, params=dict(parameters or {}))

    def post(self, path: str, form: type[ReplyT], body: Mapping[str, Any]) -> ReplyT:
        """Send a POST request with a JSON body.

        Raises:
            SearchError: As for `get`.
        """
        return self._exchange("POST", path, form, json=body)

    def cancel(self) -> None:
        """Cancel the exchanges that other threads are waiting for."""
        self._connections.cancel()

    def _exchange(self, method: str, path: str, form: type[ReplyT], **content: Any) -> ReplyT:
        import httpx

        ends = time.monotonic() + self.timeout_s
        headers = {"accept": "application/json"}
        hooks = {"request": [self._connections.track]}
        with (
            self._translated(),
            httpx.Client(timeout=self.timeout_s, event_hooks=hooks) as client,
            client.stream(method, self.address + path, headers=headers, **content) as reply,
        ):
            data = self._read(reply, ends)
        if not reply.is_success:
            raise Refused(self, reply.status_code, _said(data))
        try:
            return form.model_validate_json(data)
        except ValidationError as error:
            raise SearchError(
                f"The server at {self.address} does not answer as {self.name}. Check search.url."
            ) from error

    def _read(self, reply: httpx.Response, ends: float) -> bytes:
        data = bytearray()
        for chunk in reply.iter_bytes():
            data += chunk
            if len(data) > MAX_ANSWER_BYTES:
                raise SearchError(f"The answer of {self.name} is larger than {MAX_ANSWER_BYTES} bytes.")
            if time.monotonic() > ends:
                raise SearchError(self._late)
        return bytes(data)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except httpx.TimeoutException as error:
            raise SearchError(self._late) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise SearchError(
                f"{self.name} at {self.address} cannot be reached: {error or 'connection lost'}. Start it, or set "
                "search.engine to none."
            ) from error

    @property
    def _late(self) -> str:
        return f"{self.name} at {self.address} did not answer within {self.timeout_s:g} s (search.timeout_s)."


class Refused(SearchError):
    """A server answered with an error.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, server: Server, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{server.name} at {server.address} answers HTTP {status}{': ' + said if said else ''}.")


def _said(data: bytes) -> str:
    """Return the message in an error's body, on one line."""
    try:
        body = json.loads(data)
    except ValueError:
        return ""
    words = next((body[key] for key in ("message", "error", "detail") if key in body), "") if type(body) is dict else ""
    line = " ".join(str(words).split())
    return line if len(line) <= MAX_MESSAGE else line[:MAX_MESSAGE] + "..."

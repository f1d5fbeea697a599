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
from agent_s.llm.providers.connections import OpenConnections

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER = 4_000_000
"""Bytes; a page of results has some ten thousand."""
LONGEST_SAYING = 200
"""Characters of what a server says about an error that are passed on."""


class Reply(BaseModel):
    """What the answers of engines share: fields that are not needed are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


ReplyT = TypeVar("ReplyT", bound=Reply)


@dataclass(frozen=True, slots=True)
class Server:
    """A search engine's server.

    Attributes:
        name: For messages, such as "SearXNG".
        address: Base URL, without a slash at its end.
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
            SettingsError: The address is not a URL of HTTP, or holds a password.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(f"search.url is {address!r}; write http://HOST:PORT, where {name} answers.")
        if parts.password is not None:
            raise SettingsError("search.url holds a password, and it is shown in messages. Put a proxy before it.")
        return cls(name, address.rstrip("/"), timeout_s)

    def get(self, path: str, form: type[ReplyT], parameters: Mapping[str, str] | None = None) -> ReplyT:
        """Ask with GET.

        Raises:
            SearchError: There is no usable answer; `Refused` where it came with a status of HTTP that is an error.
        """
        return self._exchange("GET", path, form, params=dict(parameters or {}))

    def post(self, path: str, form: type[ReplyT], body: Mapping[str, Any]) -> ReplyT:
        """Ask with POST, the body in JSON.

        Raises:
            SearchError: As for `get`.
        """
        return self._exchange("POST", path, form, json=body)

    def cut(self) -> None:
        """End the exchanges that other threads are waiting for."""
        self._connections.cut()

    def _exchange(self, method: str, path: str, form: type[ReplyT], **content: Any) -> ReplyT:
        import httpx

        ends = time.monotonic() + self.timeout_s
        headers = {"accept": "application/json"}
        hooks = {"request": [self._connections.follow]}
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
                f"What answers at {self.address} is not {self.name}, or not in its format. Check search.url."
            ) from error

    def _read(self, reply: httpx.Response, ends: float) -> bytes:
        data = bytearray()
        for chunk in reply.iter_bytes():
            data += chunk
            if len(data) > LARGEST_ANSWER:
                raise SearchError(f"The answer of {self.name} is larger than {LARGEST_ANSWER} bytes.")
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
        status: Of HTTP.
    """

    def __init__(self, server: Server, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{server.name} at {server.address} answers HTTP {status}{': ' + said if said else ''}.")


def _said(data: bytes) -> str:
    """Return what an error's body says in words, on one line."""
    try:
        body = json.loads(data)
    except ValueError:
        return ""
    words = next((body[key] for key in ("message", "error", "detail") if key in body), "") if type(body) is dict else ""
    line = " ".join(str(words).split())
    return line if len(line) <= LONGEST_SAYING else line[:LONGEST_SAYING] + "..."

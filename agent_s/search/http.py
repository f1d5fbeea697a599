"""One bounded HTTP exchange with a search engine."""

from __future__ import annotations

import json
import time
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from agent_s.errors import SearchError, SettingsError
from agent_s.llm.providers.cancellation import OpenConnections
from agent_s.llm.providers.sdk_client import AnswerT

MAX_ANSWER_BYTES = 4_000_000
MAX_MESSAGE = 200  # maximum number of characters of a server's error message


class Server:
    """A search engine's server.

    Raises:
        SettingsError: The address is not an HTTP URL, or holds a password.
    """

    def __init__(self, name: str, address: str, timeout_s: float) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError(
                f"search.url is {address!r}; set it to the address of {name}, such as http://HOST:PORT."
            )
        if parts.password is not None:
            raise SettingsError("search.url must not hold a password, since it is shown in messages. Use a proxy.")
        self.name = name
        self.address = address.rstrip("/")
        self._timeout_s = timeout_s
        self._connections = OpenConnections()

    def __str__(self) -> str:
        """Return name and address."""
        return f"{self.name} at {self.address}"

    def ask(self, method: Literal["GET", "POST"], path: str, form: type[AnswerT], **content: Any) -> AnswerT:
        """Send a request and read the response.

        Args:
            method: HTTP method.
            path: Path, relative to the address of the server.
            form: Type of the response.
            content: The content, as `params` or `json`.

        Raises:
            SearchError: There is no usable answer; `Refused` for an HTTP error status.
        """
        import httpx

        late = f"{self} did not answer within {self._timeout_s:g} s (search.timeout_s)."
        ends = time.monotonic() + self._timeout_s
        headers = {"accept": "application/json"}
        hooks = {"request": [self._connections.track]}
        data = bytearray()
        try:
            with (
                httpx.Client(timeout=self._timeout_s, event_hooks=hooks) as client,
                client.stream(method, self.address + path, headers=headers, **content) as reply,
            ):
                for chunk in reply.iter_bytes():
                    data += chunk
                    if len(data) > MAX_ANSWER_BYTES:
                        raise SearchError(f"The answer of {self.name} is larger than {MAX_ANSWER_BYTES} bytes.")
                    if time.monotonic() > ends:
                        raise SearchError(late)
        except httpx.TimeoutException as error:
            raise SearchError(late) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            detail = error or "connection lost"
            raise SearchError(f"{self} cannot be reached: {detail}. Start it, or set search.engine to none.") from error
        if not reply.is_success:
            raise Refused(self, reply.status_code, _message(data))
        try:
            return form.model_validate_json(data)
        except ValidationError as error:
            raise SearchError(
                f"The server at {self.address} does not answer as {self.name}. Check search.url."
            ) from error

    def cancel(self) -> None:
        """Cancel the exchanges that other threads are waiting for."""
        self._connections.cancel()


class Refused(SearchError):
    """The server responded with an error.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, server: Server, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{server} answers HTTP {status}{': ' + said if said else ''}.")


def _message(data: bytearray) -> str:
    """Return the message in an error's body, on one line."""
    try:
        body = json.loads(data)
    except ValueError:
        return ""
    words = next((body[key] for key in ("message", "error", "detail") if key in body), "") if type(body) is dict else ""
    line = " ".join(str(words).split())
    return line if len(line) <= MAX_MESSAGE else line[:MAX_MESSAGE] + "..."

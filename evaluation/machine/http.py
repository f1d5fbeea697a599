"""The HTTP side of a machine: requests, answers, and who may ask."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evaluation.background_server import BackgroundServer

MAX_BODY = 2_000_000_000
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
logger = logging.getLogger(__name__)


class BadRequest(Exception):
    """A request that cannot be understood; the message says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent: the fields of a JSON object or a form, and the files of a form."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field that is a text.

        Raises:
            BadRequest: It is missing, or no text.
        """
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise BadRequest(f"the key {name!r} {'is missing' if name not in self.fields else 'must be a text'}")
        return value


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered."""

    body: bytes
    kind: str
    status: HTTPStatus = HTTPStatus.OK


def as_json(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """Return a JSON answer."""
    return Answer(json.dumps(content).encode(), "application/json", status)


def as_text(text: str, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """Return an answer in plain text."""
    return Answer(text.encode(), "text/html; charset=utf-8", status)


Endpoint = Callable[[Request], Answer]


class MachineServer(BackgroundServer, ThreadingHTTPServer):
    """Serves endpoints on a loopback port.

    Args:
        endpoints: By method and path, such as `("GET", "/screenshot")`.
        port: The port; 0 for a free one.
        token: What clients must send, as user name (`http://TOKEN@127.0.0.1`) or bearer token; "" for nothing.
    """

    def __init__(self, endpoints: Mapping[tuple[str, str], Endpoint], port: int = 0, token: str = "") -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.endpoints = dict(endpoints)
        self.token = token


class _Handler(BaseHTTPRequestHandler):
    timeout = 60
    server: MachineServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        if problem := self._refusal():
            self._send(as_json({"status": "error", "message": problem[1]}, problem[0]))
            return
        path = urlsplit(self.path).path
        endpoint = self.server.endpoints.get((self.command, path))
        if endpoint is None:
            known = ", ".join(f"{method} {name}" for method, name in sorted(self.server.endpoints))
            message = f"there is no {self.command} {path}; there are: {known}"
            self._send(as_json({"status": "error", "message": message}, HTTPStatus.NOT_FOUND))
            return
        try:
            answer = endpoint(self._request())
        except BadRequest as error:
            answer = as_json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except Exception as error:  # whatever fails, a server answers
            logger.warning("%s %s failed", self.command, path, exc_info=True)
            message = str(error) or type(error).__name__
            answer = as_json({"status": "error", "message": message}, HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(answer)

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        """Return why a request is not served: it comes from a web page, or without the token."""
        host = self.headers.get("Host", "").rpartition("@")[2]
        if host.rpartition(":")[0] not in LOOPBACK and host not in LOOPBACK:
            return HTTPStatus.FORBIDDEN, f"the host {host!r} is not this machine"
        if self.headers.get("Origin") is not None:
            return HTTPStatus.FORBIDDEN, "web pages may not use this server"
        if self.server.token and not any(map(self._is_token, self._given())):
            return HTTPStatus.UNAUTHORIZED, "the token is wrong or missing; give it as http://TOKEN@127.0.0.1:PORT"
        return None

    def _is_token(self, word: str) -> bool:
        return hmac.compare_digest(word.encode(), self.server.token.encode())

    def _given(self) -> list[str]:
        """Return the bearer token, or the user name and the password."""
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind.casefold() == "bearer":
            return [value.strip()]
        try:
            return base64.b64decode(value).decode().split(":", 1)
        except (binascii.Error, UnicodeDecodeError):
            return []

    def _request(self) -> Request:
        given = self.headers.get("Content-Length", "0")
        if not given.isdigit() or int(given) > MAX_BODY:
            raise BadRequest(f"a request has at most {MAX_BODY} bytes, and says how many")
        body = self.rfile.read(int(given))
        if len(body) < int(given):
            raise BadRequest(f"only {len(body)} of {given} bytes have arrived")
        match self.headers.get_content_type():
            case "application/json" if body:
                return Request(_json_fields(body))
            case "application/x-www-form-urlencoded":
                sent = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True)
                return Request({name: values[-1] for name, values in sent.items()})
            case "multipart/form-data":
                return _form(body, str(self.headers.get_param("boundary", "")))
            case _:
                return Request()

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:
        logger.debug(format, *args)


def _json_fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BadRequest("the body is no JSON object")
    return fields


def _form(body: bytes, boundary: str) -> Request:
    """Read a form with files (RFC 7578)."""
    if not boundary:
        raise BadRequest("the form names no boundary")
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode())[1:]:
        if part.startswith(b"--"):
            break
        head, blank, content = part.partition(b"\r\n\r\n")
        header = Message()
        for line in head.decode("utf-8", errors="replace").strip().split("\r\n"):
            key, _, value = line.partition(":")
            header[key] = value.strip()
        name = header.get_param("name", None, "Content-Disposition")
        if not blank or not isinstance(name, str):
            raise BadRequest("a part of the form has no name")
        if header.get_param("filename", None, "Content-Disposition") is None:
            fields[name] = content.decode("utf-8", errors="replace")
        else:
            files[name] = content
    return Request(fields, files)

"""A loopback HTTP server that plays a script, for tests of providers."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Http:
    """A response: status, headers, and a body as bytes or as a JSON value."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Reset:
    """A reset of the connection before any response."""


@dataclass(frozen=True)
class Stall:
    """No response until the client disconnects; with `drip`, a byte now and then."""

    drip: bool = False


@dataclass(frozen=True)
class Half:
    """A response that is cut off in the middle."""

    whole: Http


Act = Http | Reset | Stall | Half
Turn = Act | Callable[[Seen], Act]


class WireServer:
    """Plays one turn per request, then answers 418, so that tests notice excess requests."""

    def __init__(self, turns: list[Turn]) -> None:
        self.seen: list[Seen] = []
        self.turns = turns
        self._over = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._answer(self)

            def do_GET(self) -> None:
                server._answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                """Ignore clients that disconnected; tests check that side."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def asked(self) -> list[Any]:
        """Bodies of the POST requests."""
        return [seen.body for seen in self.seen if seen.method == "POST"]

    @contextmanager
    def running(self) -> Iterator[WireServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        raw = handler.rfile.read(length)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        seen = Seen(handler.command, handler.path, headers, json.loads(raw) if raw else None)
        self.seen.append(seen)
        turn: Turn = self.turns.pop(0) if self.turns else Http(418, {"error": {"message": "the script is over"}})
        act = turn if isinstance(turn, Http | Reset | Stall | Half) else turn(seen)
        match act:
            case Http():
                self._send(handler, act, act.encoded())
            case Half(whole):
                body = whole.encoded()
                self._send(handler, whole, body[: len(body) // 2], claimed=len(body))
                handler.close_connection = True
            case Stall(drip):
                self._stall(handler, drip)
            case Reset():
                linger = struct.pack("ii", 1, 0)
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                handler.connection.close()
                handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, act: Http, body: bytes, claimed: int | None = None) -> None:
        handler.send_response_only(act.status)
        headers = {"content-type": act.content_type, "content-length": str(claimed or len(body)), **act.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        self._write(handler, body)

    def _stall(self, handler: BaseHTTPRequestHandler, drip: bool) -> None:
        if not drip:
            self._over.wait(10)
        else:
            handler.send_response_only(200)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", "100000")
            handler.end_headers()
            while not self._over.wait(0.02) and self._write(handler, b" "):
                pass
        handler.close_connection = True

    @staticmethod
    def _write(handler: BaseHTTPRequestHandler, body: bytes) -> bool:
        try:
            handler.wfile.write(body)
            handler.wfile.flush()
        except OSError:  # the client disconnected, as tests of stalls and limits expect
            return False
        return True

"""Where fixtures report what was hit: a server on the loopback interface for pages, a file for programs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol, Self

_POLL_S = 0.01


class Reports(Protocol):
    """What a fixture has reported so far."""

    def lines(self) -> list[str]:
        """Return the names of what was hit, oldest first."""
        ...


class PageServer:
    """Serves pages, and keeps what they report.

    A page reports by sending a JSON string to `/hit`, and the content of a field to `/text`.

    Attributes:
        url: Where it listens, such as "http://127.0.0.1:8080".
    """

    def __init__(self, pages: Mapping[str, str]) -> None:
        """Take the pages by path, such as "/" ."""
        self._hits: list[str] = []
        self.text = ""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = pages.get(self.path.partition("?")[0])
                self.send_response(200 if page is not None else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((page or "").encode())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server._take(self.path, body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Keep the output for figures."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, name="pages", daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def lines(self) -> list[str]:
        """Return the names of what was hit, oldest first."""
        return list(self._hits)

    def _take(self, path: str, body: bytes) -> None:
        if path == "/hit":
            self._hits.append(str(json.loads(body)))
        elif path == "/text":
            self.text = str(json.loads(body))


class FileReports:
    """What a program writes into a file, a line for each hit."""

    def __init__(self, path: Path) -> None:
        """Take the file, which need not be there yet."""
        self.path = path

    def lines(self) -> list[str]:
        """Return the names of what was hit, oldest first."""
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []


def wait_until(holds: Callable[[], bool], limit_s: float) -> bool:
    """Poll until something holds; return whether it did within the limit."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True

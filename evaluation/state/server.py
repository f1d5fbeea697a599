"""A web server for one task: serves a folder on a loopback port and keeps submitted forms."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from evaluation.background_server import BackgroundServer

MAX_BODY = 1_000_000

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted form."""

    path: str  # path it was sent to, such as "/received.html"
    fields: dict[str, str | list[str]]  # value by field name; a list for a repeated field


class FormServer(BackgroundServer, ThreadingHTTPServer):
    """Serves the files of a folder on a free loopback port, and keeps every form posted to one of its pages.

    In pages (`*.html`), `{name}` is replaced by the value of that name.
    """

    def __init__(self, folder: Path, values: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._folder = folder.resolve()
        self._values = dict(values)
        self._submissions: list[Submission] = []

    @property
    def address(self) -> str:
        """Address of the server, such as "http://127.0.0.1:40123"."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def submissions(self) -> tuple[Submission, ...]:
        """The forms that were posted, oldest first."""
        return tuple(self._submissions)

    def keep(self, path: str, body: str) -> None:
        """Keep a posted form; `body` is what a browser sends for it."""
        sent = parse_qs(body, keep_blank_values=True)
        self._submissions.append(
            Submission(path, {name: values[0] if len(values) == 1 else values for name, values in sent.items()})
        )

    def page(self, path: str) -> tuple[bytes, str] | None:
        """Return content and media type of a file in the folder, or None if there is none at that path."""
        file = (self._folder / unquote(path).lstrip("/")).resolve()
        if not file.is_relative_to(self._folder) or not file.is_file():
            return None
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind != "text/html":
            return file.read_bytes(), kind
        text = file.read_text(encoding="utf-8")
        for name, value in self._values.items():
            text = text.replace("{" + name + "}", value)
        return text.encode("utf-8"), "text/html; charset=utf-8"


class _Handler(BaseHTTPRequestHandler):
    timeout = 10
    server: FormServer

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).path)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != _FORM:
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"only {_FORM} is understood")
        elif not length.isdigit() or int(length) > MAX_BODY:
            self.send_error(HTTPStatus.BAD_REQUEST, f"a form has at most {MAX_BODY} bytes")
        else:
            path = urlsplit(self.path).path
            self.server.keep(path, self.rfile.read(int(length)).decode("utf-8", errors="replace"))
            self._answer(path)

    def _answer(self, path: str) -> None:
        found = self.server.page(path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content, kind = found
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal free of a line for each request."""

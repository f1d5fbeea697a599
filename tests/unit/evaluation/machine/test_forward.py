"""The fixed port of a browser whose own port differs with every start."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evaluation.machine.forward import BrowserPort


class Shout(socketserver.StreamRequestHandler):
    """Answers each line in capitals."""

    def handle(self) -> None:
        self.wfile.write(self.rfile.readline().upper())


@pytest.fixture
def browser() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Shout) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def ask(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"hello\n")
        return connection.makefile("rb").readline()


def test_connections_reach_the_browser_that_was_started_last(tmp_path: Path, browser: int) -> None:
    with BrowserPort(lambda: tmp_path) as port:
        profile = tmp_path / "browser-profile"
        profile.mkdir()
        (profile / "DevToolsActivePort").write_text(f"{browser}\n/devtools/browser/1\n")
        assert ask(port.port) == b"HELLO\n"


def test_without_a_browser_the_connection_ends(tmp_path: Path) -> None:
    with BrowserPort(lambda: tmp_path) as port:
        with suppress(ConnectionResetError):
            assert ask(port.port) == b""
        with pytest.raises(OSError, match="no browser was started"):
            port.browser()

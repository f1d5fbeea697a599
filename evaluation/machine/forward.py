"""A fixed port for Chromium's debugging protocol, whose own port differs with every start."""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from evaluation.background_server import BackgroundServer
from evaluation.state.devtools import PORT_FILE

logger = logging.getLogger(__name__)


class BrowserPort(BackgroundServer, socketserver.ThreadingTCPServer):
    """Passes connections on to the browser that was started last, as `socat` does on OSWorld's machine.

    Args:
        profiles: Returns the folder that holds the profile folders of browsers.
        port: The loopback port; 0 for a free one.
    """

    allow_reuse_address = True

    def __init__(self, profiles: Callable[[], Path], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Connection)
        self._profiles = profiles

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])

    def browser(self) -> int:
        """Return the port of the browser.

        Raises:
            OSError: None has written one.
        """
        written = sorted(self._profiles().glob(f"*/{PORT_FILE}"), key=lambda path: path.stat().st_mtime)
        if not written:
            raise OSError("no browser was started with --remote-debugging-port")
        return int(written[-1].read_text(encoding="ascii").split("\n")[0])


class _Connection(socketserver.BaseRequestHandler):
    server: BrowserPort

    def handle(self) -> None:
        try:
            browser = socket.create_connection(("127.0.0.1", self.server.browser()))
        except (OSError, ValueError) as error:
            logger.info("the browser cannot be reached: %s", error)
            return
        with browser:
            back = threading.Thread(target=_pass_on, args=(browser, self.request), daemon=True)
            back.start()
            _pass_on(self.request, browser)
            back.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes until one side hangs up."""
    with suppress(OSError):
        while part := source.recv(1 << 16):
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

"""Mixin for the servers of this package: serve from background threads inside a `with` block."""

from __future__ import annotations

import logging
import threading
from socketserver import BaseServer
from typing import Any, Self

logger = logging.getLogger(__name__)


class BackgroundServer(BaseServer):
    """Starts and stops a server; list it before a threading server of the standard library among the bases."""

    daemon_threads = True

    def __enter__(self) -> Self:
        """Start serving in a background thread."""
        kwargs = {"poll_interval": 0.05}
        self._thread = threading.Thread(target=self.serve_forever, kwargs=kwargs, name=type(self).__name__, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving, and close the socket."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a failed request instead of printing a traceback."""
        logger.debug("a request from %s failed", client_address, exc_info=True)

"""What the servers of this package share: they answer in threads of their own while a `with` block runs."""

from __future__ import annotations

import logging
import threading
from socketserver import BaseServer
from typing import Any, Self

logger = logging.getLogger(__name__)


class BackgroundServer(BaseServer):
    """The part of a server that starts and stops it; comes before a threading server of the standard library."""

    daemon_threads = True

    def __enter__(self) -> Self:
        """Start serving."""
        kwargs = {"poll_interval": 0.05}
        self._thread = threading.Thread(target=self.serve_forever, kwargs=kwargs, name=type(self).__name__, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a broken connection instead of writing to the terminal."""
        logger.debug("a request from %s broke", client_address, exc_info=True)

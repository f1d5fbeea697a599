"""The open connections of an HTTP client, which another thread can cancel.

Closing a client is not enough: the thread would keep waiting, and the server would keep working.
"""

from __future__ import annotations

import socket
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


class OpenConnections:
    """Tracks the connections that a client of httpx, or of its successor httpx2, opens."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()

    def track(self, request: Any) -> None:
        """Track the connections opened for a request, as a request hook of the client."""
        request.extensions = {**request.extensions, "trace": self._on_trace}

    def cancel(self) -> None:
        """Cancel all exchanges; waiting threads get the client's error for a lost connection."""
        for stream in list(self._streams):
            end = stream.get_extra_info("socket")
            with suppress(OSError):  # already closed
                end.shutdown(socket.SHUT_RDWR)

    def _on_trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")):
            self._streams.add(info["return_value"])

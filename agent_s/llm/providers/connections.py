"""The open connections of an HTTP client, which can be cut while a thread waits for an answer on one of them.

Closing a client does not do that: the thread would go on waiting, and the server would go on with its work.
"""

from __future__ import annotations

import socket
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


class OpenConnections:
    """Notes the connections that a client of httpx, or of its successor httpx2, opens."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()

    def follow(self, request: Any) -> None:
        """Note what is opened for a request; to be given to the client as a hook for requests."""
        request.extensions = {**request.extensions, "trace": self._note}

    def cut(self) -> None:
        """End every exchange at once; whoever waits for an answer gets the client's error for a lost connection."""
        for stream in list(self._streams):
            end = stream.get_extra_info("socket")
            with suppress(OSError):  # it was closed before
                end.shutdown(socket.SHUT_RDWR)

    def _note(self, event: str, told: Mapping[str, Any]) -> None:
        opened = told.get("return_value")
        if hasattr(opened, "get_extra_info"):
            self._streams.add(opened)

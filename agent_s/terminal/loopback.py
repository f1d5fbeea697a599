"""Building blocks for local servers: they listen on loopback only and require a token."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")

App = Callable[[Mapping[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]


def guarded(app: Any, token: str, hint: str) -> App:
    """Wrap an ASGI application so that it refuses requests without the token, and requests from other sites.

    The token is sent in the header `Authorization: Bearer TOKEN` or as the first segment of the path, which is removed
    before the application sees it. `Host` must be a name of this machine, to prevent DNS rebinding, and `Origin`, if
    sent, must be the server itself.

    Args:
        app: The application.
        token: The token.
        hint: Text of the response to requests without the token, which says where to find it.
    """
    bearer, prefix = f"Bearer {token}".encode(), f"/{quote(token, safe='')}".encode()

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        path = scope.get("raw_path") or scope["path"].encode()
        known, rest = hmac.compare_digest(path[: len(prefix)], prefix), path[len(prefix) :] or b"/"
        if host.rpartition(b":")[0].decode("latin-1") not in _NAMES:
            await _refuse(send, 421, "This server answers to 127.0.0.1 and localhost only.\n")
        elif origin is not None and origin != b"http://" + host:
            await _refuse(send, 403, "Requests from pages of other sites are refused.\n")
        elif known and rest.startswith(b"/"):
            await app({**scope, "path": scope["path"][len(token) + 1 :] or "/", "raw_path": rest}, receive, send)
        elif hmac.compare_digest(headers.get(b"authorization", b""), bearer):
            await app(scope, receive, send)
        else:
            await _refuse(send, 401, f"{hint}\n")

    return serve


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a loopback port; 0 picks a free one.

    Raises:
        OSError: The port is in use.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()  # already, so that clients can connect before the server is ready
    except OSError:
        listener.close()
        raise
    return listener


async def _refuse(send: Any, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})

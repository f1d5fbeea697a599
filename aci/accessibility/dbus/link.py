"""One connection to a message bus: getting in, and the stream of messages."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from dbus_fast import Message

from aci.accessibility.dbus.messages import Malformed, split

CONNECT_LIMIT_S = 5.0
REST_S = 0.001
LONGEST_LINE = 16_384  # bytes of one line during authentication


class Link(asyncio.Protocol):
    """A connection to a bus, made by `open_link`.

    Args:
        take: Receives the messages that arrived together.
        lost: Called with the reason when the connection has ended.
    """

    def __init__(self, take: Callable[[list[Message]], None], lost: Callable[[str], None]) -> None:
        self._take = take
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._why = "it was closed"

    @property
    def open(self) -> bool:
        """Whether messages can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def send(self, messages: bytes) -> None:
        """Send whole messages."""
        if self._transport is not None:
            self._transport.write(messages)

    def rest(self) -> None:
        """Let messages gather for a moment: waking up for each costs more than reading it."""
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(REST_S, self._resume)

    def _resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Leave the bus."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Pass on the complete messages."""
        self._received += data
        try:
            messages = list(split(self._received))
        except Malformed as error:
            self._why = str(error)
            self.close()
            return
        if messages:
            self._take(messages)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._lost(str(exc) if exc is not None else self._why)


async def open_link(
    address: str,
    take: Callable[[list[Message]], None],
    lost: Callable[[str], None],
    limit_s: float = CONNECT_LIMIT_S,
) -> Link:
    """Connect to a bus or program as this user (D-Bus specification, "Authentication Protocol", mechanism EXTERNAL).

    The first local socket of the address that can be reached is used; `take` and `lost` are as for `Link`.

    Raises:
        OSError: No socket can be reached, or the bus rejects this user.
        ValueError: The address names no local socket.
    """
    paths = list(socket_paths(address))
    if not paths:
        raise ValueError(f"{address!r} names no socket of this machine")
    async with asyncio.timeout(limit_s):
        for path in paths[:-1]:
            try:
                return await _open(path, take, lost)
            except OSError:
                continue  # the next one may answer
        return await _open(paths[-1], take, lost)


def socket_paths(address: str) -> Iterator[str]:
    """Yield the sockets in an address, as `socket.connect` takes them."""
    for part in address.split(";"):
        transport, _, rest = part.partition(":")
        options = dict(option.partition("=")[::2] for option in rest.split(","))
        if transport == "unix" and options.get("path"):
            yield unquote(options["path"])
        elif transport == "unix" and options.get("abstract"):
            yield "\0" + unquote(options["abstract"])


async def _open(path: str, take: Callable[[list[Message]], None], lost: Callable[[str], None]) -> Link:
    loop = asyncio.get_running_loop()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        await loop.sock_connect(connection, path)
        who = str(os.getuid()).encode().hex()
        await loop.sock_sendall(connection, f"\0AUTH EXTERNAL {who}\r\n".encode())
        answer = await _line(loop, connection)
        if not answer.startswith(b"OK "):
            raise ConnectionError(f"the bus does not let this user in: {answer.decode(errors='replace')}")
        await loop.sock_sendall(connection, b"BEGIN\r\n")
        _, link = await loop.create_unix_connection(lambda: Link(take, lost), sock=connection)
    except BaseException:
        connection.close()
        raise
    return link


async def _line(loop: asyncio.AbstractEventLoop, connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\r\n"):
        part = await loop.sock_recv(connection, LONGEST_LINE)
        line += part
        if not part or len(line) > LONGEST_LINE:
            raise ConnectionError("the bus hung up")
    return line.rstrip()

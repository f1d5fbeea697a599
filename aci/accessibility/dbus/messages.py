"""D-Bus messages as bytes and back, by the codec of dbus-fast."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from dbus_fast import DBusFastError, Message
from dbus_fast._private.unmarshaller import Unmarshaller  # dbus-fast has no public reader of bytes

LARGEST_MESSAGE = 2**27  # bytes (D-Bus specification 0.43, "Message Format")
LARGEST_BODY = 2**24  # bytes; the answer that holds a tree of about 80,000 objects
_HEADER = {ord("l"): struct.Struct("<BBBBIII"), ord("B"): struct.Struct(">BBBBIII")}
_HEADER_SIZE = 16
_SERIAL_AT = 8  # byte at which the serial number begins
_MOST_REMEMBERED = 8192  # encoded calls, about 0.5 kB each
_NAME = re.compile(r"(?=.{3,255}\Z)(?::[A-Za-z0-9_-]+|[A-Za-z_-][A-Za-z0-9_-]*)(?:\.[A-Za-z0-9_-]+)+")


class Malformed(ValueError):
    """Bytes that are no D-Bus message, or values that do not fit their signature."""


def encode(
    serial: int, name: str, path: str, interface: str, member: str, signature: str, values: Sequence[Any]
) -> bytes:
    """Return a method call as bytes; the name "" is the other end of a direct connection.

    Raises:
        Malformed: A name or an argument is not valid; the bus would disconnect a client that sends it.
    """
    # What is read is read again and again; what is set may be a text that nobody should keep.
    make = _encoded_before if member.startswith("Get") else _encoded
    encoded = make(name, path, interface, member, signature, tuple(values))
    return encoded[:_SERIAL_AT] + serial.to_bytes(4, "little") + encoded[_SERIAL_AT + 4 :]


def _encoded(name: str, path: str, interface: str, member: str, signature: str, values: tuple[Any, ...]) -> bytes:
    """Return a method call as little-endian bytes, with any serial number."""
    if name and _NAME.fullmatch(name) is None:  # dbus-fast checks less than the bus
        raise Malformed(f"{name[:80]!r} is not a valid bus name.")
    try:
        call = Message(name or None, path, interface, member, signature=signature, body=list(values), serial=1)
        return bytes(call._marshall(False))
    except (DBusFastError, ValueError, TypeError, LookupError, AttributeError, struct.error) as error:
        raise Malformed(f"{member}{values!r} cannot be sent to {name[:80]!r}: {error}") from error


_encoded_before = lru_cache(_MOST_REMEMBERED)(_encoded)


def split(stream: bytearray) -> Iterator[Message]:
    """Remove the complete messages from the front of a buffer of received bytes.

    A body that is malformed or larger than `LARGEST_BODY` is dropped: the message then has the signature "".

    Raises:
        Malformed: What comes next is not a message.
    """
    at, end = 0, len(stream)
    try:
        while end - at >= _HEADER_SIZE:
            header = _HEADER.get(stream[at])
            if header is None:
                raise Malformed(f"A message cannot begin with byte {stream[at]}.")
            *_, body_length, _, fields_length = header.unpack_from(stream, at)
            body_at = at + _HEADER_SIZE + (fields_length + 7 & ~7)
            after = body_at + body_length
            if after - at > LARGEST_MESSAGE:
                raise Malformed(f"A message of {after - at} bytes is longer than any may be.")
            if after > end:
                break
            yield _decode(bytes(stream[at:after]), body_at - at)
            at = after
    finally:
        del stream[:at]


def _decode(raw: bytes, body_at: int) -> Message:
    without_body = raw[:4] + bytes(4) + raw[8:body_at]
    for each in (raw, without_body) if len(raw) - body_at <= LARGEST_BODY else (without_body,):
        try:
            message = Unmarshaller(BytesIO(each)).unmarshall()  # type: ignore[arg-type]  # any stream will do
        except (DBusFastError, ValueError, TypeError, LookupError, RecursionError, EOFError, struct.error):
            continue
        if message is not None:
            return message
    raise Malformed("The header of a message is malformed.")

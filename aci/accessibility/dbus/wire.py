"""D-Bus messages as bytes (D-Bus specification 0.43, "Message Protocol").

Reading a tree takes thousands of small calls that differ in little but their object. So the constant part of a message
is made once, and of an answer only that is read which somebody looks at; a call costs a few microseconds that way.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from aci.accessibility.dbus.values import Malformed, pack, packed, unpack

CALL, ANSWER, ERROR, SIGNAL = 1, 2, 3, 4
"""Kinds of messages."""
LARGEST = 2**27
"""Bytes of the largest message there may be."""
_LITTLE, _BIG = ord("l"), ord("B")
_PATH, _INTERFACE, _MEMBER, _ERROR_NAME, _REPLY_TO, _DESTINATION, _SENDER, _SIGNATURE = range(1, 9)
_NAME = re.compile(r"(?=.{3,255}\Z)(?::[A-Za-z0-9_-]+|[A-Za-z_-][A-Za-z0-9_-]*)(?:\.[A-Za-z0-9_-]+)+")
"""Unique names of connections, of which any part may begin with a digit, and well-known ones."""
_HEADER = struct.Struct("<BBBBIII")
_HEADER_BIG = struct.Struct(">BBBBIII")
_U32 = struct.Struct("<I")


@dataclass(slots=True)
class Incoming:
    """A message that came; not frozen, since making frozen ones takes three times as long.

    Attributes:
        kind: One of the constants of this module.
        reply_to: Serial of the call that it answers, 0 for none.
        fields: Header fields by number.
        body: The values, as bytes.
        little: Whether the low byte of numbers comes first.
        serial: Its number on its connection.
    """

    kind: int
    reply_to: int
    fields: dict[int, bytes]
    body: bytes
    little: bool
    serial: int = 0

    @property
    def sender(self) -> str:
        """Unique name of the connection that it comes from."""
        return self.fields.get(_SENDER, b"").decode()

    @property
    def path(self) -> str:
        """The object that a signal is about."""
        return self.fields.get(_PATH, b"").decode()

    @property
    def interface(self) -> str:
        """Interface of a signal."""
        return self.fields.get(_INTERFACE, b"").decode()

    @property
    def member(self) -> str:
        """Name of a signal."""
        return self.fields.get(_MEMBER, b"").decode()

    @property
    def error_name(self) -> str:
        """What kind of error it is."""
        return self.fields.get(_ERROR_NAME, b"").decode()

    @property
    def signature(self) -> str:
        """Types of the values."""
        return self.fields.get(_SIGNATURE, b"").decode()

    def values(self) -> list[Any]:
        """Return the values; those in variants as they are.

        Raises:
            Malformed: The bytes do not fit the signature.
        """
        return unpack(self.signature, self.body, self.little)


def split(stream: bytearray) -> Iterator[Incoming]:
    """Take the whole messages off the front of what has been received.

    Raises:
        Malformed: What comes next is no message.
    """
    at, end = 0, len(stream)
    try:
        while end - at >= _HEADER.size:
            little = stream[at] == _LITTLE
            if not little and stream[at] != _BIG:
                raise Malformed(f"A message cannot begin with byte {stream[at]}.")
            layout = _HEADER if little else _HEADER_BIG
            _, kind, _, _, body_length, serial, fields_length = layout.unpack_from(stream, at)
            body_at = at + _HEADER.size + (fields_length + 7 & ~7)
            after = body_at + body_length
            if after - at > LARGEST:
                raise Malformed(f"A message of {after - at} bytes is longer than any may be.")
            if after > end:
                break
            head = bytes(stream[at + _HEADER.size : at + _HEADER.size + fields_length])
            yield _incoming(kind, serial, head, bytes(stream[body_at:after]), little)
            at = after
    finally:
        del stream[:at]


def _incoming(kind: int, serial: int, head: bytes, body: bytes, little: bool) -> Incoming:
    fields: dict[int, bytes] = {}
    at, end = 0, len(head)
    order: Literal["little", "big"] = "little" if little else "big"
    while at + 4 < end:
        code, kind_of_value = head[at], head[at + 2]
        if kind_of_value == ord("g"):
            start, length = at + 5, head[at + 4]
            after = start + length + 1
        elif kind_of_value == ord("u"):
            start, length = at + 4, 4
            after = start + 4
        else:
            start, length = at + 8, int.from_bytes(head[at + 4 : at + 8], order)
            after = start + length + 1
        fields[code] = head[start : start + length]
        at = after + 7 & ~7
    reply_to = int.from_bytes(fields.get(_REPLY_TO, b""), order)
    return Incoming(kind, reply_to, fields, body, little, serial)


def encode(
    serial: int, name: str, path: str, interface: str, member: str, signature: str, values: Sequence[Any]
) -> bytes:
    """Return a call to an object as bytes.

    Args:
        serial: Number of the message on its connection, from 1.
        name: Connection that it goes to, "" for the other end of a direct one.
        path: The object.
        interface: Interface of the method.
        member: The method.
        signature: Types of its arguments.
        values: The arguments; in a tuple they are taken for ones that many calls have in common.

    Raises:
        Malformed: The arguments do not fit the signature.
    """
    body = b"" if not signature else packed(signature, values) if type(values) is tuple else pack(signature, values)
    place = path.encode()
    head = b"%b\x01\x01o\x00%b%b\x00" % (_constant(name, interface, member, signature), _U32.pack(len(place)), place)
    start = _HEADER.pack(_LITTLE, CALL, 0, 1, len(body), serial, len(head))
    return b"%b%b%b%b" % (start, head, bytes(-len(head) & 7), body)


@lru_cache(maxsize=1024)
def _constant(name: str, interface: str, member: str, signature: str) -> bytes:
    """Return the header fields that do not depend on the object, each padded to eight bytes."""
    fields = [_text_field(_INTERFACE, interface), _text_field(_MEMBER, member)]
    if name:
        if _NAME.fullmatch(name) is None:  # the bus would hang up
            raise Malformed(f"{name[:80]!r} names no connection.")
        fields.append(_text_field(_DESTINATION, name))
    if signature:
        types = signature.encode()
        fields.append(bytes((_SIGNATURE, 1, ord("g"), 0, len(types))) + types + b"\0")
    return b"".join(field + bytes(-len(field) & 7) for field in fields)


def _text_field(code: int, text: str) -> bytes:
    raw = text.encode()
    return bytes((code, 1, ord("s"), 0)) + _U32.pack(len(raw)) + raw + b"\0"

"""D-Bus messages as bytes (D-Bus specification 0.43, "Type System" and "Message Protocol").

Reading a tree takes thousands of small calls that differ in little but their object. So the constant part of a message
is made once, and of an answer only that is read which somebody looks at; a call costs a few microseconds that way.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

CALL, ANSWER, ERROR, SIGNAL = 1, 2, 3, 4
"""Kinds of messages."""
LARGEST = 2**27
"""Bytes of the largest message there may be."""
_LITTLE, _BIG = ord("l"), ord("B")
_PATH, _INTERFACE, _MEMBER, _ERROR_NAME, _REPLY_TO, _DESTINATION, _SENDER, _SIGNATURE = range(1, 9)
_FIXED = {
    "y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I",
}  # fmt: skip
_NAME = re.compile(r"(?=.{3,255}\Z)(?::[A-Za-z0-9_-]+|[A-Za-z_-][A-Za-z0-9_-]*)(?:\.[A-Za-z0-9_-]+)+")
"""Unique names of connections, of which any part may begin with a digit, and well-known ones."""
_HEADER = struct.Struct("<BBBBIII")
_HEADER_BIG = struct.Struct(">BBBBIII")
_U32 = struct.Struct("<I")

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Reads one value of a body at an offset; returns it and the offset behind it."""


class Malformed(ValueError):
    """Bytes that are no D-Bus message, or values that do not fit their signature."""


@dataclass(slots=True)
class Incoming:
    """A message that came; not frozen, since making frozen ones takes three times as long.

    Attributes:
        kind: One of the constants of this module.
        serial: Its number on its connection.
        reply_to: Serial of the call that it answers, 0 for none.
        fields: Header fields by number.
        body: The values, as bytes.
        little: Whether the low byte of numbers comes first.
    """

    kind: int
    serial: int
    reply_to: int
    fields: dict[int, bytes]
    body: bytes
    little: bool

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
        try:
            return _values(self.signature, self.body, self.little)
        except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(f"A body of {len(self.body)} bytes is no {self.signature!r}: {error}") from error


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
    at, end, order = 0, len(head), "little" if little else "big"
    while at + 4 < end:
        code, kind_of_value = head[at], head[at + 2]
        if kind_of_value == ord("g"):
            start, length = at + 5, head[at + 4]
            after = start + length + 1
        elif kind_of_value == ord("u"):
            start, length = at + 4, 4
            after = start + 4
        else:
            start, length = at + 8, int.from_bytes(head[at + 4 : at + 8], order)  # type: ignore[arg-type]
            after = start + length + 1
        fields[code] = head[start : start + length]
        at = after + 7 & ~7
    reply_to = int.from_bytes(fields.get(_REPLY_TO, b""), order)  # type: ignore[arg-type]
    return Incoming(kind, serial, reply_to, fields, body, little)


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
    body = b"" if not signature else _packed(signature, values) if type(values) is tuple else pack(signature, values)
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


def pack(signature: str, values: Sequence[Any]) -> bytes:
    """Return arguments as bytes: numbers, texts, and arrays of these.

    Raises:
        Malformed: They do not fit the signature.
    """
    out = bytearray()
    types = list(_single_types(signature))
    if len(types) != len(values):
        raise Malformed(f"{len(values)} values do not fit {signature!r}.")
    try:
        for kind, value in zip(types, values, strict=True):
            _pack_one(out, kind, value)
    except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        raise Malformed(f"{values!r} does not fit {signature!r}: {error}") from error
    return bytes(out)


@lru_cache(maxsize=256)
def _packed(signature: str, values: tuple[Any, ...]) -> bytes:
    return pack(signature, values)


def _pack_one(out: bytearray, kind: str, value: Any) -> None:
    if kind in _FIXED:
        layout = _layout(kind, True)
        out += bytes(-len(out) & layout.size - 1) + layout.pack(value)
    elif kind in ("s", "o"):
        raw = value.encode()
        if 0 in raw:  # the bus would hang up
            raise Malformed("A text with a zero byte cannot be sent.")
        out += bytes(-len(out) & 3) + _U32.pack(len(raw)) + raw + b"\0"
    elif kind[0] == "a" and (kind[1] in _FIXED or kind[1] in "so"):
        out += bytes(-len(out) & 3)
        length_at = len(out)
        out += bytes(4)
        out += bytes(-len(out) & _alignment(kind[1]) - 1)
        start = len(out)
        for item in value:
            _pack_one(out, kind[1], item)
        _U32.pack_into(out, length_at, len(out) - start)
    else:
        raise Malformed(f"Arguments of type {kind!r} are not sent.")


def _values(signature: str, body: bytes, little: bool) -> list[Any]:
    values, at = [], 0
    for read in _readers(signature, little):
        value, at = read(body, at)
        values.append(value)
    return values


@lru_cache(maxsize=512)
def _readers(signature: str, little: bool) -> tuple[Reader, ...]:
    return tuple(_reader(kind, little) for kind in _single_types(signature))


def _single_types(signature: str) -> Iterator[str]:
    """Yield the single complete types of a signature one after another.

    Raises:
        Malformed: It is none.
    """
    at = 0
    while at < len(signature):
        start = at
        while at < len(signature) and signature[at] == "a":
            at += 1
        depth = 0
        while at < len(signature):
            depth += (signature[at] in "({") - (signature[at] in ")}")
            at += 1
            if depth <= 0:
                break
        if depth or signature[at - 1] == "a":
            raise Malformed(f"{signature!r} is no signature.")
        yield signature[start:at]


def _alignment(kind: str) -> int:
    if kind in _FIXED:
        return struct.calcsize("=" + _FIXED[kind])
    return 8 if kind[0] in "({" else 1 if kind[0] in "gv" else 4


@lru_cache(maxsize=32)
def _layout(kind: str, little: bool) -> struct.Struct:
    return struct.Struct(("<" if little else ">") + _FIXED[kind])


def _reader(kind: str, little: bool) -> Reader:
    if kind == "b":
        return _truth_reader(little)
    if kind in _FIXED:
        return _number_reader(_layout(kind, little))
    if kind in ("s", "o"):
        return _text_reader(_layout("u", little))
    if kind == "g":
        return _read_signature
    if kind == "v":
        return _variant_reader(little)
    if kind.startswith("a{"):
        key, value = _single_types(kind[2:-1])
        pairs = _array_reader(_struct_reader((key, value), little), 8, _layout("u", little))
        return lambda body, at: _as_dict(pairs(body, at))
    if kind[0] == "a":
        return _array_reader(_reader(kind[1:], little), _alignment(kind[1:]), _layout("u", little))
    if kind[0] == "(" and kind != "()":
        return _struct_reader(tuple(_single_types(kind[1:-1])), little)
    raise Malformed(f"There is no type {kind!r}.")


def _as_dict(read: tuple[list[tuple[Any, Any]], int]) -> tuple[dict[Any, Any], int]:
    return dict(read[0]), read[1]


def _number_reader(layout: struct.Struct) -> Reader:
    unpack, size = layout.unpack_from, layout.size

    def read(body: bytes, at: int) -> tuple[Any, int]:
        at += -at & size - 1
        return unpack(body, at)[0], at + size

    return read


def _truth_reader(little: bool) -> Reader:
    number = _number_reader(_layout("b", little))

    def read(body: bytes, at: int) -> tuple[bool, int]:
        value, after = number(body, at)
        return bool(value), after

    return read


def _text_reader(length: struct.Struct) -> Reader:
    unpack = length.unpack_from

    def read(body: bytes, at: int) -> tuple[str, int]:
        at = (at + 3 & ~3) + 4
        after = at + unpack(body, at - 4)[0]
        if after >= len(body):
            raise IndexError("a text is cut off")
        return body[at:after].decode(), after + 1

    return read


def _read_signature(body: bytes, at: int) -> tuple[str, int]:
    after = at + 1 + body[at]
    return body[at + 1 : after].decode(), after + 1


def _variant_reader(little: bool) -> Reader:
    def read(body: bytes, at: int) -> tuple[Any, int]:
        signature, at = _read_signature(body, at)
        readers = _readers(signature, little)
        if len(readers) != 1:
            raise IndexError(f"a variant holds {signature!r}")
        return readers[0](body, at)

    return read


def _array_reader(item: Reader, alignment: int, length: struct.Struct) -> Reader:
    unpack = length.unpack_from

    def read(body: bytes, at: int) -> tuple[list[Any], int]:
        at = (at + 3 & ~3) + 4
        size = unpack(body, at - 4)[0]
        at += -at & alignment - 1
        end = at + size
        if end > len(body):
            raise IndexError("an array is cut off")
        values = []
        while at < end:
            value, at = item(body, at)
            values.append(value)
        return values, at

    return read


def _struct_reader(kinds: tuple[str, ...], little: bool) -> Reader:
    if all(kind in ("i", "u") for kind in kinds):
        return _row_reader(struct.Struct(("<" if little else ">") + "".join(_FIXED[kind] for kind in kinds)))
    readers = tuple(_reader(kind, little) for kind in kinds)

    def read(body: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        at = at + 7 & ~7
        values = []
        for reader in readers:
            value, at = reader(body, at)
            values.append(value)
        return tuple(values), at

    return read


def _row_reader(layout: struct.Struct) -> Reader:
    """Return a reader of structs that hold nothing but numbers of four bytes, such as extents."""
    unpack, size = layout.unpack_from, layout.size

    def read(body: bytes, at: int) -> tuple[tuple[Any, ...], int]:
        at = at + 7 & ~7
        return unpack(body, at), at + size

    return read

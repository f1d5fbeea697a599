"""Values as D-Bus writes them (D-Bus specification 0.43, "Type System" and "Marshaling")."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

_FIXED = {
    "y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I",
}  # fmt: skip
_U32 = struct.Struct("<I")

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Reads one value of a body at an offset; returns it and the offset behind it."""


class Malformed(ValueError):
    """Bytes that are none, or values that do not fit their signature."""


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
def packed(signature: str, values: tuple[Any, ...]) -> bytes:
    """Do the same for arguments that many calls have in common."""
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


def unpack(signature: str, body: bytes, little: bool) -> list[Any]:
    """Return the values of a body; those in variants as they are, structs as tuples.

    Args:
        signature: Their types.
        body: The bytes.
        little: Whether the low byte of numbers comes first.

    Raises:
        Malformed: The bytes do not fit the signature.
    """
    values, at = [], 0
    try:
        for read in _readers(signature, little):
            value, at = read(body, at)
            values.append(value)
    except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"A body of {len(body)} bytes is no {signature!r}: {error}") from error
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

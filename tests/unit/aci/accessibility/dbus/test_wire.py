"""Messages as bytes, against another implementation of the same format."""

from __future__ import annotations

import io
from typing import Any

import pytest
from dbus_fast import Message, MessageType, Variant
from dbus_fast._private.unmarshaller import Unmarshaller
from hypothesis import given
from hypothesis import strategies as st

from aci.accessibility.dbus.values import Malformed, pack
from aci.accessibility.dbus.wire import ANSWER, ERROR, SIGNAL, encode, split

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
NUMBERS = {
    "n": (-(2**15), 2**15 - 1), "q": (0, 2**16 - 1), "i": (-(2**31), 2**31 - 1),
    "u": (0, 2**32 - 1), "x": (-(2**63), 2**63 - 1), "t": (0, 2**64 - 1),
}  # fmt: skip
BASIC: dict[str, st.SearchStrategy[Any]] = {
    **{kind: st.integers(low, high) for kind, (low, high) in NUMBERS.items()},
    "b": st.booleans(), "d": st.floats(allow_nan=False), "s": TEXT, "g": st.sampled_from(["", "s", "a{sv}", "(so)"]),
    "o": st.sampled_from(["/", "/org/a11y/atspi/accessible/12", "/a_b"]),
}  # fmt: skip

Typed = tuple[str, Any]


def basic(kinds: str = "".join(BASIC)) -> st.SearchStrategy[Typed]:
    return st.sampled_from(kinds).flatmap(lambda kind: BASIC[kind].map(lambda value: (kind, value)))


def array(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.tuples(inner, st.integers(0, 3)).map(lambda made: ("a" + made[0][0], [made[0][1]] * made[1]))


def compound(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    structs = st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: (f"({''.join(kind for kind, _ in parts)})", tuple(value for _, value in parts))
    )
    variants = inner.map(lambda made: ("v", Variant(*made)))
    maps = st.tuples(basic("sui"), inner).map(lambda made: (f"a{{{made[0][0]}{made[1][0]}}}", {made[0][1]: made[1][1]}))
    return st.one_of(array(inner), structs, variants, maps)


VALUES = st.lists(st.recursive(basic(), compound, max_leaves=8), max_size=5)


def foreign(value: Any) -> Any:
    """Return a value as the other implementation takes it: structs are lists."""
    if isinstance(value, Variant):
        return Variant(value.signature, foreign(value.value))
    if isinstance(value, dict):
        return {key: foreign(item) for key, item in value.items()}
    return [foreign(item) for item in value] if isinstance(value, list | tuple) else value


def plain(value: Any) -> Any:
    """Return a value as it is read: without the wrapping of variants."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return type(value)(plain(item) for item in value) if isinstance(value, list | tuple) else value


def answer(typed: list[Typed], serial: int = 9) -> bytes:
    message = Message(
        message_type=MessageType.METHOD_RETURN, reply_serial=serial, destination=":1.4",
        signature="".join(kind for kind, _ in typed), body=[foreign(value) for _, value in typed],
    )  # fmt: skip
    message.serial = 3
    return bytes(message._marshall(False))


@given(VALUES)
def test_answers_are_read_as_they_were_written(typed: list[Typed]) -> None:
    stream = bytearray(answer(typed))
    [message] = split(stream)
    assert (message.kind, message.reply_to) == (ANSWER, 9)
    assert message.values() == [plain(value) for _, value in typed]
    assert not stream


@given(st.lists(st.one_of(basic("bnqiuxtdso"), array(basic("bnqiuxtdso"))), max_size=5), TEXT)
def test_calls_are_read_by_others_as_they_were_made(typed: list[Typed], end: str) -> None:
    typed = [*typed, ("s", end)]
    signature = "".join(kind for kind, _ in typed)
    raw = encode(77, ":1.5", "/org/a11y/atspi/accessible/1", "org.a11y.atspi.Text", "GetText", signature,
                 [value for _, value in typed])  # fmt: skip
    read = Unmarshaller(io.BytesIO(raw)).unmarshall()  # type: ignore[arg-type]
    assert read is not None
    assert (read.serial, read.destination, read.path) == (77, ":1.5", "/org/a11y/atspi/accessible/1")
    assert (read.interface, read.member, read.signature) == ("org.a11y.atspi.Text", "GetText", signature)
    assert read.body == [value for _, value in typed]


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(1, 50))
def test_a_stream_may_be_cut_anywhere(bodies: list[list[Typed]], step: int) -> None:
    raw = b"".join(answer(typed, serial) for serial, typed in enumerate(bodies, start=1))
    stream, read = bytearray(), []
    for at in range(0, len(raw), step):
        stream += raw[at : at + step]
        read += [(message.reply_to, message.values()) for message in split(stream)]
    assert read == [(n, [plain(value) for _, value in typed]) for n, typed in enumerate(bodies, start=1)]


def test_numbers_with_the_high_byte_first_are_read() -> None:
    fields = b"\x05\x01u\x00\x00\x00\x00\x07" + b"\x08\x01g\x00\x04(ii)\x00"
    body = (-5).to_bytes(4, "big", signed=True) + (258).to_bytes(4, "big")
    head = b"B\x02\x00\x01" + b"".join(number.to_bytes(4, "big") for number in (len(body), 3, len(fields)))
    [message] = split(bytearray(head + fields + bytes(-len(fields) & 7) + body))
    assert (message.reply_to, message.values()) == (7, [(-5, 258)])


def test_signals_and_errors_tell_what_they_are() -> None:
    signal = Message(
        message_type=MessageType.SIGNAL, path="/a/b", interface="org.a11y.atspi.Event.Object",
        member="StateChanged",
    )  # fmt: skip
    error = Message(message_type=MessageType.ERROR, reply_serial=4, error_name="org.example.No", destination=":1.4")
    signal.serial = error.serial = 1
    first, second = split(bytearray(signal._marshall(False)) + error._marshall(False))
    assert (first.kind, first.path) == (SIGNAL, "/a/b")
    assert (first.interface, first.member) == ("org.a11y.atspi.Event.Object", "StateChanged")
    assert (second.kind, second.reply_to, second.error_name) == (ERROR, 4, "org.example.No")


@given(st.binary(max_size=80), st.sampled_from(["(iiii)", "as", "a{sv}", "v", "sau", "a((so)(so)iassau)", "g", "o"]))
def test_bodies_that_lie_are_refused_and_nothing_else(body: bytes, signature: str) -> None:
    [message] = split(bytearray(answer([])))
    lying = type(message)(message.kind, 1, {8: signature.encode()}, body, little=True)
    try:
        lying.values()
    except Malformed:
        return


@given(st.binary(min_size=16, max_size=64))
def test_noise_is_no_message(noise: bytes) -> None:
    if noise[0] not in b"lB":
        with pytest.raises(Malformed):
            list(split(bytearray(noise)))


@pytest.mark.parametrize(
    ("signature", "values"), [("u", (-1,)), ("s", (3,)), ("ii", (1,)), ("(i)", ((1,),)), ("a", (1,))]
)
def test_arguments_that_do_not_fit_are_refused(signature: str, values: tuple[Any, ...]) -> None:
    with pytest.raises(Malformed):
        pack(signature, values)

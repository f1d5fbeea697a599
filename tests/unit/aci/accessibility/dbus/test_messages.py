"""Messages as bytes: calls that the bus accepts, and received bytes that may be cut anywhere or be malformed."""

from __future__ import annotations

from typing import Any

import pytest
from dbus_fast import Message, MessageType
from hypothesis import given
from hypothesis import strategies as st

from aci.accessibility.dbus.messages import LARGEST_BODY, Malformed, encode, split


def answer(text: str, serial: int = 9) -> bytes:
    message = Message(
        message_type=MessageType.METHOD_RETURN, reply_serial=serial, destination=":1.4", signature="s", body=[text],
        serial=3,
    )  # fmt: skip
    return bytes(message._marshall(False))


def test_call_is_read_as_it_was_made() -> None:
    raw = encode(77, ":1.5", "/org/a11y/atspi/accessible/1", "org.a11y.atspi.Text", "GetText", "ii", (0, -1))
    [call] = split(bytearray(raw))
    assert (call.serial, call.destination, call.path) == (77, ":1.5", "/org/a11y/atspi/accessible/1")
    assert (call.interface, call.member, call.signature) == ("org.a11y.atspi.Text", "GetText", "ii")
    assert call.body == [0, -1]


def test_calls_that_are_made_again_have_their_own_numbers() -> None:
    raws = [encode(number, ":1.5", "/a", "a.b", "SetAll", "as", (["x"],)) for number in (1, 2**31)]
    raws += [encode(number, ":1.5", "/a", "a.b", "Get", "s", ("x",)) for number in (3, 4)]
    calls = list(split(bytearray(b"".join(raws))))
    assert [(call.serial, call.body) for call in calls] == [(1, [["x"]]), (2**31, [["x"]]), (3, ["x"]), (4, ["x"])]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=4),
       st.integers(1, 50))  # fmt: skip
def test_stream_may_be_cut_anywhere(texts: list[str], step: int) -> None:
    raw = b"".join(answer(text, serial) for serial, text in enumerate(texts, start=1))
    stream, read = bytearray(), []
    for at in range(0, len(raw), step):
        stream += raw[at : at + step]
        read += [(message.reply_serial, message.body) for message in split(stream)]
    assert read == [(serial, [text]) for serial, text in enumerate(texts, start=1)]


def test_numbers_with_the_high_byte_first_are_read() -> None:
    fields = b"\x05\x01u\x00\x00\x00\x00\x07" + b"\x08\x01g\x00\x04(ii)\x00"
    body = (-5).to_bytes(4, "big", signed=True) + (258).to_bytes(4, "big")
    head = b"B\x02\x00\x01" + b"".join(number.to_bytes(4, "big") for number in (len(body), 3, len(fields)))
    [message] = split(bytearray(head + fields + bytes(-len(fields) & 7) + body))
    assert (message.reply_serial, [tuple(part) for part in message.body]) == (7, [(-5, 258)])


@given(st.binary(min_size=16, max_size=16))
def test_malformed_body_costs_only_its_own_message(body: bytes) -> None:
    good = answer("x" * 11)  # whose body has 16 bytes
    first, second = split(bytearray(good[:-16] + body + good))
    assert first.reply_serial == second.reply_serial == 9
    assert first.signature in ("", "s")
    assert second.body == ["x" * 11]


def test_body_that_is_too_large_is_dropped() -> None:
    [message] = split(bytearray(answer("x" * LARGEST_BODY)))
    assert (message.reply_serial, message.signature, message.body) == (9, "", [])


@given(st.binary(min_size=16, max_size=64))
def test_noise_is_not_a_message(noise: bytes) -> None:
    if noise[0] not in b"lB":
        with pytest.raises(Malformed):
            list(split(bytearray(noise)))


@pytest.mark.parametrize("name", ["self", ":1", "a.b c", "a.\nb", ":1.5\n", "." * 300, ":1.é"])
def test_call_to_an_invalid_bus_name_is_not_sent(name: str) -> None:
    with pytest.raises(Malformed):
        encode(1, name, "/", "a.b", "C", "", ())


@pytest.mark.parametrize(
    ("signature", "values"),
    [("u", (-1,)), ("s", (3,)), ("ii", (1,)), ("(i)", (1,)), ("a", (1,)), ("s", ("a\0b",)), ("s", ("\ud800",))],
)
def test_argument_that_does_not_fit_is_not_sent(signature: str, values: tuple[Any, ...]) -> None:
    with pytest.raises(Malformed):
        encode(1, ":1.5", "/", "a.b", "C", signature, values)

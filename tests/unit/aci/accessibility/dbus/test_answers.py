from __future__ import annotations

import pytest

from aci.accessibility.atspi import StateBit
from aci.accessibility.dbus.answers import LARGEST, LONGEST_SAID, read_answer
from aci.accessibility.dbus.wire import ANSWER, Incoming, Malformed, encode, pack
from aci.accessibility.tree.capture import MOST_LEVELS, MOST_SHOWING, reachable, showing, straighten
from aci.accessibility.tree.nodes import Application, Node, Ref
from tests.unit.aci.accessibility.trees import application, node

SIGNATURE_FIELD = 8


def answer(signature: str, body: bytes) -> Incoming:
    return Incoming(ANSWER, 1, {SIGNATURE_FIELD: signature.encode()}, body, little=True)


def text(value: str) -> bytes:
    return pack("s", [value])


def test_answer_of_the_declared_type_is_read() -> None:
    assert read_answer("GetText", answer("s", text("hello"))) == ["hello"]
    assert read_answer("GetState", answer("au", pack("au", [[1, 2]]))) == [[1, 2]]
    assert read_answer("AddMatch", answer("", b"")) == []


@pytest.mark.parametrize(
    ("member", "signature", "body"),
    [
        ("GetExtents", "s", text("no")),
        ("GetState", "au", pack("au", [[]])),
        ("GetState", "au", pack("au", [[1]])),
        ("GetRole", "i", pack("i", [-1])),
        ("GetChildren", "", b""),
        ("GetText", "s", text("x" * LARGEST)),
        ("GetText", "s", b"\xff\xff\xff\x7f"),
    ],
)
def test_answer_of_another_type_or_size_is_none(member: str, signature: str, body: bytes) -> None:
    with pytest.raises(Malformed):
        read_answer(member, answer(signature, body))


def test_what_objects_say_of_themselves_is_cut() -> None:
    name = b"\x01s\x00\x00" + text("n" * 10_000)
    [value] = read_answer("Get", answer("v", name))
    assert value == "n" * LONGEST_SAID
    assert len(value) < 10_000 <= LARGEST


@pytest.mark.parametrize("name", ["self", ":1", "a.b c", "a.\nb", ":1.5\n", "." * 300, ":1.é"])
def test_calls_to_names_that_none_can_have_are_not_sent(name: str) -> None:
    """The bus hangs up on who sends one."""
    with pytest.raises(Malformed):
        encode(1, name, "/", "a.b", "C", "", ())
    encode(1, ":1.5", "/", "a.b", "C", "", ())
    encode(1, "org.a11y.atspi.Registry", "/", "a.b", "C", "", ())


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_texts_that_the_bus_does_not_take_are_not_sent(value: str) -> None:
    with pytest.raises(Malformed):
        pack("s", [value])


def test_objects_that_lie_in_each_other_are_read_once() -> None:
    rows = [[node("panel", f"{level}.{place}") for place in range(9)] for level in range(30)]
    for row, below in zip(rows, [*rows[1:], rows[0]], strict=True):
        for each in row:
            each.children = below
    known = _known(rows[0])
    assert len(showing(known)) == 1 + 9 * 30
    straighten(known)
    assert sum(len(each.children) for each in reachable(known).values()) == 9 * 30
    assert not known.cut


def _known(children: list[Node]) -> Application:
    known = application(node("frame", "App"))
    known.tops[0].children = children
    return known


def test_objects_of_other_applications_are_left_out() -> None:
    own, theirs = node("push button", "own"), node("push button", "theirs")
    theirs.ref = Ref(":1.99", "/x")
    known = _known([theirs, own])
    known.strangers = frozenset({":1.99"})
    straighten(known)
    assert [child.name for child in known.tops[0].children] == ["own"]
    assert known.tops[0].child_count == 1


def test_depth_and_number_are_bounded_and_that_is_known() -> None:
    deep = node("push button", "deepest")
    for _ in range(MOST_LEVELS + 5):
        deep = node("panel", "", None, deep)
    known = _known([deep])
    straighten(known)
    assert known.cut
    assert len(reachable(known)) == MOST_LEVELS + 1
    many = _known([node("push button", str(number)) for number in range(MOST_SHOWING + 5)])
    straighten(many)
    assert many.cut
    assert len(many.tops[0].children) == MOST_SHOWING
    unseen = StateBit.ENABLED.value
    hidden = _known([node("menu item", str(number), states=unseen) for number in range(MOST_SHOWING + 5)])
    straighten(hidden)
    assert not hidden.cut

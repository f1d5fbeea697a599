from __future__ import annotations

from typing import Any

import pytest
from dbus_fast import Message, MessageType, Variant

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.dbus.answers import LONGEST_STRING, MOST_ATTRIBUTES, read_answer
from aci.accessibility.dbus.messages import Malformed
from aci.accessibility.tree.capture import MOST_LEVELS, MOST_SHOWING, bound_tree, reachable, showing
from aci.accessibility.tree.nodes import Application, Node
from tests.unit.aci.accessibility.trees import application, node


def answer(signature: str, *body: Any) -> Message:
    return Message(message_type=MessageType.METHOD_RETURN, reply_serial=1, signature=signature, body=list(body))


def test_answer_of_the_declared_type_is_read() -> None:
    assert read_answer("GetText", answer("s", "hello")) == ["hello"]
    assert read_answer("GetState", answer("au", [1, 2])) == [[1, 2]]
    assert read_answer("GetAll", answer("a{sv}", {"Name": Variant("s", "A")})) == [{"Name": "A"}]
    assert read_answer("AddMatch", answer("")) == []


@pytest.mark.parametrize(
    ("member", "signature", "body"),
    [
        ("GetExtents", "s", ["no"]),
        ("GetState", "au", [[]]),
        ("GetState", "au", [[1]]),
        ("GetRole", "i", [-1]),
        ("GetChildren", "", []),
    ],
)
def test_answer_of_another_type_is_refused(member: str, signature: str, body: list[Any]) -> None:
    with pytest.raises(Malformed):
        read_answer(member, answer(signature, *body))


def test_names_and_attributes_are_cut() -> None:
    assert read_answer("Get", answer("v", Variant("s", "n" * 10_000))) == ["n" * LONGEST_STRING]
    [attributes] = read_answer("GetAttributes", answer("a{ss}", {str(n): "x" for n in range(1000)}))
    assert len(attributes) == MOST_ATTRIBUTES


def test_cyclic_tree_is_read_once() -> None:
    rows = [[node("panel", f"{level}.{place}") for place in range(9)] for level in range(30)]
    for row, below in zip(rows, [*rows[1:], rows[0]], strict=True):
        for each in row:
            each.children = below
    known = _known(rows[0])
    assert len(showing(known)) == 1 + 9 * 30
    bound_tree(known)
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
    bound_tree(known)
    assert [child.name for child in known.tops[0].children] == ["own"]
    assert known.tops[0].child_count == 1


def test_depth_and_number_are_bounded_and_that_is_known() -> None:
    deep = node("push button", "deepest")
    for _ in range(MOST_LEVELS + 5):
        deep = node("panel", "", None, deep)
    known = _known([deep])
    bound_tree(known)
    assert known.cut
    assert len(reachable(known)) == MOST_LEVELS + 1
    many = _known([node("push button", str(number)) for number in range(MOST_SHOWING + 5)])
    bound_tree(many)
    assert many.cut
    assert len(many.tops[0].children) == MOST_SHOWING
    unseen = StateBit.ENABLED.value
    hidden = _known([node("menu item", str(number), states=unseen) for number in range(MOST_SHOWING + 5)])
    bound_tree(hidden)
    assert not hidden.cut

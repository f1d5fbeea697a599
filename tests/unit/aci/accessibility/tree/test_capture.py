"""What is asked of objects that were not known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import pytest

from aci.accessibility.atspi import ROLE_NAMES, Ref, StateBit
from aci.accessibility.dbus.bus import Bus, Call
from aci.accessibility.tree.capture import HIDDEN, describe_unknown, repair
from aci.accessibility.tree.nodes import Node
from tests.unit.aci.accessibility.trees import SEEN, application, node

UNSEEN = StateBit.VISIBLE.value | StateBit.ENABLED.value


class Answering:
    """Stands in for the bus: answers for objects by their path, and counts what it is asked."""

    def __init__(self, objects: dict[str, tuple[str, int]]) -> None:
        self.objects = objects
        self.asked: Counter[str] = Counter()

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        self.asked.update(call[3] for call in calls)
        return [self._answer(call[1], call[3], call[5]) for call in calls]

    def _answer(self, path: str, member: str, body: Sequence[Any]) -> Any:
        if path not in self.objects:
            return None
        role, states = self.objects[path]
        if member == "Get":
            return {"Name": f"Name of {path}", "ChildCount": 2}.get(body[-1])
        return {
            "GetState": [states & 0xFFFFFFFF, states >> 32],
            "GetRole": ROLE_NAMES.index(role),
            "GetAll": {"Name": f"Name of {path}", "ChildCount": 2},
            "GetInterfaces": ["org.a11y.atspi.Accessible", "org.a11y.atspi.Text", "org.a11y.atspi.Value"],
        }[member]


def described(parent: Node, bus: Answering, toolkit: str = "gtk 3.24.38") -> dict[str, Node]:
    app = application(parent, toolkit=toolkit)
    refs = [Ref(parent.ref.name, path) for path in (*bus.objects, "/gone")]
    asyncio.run(describe_unknown(cast(Bus, bus), app, [(parent, refs)]))
    return {ref.path: found for ref, found in app.nodes.items() if found is not parent}


def test_only_the_states_of_hidden_objects_are_read() -> None:
    bus = Answering({"/shown": ("push button", SEEN), "/hidden": ("menu item", UNSEEN)})
    found = described(node("panel"), bus)
    assert bus.asked == {"GetState": 3, "GetAll": 1, "GetRole": 1, "GetInterfaces": 1}
    assert (found["/shown"].role, found["/shown"].name) == ("push button", "Name of /shown")
    assert "Value" in found["/shown"].interfaces
    assert (found["/hidden"].role, found["/hidden"].states) == (HIDDEN, UNSEEN)
    assert "/gone" not in found


@pytest.mark.parametrize("parent", ["combo box", "scroll pane", "label"])
def test_hidden_parts_that_describe_visible_ones_are_read(parent: str) -> None:
    found = described(node(parent), Answering({"/hidden": ("viewport", UNSEEN)}))
    assert found["/hidden"].role == "viewport"


def test_input_line_that_denies_itself_is_asked() -> None:
    found = described(node("panel"), Answering({"/line": ("panel", StateBit.DEFUNCT.value)}))
    assert found["/line"].role == "panel"


def test_interfaces_that_chromium_gives_always_are_not_asked() -> None:
    objects = {"/button": ("push button", SEEN), "/slider": ("slider", SEEN)}
    bus = Answering(objects)
    found = described(node("section"), bus, "Chromium 1.0")
    assert bus.asked["GetInterfaces"] == 1
    assert {"Component", "Text"} <= found["/button"].interfaces
    assert "Value" in found["/slider"].interfaces


@pytest.mark.parametrize(
    ("toolkit", "gives_all"),
    [
        *(("", 0), ("Qt 5.15.8", 0), ("Qt 6.4.2", 0), ("GAIL 2", 0), ("unknown 1", 0)),
        *(("gtk 3.24.38", 1), ("GTK 4.8.3", 1), ("Chromium 1.0", 1)),
    ],
)
def test_only_toolkits_that_survive_it_are_asked_for_all_properties_at_once(toolkit: str, gives_all: int) -> None:
    bus = Answering({"/button": ("push button", SEEN)})
    found = described(node("panel"), bus, toolkit)["/button"]
    assert (bus.asked["GetAll"], bus.asked["Get"]) == (gives_all, 0 if gives_all else 3)
    assert (found.name, found.description, found.child_count) == ("Name of /button", "", 2)


class Opened(Answering):
    """A menu that fills itself when it is opened."""

    def _answer(self, path: str, member: str, body: Sequence[Any]) -> Any:
        if path in self.objects and member != "GetChildren":
            return super()._answer(path, member, body)
        return {"Get": 1, "GetChildren": [] if path in self.objects else [(":1.5", "/entry")]}.get(member)


@pytest.mark.parametrize(("more", "entries"), [(StateBit.SELECTED.value, ["/entry"]), (0, [])])
def test_menu_is_asked_for_its_entries_when_it_is_open(more: int, entries: list[str]) -> None:
    menu = node("menu", "File", states=SEEN | more)
    menu.child_count = -1
    app = application(node("frame", "App", None, menu))
    asyncio.run(repair(cast(Bus, Opened({"/entry": ("menu item", SEEN)})), app))
    assert [child.ref.path for child in menu.children] == entries

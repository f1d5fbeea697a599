"""An application on an accessibility bus that exists in memory only; it counts what it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.accessibility.atspi import PREFIX, PROPERTIES, REGISTRY_NAME, ROLE_NAMES, ROOT_PATH, Ref
from aci.accessibility.dbus.bus import DBUS_NAME, Answer, Bus, Call, CallRefused
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.trees import SEEN

NAME, PID = ":1.5", 7
EMBEDDED_NAME = ":1.9"  # of a process that shows a page in a window of the application


@dataclass
class Thing:
    """One object as it really is now."""

    path: str
    role: str
    name: str
    rect: Rect
    children: list[Thing] = field(default_factory=list)
    states: int = SEEN
    text: str | None = None
    caret: int = -1
    selected: tuple[int, int] = (0, 0)
    toolkit: str = "test"
    parent: tuple[str, str] | None = None
    plug: tuple[str, str] | None = None  # an object of another connection in it
    connection: str = ""  # its own connection, if it is not that of the application

    @property
    def ref(self) -> Ref:
        return Ref(self.connection or NAME, self.path)


class MemoryBus(Bus):
    """A bus with a single application; unless it has a cache, everything has to be asked for."""

    def __init__(self, *tops: Thing, cache: bool = False) -> None:
        super().__init__("unix:path=/nowhere")
        self.root = Thing("/root", "application", "app", Rect(0, 0, 0, 0), list(tops))
        self.unlisted: list[Thing] = []  # children of the root that it does not list
        self.asked: Counter[str] = Counter()
        self.on_top: dict[tuple[int, int], Ref] = {}  # objects by the points at which they are hit
        self.unmeasured = 0  # number of characters whose place is not known at first
        self._cache = cache

    async def connect(self) -> None:
        pass

    async def call_all(self, calls: Sequence[Call]) -> list[Answer]:
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Answer:
        name, path, interface, member, _, body = call
        if name == REGISTRY_NAME:
            return [[(NAME, "/root")]] if path == ROOT_PATH else CallRefused("no")
        if name == DBUS_NAME:
            return [EMBEDDED_NAME] if member == "GetNameOwner" else [PID]
        if member == "GetItems" and self._cache:
            return [[item for top in self.root.children for item in _items(top, self.root)]]
        things = {thing.path: thing for top in (self.root, *self.unlisted) for thing in _within(top)}
        self.asked[path] += 1
        if path not in things:
            return CallRefused("gone")
        if member == "GetAccessibleAtPoint":
            return [tuple(self.on_top.get((body[0], body[1]), Ref(NAME, path)))]
        if member == "GetCharacterExtents" and self.unmeasured:
            self.unmeasured -= 1
            return [0, 0, 0, 0]
        value = _said(things[path], interface, member, body)
        if value is None:
            return CallRefused("not that")
        return list(value) if member in ("GetSelection", "GetCharacterExtents") else [value]


def _within(thing: Thing) -> list[Thing]:
    return [thing, *(inner for child in thing.children for inner in _within(child))]


def _items(thing: Thing, parent: Thing, index: int = 0) -> list[Any]:
    """Return an object and what it contains as a cache lists them."""
    said = [_said(thing, PREFIX + "Accessible", member, ()) for member in ("GetInterfaces", "GetRole", "GetState")]
    around, holds = thing.parent or parent.ref, len(thing.children)
    item = thing.ref, (NAME, "/root"), around, index, holds, said[0], thing.name, said[1], "", said[2]
    return [item, *(each for place, child in enumerate(thing.children) for each in _items(child, thing, place))]


def _said(thing: Thing, interface: str, member: str, body: Sequence[Any]) -> Any:
    properties = {
        "Name": thing.name, "Description": "", "ChildCount": len(thing.children), "ToolkitName": thing.toolkit,
        "CaretOffset": thing.caret, "Parent": thing.parent,
    }  # fmt: skip
    answers: dict[tuple[str, str], Any] = {
        (PROPERTIES, "GetAll"): properties,
        (PROPERTIES, "Get"): properties.get(body[-1]) if body else None,
        (PREFIX + "Accessible", "GetRole"): ROLE_NAMES.index(thing.role),
        (PREFIX + "Accessible", "GetState"): [thing.states & 0xFFFFFFFF, thing.states >> 32],
        (PREFIX + "Accessible", "GetInterfaces"): [
            PREFIX + "Accessible", PREFIX + "Component", *([PREFIX + "Text"] if thing.text is not None else []),
        ],
        (PREFIX + "Accessible", "GetChildren"): [tuple(child.ref) for child in thing.children],
        (PREFIX + "Accessible", "GetChildAtIndex"): thing.plug,
        (PREFIX + "Component", "GetExtents"): (thing.rect.x, thing.rect.y, thing.rect.width, thing.rect.height),
        (PREFIX + "Text", "GetText"): thing.text,
        (PREFIX + "Text", "GetSelection"): thing.selected,
    }  # fmt: skip
    if member == "GetCharacterExtents":  # each is eight pixels wide
        return thing.rect.x + 8 * int(body[0]), thing.rect.y, 8, 16
    return answers.get((interface, member))

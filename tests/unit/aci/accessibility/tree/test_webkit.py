"""Pages of another process in a window of GTK 3."""

from __future__ import annotations

import asyncio

import pytest

from aci.accessibility.reader import Reader
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.peers import EMBEDDED_NAME, NAME, MemoryBus, Thing
from tests.unit.aci.accessibility.trees import SCREEN, SEEN, WINDOW

WHOLE = Rect(0, 0, 500, 400)


class Embedding:
    """A window with a page in a socket, which names the socket as its parent or not."""

    def __init__(self, parent: str = "/socket", toolkit: str = "gtk 3.24.38") -> None:
        def other(path: str, role: str, name: str, *children: Thing, states: int = SEEN) -> Thing:
            return Thing(path, role, name, Rect(10, 10, 80, 20), list(children), states, connection=EMBEDDED_NAME)

        self.button = other("/send", "push button", "Send")
        page = other("/page", "document web", "Order", self.button)
        page.rect = WHOLE
        plug = other("/plug", "filler", "", other("/view", "scroll pane", "", page, states=0), states=0)
        plug.parent = (NAME, parent)
        socket = Thing("/socket", "filler", "", WHOLE, states=0, plug=("org.example.Page", "/plug"))
        self.bus = MemoryBus(Thing("/frame", "frame", "App", WHOLE, [Thing("/box", "panel", "", WHOLE, [socket])]))
        self.bus.root.toolkit, self.bus.unlisted = toolkit, [plug]
        self.reader = Reader(self.bus)
        self.loop = asyncio.new_event_loop()

    def look(self) -> list[str]:
        scene = self.loop.run_until_complete(self.reader.read([WINDOW], SCREEN, None if not self.bus.asked else ()))
        assert scene.notes == ()
        return [draft.name for draft, _ in scene.drafts]


def test_page_of_another_process_is_seen_and_followed_by_its_events() -> None:
    window = Embedding()
    assert window.look() == ["Send"]
    window.button.name = "Sent"
    window.bus.signals.note(EMBEDDED_NAME, "/send", "PropertyChange")
    assert window.look() == ["Sent"]
    known = window.reader.by_connection()
    assert known[NAME] is known[EMBEDDED_NAME]


@pytest.mark.parametrize(("parent", "toolkit"), [("/elsewhere", "gtk 3.24.38"), ("/socket", "Qt 5.15")])
def test_what_does_not_lie_in_a_socket_of_gtk_is_left_out(parent: str, toolkit: str) -> None:
    assert Embedding(parent, toolkit).look() == []


def test_a_page_that_did_not_answer_is_asked_again() -> None:
    window = Embedding()
    window.bus._peer(EMBEDDED_NAME).silent = True
    assert window.look() == ["Send"]
    assert not window.bus.silent(EMBEDDED_NAME)

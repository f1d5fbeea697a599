"""What Gecko does not say of a page: that parts without a box show, and where texts lie."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.reader import Reader
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.peers import MemoryBus, Thing
from tests.unit.aci.accessibility.trees import SCREEN, WINDOW

WHOLE = Rect(0, 0, 500, 400)
VISIBLE = StateBit.VISIBLE.value


def drafts(
    *parts: Thing, toolkit: str = "Gecko 128.0", text: str | None = None, hit: Sequence[Thing] = (), unmeasured: int = 0
) -> list[Draft]:
    page = Thing("/page", "document web", "Page", WHOLE, list(parts), text=text)
    bus = MemoryBus(Thing("/frame", "frame", "App", WHOLE, [page]))
    bus.root.toolkit, bus.unmeasured = toolkit, unmeasured
    bus.on_top = {(each.rect.center.x, each.rect.center.y): each.ref for each in hit}
    scene = asyncio.run(Reader(bus).read([WINDOW], SCREEN))
    assert scene.notes == ()
    return [draft for draft, _ in scene.drafts]


def boxless(path: str, rect: Rect, *children: Thing) -> Thing:
    return Thing(path, "section", "", rect, list(children), states=VISIBLE)


def button(name: str, rect: Rect) -> Thing:
    return Thing(f"/{name}", "push button", name, rect)


@pytest.mark.parametrize(("toolkit", "found"), [("Gecko 128.0", ["Send"]), ("gtk 3.24.38", [])])
def test_parts_of_a_page_without_a_box_show_what_they_hold(toolkit: str, found: list[str]) -> None:
    send = button("Send", Rect(10, 10, 80, 20))
    outer = boxless("/outer", WHOLE, boxless("/inner", Rect(10, 10, 80, 20), send))
    assert [draft.name for draft in drafts(outer, toolkit=toolkit)] == found


def test_what_is_scrolled_out_of_the_window_stays_hidden() -> None:
    below = boxless("/below", Rect(10, 2000, 80, 20), button("Far", Rect(10, 2000, 80, 20)))
    assert [draft.name for draft in drafts(button("Near", Rect(10, 10, 80, 20)), below)] == ["Near"]


def test_texts_in_containers_are_seen() -> None:
    link = Thing("/link", "link", "home", Rect(40, 50, 60, 16))
    total = Thing("/total", "section", "", Rect(10, 10, 200, 16), text="Total: 5")
    go = Thing("/go", "section", "", Rect(10, 50, 200, 16), [link], text="Go \ufffc now")
    assert [(draft.role, draft.name) for draft in drafts(total, go)] == [
        ("section", "Total: 5"), ("section", "Go home now"), ("link", "home")
    ]  # fmt: skip


def test_texts_beside_controls_have_a_place_of_their_own() -> None:
    seven = button("7", Rect(60, 10, 20, 20))
    count = Thing("/count", "section", "", Rect(10, 10, 200, 16), [seven], text="Count \ufffc left")
    found = drafts(count, text="\ufffc after")
    assert [(draft.role, draft.name) for draft in found] == [
        ("static", "after"), ("static", "Count"), ("push button", "7"), ("static", "left")
    ]  # fmt: skip
    assert next(draft.area for draft in found if draft.name == "Count") == Rect(10, 10, 40, 16)


@pytest.mark.parametrize("role", ["dialog", "tool bar", "list", "scroll pane"])
def test_texts_are_seen_in_what_is_not_called_by_them(role: str) -> None:
    sure = Thing(
        "/sure", role, "Question", Rect(10, 10, 200, 16), [button("Yes", Rect(90, 10, 40, 16))], text="Sure? \ufffc"
    )
    assert [draft.name for draft in drafts(sure)] == ["Sure?", "Yes"]


def test_places_of_texts_are_asked_again_while_none_is_known() -> None:
    count = Thing(
        "/count", "section", "", Rect(10, 10, 200, 16), [button("7", Rect(60, 10, 20, 20))], text="Count \ufffc"
    )
    assert [draft.name for draft in drafts(count, unmeasured=4)] == ["Count", "7"]


@pytest.mark.parametrize("spills", [True, False])
def test_contents_outside_of_their_container_are_seen_where_they_are_hit(spills: bool) -> None:
    """A container without a height of its own shows them, one that scrolls does not."""
    inside, *outside = (button(str(row), Rect(10, 10 + 40 * row, 80, 20)) for row in range(4))
    container = Thing("/container", "section", "", Rect(10, 10, 200, 20), [inside, *outside])
    found = drafts(container, hit=outside if spills else ())
    assert [draft.name for draft in found] == (["0", "1", "2", "3"] if spills else ["0"])


@pytest.mark.parametrize("toolkit", ["Gecko 128.0", "Chromium 1.0"])
def test_button_that_opens_a_list_contains_what_it_says(toolkit: str) -> None:
    chosen = Thing("/chosen", "static", "Google", Rect(20, 12, 60, 16))
    box = Thing(
        "/box", "combo box", "Engine", Rect(10, 10, 90, 20), [Thing("/in", "section", "", chosen.rect, [chosen])]
    )
    assert [(draft.role, draft.name, draft.text) for draft in drafts(box, toolkit=toolkit)] == [
        ("combo box", "Engine", "Google")
    ]

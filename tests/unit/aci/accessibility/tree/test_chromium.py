"""Entries of open lists of choices in pages of Chromium lie where their windows show them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.tree.chromium import note_scrolled, place_choices, show_choices
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from tests.unit.aci.accessibility.trees import SCREEN, SEEN, WINDOW, application, node, page

BOX = Rect(100, 300, 80, 20)
ROW_PX, ROWS = 20, 30
ABOVE = Rect(100, 120, 100, 202)  # where a list is shown that is reported to begin at 98, above the box


class Places:
    """Answers with the extents of entries."""

    def __init__(self, extents: dict[Ref, Rect]) -> None:
        self._extents = extents

    async def ask_all(self, calls: Sequence[tuple[str, str, *tuple[Any, ...]]]) -> list[Any]:
        rects = [self._extents[Ref(call[0], call[1])] for call in calls]
        return [[rect.x, rect.y, rect.width, rect.height] for rect in rects]


def opened(popup: Rect, chosen: int = 0) -> tuple[Application, Places]:
    top_px = popup.y if popup.y >= BOX.bottom else BOX.y - popup.height
    extents = [Rect(101, top_px + 1 + ROW_PX * at, 98, ROW_PX) for at in range(ROWS)]
    entries = [
        node("menu item", f"{at}", rect, states=SEEN | (StateBit.SELECTED.value if at == chosen else 0))
        for at, rect in enumerate(extents)
    ]
    group = node("panel", "Group", Rect(100, 300, 80, 10), *entries[1:3])
    menu = node("menu", "", Rect(100, 300, 80, 10), entries[0], group, *entries[3:])
    box = node("combo box", "Size", BOX, menu, states=SEEN | StateBit.EXPANDED.value)
    shown = application(page(box), toolkit="Chromium 1.0")
    shown.windows = (Window(2, "", "app", popup, popup=True, pid=7), WINDOW)
    return shown, Places({entry.ref: rect for entry, rect in zip(entries, extents, strict=True)})


def seen(shown: Application, places: Places) -> dict[str, Rect]:
    for each in shown.nodes.values():
        each.restore_reported()
    asyncio.run(show_choices(places, shown))  # type: ignore[arg-type]
    place_choices(shown, shown.windows)
    drafts = draft_elements(shown, shown.tops[0], WINDOW, shown.windows, SCREEN)
    entries = [draft for draft in drafts if draft.role == "menu item"]
    return {draft.name: common for draft in entries if (common := draft.area.intersection(draft.clip)) is not None}


def test_list_that_is_moved_onto_the_page_shows_its_entries_in_its_window() -> None:
    found = seen(*opened(ABOVE))
    assert found["0"] == Rect(101, 121, 98, 20)
    assert set(found) == {str(at) for at in range(10)}


def test_list_below_its_box_is_clipped_by_its_window() -> None:
    found = seen(*opened(Rect(100, 320, 100, 82)))
    assert {name: rect.y for name, rect in found.items()} == {"0": 321, "1": 341, "2": 361, "3": 381}


def test_long_list_opens_at_the_entry_that_is_chosen() -> None:
    found = seen(*opened(ABOVE, chosen=14))
    assert found["14"].bottom == ABOVE.bottom - 1
    assert set(found) == {str(at) for at in range(5, 15)}


def test_nothing_is_said_of_a_list_that_may_have_been_scrolled_until_it_opens_again() -> None:
    shown, places = opened(ABOVE)
    assert seen(shown, places)
    highlight = {2: [Rect(101, 121, 98, 20), Rect(101, 161, 98, 20)]}
    note_scrolled(shown, shown.windows, highlight)
    assert seen(shown, places)
    note_scrolled(shown, shown.windows, {2: [ABOVE]})
    assert not seen(shown, places)
    note_scrolled(shown, (WINDOW,), {})
    assert seen(shown, places)


def closed(menu: Node) -> Application:
    return application(page(node("combo box", "Size", BOX, menu)), toolkit="Chromium 1.0")


def test_closed_list_stays_as_it_is() -> None:
    menu = node("menu", "", BOX, node("menu item", "S", BOX))
    shown = closed(menu)
    shown.windows = (Window(2, "", "app", ABOVE, popup=True, pid=7), WINDOW)
    place_choices(shown, shown.windows)
    assert menu.popup is None

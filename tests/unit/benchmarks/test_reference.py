from __future__ import annotations

import numpy as np

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from benchmarks.support.reference import Seen, compare

WINDOW = Window(id=7, title="Main", app="app", rect=Rect(0, 0, 400, 300), pid=5)
FRAME = Seen(0, -1, 5, "gtk", "frame", "Main", WINDOW.rect, frozenset({"showing"}), True)


def element(rect: Rect, name: str = "Save", role: str = "push button", number: int = 1) -> Element:
    return Element(id=number, role=role, name=name, rect=rect, point=Point(rect.x, rect.y), window_id=7)


def seen(rect: Rect, name: str = "Save", role: str = "push button", number: int = 1, parent: int = 0) -> Seen:
    return Seen(number, parent, 5, "gtk", role, name, rect, frozenset({"showing"}), True)


def observation(*elements: Element, windows: tuple[Window, ...] = (WINDOW,)) -> Observation:
    return Observation(screenshot=np.zeros((300, 400, 3), dtype=np.uint8), elements=elements, windows=windows)


def test_an_element_that_matches_its_reference_counts() -> None:
    box = Rect(10, 10, 80, 20)
    found = compare(observation(element(box)), [FRAME, seen(box)])
    assert (found.same, found.total, found.share) == (1, 1, 1.0)


def test_an_element_beside_its_place_and_one_that_is_missing_are_not_explained() -> None:
    there = [FRAME, seen(Rect(10, 10, 80, 20)), seen(Rect(10, 50, 80, 20), "Open", number=2)]
    found = compare(observation(element(Rect(14, 10, 80, 20))), there)
    assert found.same == 0
    assert sorted(line.split(":")[0] for line in found.unexplained) == [
        "only here",
        "only in pyatspi",
        "only in pyatspi",
    ]
    assert found.share == 0


def test_what_scrolls_in_a_box_is_clipped_to_it() -> None:
    pane = seen(Rect(0, 0, 200, 60), "", "scroll pane", number=1)
    row = seen(Rect(0, 50, 200, 20), "Row", "list item", number=2, parent=1)
    found = compare(observation(element(Rect(0, 50, 200, 10), "Row", "list item")), [FRAME, pane, row])
    assert found.unexplained == []
    assert list(found.explained) == ["clipped to what it scrolls in or to its window"]


def test_what_a_window_covers_is_explained_only_where_it_does() -> None:
    over = Window(id=8, title="Over", app="other", rect=Rect(0, 0, 400, 100), pid=6)
    hidden, free = seen(Rect(10, 10, 80, 20)), seen(Rect(10, 150, 80, 20), "Open", number=2)
    found = compare(observation(windows=(over, WINDOW)), [FRAME, hidden, free])
    assert list(found.explained) == ["wholly covered by windows above it"]
    assert len(found.unexplained) == 1


def test_a_constant_offset_counts_only_where_all_share_it() -> None:
    names = ["One", "Two", "Three", "Four"]
    there = [FRAME, *(seen(Rect(10, 10 + 30 * n, 80, 20), name, number=n + 1) for n, name in enumerate(names))]
    moved = [element(Rect(10, 35 + 30 * n, 80, 20), name, number=n) for n, name in enumerate(names)]
    assert list(compare(observation(*moved), there).explained) == ["moved by the gtk offset (0, 25)"]
    stray = element(Rect(200, 200, 80, 20), "Four", number=9)
    assert len(compare(observation(*moved[:3], stray), there).unexplained) == 2

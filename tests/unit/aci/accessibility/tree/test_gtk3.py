"""Headings in lists of GTK 3, as Rhythmbox reports its list of sources."""

from __future__ import annotations

from aci.accessibility.tree.gtk3 import drawn_texts
from aci.accessibility.tree.nodes import Node
from aci.observation.geometry import Rect
from tests.unit.aci.accessibility.trees import node

TEXT = frozenset({"Accessible", "Component", "Text"})


def column(*rows: tuple[str, str], heading_laid_out_last: bool = False, x: int = 0) -> list[Node]:
    def cell(heading: str, entry: str, y: int) -> Node:
        rooms = (30, 0) if heading_laid_out_last else (0, 30)
        texts = [
            node("table cell", text, Rect(x, y, room, 20), interfaces=TEXT)
            for text, room in zip((heading, entry), rooms, strict=True)
        ]
        return node("table cell", "", Rect(x, y, 100, 20), node("table cell", "", Rect(x, y, 6, 20)), *texts)

    return [cell(heading, entry, 20 * at) for at, (heading, entry) in enumerate(rows)]


def drawn(cells: list[Node]) -> list[str]:
    return list(drawn_texts(cells).values())


SOURCES = (("Library", "Old"), ("Library", "Queue"), ("Library", "Music"), ("Lists", "Music"), ("Lists", "Old"))


def test_heading_is_known_by_what_the_rows_below_repeat() -> None:
    assert drawn(column(*SOURCES)) == ["Library", "Queue", "Music", "Lists", "Old"]
    assert drawn(column(*SOURCES, heading_laid_out_last=True)) == ["Library", "Queue", "Music", "Lists", "Old"]


def test_first_visible_row_of_a_scrolled_list_may_be_no_heading() -> None:
    assert drawn(column(*SOURCES[1:])) == ["Queue", "Music", "Lists", "Old"]


def test_row_whose_heading_was_reported_late_keeps_its_own_text() -> None:
    late = column(("Library", "Old"), ("Lists", "Queue"), ("Library", "Music"), ("Library", "Old"))
    assert drawn(late) == ["Library", "Queue", "Music", "Old"]


def test_lists_without_headings_stay_as_they_are() -> None:
    assert drawn_texts(column(("a", "One"), ("b", "One"), ("c", "Two"))) == {}  # nothing is repeated
    both = column(*SOURCES)
    for cell in both:
        cell.children[1].rect = Rect(0, 0, 30, 20)
    assert drawn_texts(both) == {}  # both texts are drawn


def test_columns_are_told_apart() -> None:
    cells = [each for pair in zip(column(*SOURCES), column(*SOURCES, x=200), strict=True) for each in pair]
    assert drawn(cells) == 2 * ["Library", "Queue", "Music", "Lists", "Old"]

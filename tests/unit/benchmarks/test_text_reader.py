"""What a reader knows from the texts alone is what was on the screen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from benchmarks.support.truth.text_reader import TextReader

WINDOW = Window(1, "Sales", "calc", Rect(0, 0, 800, 600), active=True)


def element(number: int, role: str, name: str = "", **more: object) -> Element:
    drawn = replace(Element(number, role, name, Rect(10, 20 * number, 50, 20), None, 1), **more)  # type: ignore[arg-type]
    return replace(drawn, point=drawn.rect.center)


def cell(number: int, address: str, text: str = "", **more: object) -> Element:
    place = Rect(80 * (ord(address[0]) - ord("A")), 300 + 20 * int(address[1:]), 80, 20)
    return element(number, "table cell", address, text=text, rect=place, **more)


def seen(*elements: Element, windows: tuple[Window, ...] = (WINDOW,)) -> Observation:
    focus = next((each.id for each in elements if "focused" in each.states), None)
    return Observation(np.zeros((4, 4, 3), np.uint8), elements, windows, focus_id=focus)


def reader_of(*screens: Observation) -> TextReader:
    reader = TextReader()
    reader.read(screens[0].to_text())
    for number in range(1, len(screens)):
        reader.read(screens[number].changes_since(screens[number - 1], screens[: number - 1]))
    return reader


def known(reader: TextReader) -> set[tuple[int, str, str, str]]:
    return {(each.id, each.role, each.name, each.text) for each in reader.elements.values() if each.shown}


BAR = [element(number, "push button", f"b{number}", rect=Rect(60 * number, 20, 50, 20)) for number in range(1, 6)]
SHEET = [cell(20, "A1", "Tea"), cell(21, "B1"), cell(22, "C1"), cell(23, "A2"), cell(24, "B2"), cell(25, "C2")]
FIELD = element(10, "text", "City", text='Rome "old"\n| 5 link')


def test_reader_knows_what_a_full_text_lists() -> None:
    row = [
        element(30 + n, "table cell", name, rect=Rect(90 * n, 500, 80, 20)) for n, name in enumerate(("a.txt", "3 kB"))
    ]
    reader = reader_of(seen(*BAR, FIELD, *SHEET, *row))
    assert known(reader) == {
        *((each.id, "push button", each.name, "") for each in BAR),
        (10, "text", "City", 'Rome "old"\n| 5 link'),
        *((each.id, "table cell", each.name, each.text or "") for each in (*SHEET, *row)),
    }
    assert reader.active == "Sales"


def test_reader_follows_changes_of_states_and_texts() -> None:
    off = [replace(each, states=frozenset({"disabled"})) for each in BAR]
    marked = [replace(each, states=frozenset({"selected"})) for each in SHEET]
    typed = replace(FIELD, text="Roma", states=frozenset({"focused"}))
    first, second, third = (
        seen(*BAR, FIELD, *SHEET),
        seen(*off, typed, *marked),
        seen(*BAR, typed, *SHEET[:4], *marked[4:]),
    )
    between, end = reader_of(first, second), reader_of(first, second, third)
    assert {each.id for each in between.elements.values() if "disabled" in each.states} == {1, 2, 3, 4, 5}
    assert {each.id for each in between.elements.values() if "selected" in each.states} == {20, 21, 22, 23, 24, 25}
    assert (between.elements[10].text, between.focus) == ("Roma", 10)
    assert {each.id for each in end.elements.values() if each.states & {"disabled", "selected"}} == {24, 25}


def test_reader_follows_a_dialog_that_covers_a_window_and_closes() -> None:
    dialog = Window(2, "Options", "calc", Rect(0, 0, 800, 600), active=True, modal=True)
    option = element(40, "check box", "Grid", window_id=2, states=frozenset({"checkable"}))
    ticked = replace(option, states=frozenset({"checkable", "checked"}))
    below = replace(WINDOW, active=False)
    behind = seen(*BAR, *SHEET)
    opened, changed = (seen(each, windows=(dialog, below)) for each in (option, ticked))
    between = reader_of(behind, opened, changed)
    assert known(between) == {(40, "check box", "Grid", "")}
    assert (between.elements[40].states, between.active) == ({"checked"}, "Options")
    after = seen(*BAR[:4], replace(BAR[4], name="Redo"), *SHEET)
    end = reader_of(behind, opened, changed, after)
    assert {each[0] for each in known(end)} == {each.id for each in (*BAR, *SHEET)}
    assert (end.elements[5].name, end.active) == ("Redo", "Sales")


def test_reader_follows_long_texts_and_what_is_gone() -> None:
    body = element(11, "text", "Body", text="word " * 80)
    more = replace(body, text=f"{'word ' * 20}and more {'word ' * 60}")
    links = [element(number, "link", f"l{number}") for number in range(50, 70)]
    reader = reader_of(seen(body, *links), seen(more, links[0]))
    assert known(reader) == {(11, "text", "Body", more.text), (50, "link", "l50", "")}

from __future__ import annotations

from dataclasses import replace

import pytest

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.elements.placement import Places, mark_active_cells, place_elements
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Window
from aci.observation.tracking import IdTracker
from tests.unit.aci.accessibility.trees import PLACE, SCREEN, SEEN, WINDOW, application, frame, node

FOCUSED = SEEN | (StateBit.FOCUSED | StateBit.FOCUSABLE | StateBit.EDITABLE).value


def drafts(*children: object) -> list[Draft]:
    top = frame(*children)  # type: ignore[arg-type]
    return draft_elements(application(top), top, WINDOW, (WINDOW,), SCREEN)


def placed(found: list[Draft], *windows: Window) -> tuple[Element, ...]:
    return place_elements([(draft, "app") for draft in found], windows, SCREEN, IdTracker())[0]


def test_window_above_covers_with_its_frame() -> None:
    found = drafts(node("push button", "A", Rect(10, 10, 80, 20)), node("push button", "B", Rect(10, 200, 80, 20)))
    dialog = Window(2, "Dialog", "app", Rect(0, 25, 100, 50), frame=Rect(0, 0, 100, 80))
    assert [element.name for element in placed(found, dialog, WINDOW)] == ["B"]
    assert [element.name for element in placed(found, WINDOW, dialog)] == ["A", "B"]


def test_element_in_two_visible_parts_is_in_the_larger_one_and_has_its_whole_extent() -> None:
    found = drafts(node("text", "", Rect(10, 10, 300, 20)))
    dialog = Window(2, "Dialog", "app", Rect(60, 0, 100, 80))
    [text] = placed(found, dialog, WINDOW)
    assert (text.rect, text.extent) == (Rect(160, 10, 150, 20), Rect(10, 10, 300, 20))
    assert placed(found, WINDOW, dialog)[0].extent is None


def test_placements_stay_when_a_separate_window_comes_to_the_front() -> None:
    found = drafts(node("push button", "A", Rect(10, 10, 80, 20)))
    beside, over = Window(2, "Beside", "app", Rect(2000, 0, 90, 90)), Window(3, "Over", "app", Rect(0, 0, 50, 90))
    places, screen = Places(), Rect(0, 0, 3000, 1000)
    [alone] = places.place(found, [WINDOW, beside], screen)
    assert alone is not None
    assert places.place(found, [beside, WINDOW], screen)[0] is alone
    assert places.place(found, [over, WINDOW], screen)[0] != alone


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("name", "Other"), ("text", "other"), ("label", "Size"), ("description", "in px"),
        ("states", frozenset({"checked"})), ("node.value", 2.0), ("node.caret", 1), ("node.selection", (0, 1)),
        ("node.shortcut", "Ctrl+S"),
    ],
)  # fmt: skip
def test_elements_stay_until_anything_about_them_changes(part: str, value: object) -> None:
    [draft] = drafts(node("text", "A", Rect(10, 10, 80, 20), text="words", states=FOCUSED))
    places, window = Places(), replace(WINDOW, active=True)

    def seen(kept: Places) -> Element:
        [element], _, _ = place_elements([(draft, "app")], [window], SCREEN, IdTracker(), kept)
        return element

    first = seen(places)
    assert seen(places) is first
    setattr(draft.node if part.startswith("node.") else draft, part.removeprefix("node."), value)
    assert seen(places) == seen(Places()) != first


@pytest.mark.parametrize(
    ("attributes", "text", "number"),
    [
        ({"valuetext": "12"}, None, 12.0),
        ({"valuetext": ""}, None, None),
        ({"valuetext": "0", "placeholder": "mm"}, None, None),
        ({"valuetext": "00", "placeholder": "--"}, None, 0.0),
        ({"valuetext": "0", "tag": "div"}, None, 0.0),
        ({"valuetext": "0", "placeholder": "5", "tag": "input"}, "0", 3.0),
        ({"placeholder": "5", "tag": "input"}, "", None),
        ({}, "", 3.0),
    ],
)
def test_number_is_that_of_the_part_of_a_date_or_of_a_field_with_content(
    attributes: dict[str, str], text: str | None, number: float | None
) -> None:
    field = node("spin button", "Month", PLACE, attributes=attributes, text=text)
    field.value = 3.0
    [element] = placed(drafts(field), WINDOW)
    assert element.value == number


def test_elements_of_the_topmost_window_come_first() -> None:
    below = drafts(node("push button", "below", Rect(10, 300, 80, 20)))
    above = [replace(below[0], node=node("push button", "above"), window=Window(2, "", "app", Rect(0, 0, 200, 350)))]
    found = placed([*below, *above], Window(2, "", "app", Rect(0, 0, 9, 9)), WINDOW)
    assert [element.window_id for element in found] == [2, 1]


def test_buttons_that_only_tooltips_name_keep_their_ids_when_the_rest_of_the_window_changes() -> None:
    buttons = [node("toggle button", "", Rect(300, 40 * at, 20, 20), description=f"Pane {at}") for at in range(4)]
    titles = [node("label", text, Rect(10, 200 + 20 * at, 80, 20)) for at, text in enumerate(("Gardens", "Parks"))]
    other = node("label", "Footer", Rect(10, 300, 80, 20))
    tracker = IdTracker()
    seen = [
        place_elements([(draft, "app") for draft in drafts(*children)], [WINDOW], SCREEN, tracker)[0]
        for children in ([*buttons, *titles], [*buttons, other])
    ]
    first, second = ([one.id for one in elements if one.role == "toggle button"] for elements in seen)
    assert first == second


def test_focus_is_the_innermost_of_the_active_window() -> None:
    focused = frozenset({"focused"})
    outer, inner = drafts(node("list item", "outer"), node("text", "inner", Rect(10, 50, 20, 20), text=""))
    outer, inner = replace(outer, states=focused), replace(inner, states=focused, path=(*inner.path, "list:x"))
    other = replace(inner, node=node("text", "other"), window=Window(2, "", "app", SCREEN))
    named = [(draft, "app") for draft in (outer, inner, other)]
    _, by_id, focus = place_elements(named, (Window(2, "", "app", Rect(600, 0, 9, 9)), WINDOW), SCREEN, IdTracker())
    assert focus is not None
    assert by_id[focus].node is inner.node


def test_only_one_element_has_the_focus_and_its_caret_decides() -> None:
    places = [Rect(10, 10 + 40 * n, 80, 20) for n in range(3)]
    found = drafts(*(node("paragraph", "", place, text="words", states=FOCUSED) for place in places))
    found[1].node.caret, found[1].node.selection = 3, (1, 3)
    elements, _, focus = place_elements([(draft, "app") for draft in found], (WINDOW,), SCREEN, IdTracker())
    assert [element.id for element in elements if "focused" in element.states] == [focus]
    assert [(element.caret, element.selection) for element in elements] == [(None, None), (3, (1, 3)), (None, None)]


def test_inactive_window_has_no_focus_while_another_is_active() -> None:
    found = drafts(node("entry", "", text="", states=FOCUSED))
    dialog = Window(2, "Dialog", "app", Rect(600, 0, 90, 90), active=True)
    elements, _, focus = place_elements(
        [(draft, "app") for draft in found], (dialog, replace(WINDOW, active=False)), SCREEN, IdTracker()
    )
    assert focus is None
    assert "focused" not in elements[0].states


def test_target_of_an_element_is_clicked() -> None:
    [draft] = drafts(node("push button", "A", Rect(10, 10, 80, 20)))
    [element] = placed([replace(draft, target=Rect(12, 12, 10, 10))], WINDOW)
    assert element.point == Point(17, 17)


def test_selected_cells_are_derived_from_the_name_box() -> None:
    cells = [
        node("table cell", name, Rect(10 + 50 * place, 100, 50, 20), cell=(0, place), text="")
        for place, name in enumerate(("A1", "B1", "C1"))
    ]
    table = node("table", "Sheet1", Rect(0, 80, 400, 200), *cells)
    for content, expected in (("B1", {"B1"}), ("B1:C1", {"B1", "C1"}), ("Total", set())):
        found = drafts(node("text", "", Rect(0, 0, 50, 20), text=content, states=SEEN), table)
        mark_active_cells(found)
        assert {draft.name for draft in found if "selected" in draft.states} == expected
        assert any("focused" in draft.states for draft in found) == (content == "B1")

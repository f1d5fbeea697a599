"""What is seen of LibreOffice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aci.acting.actions import Click, Hotkey, Type
from aci.acting.effects import with_effect
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from benchmarks.support.screens import desktop_with_ocr
from tests.integration.aci.seeing import element, find, until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.fixture(scope="module")
def calc() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1280, 800)) as desktop:
        desktop.launch(["libreoffice", "--calc"])
        until(desktop, lambda seen: find(seen, "table cell", "A1"))
        yield desktop


def content(observation: Observation) -> dict[str, str]:
    return {item.name: item.text for item in observation.elements if item.role == "table cell" and item.text}


def test_cells_are_clicked_typed_into_and_read(calc: VirtualDesktop) -> None:
    for address, text in (("B7", "Apples"), ("C7", "3"), ("C8", "=C7*2")):
        calc.perform(Click(element_id=element(calc, "table cell", address).id))
        seen = until(calc, lambda now, address=address: "focused" in find(now, "table cell", address).states)  # type: ignore[union-attr, misc]
        assert seen.focus_id == find(seen, "table cell", address).id  # type: ignore[union-attr]
        calc.perform(Type(text=text, enter=True))
    until(calc, lambda seen: content(seen) == {"B7": "Apples", "C7": "3", "C8": "6"})


def test_a_formula_that_fails_shows_its_error_in_its_cell() -> None:
    with desktop_with_ocr((1280, 800)) as desktop:
        desktop.launch(["libreoffice", "--calc"])
        before = until(desktop, lambda seen: find(seen, "table cell", "B3"))
        action = Type(text="=NOSUCH(1)\n", element_id=element(desktop, "table cell", "B3").id)
        came = desktop.perform(action)
        after = until(desktop, lambda seen: content(seen) == {"B3": "#NAME?"})
        effect = with_effect(came, action, before, after).effect
        assert effect is not None and effect.remark == "alert"


def test_a_column_is_selected_by_its_header() -> None:
    with desktop_with_ocr((1280, 800)) as desktop:
        desktop.launch(["libreoffice", "--calc"])
        seen = until(desktop, lambda now: any(each.name == "C" for each in now.candidates))
        header = next(each for each in seen.candidates if (each.role, each.name) == ("column header", "C"))
        assert desktop.perform(Click(element_id=header.id)).ok
        until(desktop, lambda now: "selected" in find(now, "table cell", "C9").states)  # type: ignore[union-attr]


def test_input_line_and_name_box_are_fields(calc: VirtualDesktop) -> None:
    calc.perform(Click(element_id=element(calc, "table cell", "C8").id))
    seen = until(calc, lambda now: getattr(find(now, "text", "Input line"), "text", "") == "=C7*2")
    assert any(item.text == "C8" and item.role == "text" for item in seen.elements)


def test_cells_keep_their_ids_and_lie_in_a_grid(calc: VirtualDesktop) -> None:
    first, second = calc.observe(), calc.observe()
    cells = {item.name: item for item in first.elements if item.role == "table cell"}
    assert {name: item.id for name, item in cells.items()} == {
        item.name: item.id for item in second.elements if item.role == "table cell"
    }
    assert cells["A1"].rect.y == cells["D1"].rect.y
    assert cells["A1"].rect.x == cells["A9"].rect.x
    assert cells["B2"].rect.x == cells["A2"].rect.right
    assert cells["B3"].rect.y == cells["B2"].rect.bottom


def test_all_cells_are_seen_while_a_dialog_asks_for_a_range(calc: VirtualDesktop) -> None:
    shown = [item.name for item in calc.observe().elements if item.role == "table cell"]
    for role, name in (("menu", "Data"), ("menu", "Statistics"), ("menu item", "Sampling...")):
        calc.perform(Click(element_id=element(calc, role, name).id))
    seen = until(calc, lambda now: len(now.windows) > 1 and find(now, "push button", "Cancel"))
    left = [item.name for item in seen.elements if item.role == "table cell"]
    assert len(left) > len(shown) / 2, "the dialog covers a few"
    assert (left[0], left[-1]) == (shown[0], shown[-1])
    calc.perform(Hotkey(keys=("Escape",)))
    until(calc, lambda now: len(now.windows) == 1)


def test_phantom_menu_bar_is_not_seen(calc: VirtualDesktop) -> None:
    names = [item.name for item in calc.observe().elements if item.role == "menu"]
    assert names[:3] == ["File", "Edit", "View"]
    assert len(names) == len(set(names))


def test_options_dialog_is_walked_by_its_tree(calc: VirtualDesktop) -> None:
    calc.perform(Click(element_id=element(calc, "menu", "Tools").id))
    calc.perform(Click(element_id=element(calc, "menu item", "Options...").id))
    branch = element(calc, "table cell", "Load/Save")
    assert "expandable" in branch.states
    calc.perform(Click(element_id=branch.id, num_clicks=2))
    opened = until(calc, lambda seen: find(seen, "table cell", "VBA Properties"))
    general = [item for item in opened.elements if (item.role, item.name) == ("table cell", "General")]
    calc.perform(Click(element_id=general[-1].id))
    box = element(calc, "check box", "Save AutoRecovery information every:")
    calc.perform(Click(element_id=box.id))
    other = until(calc, lambda seen: seen.by_id[box.id].states != box.states)
    spin = find(other, "spin button", "Save AutoRecovery information every:")
    assert spin is not None
    assert spin.value == 10
    assert find(other, "combo box", "ODF format version:") is not None
    calc.perform(Hotkey(keys=("Escape",)))
    until(calc, lambda seen: not any("Options" in window.title for window in seen.windows))

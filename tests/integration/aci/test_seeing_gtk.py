"""What is seen of GTK 3 and GTK 4 applications, and that clicks at it arrive."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from aci.acting.actions import Click, Hotkey, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from tests.integration.aci.seeing import element, find, until

pytestmark = pytest.mark.desktop


@pytest.fixture
def fresh() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1280, 800)) as running:
        yield running


def click(desktop: VirtualDesktop, role: str, name: str) -> None:
    result = desktop.perform(Click(element_id=element(desktop, role, name).id))
    assert result.ok, result.error


def body(observation: Observation) -> str | None:
    field = next((item for item in observation.elements if item.role == "text" and "multi_line" in item.states), None)
    return field.text if field is not None else None


def test_mousepad_is_read_menu_by_menu_to_its_save_dialog(fresh: VirtualDesktop) -> None:
    fresh.launch(["mousepad"])
    menu_bar = [
        item.name for item in until(fresh, lambda seen: find(seen, "menu", "File")).elements if item.role == "menu"
    ]
    assert menu_bar == ["File", "Edit", "Search", "View", "Document", "Help"]

    fresh.perform(Type(text="naïve 中文 😀\n\tend"))
    typed = until(fresh, lambda seen: body(seen) == "naïve 中文 😀\n\tend")
    assert typed.focus_id is not None
    assert typed.by_id[typed.focus_id].role == "text"

    click(fresh, "menu", "File")
    opened = until(fresh, lambda seen: find(seen, "menu item", "Save As..."))
    save_as, file_menu = find(opened, "menu item", "Save As..."), find(opened, "menu", "File")
    assert save_as is not None
    assert file_menu is not None
    popup = next(window for window in opened.windows if window.id == save_as.window_id)
    assert popup.popup
    assert popup.rect.contains(save_as.point)  # type: ignore[arg-type]
    assert save_as.path[-1] == "menu:File"
    assert save_as.shortcut == "Ctrl+Shift+S"
    assert 'menu item "Save As..." keys "Ctrl+Shift+S"' in opened.to_text()
    assert find(opened, "menu item", "Save All").shortcut == ""  # type: ignore[union-attr]  # only a mnemonic
    assert "disabled" in find(opened, "menu item", "Detach Tab").states  # type: ignore[union-attr]

    fresh.perform(Click(element_id=save_as.id))
    name = element(fresh, "text", "Name:")
    assert name.label == "Name:"
    dialog = until(fresh, lambda seen: find(seen, "list item", "Home"))
    assert find(dialog, "push button", "Save") is not None
    assert find(dialog, "table column header", "Size") is not None
    combo = find(dialog, "combo box", "Encoding:")
    assert combo is not None
    assert combo.text == "Default (UTF-8)"


def test_elements_keep_their_ids_while_they_are_there(fresh: VirtualDesktop) -> None:
    fresh.launch(["mousepad"])
    first = until(fresh, lambda seen: find(seen, "menu", "File"))
    click(fresh, "menu", "Edit")
    until(fresh, lambda seen: find(seen, "menu item", "Paste"))
    fresh.perform(Hotkey(keys=("Escape",)))
    later = until(fresh, lambda seen: not find(seen, "menu item", "Paste"))
    before = {item.id: (item.role, item.name) for item in first.elements}
    after = {item.id: (item.role, item.name) for item in later.elements}
    assert before == after


@pytest.mark.slow
def test_gtk4_calculator_computes_what_is_clicked(fresh: VirtualDesktop) -> None:
    fresh.launch(["gnome-calculator"])
    for key in ("7", "×", "6", "="):
        click(fresh, "push button", key)
    until(fresh, lambda seen: body(seen) == "42")


@pytest.mark.slow
def test_gtk4_popover_is_seen_where_it_is(fresh: VirtualDesktop) -> None:
    fresh.launch(["gnome-calculator"])
    menu = until(fresh, lambda seen: any(item.description == "Primary menu" for item in seen.elements))
    button = next(item for item in menu.elements if item.description == "Primary menu")
    fresh.perform(Click(element_id=button.id))
    click(fresh, "menu item", "Keyboard Shortcuts")
    element(fresh, "label", "Switch to binary")


@pytest.mark.slow
def test_hanging_application_is_named_and_blocks_no_other(fresh: VirtualDesktop) -> None:
    fresh.launch(["gnome-calculator"])
    element(fresh, "push button", "7")
    fresh.launch(["mousepad"])
    element(fresh, "menu", "File")
    [pid] = {window.pid for window in fresh.observe().windows if window.title == "Calculator"}
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(2):
            seen = fresh.observe()
            assert find(seen, "menu", "File") is not None
            assert find(seen, "push button", "7") is None
            assert any("gnome-calculator" in note for note in seen.notes)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert psutil.pid_exists(pid)
    assert not until(fresh, lambda seen: find(seen, "push button", "7")).notes


def test_covered_elements_are_not_seen(fresh: VirtualDesktop) -> None:
    fresh.launch(["mousepad"])
    click(fresh, "menu", "File")
    click(fresh, "menu item", "Save As...")
    seen = until(fresh, lambda seen: find(seen, "text", "Name:"))
    dialog = next(window for window in seen.windows if window.title == "Save As")
    frame = dialog.frame or dialog.rect
    for item in seen.elements:
        if item.window_id != dialog.id:
            assert item.point is None or not frame.contains(item.point)

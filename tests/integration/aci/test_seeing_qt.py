"""What is seen of a Qt 5 application, and that it survives being looked at."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest

from aci.acting.actions import Click, Hotkey, Type
from aci.applications.launching import Process
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from tests.integration.aci.seeing import element, find, until

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(shutil.which("featherpad") is None, reason="featherpad is not there"),
]

MENUS = ["File", "Edit", "Options", "Search", "Help"]
LOOKS = 50


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1280, 800), ocr=None) as running:
        yield running


@pytest.fixture
def editor(desktop: VirtualDesktop) -> Iterator[Process]:
    process = desktop.launch(["featherpad"])
    yield process
    process.terminate()
    until(desktop, lambda seen: not seen.windows)


def click(desktop: VirtualDesktop, role: str, name: str) -> None:
    result = desktop.perform(Click(element_id=element(desktop, role, name).id))
    assert result.ok, result.error


def menus(observation: Observation) -> list[str]:
    return [item.name for item in observation.elements if item.role == "menu item" and item.name in MENUS]


def body(observation: Observation) -> str | None:
    return next((item.text for item in observation.elements if "multi_line" in item.states), None)


def test_editor_is_read_with_its_menus_and_dialogs(desktop: VirtualDesktop, editor: Process) -> None:
    assert menus(until(desktop, menus)) == MENUS
    desktop.perform(Type(text="first\nsecond"))
    typed = until(desktop, lambda seen: body(seen) == "first\nsecond")
    assert typed.focus_id is not None
    assert "multi_line" in typed.by_id[typed.focus_id].states
    tab = find(typed, "page tab", "*Untitled")
    assert tab is not None
    assert {"focused", "selected"} & tab.states == {"selected"}

    click(desktop, "menu item", "File")
    opened = until(desktop, lambda seen: find(seen, "menu item", "Save As"))
    popup = next(window for window in opened.windows if window.popup)
    inside = [item for item in opened.elements if item.window_id == popup.id]
    assert {item.role for item in inside} == {"menu item"}
    assert all(popup.rect.contains(item.point) for item in inside if item.point)
    assert "disabled" in next(item for item in inside if item.name == "Reload").states
    assert next(item.shortcut for item in inside if item.name == "New") == "Ctrl+N"
    assert next(item.shortcut for item in inside if item.name == "Save All Files") == ""  # only a mnemonic

    click(desktop, "menu item", "Save As")
    assert find(until(desktop, lambda seen: find(seen, "push button", "Cancel")), "push button", "Save") is not None
    click(desktop, "push button", "Cancel")
    until(desktop, lambda seen: len(seen.windows) == 1 and menus(seen) == MENUS)
    assert editor.running


def test_context_menu_is_read_although_no_window_lists_it(desktop: VirtualDesktop, editor: Process) -> None:
    text = next(item for item in until(desktop, menus).elements if "multi_line" in item.states)
    assert desktop.perform(Click(element_id=text.id, button_type="right")).ok
    opened = until(desktop, lambda seen: find(seen, "menu item", "Select All"))
    popup = next(window for window in opened.windows if window.popup)
    inside = [item for item in opened.elements if item.window_id == popup.id]
    assert {item.role for item in inside} == {"menu item"}
    assert all(popup.rect.contains(item.point) for item in inside if item.point)
    assert desktop.perform(Hotkey(keys=("Escape",))).ok
    until(desktop, lambda seen: find(seen, "menu item", "Select All") is None)
    assert editor.running


@pytest.mark.slow
def test_editor_survives_observation_during_use(desktop: VirtualDesktop, editor: Process) -> None:
    until(desktop, menus)
    steps: list[Callable[[], object]] = [
        lambda: click(desktop, "menu item", "Edit"),
        lambda: desktop.perform(Hotkey(keys=("Right",))),
        lambda: desktop.perform(Hotkey(keys=("Escape",))),
        lambda: desktop.perform(Hotkey(keys=("Escape",))),
        lambda: desktop.perform(Type(text="ab ")),
        lambda: desktop.perform(Hotkey(keys=("ctrl", "n"))),
        lambda: desktop.perform(Hotkey(keys=("ctrl", "o"))),
        lambda: desktop.perform(Hotkey(keys=("Escape",))),
        lambda: desktop.perform(Hotkey(keys=("ctrl", "p"))),
        lambda: desktop.perform(Hotkey(keys=("Escape",))),
    ]
    for number in range(LOOKS):
        steps[number % len(steps)]()
        seen = desktop.observe()
        assert editor.running, f"ended with {editor.returncode} at look {number}: {editor.last_words}"
        assert not any("crashed" in note for note in seen.notes)
    assert menus(until(desktop, menus)) == MENUS

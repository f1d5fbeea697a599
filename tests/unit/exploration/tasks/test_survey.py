"""A survey opens every menu, and closes it again."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Action, Click, Hotkey
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State, Window
from exploration.tasks.survey import survey
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen

POPUP = Window(id=2, title="", app="editor", rect=Rect(0, 0, 100, 200), popup=True)


def entry(number: int, name: str, role: str = "menu item", *states: State) -> Element:
    return replace(button(number, name, role), states=frozenset(states))


def menu(number: int, name: str) -> Element:
    return replace(entry(number, name, "menu"), path=("frame:Editor", "menu bar:"))


BAR = (
    menu(1, "File"),
    menu(2, "View"),
    button(3, "Undo"),
    button(4, "Minimize"),
    entry(5, "Off", "push button", "disabled"),
)
MENUS = {
    1: (
        entry(10, "Open..."),
        entry(11, "Delete"),
        entry(12, "Recent", "menu"),
        entry(13, "Greyed", "menu item", "disabled"),
    ),
    2: (entry(20, "Ruler", "check menu item", "checked"), entry(21, "Small", "radio menu item")),
    12: (entry(30, "Everything"),),
}


def application(action: Action, seen: Observation) -> Observation | ActionResult:
    match action:
        case Click(element_id=number) if number in MENUS:
            return screen(*seen.elements, *MENUS[number], windows=(POPUP, *seen.windows))
        case Hotkey():
            return screen(*BAR)
    return ActionResult(ok=False, error="nothing but menus may be opened")


def test_survey_lists_windows_and_menus_without_choosing_anything() -> None:
    desktop = FakeDesktop(screen(*BAR), application)
    found = survey(desktop, desktop.observe())
    assert {one.way: one.on for one in found.affordances} == {
        "Undo": None,
        "File > Open...": None,
        "File > Recent > Everything": None,
        "View > Ruler": True,
        "View > Small": False,
    }
    assert found.complete
    clicked = {action.element_id for action in desktop.performed if isinstance(action, Click)}
    assert clicked == {1, 2, 12}
    assert desktop.observe().windows == (EDITOR,)


def test_menus_that_are_not_reached_in_time_are_left_out() -> None:
    seconds = iter(range(0, 10_000, 40))
    desktop = FakeDesktop(screen(*BAR), application)
    found = survey(desktop, desktop.observe(), limit_s=60, clock=lambda: float(next(seconds)))
    assert not found.complete
    assert "View > Ruler" not in {one.way for one in found.affordances}

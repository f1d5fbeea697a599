"""What is pressed next on the way back to a known place, by what differs from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aci.acting.actions import Click, Move
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State
from aci.observation.snapshot import Window
from exploration.search.homes import HomeState
from exploration.search.states import Look
from exploration.search.ways_back import CLOSE_WINDOW, ESCAPE, UNDO, WaysBack, leaves
from intents.labels import label

MAIN, LATER, POPUP = 1, 2, 3
AWAY = Move(at=(299, 199))  # the corner of the screen
WINDOW = Window(MAIN, "note - Editor", "Editor", Rect(0, 0, 300, 200), active=True)


def element(number: int, role: str, name: str, *states: State) -> Element:
    rect = Rect(10 + 50 * number, 20, 40, 20)
    return Element(
        id=number, role=role, name=name, rect=rect, point=rect.center, window_id=MAIN, app="Editor",
        path=("frame:note - Editor",), states=frozenset(states),
    )  # fmt: skip


def low(number: int, role: str, name: str) -> Element:
    """Return an element farther down."""
    rect = Rect(10, 120, 40, 20)
    return replace(element(number, role, name), rect=rect, point=rect.center)


def look(*elements: Element, windows: tuple[Window, ...] = (WINDOW,), focus: int | None = None, shade: int = 0) -> Look:
    pixels = np.full((200, 300, 3), 10 + shade, np.uint8)
    return Look(Observation(pixels, elements, windows, focus_id=focus), HomeState(), "/home/somebody")


def ways(*first_windows: int) -> Callable[..., object]:
    """Return what proposes ways back to looks."""
    back = WaysBack(frozenset(first_windows or (MAIN,)), label("history"))

    def following(now: Look, *places: Look, ground: Look | None = None, pointed: bool = False) -> object:
        return back.next(now, places, ground, pointed)

    return following


GREYED_UNDO, USABLE_UNDO = element(1, "push button", "Undo", "disabled"), element(1, "push button", "Undo")


def test_what_escape_does_not_close_is_given_up() -> None:
    following, other = ways(), look(element(2, "label", "Ready"), low(5, "list", "Files"), shade=90)
    start = look()
    assert following(other, start) == ESCAPE
    assert following(other, start) is None


def test_the_pointer_leaves_the_windows_where_a_status_bar_tells_what_it_is_over() -> None:
    following, start = ways(), look(element(2, "label", "Ready"), element(3, "push button", "Save"))
    hint = look(element(2, "label", "Click to draw"), element(3, "push button", "Save"), shade=90)
    assert [following(hint, start) for _ in range(3)] == [ESCAPE, AWAY, None]


def test_escape_is_pressed_again_as_long_as_something_changes() -> None:
    following, start = ways(), look()
    for name in ("Page 1", "Page 2", "Page 3"):
        assert following(look(element(2, "label", name), shade=90), start) == ESCAPE


def test_a_document_is_undone_step_by_step_until_nothing_can_be_undone() -> None:
    following, start = ways(), look(GREYED_UNDO)
    changed = [look(USABLE_UNDO, element(2, "label", text), shade=90) for text in ("both", "one")]
    assert following(changed[0], start) == ESCAPE
    assert following(changed[0], start) == UNDO
    assert following(changed[1], start) == UNDO
    assert following(look(GREYED_UNDO, element(2, "label", "none"), shade=90), start) == ESCAPE


def test_nothing_is_undone_where_it_was_possible_before_already() -> None:
    following, start = ways(), look(USABLE_UNDO)
    changed = look(USABLE_UNDO, element(2, "label", "more"), low(5, "list", "Files"), shade=90)
    assert [following(changed, start) for _ in range(2)] == [ESCAPE, None]


def test_a_further_window_is_asked_to_close_only_once() -> None:
    following, start = ways(), look()
    later = Window(LATER, "other - Editor", "Editor", Rect(0, 0, 300, 200), active=True)
    asking = look(windows=(later, Window(MAIN, "note - Editor", "Editor", Rect(0, 0, 300, 200))), shade=90)
    assert following(asking, start) == CLOSE_WINDOW
    assert following(asking, start) == ESCAPE


def test_escape_comes_before_another_key_for_a_modal_dialog() -> None:
    following, start = ways(), look()
    dialog = Window(LATER, "Sort", "Editor", Rect(0, 0, 100, 100), active=True, modal=True)
    shown = look(windows=(dialog, WINDOW), shade=90)
    assert following(shown, start) == ESCAPE
    assert following(shown, start) == CLOSE_WINDOW


def test_menus_are_closed_by_escape_before_the_window_below() -> None:
    later = Window(LATER, "other - Editor", "Editor", Rect(0, 0, 300, 200), active=True)
    menu = Window(POPUP, "", "Editor", Rect(0, 10, 40, 40), popup=True)
    assert leaves((menu, later), frozenset({MAIN})) == ESCAPE
    assert leaves((later,), frozenset({MAIN})) == CLOSE_WINDOW
    assert leaves((WINDOW,), frozenset({MAIN})) == ESCAPE


def test_a_cell_that_is_only_drawn_as_chosen_is_clicked_once() -> None:
    cell = element(3, "table cell", "A1", "selected", "focused")
    start = look(cell, focus=3)
    shown = np.copy(start.observation.screenshot)
    shown[cell.rect.y : cell.rect.bottom, cell.rect.x : cell.rect.right] += 50
    marked = Look(Observation(shown, (cell,), (WINDOW,), focus_id=3), HomeState(), "/home/somebody")
    following = ways()
    assert following(marked, start) == Click(element_id=3)
    assert following(marked, start) == ESCAPE


def test_the_cell_that_had_the_focus_is_clicked_where_others_are_selected() -> None:
    before = element(3, "table cell", "A1", "selected"), element(4, "table cell", "B1")
    after = element(3, "table cell", "A1", "selected"), element(4, "table cell", "B1", "selected")
    ground = look(*before, focus=3)
    assert ways()(look(*after, focus=4, shade=90), ground, ground=ground) == Click(element_id=3)


def test_a_button_that_stays_lit_up_after_its_menu_is_pointed_at_before_anything_is_pressed() -> None:
    button = element(3, "push button", "Open Menu")
    start = look(button)
    shown = np.copy(start.observation.screenshot)
    shown[button.rect.y : button.rect.bottom, button.rect.x : button.rect.right] += 50
    lit = Look(Observation(shown, (button,), (WINDOW,)), HomeState(), "/home/somebody")
    following = ways()
    assert following(lit, start) == Move(element_id=3)
    assert following(lit, start) == ESCAPE


def test_nothing_is_pressed_where_only_files_differ() -> None:
    noted = look(element(2, "label", "Ready"))
    written = Look(noted.observation, HomeState(files={".config/state": "d1"}), "/home/somebody")
    assert ways()(written, noted) is None


def test_the_pointer_goes_away_from_what_shows_a_tip() -> None:
    following, start = ways(), look(element(2, "push button", "Save"))
    tip = look(element(2, "push button", "Save"), element(4, "label", "Saves the document"), shade=90)
    assert following(tip, start, pointed=True) == ESCAPE
    assert following(tip, start, pointed=True) == AWAY


def test_the_pointer_goes_away_where_only_the_picture_differs() -> None:
    following, start = ways(), look(element(2, "push button", "Save"))
    magnified = look(element(2, "push button", "Save"), shade=90)
    assert following(magnified, start, pointed=True) == ESCAPE
    assert following(magnified, start, pointed=True) == AWAY


def test_what_lies_in_a_status_bar_is_the_same_whatever_its_message_is() -> None:
    mode = element(2, "label", "Insert")
    ready, silent = (replace(mode, path=("frame:Editor", f"status bar:{message}")) for message in ("Ready", ""))
    assert look(ready).exact == look(silent).exact

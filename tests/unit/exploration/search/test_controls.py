"""Which elements a search takes for controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from exploration.search.controls import candidates, in_toolkit_dialogs, offer

MAIN = Window(1, "Signs", "signs", Rect(0, 0, 300, 200), active=True)
LIST = ("frame:Signs", "list:")


def element(number: int, role: str, name: str, place: Rect, *path: str) -> Element:
    return Element(number, role, name, place, place.center, MAIN.id, app="signs", path=("frame:Signs", *path))


def seen(*elements: Element) -> Observation:
    return Observation(np.zeros((200, 300, 3), np.uint8), elements, (MAIN,))


def controls(*elements: Element) -> list[str]:
    return [each.control.key for each in candidates(seen(*elements)) if each.control.role != "context menu"]


def test_label_of_a_row_without_a_name_stands_for_the_row() -> None:
    found = controls(
        element(1, "label", "Arrows", Rect(10, 10, 60, 20), "list:", "table row:SidebarRow"),
        element(2, "label", "12", Rect(90, 10, 20, 20), "list:", "table row:SidebarRow"),  # further on in the same row
        element(3, "label", "Flags", Rect(10, 40, 60, 20), "list:", "table row:SidebarRow"),
        element(4, "label", "A title", Rect(10, 80, 60, 20)),
    )
    assert found == ["list item:Arrows", "list item:Flags"]


def test_row_with_a_name_or_a_control_is_used_by_that() -> None:
    found = controls(
        element(1, "list item", "Emojis", Rect(0, 0, 100, 30), "list:"),
        element(2, "label", "Emojis", Rect(10, 5, 60, 20), "list:", "list item:Emojis"),
        element(3, "label", "Sounds", Rect(10, 45, 60, 20), "list:", "list item:"),
        element(4, "switch", "Sounds", Rect(80, 40, 20, 30), "list:", "list item:"),
    )
    assert found == ["list item:Emojis", "switch:Sounds"]


def test_button_in_a_menu_button_of_gtk_4_opens_a_menu() -> None:
    shown = seen(
        element(1, "push button", "Main Menu", Rect(0, 0, 20, 20), "tool bar:", "push button:GtkMenuButton"),
        element(2, "push button", "List View", Rect(30, 0, 20, 20), "tool bar:"),
        element(3, "menu item", "About", Rect(0, 30, 90, 20), "tool bar:", "push button:GtkMenuButton", "panel:"),
    )
    assert [offer(each, shown, "").opens_menu for each in candidates(shown)] == [True, False, False]


@pytest.mark.parametrize(("name", "tooltip"), [("Web", "Open application menu"), ("Hauptmenü", ""), ("Main Menu", "")])
def test_button_that_is_called_a_menu_opens_one(name: str, tooltip: str) -> None:
    place = Rect(0, 0, 20, 20)
    button = replace(element(1, "push button", name, place), description=tooltip)
    shown = seen(button, element(2, "push button", "Menu bar", place))
    assert [offer(each, shown, "").opens_menu for each in candidates(shown)] == [True, False]


def test_arrows_that_are_all_called_menu_come_in_turn() -> None:
    shown = seen(*(element(number, "toggle button", "Menu", Rect(30 * number, 0, 20, 20)) for number in (1, 2)))
    assert not any(offer(each, shown, "").opens_menu for each in candidates(shown))


def test_button_of_a_popup_is_not_of_the_windows_frame() -> None:
    place = Rect(0, 0, 20, 20)
    buttons = element(1, "push button", "Help", place), replace(element(2, "push button", "Help", place), window_id=2)
    shown = seen(*buttons)
    shown = replace(shown, windows=(*shown.windows, replace(MAIN, id=2, popup=True)))
    assert [offer(each, shown, "").unsafe for each in candidates(shown)] == ["it belongs to the window's frame", ""]


def test_a_page_of_the_window_is_never_left_alone_for_its_name() -> None:
    place = Rect(0, 0, 20, 20)
    named = seen(element(1, "page tab", "Contents", place), element(2, "menu item", "Contents", place))
    assert [bool(offer(each, named, "").unsafe) for each in candidates(named)] == [False, True]


def test_dialogs_for_files_are_recognized_by_their_parts() -> None:
    place = Rect(0, 0, 20, 20)
    accept = element(1, "push button", "Select", place)
    of_gtk = element(2, "push button", "Create Folder", place, "filler:GtkFileChooserWidget")
    places = element(3, "list item", "Computer", place, "dialog:Open database", "list:Sidebar")
    files = element(4, "table cell", "Desktop", place, "dialog:Open database", "frame:", "tree:Files")
    assert in_toolkit_dialogs(seen(accept, of_gtk)) == {1, 2}
    assert in_toolkit_dialogs(seen(accept, places, files)) == {1, 3, 4}
    assert not in_toolkit_dialogs(seen(accept, places))  # an application may have a side bar


def test_of_a_window_with_a_choice_of_colors_the_rest_belongs_to_the_application() -> None:
    place = Rect(0, 0, 20, 20)
    for chooser in ("color chooser:", "filler:GtkColorChooserWidget"):
        shown = seen(element(1, "check box", "Bold", place), element(2, "push button", "Custom", place, chooser))
        assert in_toolkit_dialogs(shown) == {2}

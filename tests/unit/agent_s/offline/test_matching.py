"""Which element is meant."""

from __future__ import annotations

import pytest

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from agent_s.offline.finding.matching import elements_within, nearest_names, rank
from agent_s.offline.finding.names import name_score, normalize
from agent_s.offline.finding.roles import CHECKABLE, EDITABLE
from agent_s.offline.finding.screen import Screen
from agent_s.offline.finding.targets import parse_target
from intents.text import guard
from tests.unit.agent_s.offline.screens import element, field, seen, window


def meant(phrase: str, observation: Observation, only: frozenset[str] | None = None) -> int | None:
    found = rank(parse_target(guard(phrase)), Screen(observation), only)
    return found[0].element.id if found else None


def button(number: int, name: str, at: tuple[int, int] = (10, 10), **more: object) -> Element:
    return element(number, "push button", name, at, **more)  # type: ignore[arg-type]


FORM = seen(
    element(1, "label", "Name", (10, 10)),
    field(2, at=(100, 10)),
    element(3, "label", "City", (10, 50)),
    field(4, at=(100, 50)),
    element(5, "check box", "Remember me", (10, 90)),
    element(6, "check box", "", (10, 130), (20, 20)),
    element(7, "static", "Send news", (36, 130)),
    button(8, "OK", (10, 200)),
    button(9, "Cancel", (110, 200)),
    element(10, "link", "Terms of service", (10, 250), (150, 20)),
    element(11, "push button", "Save As", (210, 200)),
    element(12, "push button", "Save", (310, 200)),
    element(13, "combo box", "", (100, 300), label="Country"),
    element(14, "password text", "", (100, 340), states=("editable", "password")),
    element(15, "radio button", "Small", (10, 380)),
    element(16, "radio button", "Large", (110, 380)),
    element(17, "page tab", "Advanced", (10, 420)),
    element(18, "push button", "", (400, 10), (20, 20), description="window-close"),
    element(19, "slider", "", (100, 460), label="Volume"),
)


@pytest.mark.parametrize(
    ("phrase", "number"),
    [
        ("OK", 8),
        ("the ok button", 8),
        ("'Save'", 12),
        ("Save", 12),
        ("the Save As button", 11),
        ("the Save as button", 11),
        ("button Cancel", 9),
        ("the second button", 8),
        ("the button to the right of OK", 9),
        ("the button left of Cancel", 8),
        ("the Terms of service link", 10),
        ("Terms of service", 10),
        ("the Remember me checkbox", 5),
        ("'Remember me'", 5),
        ("the Advanced tab", 17),
        ("the Country dropdown", 13),
        ("the volume slider", 19),
        ("the password field", 14),
        ("Large", 16),
        ("the option Small", 15),
        ("Cancle", 9),
        ("window close", 18),
        ("the checkbox below 'Remember me'", 6),
        ("the top right button", 18),
    ],
)
def test_phrase_finds_the_element(phrase: str, number: int) -> None:
    assert meant(phrase, FORM) == number


@pytest.mark.parametrize(
    ("phrase", "number"),
    [
        ("the Name field", 2),
        ("Name", 2),
        ("the field next to City", 4),
        ("City", 4),
        ("the second text field", 4),
        ("the field below 'Name'", 4),
        ("password", 14),
    ],
)
def test_finds_fields_by_the_label_beside_them(phrase: str, number: int) -> None:
    assert meant(phrase, FORM, EDITABLE) == number


def test_finds_a_box_by_the_text_behind_it() -> None:
    assert meant("Send news", FORM, CHECKABLE) == 6


@pytest.mark.parametrize(
    "phrase",
    ["'Frobnicate'", "the Delete button", "the fifth checkbox", "'Sav'", "Kanzel"],
)
def test_a_different_name_does_not_match(phrase: str) -> None:
    assert meant(phrase, FORM) is None


def test_reports_the_nearest_names() -> None:
    assert "Cancel" in nearest_names(parse_target(guard("the Cancle button")), Screen(FORM))


def test_prefers_the_window_in_front() -> None:
    back = window(2, "Other", "other", active=False)
    screen = seen(button(1, "OK", window_id=2, app="other"), button(2, "OK"), windows=(window(1), back))
    assert meant("OK", screen) == 2


def test_prefers_open_menus_and_dialogs() -> None:
    popup = window(3, "", "demo", active=False, popup=True)
    entries = (element(1, "menu", "Save"), element(2, "menu item", "Save", window_id=3))
    found = rank(parse_target(guard("Save")), Screen(seen(*entries, windows=(popup, window(1)))))
    assert {one.element.id for one in found[:2]} == {1, 2}
    dialog = seen(
        button(1, "Close", path=("frame:Page",)),
        button(2, "Close", (10, 300), path=("frame:Page", "dialog:Confirm")),
    )
    assert meant("Close", dialog) == 2


def test_an_exact_name_beats_the_reading_order() -> None:
    screen = seen(button(1, "Add row"), button(2, "Add", (10, 50)))
    assert meant("Add", screen) == 2


def test_a_button_beats_a_text_of_the_same_name() -> None:
    assert meant("Submit", seen(element(1, "heading", "Submit"), button(2, "Submit", (10, 50)))) == 2


def test_an_enabled_element_beats_a_disabled_one() -> None:
    screen = seen(button(1, "Next", states=("disabled",)), button(2, "Next", (10, 50)))
    assert meant("Next", screen) == 2


def test_a_covered_element_comes_last() -> None:
    assert meant("Next", seen(button(1, "Next", covered=True), button(2, "Next", (10, 50)))) == 2


def test_numbers_in_names_must_agree() -> None:
    rows = seen(*(element(number, "list item", f"Country {number}", (10, number * 20)) for number in range(1, 25)))
    assert meant("Country 17", rows) == 17
    assert meant("Country 33", rows) is None


def test_finds_the_button_in_a_row() -> None:
    rows = [
        part
        for number, name in enumerate(("Ada", "Bob", "Cleo"))
        for part in (
            element(10 * number, "table cell", name, (10, 40 * number)),
            button(10 * number + 1, "Edit", (200, 40 * number)),
            button(10 * number + 2, "Delete", (300, 40 * number)),
        )
    ]
    screen = seen(*rows)
    assert meant("the Edit button in the row of Bob", screen) == 11
    assert meant("the 'Delete' button in the row for 'Cleo'", screen) == 22
    assert meant("the button to the right of 'Edit' in the row with Ada", screen) == 2
    assert meant("the last Delete button", screen) == 22


def test_a_cell_with_a_box_is_a_check_box_named_by_its_column() -> None:
    screen = seen(
        element(1, "table column header", "Name", (10, 10)),
        element(2, "table column header", "Alarm", (200, 10)),
        element(3, "table cell", "Jazz", (10, 40)),
        element(4, "table cell", "", (200, 40), states=("checkable", "checked")),
        element(5, "table cell", "News", (10, 70)),
        element(6, "table cell", "", (200, 70), states=("checkable",)),
    )
    assert meant("the alarm box in the row of News", screen, CHECKABLE) == 6
    assert meant("the alarm box in the row of Jazz", screen, CHECKABLE) == 4


def test_searches_only_the_given_place() -> None:
    dialog = window(2, "Find", "demo", modal=True, rect=Rect(0, 0, 200, 100))
    screen = seen(button(1, "Next"), button(2, "Next", window_id=2), windows=(dialog, window(1, active=False)))
    assert meant("Next in the Find dialog", screen) == 2
    assert meant("the Next button in the dialog", screen) == 2
    inside = elements_within(parse_target(guard("the dialog")), Screen(screen))
    assert inside == frozenset({2})


def test_a_name_with_a_preposition_is_found() -> None:
    screen = seen(button(1, "Add to cart"), button(2, "Add", (10, 50)), element(3, "label", "cart", (10, 90)))
    assert meant("Add to cart", screen) == 1


def test_finds_the_main_menu_by_its_usual_names() -> None:
    screen = seen(button(1, "Close"), button(2, "", (50, 10), description="Primary menu"))
    assert meant("the hamburger menu", screen) == 2
    assert meant("the main menu", screen) == 2


def test_a_field_is_found_by_the_name_of_its_row() -> None:
    row = ("dialog:Preferences", "list item:Number of decimals")
    screen = seen(
        element(1, "list item", "Number of decimals"),
        element(2, "spin button", "", (300, 10), text="9", value=9, states=("editable",), path=row),
    )
    assert meant("the number of decimals", screen, EDITABLE) == 2


@pytest.mark.parametrize(
    ("said", "shown", "exact"),
    [
        ("Save As", "Save As...", True),
        ("save as", "Save As…", True),
        ("Find & Replace", "Find and Replace...", True),
        ("Full name", "Full name:", True),
        ("Load/Save", "Load / Save", True),
        ("Use Word 2007-365 Format", "Use Word 2007–365 Format", True),
        ("Clear Display", "Clear Display [Escape]", True),
        ("×", "*", True),
        ("−", "-", True),
        ("Submit.", "Submit", True),
        ("Save", "Save As", False),
        ("Colour 1", "Colour 2", False),
        ("abc", "abd", False),
    ],
)
def test_names_match_despite_case_signs_and_small_slips(said: str, shown: str, exact: bool) -> None:
    assert (name_score(said, shown)[0] >= 92) == exact


def test_a_name_of_signs_only_keeps_them() -> None:
    assert normalize("...") == "..."
    assert normalize("Name *:") == "name"

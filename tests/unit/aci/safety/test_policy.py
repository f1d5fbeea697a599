from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aci.acting.actions import (
    Action,
    Click,
    Done,
    DragAndDrop,
    HoldAndPress,
    Hotkey,
    MouseDown,
    MouseUp,
    Move,
    Read,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.targets import Words
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from aci.safety.policy import OWN_SCREEN, VIRTUAL, Policy, Risk, find_dangers

EDITOR = Window(1, "draft.txt", "mousepad", Rect(0, 0, 800, 600), active=True)
UNSAVED = replace(EDITOR, title="*draft.txt")
TERMINAL = Window(2, "~", "XTerm", Rect(0, 0, 800, 600), active=True)


def screen(window: Window = EDITOR, name: str = "OK", role: str = "push button", focus: bool = False) -> Observation:
    rect = Rect(10, 10, 60, 20)
    states = frozenset({"password"}) if role == "password text" else frozenset()
    element = Element(7, role, name, rect, rect.center, window.id, app=window.app, states=states)  # type: ignore[arg-type]
    return Observation(np.zeros((1, 1, 3), np.uint8), (element,), (window,), focus_id=7 if focus else None)


def risks(action: Action, observation: Observation, allowed: frozenset[str] = frozenset()) -> set[Risk]:
    return {danger.risk for danger in find_dangers(action, observation, allowed)}


@pytest.mark.parametrize(
    "name",
    [
        "Delete",
        "delete selected",
        "Send",
        "Pay now",
        "Format disk",
        "Don't Save",
        "Close without Saving",
        "Move to Trash",
    ],
)
def test_buttons_that_cannot_be_undone(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == {"irreversible"}
    assert risks(Hotkey(keys=("Return",)), screen(name=name, focus=True)) == {"irreversible"}


@pytest.mark.parametrize("name", ["OK", "Save", "Sender", "Restart Later", "Format Cells...", "Undelete", "Orders", ""])
def test_plain_buttons_are_harmless(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == set()


def test_a_label_is_not_pressed() -> None:
    assert risks(Click(element_id=7), screen(name="Delete", role="label")) == set()
    assert risks(Click(element_id=7, button_type="right"), screen(name="Delete")) == set()


def test_typing_and_keys_in_a_terminal_are_a_risk() -> None:
    assert risks(Type(text="ls"), screen(TERMINAL)) == {"terminal"}
    assert risks(Type(text="ls", element_id=7), screen(EDITOR, role="terminal")) == {"terminal"}
    assert risks(Hotkey(keys=("ctrl", "c")), screen(TERMINAL)) == {"terminal"}
    assert risks(Type(text="ls"), screen(EDITOR)) == set()


def test_closing_with_unsaved_changes_is_a_risk() -> None:
    assert risks(Hotkey(keys=("ctrl", "w")), screen(UNSAVED)) == {"unsaved"}
    assert risks(Click(element_id=7), screen(UNSAVED, name="Close")) == {"unsaved"}
    assert risks(Hotkey(keys=("ctrl", "w")), screen(EDITOR)) == set()
    assert risks(Hotkey(keys=("ctrl", "s")), screen(UNSAVED)) == set()


def test_typing_into_a_password_field_is_a_risk() -> None:
    assert risks(Type(text="x", element_id=7), screen(role="password text")) == {"password"}
    assert risks(Type(text="x"), screen(role="password text", focus=True)) == {"password"}


def test_windows_of_other_than_the_allowed_applications_are_outside() -> None:
    allowed = frozenset({"Mousepad"})
    assert risks(Click(element_id=7), screen(TERMINAL), allowed) == {"outside"}
    assert risks(Scroll(element_id=7, clicks=1), screen(TERMINAL), allowed) == {"outside"}
    assert "outside" in risks(SwitchApplications(app_code="xterm"), screen(), allowed)
    assert risks(Click(element_id=7), screen(), allowed) == set()
    assert risks(Wait(time=1), screen(TERMINAL), allowed) == set()
    assert risks(Done(), screen(TERMINAL), allowed) == set()


def test_the_strictest_rule_wins_and_says_why() -> None:
    policy = Policy({**OWN_SCREEN, "irreversible": "refuse"})
    decision = policy.decide(Click(element_id=7), screen(UNSAVED, name="Close without saving"))
    assert decision.rule == "refuse" and "'Close without saving'" in decision.reason
    assert Policy(OWN_SCREEN).decide(Type(text="ls"), screen(TERMINAL)).rule == "confirm"
    assert Policy(VIRTUAL).decide(Type(text="ls"), screen(TERMINAL)).rule == "allow"
    assert Policy(OWN_SCREEN).decide(Click(element_id=7), screen()).rule == "allow"


def test_every_action_can_be_confirmed() -> None:
    policy = Policy(VIRTUAL, confirm_all=True)
    assert policy.decide(Click(element_id=7), screen()).rule == "confirm"
    assert policy.decide(Wait(time=1), screen()).rule == "allow"


RISKY = ("Delete", "Löschen", "Supprimer", "Eliminar", "Удалить", "删除", "削除", "Senden", "Payer", "Bezahlen", "Send")


@pytest.mark.parametrize(
    "name",
    [
        *RISKY,
        *("_Delete", "De_lete", "&Delete", "🗑 Delete", "🗑️", "Delete…", "删除(_D)", "Yes, delete", "Place order"),
        *("Delete 3 files", "Confirm purchase", "Permanently erase", "Nicht speichern", "Ne pas enregistrer", "Format"),
        *("Format USB drive", "Formatieren", "Log out", "Herunterfahren", "Cancel subscription", "清空回收站", "Trash"),
    ],
)
def test_irreversible_buttons_are_recognized_in_other_words(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == {"irreversible"}


@pytest.mark.parametrize(
    "name",
    ["Format Painter", "Format as Table", "Order by name", "Remove filter", "Senderliste", "Orderly", "Abc 🗑 def"],
)
def test_buttons_that_only_sound_alike(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == set()


@given(st.sampled_from(RISKY), st.booleans(), st.integers(0, 3), st.sampled_from(("", "🗑 ", "  ", "- ")))
def test_spelling_hides_no_risk(word: str, upper: bool, mnemonic: int, before: str) -> None:
    name = word.upper() if upper else word
    name = before + name[:mnemonic] + "_" + name[mnemonic:]
    assert risks(Click(element_id=7), screen(name=name)) == {"irreversible"}


@pytest.mark.parametrize("description", ["user-trash-symbolic", "btn icon-delete", "Delete message", "fa fa-trash"])
def test_a_button_without_a_name_is_known_by_its_picture_or_tooltip(description: str) -> None:
    seen = screen(name="")
    seen = replace(seen, elements=(replace(seen.elements[0], description=description),))
    assert risks(Click(element_id=7), seen) == {"irreversible"}


@pytest.mark.parametrize(
    ("said", "button", "expected"),
    [
        ("Delete the sheet?", "Yes", {"irreversible"}),
        ("Das kann nicht rückgängig gemacht werden.", "_OK", {"irreversible"}),
        ("Delete the sheet?", "No", set()),
        ("Ready to begin?", "Yes", set()),
    ],
)
def test_agreeing_to_an_irreversible_question_is_a_risk(said: str, button: str, expected: set[Risk]) -> None:
    dialog = replace(EDITOR, id=3, title="Question", modal=True)
    seen = screen(dialog, name=button)
    question = replace(seen.elements[0], id=8, role="label", name=said)
    assert risks(Click(element_id=7), replace(seen, elements=(question, *seen.elements))) == expected
    assert risks(Hotkey(keys=("Return",)), replace(seen, elements=(question, *seen.elements), focus_id=7)) == expected


def test_a_dialog_of_a_page_is_one_too() -> None:
    seen = screen(name="OK")
    path = ("document web:Shop", "dialog:Delete account?")
    inside = replace(seen.elements[0], path=path)
    assert risks(Click(element_id=7), replace(seen, elements=(inside,))) == {"irreversible"}
    outside = replace(seen.elements[0], path=path[:1])
    assert risks(Click(element_id=7), replace(seen, elements=(outside,))) == set()


@pytest.mark.parametrize(
    "keys",
    [
        ("ctrl", "w"),
        ("ctrl+w",),
        ("Control_R", "W"),
        ("w", "ctrl"),
        ("alt", "F4"),
        ("ctrl", "shift", "q"),
        ("Ctrl-q",),
    ],
)
def test_every_spelling_of_closing_keys(keys: tuple[str, ...]) -> None:
    expected = set() if keys == ("Ctrl-q",) else {"unsaved"}  # no key is called so: it is refused when it is pressed
    assert risks(Hotkey(keys=keys), screen(UNSAVED)) == expected
    assert risks(HoldAndPress(hold_keys=keys[:-1], press_keys=(keys[-1],)), screen(UNSAVED)) == expected


@pytest.mark.parametrize(
    "title", ["*a", "● a - Code", "a* - Kate", "a * — Kate", "a [modified]", "a (geändert)", "a •"]
)
def test_unsaved_changes_are_recognized_by_marks_in_the_title(title: str) -> None:
    assert risks(Hotkey(keys=("alt", "F4")), screen(replace(EDITOR, title=title))) == {"unsaved"}


def test_a_menu_entry_closes_the_window_that_it_belongs_to() -> None:
    menu = Window(5, "", "mousepad", Rect(0, 0, 100, 100), popup=True)
    seen = screen(menu, name="_Quit", role="menu item")
    assert risks(Click(element_id=7), replace(seen, windows=(menu, UNSAVED))) == {"unsaved"}
    assert risks(Click(element_id=7), replace(seen, windows=(menu, EDITOR))) == set()


@pytest.mark.parametrize("app", ["XTerm", "gnome-terminal-server", "Terminator", "kgx", "footclient", "krunner"])
def test_pasting_and_return_in_a_terminal_are_a_risk(app: str) -> None:
    terminal = replace(TERMINAL, app=app)
    assert risks(Hotkey(keys=("ctrl", "shift", "v")), screen(terminal)) == {"terminal"}
    assert risks(Hotkey(keys=("Return",)), screen(terminal)) == {"terminal"}
    assert risks(Click(element_id=7, button_type="middle"), screen(terminal)) == {"terminal"}
    assert risks(Click(element_id=7), screen(terminal, name="_Paste", role="menu item")) == {"terminal"}
    assert risks(DragAndDrop(drag_from_id=7, drop_on_id=7), screen(terminal)) == {"terminal"}
    assert risks(Click(element_id=7), screen(terminal, name="Copy", role="menu item")) == set()


def test_a_terminal_inside_an_editor_is_recognized() -> None:
    seen = screen(replace(EDITOR, app="Code"), name="Terminal 1, bash", role="entry", focus=True)
    assert risks(Type(text="ls"), seen) == {"terminal"}
    assert risks(Hotkey(keys=("Return",)), seen) == {"terminal"}


def test_typing_that_presses_a_button() -> None:
    assert risks(Type(text="x", element_id=7), screen(name="Delete")) == {"irreversible"}
    assert risks(Type(text=" "), screen(name="Delete", focus=True)) == {"irreversible"}
    assert risks(Type(text="x"), screen(name="Delete", focus=True)) == set()


def test_pasting_into_password_fields() -> None:
    assert risks(Hotkey(keys=("ctrl", "v")), screen(role="password text", focus=True)) == {"password"}
    assert risks(HoldAndPress(hold_keys=(), press_keys=("a",)), screen(role="password text", focus=True)) == {
        "password"
    }
    assert risks(Hotkey(keys=("Tab",)), screen(role="password text", focus=True)) == set()
    assert risks(Type(text="1", element_id=7), screen(name="Security code", role="entry")) == {"password"}


def test_a_tab_may_lead_to_a_password_field() -> None:
    seen = screen(name="User", role="entry", focus=True)
    password = replace(seen.elements[0], id=8, role="password text", name="Password")
    form = replace(seen, elements=(*seen.elements, password))
    assert risks(Type(text="ada\tsesame"), form) == {"password"}
    assert risks(Type(text="ada"), form) == risks(Type(text="ada\tsesame"), seen) == set()
    editor = replace(seen.elements[0], role="text", states=frozenset({"multi_line"}))
    assert risks(Type(text="a\tb"), replace(form, elements=(editor, password))) == set()


def test_deleting_in_a_file_manager_is_irreversible() -> None:
    files = replace(EDITOR, app="Thunar", title="home")
    assert risks(Hotkey(keys=("shift", "Delete")), screen(files)) == {"irreversible"}
    assert risks(Hotkey(keys=("Delete",)), screen(files, role="entry", focus=True)) == set()
    assert risks(Hotkey(keys=("Delete",)), screen(EDITOR)) == set()
    assert risks(DragAndDrop(drag_from_id=7, drop_on_id=7), screen(files, name="Papierkorb")) == {"irreversible"}
    assert risks(Click(element_id=7), screen(files, name="Trash", role="list item")) == set()


def test_only_starting_an_application_that_is_not_open_is_a_launch() -> None:
    assert risks(SwitchApplications(app_code="calculator"), screen()) == {"launch"}
    assert risks(SwitchApplications(app_code="mousepad"), screen()) == set()
    assert Policy(OWN_SCREEN).decide(SwitchApplications(app_code="calculator"), screen()).rule == "allow"
    careful = Policy({**OWN_SCREEN, "launch": "confirm"})
    assert careful.decide(SwitchApplications(app_code="calculator"), screen()).rule == "confirm"


@pytest.mark.parametrize("keys", [("alt", "Tab"), ("super",), ("super", "a"), ("ctrl", "alt", "t"), ("alt", "F2")])
def test_keys_that_lead_out_of_the_allowed_applications(keys: tuple[str, ...]) -> None:
    assert risks(Hotkey(keys=keys), screen(), frozenset({"mousepad"})) == {"outside"}
    assert risks(Hotkey(keys=keys), screen()) == set()


def test_both_ends_of_a_drag_are_looked_at() -> None:
    seen = screen()
    other = replace(seen.elements[0], id=8, window_id=TERMINAL.id, app="XTerm")
    seen = replace(seen, elements=(*seen.elements, other), windows=(EDITOR, TERMINAL))
    assert "outside" in risks(DragAndDrop(drag_from_id=8, drop_on_id=7), seen, frozenset({"mousepad"}))


def test_mail_is_sent_by_keys_too() -> None:
    mail = replace(EDITOR, app="thunderbird", title="Write: Hello")
    assert risks(Hotkey(keys=("ctrl", "Return")), screen(mail)) == {"irreversible"}
    assert risks(Hotkey(keys=("ctrl", "Return")), screen(EDITOR)) == set()


TEXTS = st.text(max_size=40)
ACTIONS = st.one_of(
    st.builds(Click, element_id=st.integers(0, 9), button_type=st.sampled_from(("left", "middle", "right"))),
    st.builds(Type, text=TEXTS, element_id=st.one_of(st.none(), st.integers(0, 9)), enter=st.booleans()),
    st.builds(Hotkey, keys=st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=3).map(tuple)),
    st.builds(DragAndDrop, drag_from_id=st.integers(0, 9), drop_on_id=st.integers(0, 9)),
    st.builds(SwitchApplications, app_code=st.text(min_size=1, max_size=40)),
)


@given(
    ACTIONS, TEXTS, TEXTS, st.sampled_from(("push button", "text", "terminal", "dialog", "list item")), st.booleans()
)
def test_whatever_an_application_says_there_is_a_decision(
    action: Action, name: str, title: str, role: str, focus: bool
) -> None:
    seen = screen(replace(EDITOR, title=title, app=name), name=name, role=role, focus=focus)
    found = risks(action, seen)
    decision = Policy(dict.fromkeys(OWN_SCREEN, "refuse")).decide(action, seen)
    assert (decision.rule == "refuse") == bool(found)
    assert Policy(dict.fromkeys(OWN_SCREEN, "allow")).decide(action, seen).rule == "allow"


def test_a_pixel_a_place_and_words_are_judged_by_what_lies_there() -> None:
    seen = screen(name="Delete")
    box = Rect(0, 0, 400, 300)
    seen = replace(seen, elements=(*seen.elements, Element(8, "panel", "Files", box, box.center, EDITOR.id)))
    risky = [
        Click(at=(20, 20)),
        MouseDown(at=(20, 20)),
        Click(element_id=8, at=(0.05, 0.07)),
        Click(element_id=8, at=Words(text="Delete")),
    ]
    harmless: list[Action] = [Click(at=(200, 200)), Click(element_id=8, at=(0.9, 0.9)), Move(at=(20, 20))]
    assert [risks(action, seen) for action in risky] == [{"irreversible"}] * 4
    assert [risks(action, seen) for action in harmless] == [set()] * 3


def test_a_title_bar_of_an_unsaved_window_may_close_it() -> None:
    framed = replace(UNSAVED, rect=Rect(0, 30, 800, 570), frame=Rect(0, 0, 800, 600))
    assert risks(Click(at=(790, 10)), screen(framed)) == {"unsaved"}
    assert risks(Click(at=(790, 100)), screen(framed)) == set()


def test_held_keys_count_with_those_that_are_pressed() -> None:
    assert risks(Hotkey(keys=("w",)), replace(screen(UNSAVED), held_keys=("ctrl",))) == {"unsaved"}
    assert risks(Hotkey(keys=("w",)), screen(UNSAVED)) == set()


def test_zoom_and_read_need_no_consent() -> None:
    policy = Policy(OWN_SCREEN, confirm_all=True)
    for action in (Zoom(element_id=7), Read(), Read(element_id=7)):
        assert policy.decide(action, screen(name="Delete")).rule == "allow"


def test_typing_at_a_pixel_is_judged_by_the_window_that_lies_there() -> None:
    """A terminal often has no elements at all, and may be clicked into while another window has the keyboard."""
    front = replace(EDITOR, rect=Rect(0, 0, 400, 600))
    terminal = replace(TERMINAL, rect=Rect(400, 0, 400, 600), active=False)
    seen = replace(screen(front, role="entry", focus=True), windows=(front, terminal))
    assert risks(Type(text="ls", at=(600, 300), enter=True), seen) == {"terminal"}
    assert risks(Type(text="ls", at=(20, 20), enter=True), seen) == set()
    beside = replace(seen, windows=(replace(front, active=False), replace(terminal, active=True)))
    assert risks(Type(text="hello", at=(200, 300)), beside) == set()


def test_return_in_a_field_presses_the_default_button_of_its_dialog() -> None:
    seen = screen(name="Name", role="entry", focus=True)
    default = replace(seen.elements[0], id=8, role="push button", name="Delete", states=frozenset({"default"}))
    dialog = replace(seen, elements=(*seen.elements, default))
    for action in (Hotkey(keys=("Return",)), Type(text="x", enter=True), Type(text="x\n", element_id=7)):
        assert risks(action, dialog) == {"irreversible"}
        assert risks(action, seen) == set()
    assert risks(Hotkey(keys=("space",)), dialog) == set()
    assert risks(Type(text="a b"), dialog) == set()
    elsewhere = replace(dialog, elements=(seen.elements[0], replace(default, window_id=TERMINAL.id)))
    assert risks(Hotkey(keys=("Return",)), elsewhere) == set()


def test_a_mouse_button_without_a_target_is_judged_by_what_lies_under_the_pointer() -> None:
    seen = replace(screen(name="Delete"), pointer=Point(20, 20))
    assert risks(MouseDown(), seen) == {"irreversible"}
    assert risks(MouseDown(), replace(seen, pointer=Point(200, 200))) == set()
    assert risks(MouseUp(), replace(screen(name="Trash"), pointer=Point(20, 20))) == {"irreversible"}
    assert risks(MouseDown(), screen(name="Delete")) == set()  # where the pointer is not known
    terminal = replace(screen(TERMINAL), pointer=Point(20, 20))
    assert risks(MouseDown(), terminal, frozenset({"mousepad"})) == {"outside"}


def test_what_lies_inside_an_element_where_it_is_clicked_is_judged_too() -> None:
    seen = screen(name="Delete")
    row = Element(8, "panel", "Mail", Rect(0, 10, 80, 20), Rect(0, 10, 80, 20).center, EDITOR.id, app="mousepad")
    seen = replace(seen, elements=(row, *seen.elements))
    assert risks(Click(element_id=8), seen) == {"irreversible"}
    beside = replace(seen, elements=(replace(row, point=Point(5, 15)), seen.elements[1]))
    assert risks(Click(element_id=8), beside) == set()


def test_return_in_a_field_of_a_page_presses_only_the_button_of_its_own_form() -> None:
    page = "document web:Shop"
    field = replace(screen(name="Search", role="entry").elements[0], path=(page,))
    button = replace(field, id=8, role="push button", name="Buy", states=frozenset({"default"}), path=(page, "form:"))
    seen = replace(screen(), elements=(field, button), focus_id=7)
    assert risks(Hotkey(keys=("Return",)), seen) == set()
    inside = replace(field, path=(page, "form:", "paragraph:"))
    assert risks(Hotkey(keys=("Return",)), replace(seen, elements=(inside, button))) == {"irreversible"}
    own = replace(button, id=9, name="Search")
    assert risks(Hotkey(keys=("Return",)), replace(seen, elements=(inside, own, button))) == set()
    assert risks(Hotkey(keys=("Return",)), replace(seen, elements=(own, inside, button))) == {"irreversible"}


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("Delete", ("alt", "d"), {"irreversible"}),
        ("Delete", ("alt", "x"), set()),
        ("De_lete", ("alt", "l"), {"irreversible"}),
        ("De_lete", ("alt", "d"), set()),
        ("Löschen", ("alt", "ö"), {"irreversible"}),
        ("Delete", ("ctrl", "d"), set()),
        ("Cancel", ("alt", "c"), set()),
        ("Delete", ("alt", "XF86Back"), set()),
        ("Delete", ("alt", "Left"), set()),
    ],
)
def test_a_mnemonic_in_a_dialog_presses_its_button(name: str, keys: tuple[str, ...], expected: set[Risk]) -> None:
    dialog = replace(EDITOR, modal=True)
    assert risks(Hotkey(keys=keys), screen(dialog, name)) == expected
    assert not risks(Hotkey(keys=keys), screen(EDITOR, name)), "in other windows, Alt opens menus"


def test_a_letter_that_names_begin_with_is_the_mnemonic_of_these() -> None:
    seen = screen(replace(EDITOR, modal=True), "Don't Save")
    save = replace(seen.elements[0], id=8, name="Save")
    both = replace(seen, elements=(*seen.elements, save))
    assert risks(Hotkey(keys=("alt", "s")), seen) == {"irreversible"}
    assert risks(Hotkey(keys=("alt", "s")), both) == set()
    assert risks(Hotkey(keys=("alt", "d")), both) == {"irreversible"}

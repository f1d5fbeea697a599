"""The effect of an action, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aci.acting.actions import Action, Click, DragAndDrop, HoldAndPress, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.acting.effects import with_effect
from aci.acting.result import ActionResult
from aci.acting.wording import describe_action, describe_result, describe_target
from aci.input.read_back import Delivery
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State, Window

MAIN = Window(1, "Notes", "editor", Rect(0, 0, 320, 240), active=True)
DIALOG = Window(2, "Save As", "editor", Rect(40, 40, 200, 100), active=True, modal=True)
WITH_DIALOG = (DIALOG, MAIN)
DONE = ActionResult(ok=True)
UNREAD = ActionResult(ok=True, delivery=Delivery(state="unread", unread="terminal"))


def element(number: int, role: str, name: str = "", states: Sequence[State] = (), **more: Any) -> Element:
    rect = Rect(16 * number, 16, 16, 16)
    fields: dict[str, Any] = {"rect": rect, "point": rect.center, "window_id": 1, **more}
    return Element(id=number, role=role, name=name, states=frozenset(states), **fields)


def screen(*elements: Element, windows: tuple[Window, ...] = (MAIN,), focus: int | None = None) -> Observation:
    return Observation(np.zeros((240, 320, 3), np.uint8), elements, windows, focus_id=focus)


def drawn(seen: Observation, area: Rect) -> Observation:
    pixels = seen.screenshot.copy()
    pixels[area.y : area.bottom, area.x : area.right] = 255
    return replace(seen, screenshot=pixels)


def result(action: Action, before: Observation, after: Observation, came: ActionResult = DONE) -> ActionResult:
    return with_effect(came, action, before, after)


def text(action: Action, before: Observation, after: Observation, came: ActionResult = DONE) -> str:
    return describe_result(result(action, before, after, came))


SAVE = element(1, "push button", "Save")
OFF = element(1, "push button", "Save", ["disabled"])
WRAP, WRAPPED = element(2, "check box", "Wrap"), element(2, "check box", "Wrap", ["checked"])
NAME = element(3, "entry", "Name", ["editable"], text="")


@pytest.mark.parametrize(
    ("action", "before", "after", "kind", "words"),
    [
        (
            Click(element_id=1),
            screen(SAVE),
            screen(SAVE, windows=WITH_DIALOG),
            "expected",
            'dialog "Save As" opened',
        ),
        (Click(element_id=2), screen(WRAP), screen(WRAPPED), "expected", 'check box "Wrap" is checked now'),
        (Click(element_id=1), screen(SAVE), screen(SAVE), "none", "no effect: nothing changed on the screen"),
        (Click(element_id=1), screen(OFF), screen(OFF), "none", "no effect: it is disabled"),
        (Hotkey(keys=("Return",)), screen(OFF, focus=1), screen(OFF, focus=1), "none", "no effect: it is disabled"),
        (
            Click(element_id=2),
            screen(WRAP),
            screen(WRAP, focus=2),
            "other",
            'another effect than expected: its state is the same as before; the keyboard is on check box "Wrap"',
        ),
        (
            Hotkey(keys=("ctrl", "s")),
            screen(),
            screen(windows=(replace(MAIN, title="a.txt"),)),
            "expected",
            'the title became "a.txt"',
        ),
        (
            Hotkey(keys=("Right",)),
            screen(),
            drawn(screen(), Rect(100, 100, 40, 16)),
            "expected",
            "the picture changed at 96,96 (48x32)",
        ),
    ],
)
def test_an_effect_is_named(action: Action, before: Observation, after: Observation, kind: str, words: str) -> None:
    came = result(action, before, after)
    assert came.effect is not None
    assert (came.effect.kind, describe_result(came)) == (kind, words)


def test_a_blinking_caret_is_not_an_effect() -> None:
    came = result(Hotkey(keys=("Right",)), screen(), drawn(screen(), Rect(100, 100, 1, 16)))
    assert came.effect is not None
    assert came.effect.kind == "none"


def test_a_moved_caret_and_a_selection_are_effects() -> None:
    field = element(3, "entry", "Name", ["focused"], text="two words", caret=0)
    moved = replace(field, caret=9)
    selected = replace(moved, selection=(4, 9))
    steps = [(field, moved), (moved, selected), (selected, field)]
    effects = [result(Hotkey(keys=("End",)), screen(old), screen(new)).effect for old, new in steps]
    found = [[(one.kind, one.after) for one in effect.differences] for effect in effects if effect is not None]
    assert found == [[("caret", "")], [("selection", '"words"')], [("selection", '""')]]
    assert {effect.kind for effect in effects if effect is not None} == {"expected"}


def test_an_action_without_effect_has_not_worked() -> None:
    assert not result(Click(element_id=1), screen(SAVE), screen(SAVE)).worked
    assert result(Wait(time=1), screen(SAVE), screen(SAVE)).worked
    assert ActionResult(ok=True).worked, "as long as the screen after it has not been seen"


def test_unread_text_that_the_screen_shows_is_confirmed() -> None:
    line = element(9, "text line", "$ ls -l", source="ocr")
    shown = result(Type(text="ls -l"), screen(), drawn(screen(line), line.rect), UNREAD)
    assert shown.delivery == Delivery(state="shown", unread="terminal")
    hidden = result(Type(text="ls -l"), screen(), drawn(screen(), Rect(0, 0, 40, 40)), UNREAD)
    assert hidden.delivery == UNREAD.delivery
    assert describe_result(hidden).startswith("not read back, since it is a terminal: make sure that the text arrived")


def test_a_cell_that_shows_a_number_in_its_own_format_was_taken() -> None:
    cell = element(4, "table cell", "A1", text="")
    unread = ActionResult(ok=True, delivery=Delivery(state="unread", unread="cell"))
    came = result(Type(text="1234.5\n", element_id=4), screen(cell), screen(replace(cell, text="1,234.50")), unread)
    assert came.delivery == Delivery(state="rewritten", unread="cell", reads="1,234.50")
    assert describe_result(came) == 'taken; the application shows it as "1,234.50"'


def test_an_application_that_shows_no_window_is_named() -> None:
    started = ActionResult(ok=True, started="Paint")
    assert text(SwitchApplications(app_code="paint"), screen(), screen(), started) == (
        'started "Paint"; no effect: no window of the application came'
    )


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(element_id=1), 'click push button "Save"'),
        (Click(element_id=1, num_clicks=2, button_type="right"), 'right-double-click push button "Save"'),
        (Click(element_id=99), "click element 99"),
        (Type(text='say "hi"\n', element_id=3, enter=True), r'type "say \"hi\"\n" into entry "Name" and press Return'),
        (Type(text="x", element_id=3, overwrite=True), 'type "x" over the content of entry "Name"'),
        (Type(text="x"), 'type "x"'),
        (Scroll(element_id=2, clicks=-3), 'scroll down by 3 on check box "Wrap"'),
        (Hotkey(keys=("ctrl", "s")), "press ctrl+s"),
        (HoldAndPress(hold_keys=("shift",), press_keys=("Down", "Down")), "press Down Down holding shift"),
        (DragAndDrop(drag_from_id=1, drop_on_id=2), 'drag push button "Save" to check box "Wrap"'),
    ],
)
def test_an_action_names_its_elements_by_role_and_name(action: Action, words: str) -> None:
    assert describe_action(action, describe_target(action, screen(SAVE, WRAP, NAME))) == words


def test_a_result_of_an_earlier_version_keeps_its_words() -> None:
    earlier = ActionResult.model_validate({"ok": True, "settled_after_s": 0.2, "note": "typed by paste"})
    assert describe_result(earlier) == '"typed by paste"'


def test_a_button_that_changes_nothing_but_its_own_look_has_no_effect() -> None:
    pressed = drawn(screen(SAVE, focus=1), SAVE.rect)
    assert text(Click(element_id=1), screen(SAVE), pressed) == "no effect: nothing changed on the screen"
    elsewhere = drawn(pressed, Rect(160, 160, 48, 16))
    came = result(Click(element_id=1), screen(SAVE), elsewhere)
    assert came.effect is not None
    assert came.effect.kind == "expected"


def test_what_keeps_changing_by_itself_is_not_an_effect() -> None:
    clock, later = element(8, "label", "12:00"), element(8, "label", "12:01")
    after = drawn(screen(SAVE, later), clock.rect)
    assert result(Click(element_id=1), screen(SAVE, clock), after).worked
    assert not result(
        Click(element_id=1), screen(SAVE, clock), after, ActionResult(ok=True, restless=(clock.rect,))
    ).worked


def test_a_button_that_lights_up_under_the_resting_pointer_is_not_an_effect() -> None:
    lit = drawn(screen(SAVE), SAVE.rect)
    resting = ActionResult(ok=True, pointer=SAVE.rect.center)
    assert result(Hotkey(keys=("F9",)), screen(SAVE), lit).worked
    assert not result(Hotkey(keys=("F9",)), screen(SAVE), lit, resting).worked
    assert result(Hotkey(keys=("F9",)), screen(SAVE), drawn(lit, Rect(160, 160, 48, 16)), resting).worked


@pytest.mark.parametrize(
    ("action", "area", "worked"),
    [
        (Hotkey(keys=("Up",)), Rect(306, 20, 8, 180), False),
        (Scroll(element_id=2, clicks=-3), Rect(306, 20, 8, 180), False),
        (Hotkey(keys=("Up",)), Rect(306, 20, 8, 20), True),
        (Click(element_id=3), Rect(306, 20, 8, 180), True),
    ],
)
def test_a_scroll_bar_that_fades_is_not_an_effect_of_keys_or_the_wheel(
    action: Action, area: Rect, worked: bool
) -> None:
    before = screen(WRAP, NAME)
    assert result(action, before, drawn(before, area)).worked is worked


def test_the_address_that_a_browser_shows_for_a_link_is_not_an_effect() -> None:
    link, address = element(1, "link", "Details"), element(9, "text line", "127.0.0.1:8080/#none", source="ocr")
    assert not result(Click(element_id=1), screen(link), drawn(screen(link, address), address.rect)).worked


@pytest.mark.parametrize("message", ["Could not save the order", "Malformed expression", "#DIV/0!", "Ungültiger Wert"])
def test_an_error_that_comes_up_is_named(message: str) -> None:
    before, after = screen(SAVE, element(5, "label", "Ready")), screen(SAVE, element(5, "label", message))
    assert text(Click(element_id=1), before, after).startswith("another effect than expected: the application reports")


def test_an_error_in_a_cell_is_named_where_it_arises_and_not_where_it_comes_into_view() -> None:
    broken, whole = element(4, "table cell", "B2", text="#REF!"), element(4, "table cell", "B2", text="12")
    typed = Hotkey(keys=("Return",))
    assert "reports an error" in text(typed, screen(SAVE, whole), screen(SAVE, broken))
    assert "reports an error" not in text(typed, screen(SAVE), screen(SAVE, broken))


def test_words_in_a_document_or_in_what_was_typed_are_not_errors() -> None:
    typed = element(3, "entry", "Name", ["editable"], text="failed")
    for page in (element(6, "document text", "", text="It failed."), typed):
        came = result(Type(text="failed", element_id=3), screen(NAME), screen(page))
        assert came.effect is not None
        assert came.effect.remark != "alert"


def test_text_put_on_the_clipboard_is_an_effect() -> None:
    copied = ActionResult(ok=True, copied=True)
    assert text(Hotkey(keys=("ctrl", "c")), screen(), screen(), copied) == "the clipboard changed"


WRITTEN = element(3, "entry", "Name", ["editable"], text="a.txt", selection=(0, 5))
PART = element(3, "entry", "Name", ["editable"], text="a.txt", selection=(0, 1))


@pytest.mark.parametrize(
    ("field", "keys", "already"),
    [
        (NAME, "ctrl+a", True),
        (NAME, "BackSpace", True),
        (WRITTEN, "ctrl+A", True),
        (WRITTEN, "End", True),
        (WRITTEN, "Delete", False),
        (PART, "ctrl+a", False),
        (NAME, "ctrl+v", False),
        (SAVE, "End", False),
    ],
)
def test_keys_for_a_caret_that_is_there_or_for_an_empty_text_are_no_failure(
    field: Element, keys: str, already: bool
) -> None:
    seen = screen(field, focus=field.id)
    assert result(Hotkey(keys=tuple(keys.split("+"))), seen, seen).worked is already


def test_what_is_so_already_has_no_effect_and_is_not_a_failure() -> None:
    came = result(Click(element_id=3), screen(NAME, focus=3), screen(NAME, focus=3))
    assert describe_result(came) == "no effect: it is so already"
    assert came.worked


def test_a_changed_text_is_named_before_the_buttons_that_it_disables() -> None:
    replace_all = element(1, "push button", "Replace All")
    others = [element(number, "push button", name) for number, name in ((2, "Previous"), (3, "Next"), (5, "Replace"))]
    page = element(4, "text", "", ["editable"], text="one colour")
    off = [replace(one, states=frozenset({"disabled"})) for one in others]
    before = screen(replace_all, *others, page)
    after = screen(replace_all, *off, replace(page, text="one color"))
    assert text(Click(element_id=1), before, after) == (
        'text "one colour" reads "one color" now, push button "Previous" is disabled now and 2 more elements'
    )


def test_of_a_long_text_the_part_that_changed_is_shown() -> None:
    said = " ".join(f"line {number}" for number in range(40))
    page = element(4, "text", "Page", ["editable"], text=said)
    after = screen(replace(page, text=said.replace("line 30", "row 30")))
    changed = text(Hotkey(keys=("ctrl", "v")), screen(page), after)
    assert '"28 line 29 row 30 line 31' in changed


def test_what_was_dragged_away_and_what_has_a_name_come_first() -> None:
    file, folder, icon = element(1, "text line", "a.txt"), element(2, "table cell", "Archive"), element(3, "icon")
    counts, pane = element(4, "status bar", "3 files"), element(5, "panel")
    before = screen(file, folder, icon, counts, pane)
    after = screen(folder, replace(counts, name="2 files"), element(6, "panel"), element(7, "text line", "b.txt"))
    assert text(DragAndDrop(drag_from_id=1, drop_on_id=2), before, after).startswith(
        'text line "a.txt" vanished, status bar "3 files" reads "2 files" now, text line "b.txt" appeared'
    )


def test_one_more_element_is_counted_in_the_singular() -> None:
    before, after = screen(SAVE), screen(SAVE, element(2, "label", "Line 1"), element(3, "label", "Column 1"))
    assert text(Click(element_id=1), before, after) == 'label "Line 1" appeared and 1 more element'


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("03/14/1990", "read back exactly"),
        ("3/14/1990", 'taken; the application shows it as "3/14/1990"'),
        ("12/31/2026", 'the field reads "" now; date editor "Birthday" reads "12/31/2026" now'),
    ],
)
def test_a_field_of_parts_counts_by_its_whole_text(now: str, words: str) -> None:
    date = element(1, "date editor", "Birthday", text="mm/dd/yyyy")
    read = ActionResult(ok=True, delivery=Delivery(state="different", reads=""))
    typed = Type(text="03/14/1990", element_id=1)
    assert text(typed, screen(date), screen(replace(date, text=now)), read) == words


def test_what_a_dialog_covers_has_not_vanished() -> None:
    below, beside = element(3, "label", "Below", rect=Rect(60, 60, 40, 20)), element(2, "label", "Beside")
    before, after = screen(SAVE, below, beside), screen(SAVE, windows=WITH_DIALOG)
    assert text(Click(element_id=1), before, after) == 'dialog "Save As" opened, label "Beside" vanished'


def test_a_table_that_was_typed_into_cells_is_shown_by_all_of_them() -> None:
    typed = Type(text="Tea\t2.50\nSum\t=SUM(B1:B9)\n")
    came = ActionResult(ok=True, delivery=Delivery(state="unread", unread="cell"))
    empty = element(5, "table cell", "A1", text="")
    tea, price = replace(empty, text="Tea"), element(6, "table cell", "B1", text="2.5")
    total = (element(7, "table cell", "A2", text="Sum"), element(8, "table cell", "B2", text="7"))
    whole = text(typed, screen(empty, focus=5), screen(tea, price, *total, focus=5), came)
    assert whole.startswith("the screen shows the text")
    part = text(typed, screen(empty, focus=5), screen(tea, *total, focus=5), came)
    assert part.startswith("not read back")


@pytest.mark.parametrize(
    ("read", "shown"),
    [("root@vm:~# wc -1~/Documents/letter.txt", True), ("root@vm:~# wc ~/Documents/letter.txt", False)],
)
def test_a_command_is_shown_by_recognized_text_with_letters_that_look_the_same(read: str, shown: bool) -> None:
    typed = Type(text="wc -l ~/Documents/letter.txt", enter=True)
    told = text(typed, screen(), screen(element(1, "text line", read, source="ocr")), UNREAD)
    assert ("the screen shows the text" in told) is shown

"""Changes between two looks, and their comparison."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aci.acting.actions import Click
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, State, Window
from agent_s.records import Change
from exploration.search.changes import changes, missing_change
from exploration.search.classifying import Finding, classify
from exploration.search.controls import CONTEXT_MENU, candidates, offer
from exploration.search.homes import HomeState
from exploration.search.records import Control
from exploration.search.states import Look, drift, same, same_but_greyed, same_to_the_pixel
from intents.labels import label

HOME = "/tmp/home-1"
SIZE = Rect(0, 0, 400, 300)


def box(number: int, role: str, name: str, *states: State, window: int = 1, **more: object) -> Element:
    rect = Rect(number, 5, 4, 4)
    return Element(
        id=number, role=role, name=name, rect=rect, point=rect.center, window_id=window, app="Editor",
        states=frozenset(states), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def look(
    *elements: Element, windows: tuple[Window, ...] = (), shade: int = 0, settings: dict[str, str] | None = None,
    files: dict[str, str] | None = None, title: str = "note - Editor",
) -> Look:  # fmt: skip
    main = Window(1, title, "Editor", SIZE, active=True, pid=5)
    pixels = np.full((300, 400, 3), shade, np.uint8)
    return Look(Observation(pixels, elements, (*windows, main)), HomeState(files or {}, settings or {}), HOME)


def kinds(before: Look, after: Look) -> list[tuple[str, str, str]]:
    return [(change.kind, change.what, change.after) for change in changes(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (look(settings={}), look(settings={"a/b": "true"}), ("setting", "a/b", "true")),
        (look(files={}), look(files={"x.txt": "d1"}), ("file", "x.txt", "there")),
        (look(files={"x.txt": "d1"}), look(files={"x.txt": "d2"}), ("file", "x.txt", "changed")),
        (look(title=f"{HOME}/a - Editor"), look(title=f"*{HOME}/a - Editor"), ("title", "window", "*~/a - Editor")),
        (look(box(1, "check box", "Wrap")), look(box(1, "check box", "Wrap", "checked")),
         ("state", "check box Wrap", "checked")),
        (look(box(1, "text", "", text="a")), look(box(1, "text", "", text="b")), ("text", "text", "b")),
        (look(box(1, "spin button", "Size", value=1.0)), look(box(1, "spin button", "Size", value=2.0)),
         ("value", "spin button Size", "2")),
        (look(box(1, "list item", "Inbox", text="0")), look(box(1, "list item", "Inbox", text="1")),
         ("appeared", "list item Inbox", "shown")),
        (look(), look(box(1, "push button", "Find")), ("appeared", "push button Find", "shown")),
        (look(), look(windows=(Window(2, "About", "Editor", SIZE, pid=5),)), ("opened", "About", "open")),
        (look(box(1, "push button", "Paste", "disabled")), look(box(1, "push button", "Paste")),
         ("state", "push button Paste", "can be used")),
        (look(shade=0), look(shade=9), ("picture", "note - Editor", "looks different")),
    ],
)  # fmt: skip
def test_every_kind_of_change_is_found(before: Look, after: Look, expected: tuple[str, str, str]) -> None:
    assert kinds(before, after) == [expected]


def test_an_open_menu_changes_nothing() -> None:
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    opened = look(box(1, "menu item", "New", window=2), windows=(popup,), shade=9)
    assert kinds(look(), opened) == []


def test_what_an_open_menu_covers_is_not_taken_for_another_element_of_the_same_name() -> None:
    style, font, size = (box(n, "combo box", "", text=text) for n, text in ((1, "Normal"), (2, "Serif"), (3, "12")))
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    entry = box(4, "menu item", "New", window=2)
    assert kinds(look(style, font, size), look(font, size, entry, windows=(popup,))) == []
    larger = replace(size, text="14")
    assert kinds(look(style, font, size), look(font, larger, entry, windows=(popup,))) == [("text", "combo box", "14")]


def test_a_row_that_shows_another_item_now_is_compared_by_its_name() -> None:
    before = look(box(1, "list item", "A", "selected"), box(2, "list item", "B"))
    assert kinds(before, look(box(1, "list item", "B"), box(2, "list item", "A", "selected"))) == []


def test_a_menu_that_is_drawn_in_its_window_is_a_menu() -> None:
    inside = ("frame:note", "popup menu:")
    closed = look(box(1, "menu", "Edit"))
    opened = look(box(1, "menu", "Edit", "selected", "checked"), box(2, "menu item", "Undo", path=inside))
    assert opened.menus and not closed.menus
    assert kinds(closed, opened) == []
    left = look(box(1, "menu", "Edit", "selected"))
    assert left.exact == closed.exact
    later = look(box(1, "menu", "Edit"), box(2, "menu item", "Redo", path=inside))
    assert kinds(opened, later) != []


def test_hidden_files_count_only_where_nothing_else_changed() -> None:
    session = {".local/share/editor/session": "d1"}
    assert kinds(look(), look(files=session)) == [("file", ".local/share/editor/session", "there")]
    assert kinds(look(), look(files={**session, "x.txt": "d"})) == [("file", "x.txt", "there")]
    noted = look(files=session)
    assert same(look(), noted, hidden_files_count=False)
    assert not same(look(), noted)
    assert not same(look(), look(files={"x.txt": "d"}), hidden_files_count=False)


def test_what_changes_in_a_menu_that_stays_open_is_an_effect_and_opening_it_is_none() -> None:
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    pressed = box(1, "push button", "Menu", "pressed")

    def opened(size: str) -> Look:
        inside = (box(2, "push button", "Zoom in", window=2), box(3, "label", size, window=2))
        return look(pressed, *inside, windows=(popup,))

    control = Control(role="push button", name="Zoom in", key="push button:Zoom in")
    closed = look(box(1, "push button", "Menu"))
    finding = classify(control, opened("100%"), opened("110%"), "Editor", closed)
    assert finding.classification == "terminal"
    assert [(change.kind, change.what) for change in finding.effect] == [
        ("appeared", "label 110%"),
        ("vanished", "label 100%"),
    ]


def test_containers_named_after_their_class_do_not_count() -> None:
    plain = look(box(1, "check menu item", "Wrap", path=("frame:note", "push button:View")))
    shown = look(
        box(1, "check menu item", "Wrap", path=("frame:note", "push button:View", "menu:GtkPopoverMenu")),
    )
    assert plain.exact == shown.exact
    assert plain.candidates[0].control.identity == shown.candidates[0].control.identity


def test_a_row_that_holds_a_switch_is_tried_by_its_switch_alone() -> None:
    seen = look(
        box(1, "list item", "Show the map"), box(2, "check box", "Show the map", path=("list item:Show the map",)),
        box(3, "list item", "note.txt"),
    ).observation  # fmt: skip
    assert [each.control.key for each in candidates(seen)] == ["check box:Show the map", "list item:note.txt"]


def test_the_same_effect_again_is_recognized() -> None:
    strict = Change(kind="setting", what="a/b", before="1", after="2")
    parts = Change(kind="appeared", what="push button Find", after="shown")
    assert missing_change((strict, parts), (strict,)) == ""
    assert "did not become '2' again" in missing_change((strict,), (strict.model_copy(update={"after": "3"}),))
    assert missing_change((parts,), ()) != ""
    assert missing_change((Change(kind="picture", what="x"),), (Change(kind="picture", what="y"),)) == ""


def test_what_appears_may_have_another_number() -> None:
    first, second, other = (
        (Change(kind="appeared", what=what, after="shown"),)
        for what in ("label 03, push button Pause", "label 7, push button Pause", "label 7, push button Lap")
    )
    assert missing_change(first, second) == ""
    assert missing_change(first, other) != ""


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("at 13:37:20.93 today", "at 9:05 today", True),
        ("2026-11-21", "2026-12-01", True),
        ("21/11/26 at 13:37", "1/12/2026 at 23:59 PM", True),
        ("42", "43", False),
        ("1,234.5", "1,234.6", False),
    ],
)
def test_times_and_dates_may_differ_between_effects(first: str, second: str, same: bool) -> None:
    effects = [(Change(kind="text", what="text Input line", after=text),) for text in (first, second)]
    assert (missing_change(*effects) == "") == same


def test_numbers_that_change_by_themselves_are_left_out() -> None:
    before, after = (look(box(1, "label", f"6 files, {free} GB free"), box(2, "menu", "File")) for free in (-1.5, 12))
    volatile = drift(before, after)
    before, after = (replace(each, volatile=volatile) for each in (before, after))
    assert same(before, after) and not changes(before, after)
    other = replace(look(box(1, "label", "no files, 12 GB free"), box(2, "menu", "File")), volatile=volatile)
    assert not same(before, other), "the words count"


def test_a_time_in_a_status_bar_changes_by_itself_even_in_a_control() -> None:
    path = ("frame:Log", "status bar:")
    before, after = (look(box(1, "combo box", f"03:07:{at}: loaded", path=path)) for at in ("06", "10"))
    volatile = drift(before, after)
    assert volatile
    before, after = (replace(each, volatile=volatile) for each in (before, after))
    assert same(before, after)


def test_the_folder_of_a_private_desktop_has_no_name() -> None:
    first, second = (
        replace(look(box(1, "table cell", name)), place=f"/tmp/agent-s-0/{name}/home")
        for name in ("desktop-cd1f2dc5f4", "desktop-f85d071abb")
    )
    assert same(first, second)
    ada = replace(look(box(1, "table cell", "home")), place="/home/ada")
    assert "home" in next(iter(ada.exact)), "other homes lie in folders that mean something"


def test_further_elements_that_nobody_sees_make_no_other_screen() -> None:
    start = look(box(1, "page tab", "World", "selected"))
    left_over = look(box(1, "page tab", "World", "selected"), box(2, "push button", "Add alarm"))
    assert same(start, left_over) and same(start, left_over, frozenset())
    assert not same(left_over, start)
    drawn = look(box(1, "page tab", "World", "selected"), box(2, "push button", "Add alarm"), shade=9)
    assert not same(start, drawn) and not same(start, drawn, frozenset())
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    menu = look(box(1, "page tab", "World", "selected"), box(2, "menu item", "New", window=2), windows=(popup,))
    assert not same(start, menu)


def test_messages_of_a_status_bar_come_and_go() -> None:
    busy, quiet = look(box(1, "status bar", "Loading"), box(2, "menu", "File")), look(box(2, "menu", "File"))
    busy.observation.screenshot[5:9, 1:5] = 255  # the message
    assert same(busy, quiet) and same(quiet, busy)
    assert kinds(quiet, busy) == [("appeared", "status bar Loading", "shown")], "it may tell what was done"
    assert kinds(busy, quiet) == []
    assert not same(look(box(1, "label", "Loading"), box(2, "menu", "File")), quiet)


@pytest.mark.parametrize("other", ["menu item", "check box", "spin button"])
def test_the_number_of_a_control_never_changes_by_itself(other: str) -> None:
    assert not drift(look(box(1, other, "Page 1")), look(box(1, other, "Page 2")))


def test_a_caret_in_a_paragraph_makes_no_other_screen() -> None:
    assert same(look(box(1, "paragraph", "", "selected")), look(box(1, "paragraph", "")))
    assert not same(look(box(1, "list item", "A", "selected")), look(box(1, "list item", "A")))


def test_another_tab_in_front_is_a_function_and_its_contents_are_tried() -> None:
    tab = Control(role="page tab", name="Fonts", key="page tab:Fonts")
    before = look(box(1, "page tab", "Fonts"), box(2, "page tab", "Look", "selected"))
    after = look(box(1, "page tab", "Fonts", "selected"), box(2, "page tab", "Look"), box(3, "push button", "Choose"))
    finding = classify(tab, before, after, "Editor")
    assert [change.what for change in finding.effect] == ["page tab Fonts"]
    assert [each.control.name for each in finding.offers] == ["Choose"]


def test_a_button_whose_popover_closed_was_not_switched() -> None:
    reload = Control(role="push button", name="Reload", key="push button:Reload")
    before = look(box(1, "toggle button", "Menu", "pressed"), box(2, "push button", "Reload"))
    finding = classify(reload, before, look(box(1, "toggle button", "Menu")), "Editor")
    assert [(change.kind, change.what) for change in finding.effect] == [("vanished", "push button Reload")]


def test_attempts_are_classified() -> None:
    control = Control(role="menu item", name="X", key="menu item:X")
    start = look(box(1, "menu", "File"))
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    stranger = Window(3, "Web", "Browser", SIZE, pid=9)
    opened = look(box(1, "menu", "File"), box(2, "menu item", "New", window=2), windows=(popup,))
    cases = {
        "continue": opened,
        "terminal": look(box(1, "menu", "File"), settings={"a/b": "1"}),
        "error": start,
        "skipped": look(box(1, "menu", "File"), windows=(stranger,)),
    }
    for expected, after in cases.items():
        assert classify(control, start, after, "Editor").classification == expected
    secret = look(box(1, "menu", "File"), box(2, "password text", ""))
    assert classify(control, start, secret, "Editor").why == "it asks for a password"


def test_what_asks_for_a_password_is_known_by_its_window_and_nothing_in_it_is_tried() -> None:
    control = Control(role="push button", name="Site Manager", key="push button:Site Manager")
    dialog = Window(2, "Site Manager", "Editor", SIZE, modal=True, pid=5)
    field = box(3, "password text", "", window=2)
    connect = box(4, "push button", "Connect", window=2)
    found = classify(control, look(), look(field, connect, windows=(dialog,)), "Editor")
    assert (found.classification, found.why, found.offers) == ("terminal", "it asks for a password", ())
    assert [(change.kind, change.what) for change in found.effect] == [("opened", "Site Manager")]


def test_a_password_field_that_was_there_before_asks_for_nothing() -> None:
    bar = box(1, "menu", "File"), box(2, "password text", "")
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    opened = look(*bar, box(3, "menu item", "New", window=2), windows=(popup,))
    control = Control(role="menu", name="File", key="menu:File")
    assert classify(control, look(*bar), opened, "Editor").classification == "continue"


def test_a_document_of_another_application_is_left_to_its_own_exploration() -> None:
    control = Control(role="menu item", name="New Drawing", key="menu item:New Drawing")
    before = look(box(1, "menu", "File"))
    inside = box(2, "menu", "Shape", window=2), box(3, "push button", "Circle", window=2)
    drawing = Window(2, "Untitled - Draw", "Draw", SIZE, pid=5)

    def found(window: Window) -> Finding:
        return classify(control, before, look(box(1, "menu", "File"), *inside, windows=(window,)), "Editor")

    assert (found(drawing).classification, found(drawing).offers) == ("terminal", ())
    for own in (replace(drawing, app="Editor"), replace(drawing, modal=True)):
        assert [each.control.name for each in found(own).offers] == ["Shape", "Circle"]


def test_what_lies_behind_a_dialog_is_not_offered() -> None:
    control = Control(role="menu item", name="New", key="menu item:New")
    document = Window(2, "Untitled - Editor", "Editor", SIZE, pid=5)
    dialog = Window(3, "Language", "Editor", SIZE, active=True, modal=True, pid=5)
    inside = box(2, "menu", "Edit", window=2), box(3, "push button", "Choose", window=3)

    def offered(*windows: Window) -> list[str]:
        return [
            each.control.name for each in classify(control, look(), look(*inside, windows=windows), "Editor").offers
        ]

    assert offered(dialog, document) == ["Choose"]
    assert offered(replace(dialog, modal=False), document) == ["Edit", "Choose"]


@pytest.mark.parametrize(
    ("role", "path"), [("combo box", ("menu:",)), ("push button", ("combo box:Encoding", "menu:"))]
)
def test_only_first_entries_of_long_lists_are_tried(role: str, path: tuple[str, ...]) -> None:
    popup = Window(2, "", "Editor", SIZE, popup=True, pid=5)
    entries = [box(n, "menu item", f"E{n}", window=2, path=path) for n in range(1, 40)]
    control = Control(role=role, name="Encoding", key=f"{role}:Encoding")
    finding = classify(control, look(), look(*entries, windows=(popup,)), "Editor")
    assert [each.control.name for each in finding.offers] == [f"E{n}" for n in range(1, 9)]


def test_the_contents_of_a_main_window_are_right_clicked_once_for_each_sort() -> None:
    frame, dialog = ("frame:note - Editor",), ("dialog:Preferences",)
    shown = look(
        box(1, "text", "", "editable", "multi_line", text="document", path=frame),
        box(2, "table cell", "A", path=frame), box(3, "table cell", "B", path=frame),
        box(4, "text", "", "editable", path=frame), box(5, "canvas", "Preview", path=dialog),
    )  # fmt: skip
    found = [each for each in shown.candidates if each.control.role == CONTEXT_MENU]
    assert [each.element.id for each in found] == [1, 2]
    step = offer(found[0], shown.observation, HOME).step
    assert isinstance(step.action, Click) and step.action.button_type == "right"


def test_controls_have_stable_keys() -> None:
    seen = look(
        box(1, "menu item", f"{HOME}/note.txt"), box(2, "menu item", "Same"), box(3, "menu item", "Same"),
        box(4, "combo box", "current value", label="Encoding:"), box(5, "label", "Hello"),
        box(6, "text", "", "editable", "multi_line", text="document"),
    ).observation  # fmt: skip
    keys = [each.control.key for each in candidates(seen, HOME)]
    assert keys == ["menu item:~/note.txt", "menu item:Same", "menu item:Same#2", "combo box:Encoding:"]


def test_fields_of_a_status_bar_move_when_what_they_say_gets_longer() -> None:
    def bar(x: int, text: str) -> Look:
        fields = [box(1, "label", "Sheet 1", path=("frame:A", "status bar:")), box(2, "label", text)]
        moved = replace(fields[1], rect=Rect(x, 100, 30, 9), path=("frame:A", "status bar:"))
        shown = look(fields[0], moved, box(3, "menu", "File"))
        shown.observation.screenshot[100:109, x : x + 30] = 255
        return shown

    assert same(bar(40, "Sum: 0"), bar(120, "Sum: 0"))
    assert not same(bar(40, "Sum: 0"), bar(40, "Sum: 1")), "what they say counts"


def test_what_undoes_may_say_what_it_undoes() -> None:
    def menu(undo: str, *states: State, other: str = "Cut") -> Look:
        return look(box(1, "menu item", undo, *states), box(2, "menu item", other))

    history = label("history")
    before = menu("Redo", "disabled")
    assert same_but_greyed(before.exact, menu("Redo: Cut").exact, history)
    assert not same_but_greyed(before.exact, menu("Redo: Cut", other="Copy").exact, history)
    assert not same_but_greyed(before.exact, menu("Redo: Cut", "checked").exact | {"x": ("",)}, history)


def test_only_a_caret_may_differ_to_the_pixel() -> None:
    plain, caret, mark, far = look(), look(), look(), look()
    caret.observation.screenshot[200:220, 300:302] = 255
    mark.observation.screenshot[200:209, 300:309] = 255
    far.observation.screenshot[200:220, 300:302] = far.observation.screenshot[20:22, 320:322] = 255
    assert same_to_the_pixel(plain, plain) and same_to_the_pixel(plain, caret)
    assert not same_to_the_pixel(plain, mark), "a check mark is small"
    assert not same_to_the_pixel(plain, far)


def test_a_look_with_other_pixels_keeps_what_was_derived_from_its_elements() -> None:
    first = look(box(1, "menu", "File"))
    shown = first.exact
    later = first.redrawn(look(shade=9).observation.screenshot, Point(3, 4), Rect(1, 2, 3, 4))
    assert later.exact is shown
    assert (later.observation.pointer, later.pointed) == (Point(3, 4), Rect(1, 2, 3, 4))
    assert not same_to_the_pixel(first, later)

"""What the offline model does about a subtask, on desktops made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aci.acting.actions import (
    Action,
    Click,
    Done,
    HoldAndPress,
    Hotkey,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
)
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, State
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest
from agent_s.offline import OfflineModel
from agent_s.records import Step, Subtask, Task
from tests.unit.agent_s.offline.screens import act_out, element, field, seen, window


def changed(observation: Observation, number: int, **fields: object) -> Observation:
    """Return a screen on which one element is different."""
    elements = tuple(replace(one, **fields) if one.id == number else one for one in observation.elements)  # type: ignore[arg-type]
    return replace(observation, elements=elements)


def with_states(observation: Observation, number: int, *states: State, without: tuple[State, ...] = ()) -> Observation:
    old = observation.by_id[number].states
    return changed(observation, number, states=(old | set(states)) - set(without))


def with_more(observation: Observation, *elements: Element, **fields: object) -> Observation:
    return replace(observation, elements=observation.elements + elements, **fields)  # type: ignore[arg-type]


def types(observation: Observation, action: Action) -> Observation:
    """A desktop on which fields take what is typed."""
    if not isinstance(action, Type):
        return observation
    number = action.element_id if action.element_id is not None else observation.focus_id
    if number is None:
        return observation
    held = observation.by_id[number].text or ""
    return changed(observation, number, text=action.text if action.overwrite else held + action.text)


# Clicking


def test_clicks_the_named_element() -> None:
    done = act_out("click OK", seen(element(1, "push button", "Cancel"), element(2, "push button", "OK", (100, 10))))
    assert done.actions == [Click(element_id=2)]
    assert done.ok


def test_clicks_with_the_given_count_button_and_keys() -> None:
    screen = seen(element(1, "push button", "+"))
    assert act_out("click + 3 times", screen).actions == [Click(element_id=1)] * 3
    assert act_out("right-click '+'", screen).actions == [Click(element_id=1, button_type="right")]
    assert act_out("double-click '+'", screen).actions == [Click(element_id=1, num_clicks=2)]
    assert act_out("ctrl+click '+'", screen).actions == [Click(element_id=1, hold_keys=("ctrl",))]


def test_a_missing_element_fails_with_the_nearest_names() -> None:
    done = act_out("click the button 'Frobnicate'", seen(element(1, "push button", "Fabricate")))
    assert not done.ok
    assert "'Frobnicate'" in done.reason
    assert "'Fabricate'" in done.reason
    assert all(isinstance(action, Wait) for action in done.actions)
    assert sum(action.time for action in done.actions if isinstance(action, Wait)) < 5


def test_waits_for_an_element_that_appears_later() -> None:
    def comes(observation: Observation, action: Action) -> Observation:
        return with_more(observation, element(2, "push button", "Done")) if isinstance(action, Wait) else observation

    done = act_out("click Done", seen(element(1, "label", "Working")), comes)
    assert [type(action) for action in done.actions] == [Wait, Click]


def test_clicks_the_next_candidate_if_the_first_is_refused() -> None:
    screen = seen(element(1, "push button", "Next"), element(2, "push button", "Next", (10, 50)))

    def refuses(observation: Observation, action: Action) -> Observation | str:
        return "covered" if action == Click(element_id=1) else observation

    done = act_out("click Next", screen, refuses)
    assert done.actions == [Click(element_id=1), Click(element_id=2)]
    assert done.ok


def test_a_disabled_element_is_not_clicked() -> None:
    done = act_out("click Next", seen(element(1, "push button", "Next", states=("disabled",))))
    assert done.actions == []
    assert "disabled" in done.reason


def test_scrolls_down_to_an_element() -> None:
    page = ("document web:Page",)
    top = seen(*(element(n, "link", f"Item {n}", (10, 60 * n), (700, 40), path=page) for n in range(1, 9)))
    bottom = seen(*(element(n, "link", f"Item {n}", (10, 60 * (n - 8)), (700, 40), path=page) for n in range(9, 17)))

    def scrolls(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Scroll):
            return bottom if action.clicks < 0 else top
        return observation

    done = act_out("click Item 15", top, scrolls)
    assert done.actions[-1] == Click(element_id=15)
    assert any(isinstance(action, Scroll) and action.clicks < 0 for action in done.actions)


def test_never_presses_a_key_for_a_button_that_is_missing() -> None:
    done = act_out("click the Delete button", seen(element(1, "push button", "Edit")))
    assert not any(isinstance(action, Hotkey) for action in done.actions)
    assert not done.ok


def test_presses_keys_in_few_steps() -> None:
    screen = seen(element(1, "text"))
    assert act_out("press ctrl+s", screen).actions == [Hotkey(keys=("ctrl", "s"))]
    assert act_out("press Down 5 times", screen).actions == [HoldAndPress(hold_keys=(), press_keys=("Down",) * 5)]


@pytest.mark.parametrize("clause", ["print", "switch to full screen", "open a new tab", "create a new document"])
def test_a_key_that_shows_nothing_new_has_not_done_what_it_usually_does(clause: str) -> None:
    editor = seen(element(1, "text"))

    def reacts(observation: Observation, action: Action) -> Observation:
        return with_more(observation, element(2, "label", "Copies"))

    refused = act_out(clause, editor)
    assert not refused.ok
    assert "shows nothing new" in refused.reason
    assert act_out(clause, editor, reacts).ok
    crashed = act_out(clause, editor, lambda observation, _: replace(observation, elements=(), windows=()))
    assert not crashed.ok


def test_a_key_with_the_name_of_a_button_clicks_it() -> None:
    assert act_out("press 7", seen(element(3, "push button", "7"))).actions == [Click(element_id=3)]
    assert act_out("press 7", seen(element(3, "label", "Nothing"))).actions == [Hotkey(keys=("7",))]


# Typing


def test_typed_text_is_read_back() -> None:
    screen = seen(element(1, "label", "Name", (10, 10)), field(2, at=(100, 10), text="old"))
    done = act_out("type 'Ada' into the Name field", screen, types)
    assert done.actions == [Type(text="Ada", element_id=2, overwrite=True)]
    assert "'Ada'" in done.ending.observation_analysis


def test_a_field_that_does_not_take_the_text_is_a_failure() -> None:
    done = act_out("type 'Ada' into Name", seen(field(1, "Name", text="fixed")))
    assert not done.ok
    assert "'fixed'" in done.reason


def test_typing_appends_to_documents_and_overwrites_fields() -> None:
    document = seen(element(1, "text", "", (0, 30), (800, 500), text="one", states=("editable", "multi_line")), focus=1)
    assert act_out("type ' two'", document, types).last.by_id[1].text == "one two"
    assert act_out("replace 'one' with 'six'", document, types).last.by_id[1].text == "six"


def test_text_is_typed_into_shapes_of_a_slide_and_copied_from_them() -> None:
    title = element(1, "shape", "Title 1", (0, 30), (800, 50), text="Rivers", states=("editable", "multi_line"))
    slide = seen(title, element(2, "shape", "Subtitle 2", (0, 90), (800, 50), states=("editable", "multi_line")))
    assert act_out("type ' of Europe' into Title 1", slide, types).last.by_id[1].text == "Rivers of Europe"
    assert act_out("copy the Title 1 shape", slide).actions == [SaveToBuffer(text="Rivers")]


def test_types_at_the_focus_without_readable_fields() -> None:
    done = act_out("type 'ls' and press enter", seen(windows=[window(title="xterm")]), types)
    assert done.actions[1:] == [Type(text="ls"), Hotkey(keys=("Return",))]


def test_words_that_name_no_field_belong_to_the_text() -> None:
    screen = seen(element(1, "text", "", (0, 30), (800, 500), text="", states=("editable",)), focus=1)
    assert act_out("type Ada lives in Paris", screen, types).last.by_id[1].text == "Ada lives in Paris"


def test_fills_text_fields_boxes_and_spin_buttons_of_a_form() -> None:
    screen = seen(
        field(1, "Name"),
        element(2, "check box", "Newsletter", (10, 50), states=("checkable",)),
        element(3, "spin button", "Guests", (10, 90), text="1", value=1, states=("editable",)),
    )

    def reacts(observation: Observation, action: Action) -> Observation:
        if action == Click(element_id=2):
            return with_states(observation, 2, "checked")
        return types(observation, action)

    done = act_out("fill in the form with Name: Ada; Newsletter: yes; Guests: 3", screen, reacts)
    assert done.ok
    assert done.last.by_id[1].text == "Ada"
    assert "checked" in done.last.by_id[2].states
    assert done.last.by_id[3].text == "3"


def test_types_into_both_fields() -> None:
    screen = seen(field(1, at=(10, 10)), field(2, at=(10, 50)))
    done = act_out("enter 'x' into both text fields", screen, types)
    assert [action for action in done.actions if isinstance(action, Type)] == [
        Type(text="x", element_id=1, overwrite=True),
        Type(text="x", element_id=2, overwrite=True),
    ]


def test_enters_cells_one_after_another() -> None:
    cells = [
        element(10 * c + r, "table cell", f"{'AB'[c]}{r}", (80 * c, 30 * r), text="") for c in range(2) for r in (1, 2)
    ]

    def sheet(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Click):
            return replace(observation, focus_id=action.element_id)
        if isinstance(action, Type) and observation.focus_id is not None:
            written = changed(observation, observation.focus_id, text=action.text)
            below = observation.focus_id + 1
            return replace(written, focus_id=below if below in written.by_id else None)
        return observation

    done = act_out("type 5 in A1, 6 in A2 and =A1+A2 in B1", seen(*cells), sheet)
    assert done.actions == [
        Click(element_id=1), Type(text="5", enter=True), Type(text="6", enter=True), Click(element_id=11), Type(text="=A1+A2", enter=True)
    ]  # fmt: skip


def test_an_invisible_cell_is_reached_by_the_name_box() -> None:
    screen = seen(element(1, "table cell", "A1", text=""), field(2, "Name Box", text="A1"))
    done = act_out("type 5 in cell Z99", screen)
    assert done.actions[0] == Type(text="Z99", element_id=2, overwrite=True, enter=True)


# Choosing


def test_a_box_in_the_right_state_is_left_alone() -> None:
    screen = seen(
        element(1, "check box", "A", states=("checkable", "checked")),
        element(2, "check box", "B", (10, 50), states=("checkable",)),
    )

    def toggles(observation: Observation, action: Action) -> Observation:
        if not isinstance(action, Click):
            return observation
        on = "checked" in observation.by_id[action.element_id].states
        return with_states(
            observation, action.element_id, *([] if on else ["checked"]), without=("checked",) if on else ()
        )  # type: ignore[arg-type]

    done = act_out("check 'A' and 'B'", screen, toggles)
    assert done.actions == [Click(element_id=2)]
    assert act_out("uncheck 'A'", screen, toggles).actions == [Click(element_id=1)]
    assert act_out("uncheck 'B'", screen, toggles).actions == []


def test_a_box_that_does_not_change_is_a_failure() -> None:
    done = act_out("check 'A'", seen(element(1, "check box", "A", states=("checkable",))))
    assert not done.ok
    assert "stayed off" in done.reason


COMBO = seen(
    element(1, "combo box", "", (10, 10), text="Red", label="Colour", states=("has_popup",)),
    element(2, "label", "Colour", (10, 50)),
)
ENTRIES = tuple(
    element(10 + n, "menu item", name, (10, 40 + 20 * n), window_id=2)
    for n, name in enumerate(("Red", "Green", "Blue"))
)
OPENED = with_more(COMBO, *ENTRIES, windows=(window(2, "", active=False, popup=True), window(1)))


def drops_down(observation: Observation, action: Action) -> Observation:
    if action == Click(element_id=1):
        return OPENED
    if isinstance(action, Click) and action.element_id >= 10:
        return changed(COMBO, 1, text=OPENED.by_id[action.element_id].name)
    return COMBO if action == Hotkey(keys=("Escape",)) else observation


def test_chooses_from_a_list_that_opens() -> None:
    done = act_out("select 'Blue' from the Colour dropdown", COMBO, drops_down)
    assert done.actions == [Click(element_id=1), Click(element_id=12)]
    assert done.last.by_id[1].text == "Blue"


def test_an_existing_choice_is_left_alone() -> None:
    assert act_out("set Colour to Red", COMBO, drops_down).actions == []


def test_a_list_without_the_entry_is_closed_and_its_entries_are_reported() -> None:
    done = act_out("select Purple from the Colour list", COMBO, drops_down)
    assert not done.ok
    assert done.actions[-1] == Hotkey(keys=("Escape",))
    assert "'Green'" in done.reason


def test_chooses_a_visible_option_without_a_list() -> None:
    screen = seen(
        element(1, "label", "Size"),
        element(2, "radio button", "Small", (10, 40)),
        element(3, "radio button", "Large", (10, 70)),
    )
    done = act_out("choose Large for the Size", screen, lambda seen_, action: with_states(seen_, 3, "checked"))
    assert done.actions == [Click(element_id=3)]


def test_a_comma_may_belong_to_a_name() -> None:
    whole = seen(element(1, "check box", "Mele, Ivo", states=("checkable",)))
    assert act_out("select Mele, Ivo", whole).actions[0] == Click(element_id=1)
    parts = seen(
        element(1, "check box", "Mele", states=("checkable",)),
        element(2, "check box", "Ivo", (10, 50), states=("checkable",)),
    )
    done = act_out(
        "select Mele, Ivo", parts, lambda s, a: with_states(s, a.element_id, "checked") if isinstance(a, Click) else s
    )
    assert done.actions == [Click(element_id=1), Click(element_id=2)]


def test_brings_a_slider_to_its_value_by_keys() -> None:
    slider = seen(element(1, "slider", "Volume", value=50))

    def slides(observation: Observation, action: Action) -> Observation:
        if not isinstance(action, HoldAndPress):
            return observation
        step = 5 if action.press_keys[0] == "Right" else -5
        return changed(observation, 1, value=(observation.by_id[1].value or 0) + step * len(action.press_keys))

    done = act_out("set the volume to 65", slider, slides)
    assert done.ok
    assert done.last.by_id[1].value == 65


def test_sets_a_date_by_its_segments() -> None:
    parts = [
        element(2 + n, "spin button", name, (100 + 30 * n, 10), (25, 24), value=0)
        for n, name in enumerate(("Month Arrival", "Day Arrival", "Year Arrival"))
    ]
    screen = seen(element(1, "date editor", "Arrival", (100, 10), (160, 24)), *parts)
    order = iter((2, 3, 4))

    def takes(observation: Observation, action: Action) -> Observation:
        if isinstance(action, HoldAndPress):
            return changed(observation, next(order), value=float("".join(action.press_keys)))
        return observation

    done = act_out("set Arrival to 2026-07-09", screen, takes)
    pressed = ["".join(action.press_keys) for action in done.actions if isinstance(action, HoldAndPress)]
    assert pressed == ["07", "09", "2026"]
    assert done.ok


def test_follows_a_path_through_menus() -> None:
    bar = seen(element(1, "menu", "File"), element(2, "menu", "Edit", (60, 10)))
    menu = with_more(
        bar, element(3, "menu item", "Save", (10, 40), window_id=2), element(4, "menu item", "Save As...", (10, 60), window_id=2),
        windows=(window(2, "", active=False, popup=True), window(1)),
    )  # fmt: skip
    done = act_out("File > Save As", bar, lambda seen_, action: menu if action == Click(element_id=1) else bar)
    assert done.actions == [Click(element_id=1), Click(element_id=4)]


def test_a_path_in_a_tree_continues_below_its_branch() -> None:
    tree = seen(
        element(1, "table cell", "General", (10, 10)),
        element(2, "table cell", "View", (30, 30)),
        element(3, "table cell", "Writer", (10, 50), states=("expandable", "expanded")),
        element(4, "table cell", "View", (30, 70)),
    )
    assert act_out("go to Writer > View", tree).actions[-1] == Click(element_id=4)


def test_a_button_takes_no_value() -> None:
    done = act_out("set columns to 3", seen(element(1, "push button", "Delete Columns")))
    assert not any(isinstance(action, Click) for action in done.actions)
    assert not done.ok


# Applications, windows, files


def test_starts_an_application_and_waits_for_its_window() -> None:
    empty = Observation(seen().screenshot, (), ())
    started = replace(empty, windows=(window(title="Untitled", app="Editor"),))
    ready = with_more(started, element(1, "text", states=("editable",)))

    def starts(observation: Observation, action: Action) -> Observation:
        return started if isinstance(action, SwitchApplications) else ready

    done = act_out("open the text editor", empty, starts)
    assert done.actions[0] == SwitchApplications(app_code="text editor")
    assert isinstance(done.actions[1], Wait)
    assert "Untitled" in done.ending.observation_analysis


def test_an_application_that_does_not_exist_fails_with_the_reason() -> None:
    done = act_out("open the Flurb app", seen(element(1, "label", "x")), lambda *_: "No application matches 'Flurb'.")
    assert not done.ok
    assert "Flurb" in done.reason


def test_what_is_new_is_no_application() -> None:
    assert act_out("start a new game", seen(element(1, "push button", "New Game"))).actions == [Click(element_id=1)]
    done = act_out("start a new game", seen(element(1, "push button", "Scores")))
    assert not done.ok
    assert all(isinstance(action, Wait) for action in done.actions)


def test_opens_a_visible_element_before_an_application() -> None:
    assert act_out("open the 'Details' section", seen(element(1, "push button", "Details"))).actions == [
        Click(element_id=1)
    ]
    folder = seen(element(1, "table cell", "Reports"))
    assert act_out("open the Reports folder", folder).actions == [Click(element_id=1, num_clicks=2)]


EDITOR = seen(
    element(1, "text", "", (0, 30), (800, 500), text="x", states=("editable",)),
    windows=[window(title="Untitled - Editor")],
    focus=1,
)
CHOOSER = with_more(
    EDITOR, element(2, "text", "", (100, 10), text="Untitled", label="Name:", window_id=2, states=("editable", "focused")),
    element(3, "push button", "Save", (300, 300), window_id=2), element(4, "push button", "Cancel", (200, 300), window_id=2),
    windows=(window(2, "Save As", modal=True, rect=Rect(0, 0, 400, 350)), window(1, "Untitled - Editor", active=False)),
)  # fmt: skip
SAVED = replace(EDITOR, windows=(window(title="draft.txt - Editor"),))
ASKS = with_more(
    CHOOSER, element(5, "label", "A file named draft.txt already exists. Replace it?", window_id=3),
    element(6, "push button", "Replace", (80, 40), window_id=3), element(7, "push button", "Cancel", (10, 40), window_id=3),
    windows=(window(3, "Question", modal=True, rect=Rect(0, 0, 200, 80)), *(replace(w, active=False) for w in CHOOSER.windows)),
)  # fmt: skip


def saves(exists: bool) -> object:
    def react(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Hotkey) and action.keys[-1] == "s":
            return CHOOSER
        if action == Click(element_id=3):
            return ASKS if exists else SAVED
        return SAVED if action == Click(element_id=6) else types(observation, action)

    return react


def test_saves_under_the_full_path_and_waits_until_the_dialog_closes() -> None:
    done = act_out("save it as draft.txt in the Documents folder", EDITOR, saves(exists=False))  # type: ignore[arg-type]
    assert done.actions == [
        Hotkey(keys=("ctrl", "shift", "s")),
        Type(text="~/Documents/draft.txt", element_id=2, overwrite=True),
        Click(element_id=3),
    ]
    assert "draft.txt" in done.ending.observation_analysis


def test_a_save_dialog_that_is_drawn_slowly_is_awaited() -> None:
    drawing = replace(EDITOR, windows=CHOOSER.windows)
    waits = iter(range(10))

    def react(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Hotkey):
            return drawing
        if isinstance(action, Wait):
            return CHOOSER if next(waits) == 4 else drawing
        return SAVED if action == Click(element_id=3) else types(observation, action)

    done = act_out("save it as draft.txt in the Documents folder", EDITOR, react)
    assert done.ok
    assert [action for action in done.actions if isinstance(action, Hotkey)] == [Hotkey(keys=("ctrl", "shift", "s"))]


def test_a_file_is_replaced_only_on_request() -> None:
    refused = act_out("save as draft.txt", EDITOR, saves(exists=True))  # type: ignore[arg-type]
    assert not refused.ok
    assert "exists already" in refused.reason
    assert Click(element_id=6) not in refused.actions
    allowed = act_out("save as draft.txt, overwriting the existing file", EDITOR, saves(exists=True))  # type: ignore[arg-type]
    assert allowed.actions[-1] == Click(element_id=6)
    assert allowed.ok


def test_leaves_a_question_to_the_clause_that_answers_it() -> None:
    done = act_out("save as draft.txt", EDITOR, saves(exists=True), left=(Subtask(name="n", info="click 'Cancel'"),))  # type: ignore[arg-type]
    assert done.ok
    assert Click(element_id=6) not in done.actions


def test_a_document_without_a_name_is_not_given_one() -> None:
    done = act_out("save", EDITOR, saves(exists=False))  # type: ignore[arg-type]
    assert not done.ok
    assert "no name" in done.reason


def test_unsaved_changes_are_discarded_only_on_request() -> None:
    asks = with_more(
        EDITOR, element(8, "push button", "Don't Save", window_id=2), element(9, "push button", "Save", (100, 10), window_id=2),
        element(10, "push button", "Cancel", (200, 10), window_id=2),
        windows=(window(2, "Save changes?", modal=True, rect=Rect(0, 0, 300, 90)), window(1, "*Untitled - Editor", active=False)),
    )  # fmt: skip
    closed = Observation(EDITOR.screenshot, (), ())

    def closes(observation: Observation, action: Action) -> Observation:
        if isinstance(action, Hotkey):
            return asks
        return closed if isinstance(action, Click) else observation

    plain = act_out("close the window", EDITOR, closes)
    assert not plain.ok
    assert "unsaved changes" in plain.reason
    assert not any(isinstance(action, Click) for action in plain.actions)
    assert Click(element_id=8) in act_out("close the window without saving", EDITOR, closes).actions


def test_answers_a_dialog_with_the_matching_button() -> None:
    dialog = seen(
        element(1, "push button", "No", window_id=2), element(2, "push button", "Yes", (100, 10), window_id=2),
        windows=(window(2, "Sure?", modal=True, rect=Rect(0, 0, 200, 80)), window(1, active=False)),
    )  # fmt: skip
    assert act_out("accept the dialog", dialog).actions == [Click(element_id=2)]
    assert act_out("answer No", dialog).actions == [Click(element_id=1)]


# Looking, waiting, keeping


def test_copies_the_value_after_a_phrase() -> None:
    screen = seen(element(1, "paragraph", "Thank you. Your confirmation code is TTN-8920."))
    done = act_out("copy the confirmation code", screen)
    assert done.actions == [SaveToBuffer(text="TTN-8920")]


@pytest.mark.parametrize(
    "elements",
    [
        (element(1, "label", "Order number", (10, 10)), element(2, "label", "A-17", (120, 10))),
        (element(1, "heading", "Order number", (10, 10)), element(2, "paragraph", "A-17", (10, 40))),
        (field(1, "Order number", text="A-17"),),
        (element(1, "static", "Order number: A-17"),),
    ],
)
def test_copies_the_value_beside_or_below_a_label_or_in_a_field(elements: tuple[Element, ...]) -> None:
    assert act_out("copy the order number", seen(*elements)).actions == [SaveToBuffer(text="A-17")]


def test_types_the_copied_text() -> None:
    screen = seen(field(1, "Code"), buffer=("A-17",))
    assert act_out("type the copied 'order number' into Code", screen, types).last.by_id[1].text == "A-17"
    assert act_out("paste it into Code", screen, types).last.by_id[1].text == "A-17"


def test_a_check_changes_nothing() -> None:
    screen = seen(
        element(1, "check box", "Remember me", states=("checkable", "checked")), field(2, "Name", (10, 60), text="Ada")
    )
    for holding in (
        "verify that 'Remember me' is checked",
        "check that 'Name' contains 'Ada'",
        "check that the title is 'Form'",
        "verify that 'Frob' is not shown",
    ):
        done = act_out(holding, screen)
        assert done.ok, (holding, done.reason)
        assert done.actions == []
    for wrong in ("verify that 'Remember me' is unchecked", "check that 'Name' contains 'Bob'"):
        done = act_out(wrong, screen)
        assert not done.ok
        assert all(isinstance(action, Wait) for action in done.actions)


def test_waits_until_an_element_disappears() -> None:
    busy = seen(element(1, "label", "Loading"))
    idle = seen(element(2, "label", "Ready"))
    looks = iter((busy, busy, idle))
    done = act_out("wait until 'Loading' disappears", busy, lambda *_: next(looks))
    assert done.ok
    assert len(done.actions) == 3


def test_a_conditional_command_is_skipped_if_its_condition_does_not_hold() -> None:
    plain = seen(element(1, "push button", "OK"))
    done = act_out("if a dialog appears, click OK", plain)
    assert done.ok
    assert not any(isinstance(action, Click) for action in done.actions)


def test_repeats_until_a_condition_holds() -> None:
    pages = [seen(element(1, "push button", "Next"), element(10 + n, "label", f"Page {n}", (10, 50))) for n in range(4)]
    position = iter(range(1, 4))
    done = act_out("click Next until 'Page 3' appears", pages[0], lambda *_: pages[next(position)])
    assert done.actions == [Click(element_id=1)] * 3


# Being without a state of its own


def test_equal_contexts_get_equal_answers() -> None:
    context = ActContext(
        Task(instruction="x"), Subtask(name="click OK", info="click OK"), seen(element(1, "push button", "OK"))
    )
    assert (
        OfflineModel().complete(ModelRequest(context)).output == OfflineModel().complete(ModelRequest(context)).output
    )


def test_continues_after_steps_of_a_replay() -> None:
    screen = seen(element(1, "push button", "OK"))
    foreign = ActResponse(action=Hotkey(keys=("F5",)))
    steps = (Step(0, screen, foreign, ActionResult(ok=True)),)
    context = ActContext(Task(instruction="x"), Subtask(name="click OK", info="click OK"), screen, steps=steps)
    answer = OfflineModel().complete(ModelRequest(context)).output
    assert isinstance(answer, ActResponse)
    assert answer.action == Click(element_id=1)


def test_an_unreadable_clause_fails_unless_it_names_a_button() -> None:
    screen = seen(element(1, "push button", "Add row"))
    assert act_out("add row", screen).actions[-1] == Click(element_id=1)
    done = act_out("share everything with everyone", screen)
    assert "'share everything with everyone'" in done.reason


def test_a_recorded_step_is_not_repeated() -> None:
    screen = seen(field(1, "Name", text="Ada"), focus=1)
    typed = Step(1, seen(), ActResponse(action=Type(text="Ada")), ActionResult(ok=True), recalled=True)
    context = ActContext(Task(instruction="x"), Subtask(name="Type 'Ada'"), screen, steps=(typed,))
    response = OfflineModel().complete(ModelRequest(context)).output
    assert isinstance(response, ActResponse)
    assert isinstance(response.action, Done)


# Lists that show a part of their rows

BOX = ("document web:Form", "list box:Toppings")
TOPPINGS = ("Basil", "Capers", "Olives", "Onion", "Pepper", "Rocket", "Salami", "Tuna", "Anchovy", "Corn")
IN_SIGHT = 4


class ListBox:
    """A list of several choices: the wheel turns it, ctrl and the arrows move its focus, a plain key or click chooses."""

    def __init__(self, notch: int) -> None:
        self.notch = notch
        self.top = self.focus = 0
        self.chosen: set[int] = set()

    def screen(self) -> Observation:
        rows = [
            element(100 + n, "list item", TOPPINGS[n], (10, 20 * (n - self.top)), path=BOX, states=self._states(n))
            for n in range(self.top, self.top + IN_SIGHT)
        ]
        return seen(*rows, element(1, "push button", "Order", (10, 200)))

    def react(self, observation: Observation, action: Action) -> Observation:
        match action:
            case Scroll(clicks=clicks):
                self.top = max(0, min(len(TOPPINGS) - IN_SIGHT, self.top - clicks * self.notch))
            case Hotkey(keys=("ctrl", key)):
                self.focus = max(0, min(len(TOPPINGS) - 1, self.focus + (1 if key == "Down" else -1)))
                self.top = max(min(self.top, self.focus), self.focus - IN_SIGHT + 1)
            case Hotkey():
                self.chosen = {self.top}
            case Click(element_id=number, hold_keys=held) if number >= 100:
                self.focus = number - 100
                self.chosen = self.chosen ^ {self.focus} if held else {self.focus}
        return self.screen()

    def _states(self, number: int) -> tuple[State, ...]:
        states: list[State] = ["selectable", "focusable"]
        states += ["selected"] if number in self.chosen else []
        states += ["focused"] if number == self.focus else []
        return tuple(states)


@pytest.mark.parametrize("notch", [2, 3])
@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ("select Capers and Rocket from the scroll list", {"Capers", "Rocket"}),
        ("select 'Olives', 'Tuna' and 'Corn' in the Toppings list", {"Olives", "Tuna", "Corn"}),
        ("choose Rocket from the list", {"Rocket"}),
        ("select Basil, Capers from the list box", {"Basil", "Capers"}),
    ],
)
def test_invisible_rows_are_added_to_the_selection(said: str, chosen: set[str], notch: int) -> None:
    toppings = ListBox(notch)
    assert act_out(said, toppings.screen(), toppings.react).ok
    assert {TOPPINGS[number] for number in toppings.chosen} == chosen


def test_a_list_without_the_row_is_only_scrolled() -> None:
    rows = [
        element(n, "list item", f"Mail {n}", (10, 20 * n), path=("document web:Mail", "list:Inbox")) for n in (1, 2, 3)
    ]
    done = act_out("select 'Mail 9' from the list", seen(*rows))
    assert not done.ok
    assert not any(isinstance(action, Click) for action in done.actions)

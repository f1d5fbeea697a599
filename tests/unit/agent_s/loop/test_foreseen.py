"""Answers of several primitives: which of them are performed, and when an answer finishes its subtask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from aci.acting.actions import Action, Click, Done, Hotkey, Type
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from aci.safety.policy import Policy
from agent_s.events import ActionsDropped
from agent_s.llm.protocol import ActContext, ActResponse, Expectation
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Limits
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen
from tests.unit.agent_s.loop.test_agent import of, outcome, run

NAME, AGREE, OK = button(1, "Name", "entry"), button(2, "Agree", "check box"), button(3, "OK")
FORM = screen(replace(NAME, text=""), AGREE, OK)
POPUP = Window(id=7, title="", app="editor", rect=Rect(0, 0, 90, 90), popup=True)
FILL = (Type(text="Ada", element_id=1), Click(element_id=2), Click(element_id=3))


def changed(seen: Observation, number: int, **values: Any) -> Observation:
    elements = tuple(replace(one, **values) if one.id == number else one for one in seen.elements)
    return replace(seen, elements=elements)


def fills(action: Action, seen: Observation) -> Observation:
    """React as a form does."""
    match action:
        case Type(text=text):
            return replace(changed(seen, 1, text=text, states=frozenset({"focused"})), focus_id=1)
        case Click(element_id=2):
            return replace(changed(seen, 2, states=frozenset({"checked"})), focus_id=2)
    return replace(seen, windows=(replace(EDITOR, title="Sent"),))


def answer(*actions: Action, done_when: tuple[Expectation, ...] = (), found: str = "") -> ActResponse:
    return ActResponse(next_action="fill", action=actions[0], then=actions[1:], done_when=done_when, found=found)


def carried_out(
    react: Callable[[Action, Observation], Observation | ActionResult],
    *answers: ActResponse,
    start: Observation = FORM,
    **more: Any,
) -> tuple[list[Action], list[str], ScriptedModel]:
    """Return what was performed, why the rest was dropped, and the model."""
    desktop = FakeDesktop(start, react)
    model = ScriptedModel({"act": [*answers, ActResponse(action=Done())]})
    events = run(desktop, model, max_actions=5, reflect=False, evaluator=False, planner="flat", **more)
    assert outcome(events).status == "done"
    return desktop.performed, [event.dropped.reason for event in of(ActionsDropped, events)], model


def test_all_primitives_of_an_answer_are_performed_in_order_while_the_screen_is_as_expected() -> None:
    performed, dropped, model = carried_out(fills, answer(*FILL))
    assert performed == list(FILL)
    assert dropped == []
    context = model.requests[-1].context
    assert isinstance(context, ActContext)
    assert [step.response.next_action for step in context.steps] == ["fill", "", ""]


def test_by_default_an_answer_holds_one_primitive() -> None:
    desktop = FakeDesktop(FORM, fills)
    model = ScriptedModel({"act": [answer(*FILL), ActResponse(action=Done())]})
    events = run(desktop, model, reflect=False)
    assert desktop.performed == [FILL[0]]
    (event,) = of(ActionsDropped, events)
    assert event.dropped.actions == FILL[1:]
    assert "worker.max_actions" in event.dropped.reason


def then(seen_after: Callable[[Observation], Observation]) -> Callable[[Action, Observation], Observation]:
    """Fill in the name, and change something else as well."""
    return lambda action, seen: seen_after(fills(action, seen)) if isinstance(action, Type) else fills(action, seen)


HINT = Window(id=8, title="", app="editor", rect=Rect(0, 300, 90, 20), popup=True)
LAYER = Element(50, "panel", "Wait", Rect(0, 0, 800, 600), Point(400, 300), EDITOR.id)
OTHER = button(60, "Search", "entry")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda seen: replace(seen, windows=(Window(9, "Save As", "editor", Rect(0, 0, 9, 9)), EDITOR)), "opened"),
        (lambda seen: replace(seen, windows=(POPUP, EDITOR), elements=(*seen.elements,
            replace(button(70, "Cut", "menu item"), window_id=7))), "opened"),
        (lambda seen: replace(seen, windows=(replace(EDITOR, title="Other page"),)), "is the window"),
        (lambda seen: replace(seen, windows=()), "closed"),
        (lambda seen: replace(seen, elements=tuple(e for e in seen.elements if e.id != 2)), "is gone"),
        (lambda seen: changed(seen, 2, rect=Rect(10, 120, 80, 30)), "has moved"),
        (lambda seen: changed(seen, 2, rect=Rect(10, 80, 200, 30)), "has another size"),
        (lambda seen: changed(seen, 2, name="Disagree"), "is the check box \"Disagree\" now"),
        (lambda seen: changed(seen, 2, states=frozenset({"checked"})), "has changed"),
        (lambda seen: changed(seen, 2, states=frozenset({"disabled"})), "is disabled"),
        (lambda seen: changed(seen, 2, label="for ever"), "has changed"),
        (lambda seen: replace(seen, elements=(*seen.elements, LAYER)), "lies over"),
        (lambda seen: FORM, "no effect"),
    ],
)  # fmt: skip
def test_the_remaining_primitives_are_dropped_when_something_differs(
    change: Callable[[Observation], Observation], reason: str
) -> None:
    performed, dropped, _ = carried_out(then(change), answer(*FILL))
    assert performed == [FILL[0]]
    assert len(dropped) == 1 and reason in dropped[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda seen: replace(seen, windows=(replace(EDITOR, title="*Editor"),)),
        lambda seen: replace(seen, windows=(HINT, EDITOR), elements=(*seen.elements,
            replace(button(71, "Your full name", "tool tip"), window_id=8))),
        lambda seen: replace(seen, elements=(*seen.elements, button(12, "Clear"))),
    ],
)  # fmt: skip
def test_unsaved_marks_tooltips_and_unrelated_changes_drop_nothing(
    change: Callable[[Observation], Observation],
) -> None:
    performed, dropped, _ = carried_out(then(change), answer(*FILL))
    assert performed == list(FILL)
    assert dropped == []


def test_a_target_that_was_not_on_the_first_screen_is_not_used() -> None:
    performed, dropped, _ = carried_out(fills, answer(FILL[0], Click(element_id=60)))
    assert performed == [FILL[0]]
    assert "was not on the screen" in dropped[0]


def test_keys_are_pressed_only_while_the_focus_is_where_the_answer_left_it() -> None:
    save = Hotkey(keys=("ctrl", "s"))
    start = replace(FORM, elements=(*FORM.elements, OTHER))
    assert carried_out(fills, answer(FILL[0], save), start=start)[0] == [FILL[0], save]
    elsewhere = then(lambda seen: replace(seen, focus_id=60))
    performed, dropped, _ = carried_out(elsewhere, answer(FILL[0], save), start=start)
    assert performed == [FILL[0]]
    assert dropped == ['the keyboard is on the entry "Search"']


def painted(seen: Observation, x: int, y: int) -> Observation:
    pixels = seen.screenshot.copy()
    pixels[y - 5 : y + 5, x - 20 : x + 20] = 200
    return replace(seen, screenshot=pixels)


def test_pixels_are_used_while_the_picture_around_them_is_unchanged() -> None:
    here, there = Click(at=(300, 300)), Click(at=(500, 500))
    assert carried_out(lambda action, seen: painted(seen, 300, 310), answer(here, there, Type(text="a")))[0][:2] == [
        here,
        there,
    ]
    performed, dropped, _ = carried_out(lambda action, seen: painted(seen, 500, 500), answer(here, there))
    assert (performed, dropped) == ([here], ["the picture at 500,500 has changed"])


def test_keys_go_to_an_element_that_was_clicked_by_its_pixel() -> None:
    click, text = Click(at=(50, 55)), Type(text="Ada")

    def focus(action: Action, seen: Observation) -> Observation:
        return fills(action, seen) if action == text else replace(seen, focus_id=1)

    assert carried_out(focus, answer(click, text))[0] == [click, text]


def test_a_refusal_drops_the_remaining_primitives() -> None:
    def refuses(action: Action, seen: Observation) -> ActionResult:
        return ActionResult(ok=False, error="gone")

    performed, dropped, _ = carried_out(refuses, answer(*FILL))
    assert performed == [FILL[0]]
    assert dropped == ["step 1 was refused"]


def test_done_needs_an_answer_of_its_own() -> None:
    assert carried_out(fills, answer(FILL[0], Done()))[1] == ["done needs an answer of its own"]


def test_the_policy_judges_each_primitive_separately() -> None:
    send = replace(OK, name="Delete account")
    start = replace(FORM, elements=(*FORM.elements[:2], send))
    policy = Policy(rules={"irreversible": "refuse"})
    performed, _, model = carried_out(fills, answer(*FILL), start=start, policy=policy)
    assert performed == list(FILL[:2])
    context = model.requests[-1].context
    assert isinstance(context, ActContext)
    assert "not allowed" in (context.steps[-1].result.error or "")


def test_all_primitives_count_as_steps() -> None:
    desktop = FakeDesktop(FORM, fills)
    limits = Limits(max_steps=2)
    events = run(desktop, ScriptedModel({"act": [answer(*FILL)]}), max_actions=5, limits=limits, evaluator=False)
    assert (outcome(events).status, desktop.performed) == ("out_of_budget", list(FILL[:2]))


def shows(words: str, element_id: int | None = None, gone: bool = False) -> tuple[Expectation, ...]:
    return (Expectation(element_id=element_id, shows=words, gone=gone),)


@pytest.mark.parametrize(
    "expected",
    [shows("Sent"), shows("checked", 2), shows("Ada", 1), (*shows("Ada", 1), *shows("OK")), shows("Editor", gone=True)],
)
def test_an_answer_finishes_its_subtask_if_its_expectations_hold(expected: tuple[Expectation, ...]) -> None:
    _, _, model = carried_out(fills, answer(*FILL, done_when=expected))
    assert [request.kind for request in model.requests] == ["act"]


@pytest.mark.parametrize(
    ("expected", "why"),
    [
        (shows("Received"), "'Received' is not what the screen shows"),
        (shows("OK"), "was so before"),
        (shows(""), "is not what the screen shows"),
        (shows("", 60, gone=True), "is not what the screen shows"),
        (shows("Ada", 3), "on element 3 is not what the screen shows"),
        ((*shows("Sent"), *shows("Ada", 1, gone=True)), "no 'Ada' on element 1"),
    ],
)
def test_an_expectation_that_fails_or_held_before_does_not_finish_a_subtask(
    expected: tuple[Expectation, ...], why: str
) -> None:
    _, _, model = carried_out(fills, answer(*FILL, done_when=expected))
    context = model.requests[-1].context
    assert isinstance(context, ActContext)
    assert why in context.unmet


def test_an_answer_with_dropped_primitives_does_not_finish_a_subtask() -> None:
    loses = then(lambda seen: changed(seen, 3, rect=Rect(200, 200, 80, 30)))
    _, dropped, model = carried_out(loses, answer(FILL[0], FILL[2], done_when=shows("Ada", 1)))
    assert len(dropped) == 1
    assert len(model.requests) == 2


def test_keys_go_to_a_field_that_opened_at_the_first_typed_key() -> None:
    typed, enter = Type(text="~/a.txt"), Hotkey(keys=("Return",))
    location = replace(OTHER, text="~/a.txt")
    entry = button(60, "~/a.txt and others", "menu item")
    assert carried_out(
        then(lambda seen: replace(seen, elements=(*FORM.elements, entry), focus_id=60)), answer(typed, enter)
    )[0] == [typed, enter]
    opened = then(lambda seen: replace(seen, elements=(*FORM.elements, location), focus_id=60))
    assert carried_out(opened, answer(typed, enter))[0] == [typed, enter]
    location = replace(OTHER, text="")
    performed, dropped, _ = carried_out(opened, answer(typed, enter))
    assert performed == [typed]
    assert dropped == ['the keyboard is on the entry "Search"']


def test_keys_go_to_a_field_that_a_shortcut_focused() -> None:
    to_address, typed, enter = Hotkey(keys=("ctrl", "l")), Type(text="example.org"), Hotkey(keys=("Return",))
    start = replace(FORM, elements=(*FORM.elements, OTHER))
    field = replace(OTHER, text="", states=frozenset({"editable", "focused"}))

    def leads_to(element: Element) -> Callable[[Action, Observation], Observation]:
        def react(action: Action, seen: Observation) -> Observation:
            if action == to_address:
                return replace(seen, elements=(*FORM.elements, element), focus_id=60)
            return changed(seen, 60, text="example.org")

        return react

    performed, dropped, _ = carried_out(leads_to(field), answer(to_address, typed, enter), start=start)
    assert (performed, dropped) == ([to_address, typed, enter], [])
    performed, dropped, _ = carried_out(leads_to(OTHER), answer(to_address, typed, enter), start=start)
    assert performed == [to_address]
    assert dropped == ['the keyboard is on the entry "Search"']


def test_keys_go_to_an_element_that_an_earlier_primitive_of_the_answer_clicked() -> None:
    click, to_end, enter = Click(element_id=1), Hotkey(keys=("End",)), Hotkey(keys=("Return",))

    def react(action: Action, seen: Observation) -> Observation:
        if action == click:
            return replace(changed(seen, 1, text="Ada", caret=0), focus_id=1)
        return changed(seen, 1, caret=3) if action == to_end else changed(seen, 1, text="Ada\n")

    assert carried_out(react, answer(click, to_end, enter))[:2] == ([click, to_end, enter], [])


def test_the_content_of_an_overwritten_field_does_not_matter() -> None:
    click = Click(element_id=2)

    def follows(action: Action, seen: Observation) -> Observation:
        """Show in the field what was clicked."""
        return changed(seen, 1, text="Title" if action != click else "Text Body")

    for overwrite in (True, False):
        style = Type(text="Title", element_id=1, overwrite=overwrite)
        performed, dropped, _ = carried_out(follows, answer(click, style))
        assert performed == ([click, style] if overwrite else [click])
        assert dropped == ([] if overwrite else ['the entry "Name" has changed'])


def test_a_menu_that_closes_by_a_choice_drops_nothing() -> None:
    entry = replace(button(70, "Large", "menu item"), window_id=POPUP.id)
    opened = replace(FORM, windows=(POPUP, EDITOR), elements=(*FORM.elements, entry))
    choice = Click(element_id=70)

    def react(action: Action, seen: Observation) -> Observation:
        return replace(seen, windows=(EDITOR,), elements=FORM.elements) if action == choice else fills(action, seen)

    performed, dropped, _ = carried_out(react, answer(choice, *FILL), start=opened)
    assert (performed, dropped) == ([choice, *FILL], [])


def test_popup_suggestions_do_not_block_typing_into_their_field() -> None:
    start = screen(replace(NAME, text="", states=frozenset({"editable"})), AGREE)
    click, typed = Click(element_id=1), Type(text="Ada")
    entry = replace(button(70, "Adam", "list item"), window_id=POPUP.id)

    def react(action: Action, seen: Observation) -> Observation:
        if action == click:
            return replace(seen, windows=(POPUP, EDITOR), elements=(*seen.elements, entry), focus_id=1)
        return changed(seen, 1, text="Ada")

    assert carried_out(react, answer(click, typed), start=start)[0] == [click, typed]
    performed, dropped, _ = carried_out(react, answer(click, Hotkey(keys=("Return",))), start=start)
    assert performed == [click]
    assert "opened" in dropped[0]


@pytest.mark.parametrize("typed", [Type(text="", element_id=1, overwrite=True), Type(text="7", element_id=1)])
def test_a_field_that_had_the_same_text_before_did_not_open_for_it(typed: Type) -> None:
    written = replace(NAME, text="Ada", states=frozenset({"editable"}))
    start = screen(written, AGREE, replace(OTHER, text="7"))

    def react(action: Action, seen: Observation) -> Observation:
        return replace(changed(seen, 1, text=typed.text), focus_id=60)

    performed, dropped, _ = carried_out(react, answer(typed, Hotkey(keys=("Return",))), start=start)
    assert performed == [typed]
    assert dropped == ['the keyboard is on the entry "Search"']


FIRST_CELL, NEXT_CELL = button(1, "A1", "table cell"), button(2, "A2", "table cell")
SHEET = replace(screen(FIRST_CELL, NEXT_CELL, OTHER), focus_id=1)


@pytest.mark.parametrize(
    "first", [Type(text="1\t2\n"), Type(text="1", enter=True), Hotkey(keys=("Return",)), Hotkey(keys=("Down",))]
)
def test_keys_go_to_the_cell_that_typing_moves_to(first: Action) -> None:
    save = Hotkey(keys=("ctrl", "s"))

    def to(number: int) -> Callable[[Action, Observation], Observation]:
        return lambda action, seen: replace(changed(seen, 1, text="1"), focus_id=number)

    assert carried_out(to(2), answer(first, save), start=SHEET)[:2] == ([first, save], [])
    performed, dropped, _ = carried_out(to(60), answer(first, save), start=SHEET)
    assert (performed, dropped) == ([first], ['the keyboard is on the entry "Search"'])


def test_typing_without_enter_or_tab_does_not_move_to_another_cell() -> None:
    typed, save = Type(text="1"), Hotkey(keys=("ctrl", "s"))

    def moves_to_the_next(action: Action, seen: Observation) -> Observation:
        return replace(changed(seen, 1, text="1"), focus_id=2)

    assert carried_out(moves_to_the_next, answer(typed, save), start=SHEET)[0] == [typed]


def test_arrow_keys_move_down_a_list_and_return_opens_the_entry() -> None:
    start = replace(screen(button(1, "a", "list item"), button(2, "b", "list item"), OTHER), focus_id=1)
    down, enter = Hotkey(keys=("Down",)), Hotkey(keys=("Return",))

    def selects_the_next(action: Action, seen: Observation) -> Observation:
        return replace(changed(seen, 2, states=frozenset({"selected"})), focus_id=2)

    assert carried_out(selects_the_next, answer(down, enter), start=start)[0] == [down, enter]
    assert carried_out(selects_the_next, answer(enter, down), start=start)[0] == [enter]


def test_keys_go_to_the_view_around_a_clicked_entry() -> None:
    click, rename = Click(element_id=1), Hotkey(keys=("F2",))
    view = Element(50, "panel", "", Rect(0, 0, 800, 600), Point(400, 590), EDITOR.id)

    def react(action: Action, seen: Observation) -> Observation:
        return replace(changed(seen, 1, states=frozenset({"selected"})), elements=(*seen.elements, view), focus_id=50)

    entry = screen(button(1, "report.txt", "text line"))
    assert carried_out(react, answer(click, rename), start=entry)[0] == [click, rename]
    field = screen(replace(button(1, "Name", "entry"), states=frozenset({"editable"})))
    assert carried_out(react, answer(click, rename), start=field)[0] == [click]

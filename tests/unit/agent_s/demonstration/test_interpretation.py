from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Click, DragAndDrop, Hotkey, Scroll, SelectText, Type
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation
from aci.recording.listener import Input
from agent_s.demonstration.gestures import Chord, Keys, Press, read_gestures
from agent_s.demonstration.interpretation import TOO_FAST, UNKNOWN_PASTE, UNKNOWN_PLACE, Look, Shown, interpret
from agent_s.demonstration.noise import without_noise
from tests.unit.agent_s.fakes import button, screen


def keys(text: str, at: float = 0.0) -> list[Input]:
    names = {"\n": "Return", "\b": "BackSpace", "\t": "Tab"}
    return [
        Input("key", at, Point(0, 0), key=names.get(one, one.lower()), text="" if one in names else one) for one in text
    ]


def pressed(*names: str) -> Input:
    *held, key = names
    return Input("key", 0.0, Point(0, 0), key=key, held=tuple(held))


def mouse(*points: tuple[int, int], at: float = 0.0, number: int = 1) -> list[Input]:
    first, last = Point(*points[0]), Point(*points[-1])
    moved = [Input("motion", at, Point(*point)) for point in points[1:]]
    return [Input("press", at, first, button=number), *moved, Input("release", at, last, button=number)]


def entry(number: int, text: str = "", role: str = "text", **more: object) -> Element:
    return replace(
        button(number, f"Field {number}", role), text=text, states=frozenset({"editable", "focusable"}), **more
    )


def center(element: Element) -> tuple[int, int]:
    return element.rect.center.x, element.rect.center.y


def shown(events: list[Input], before: Observation, after: Observation) -> list[Shown]:
    return interpret(read_gestures(events), Look(before), Look(after), lambda text, called: "{{secret:IT}}")


def typed_into(field: Element, became: str, events: list[Input], focus_after: int | None = None) -> list[Shown]:
    before = replace(screen(field), focus_id=field.id)
    after = replace(screen(replace(field, text=became)), focus_id=focus_after or field.id)
    return shown(events, before, after)


def test_single_double_and_right_clicks_are_distinguished() -> None:
    assert [(one.times, one.button) for one in read_gestures(mouse((5, 5))) if isinstance(one, Press)] == [(1, "left")]
    double = read_gestures([*mouse((5, 5)), *mouse((6, 5), at=0.2)])
    assert [one.times for one in double if isinstance(one, Press)] == [2]
    slow = read_gestures([*mouse((5, 5)), *mouse((6, 5), at=2.0)])
    assert [one.times for one in slow if isinstance(one, Press)] == [1, 1]
    assert [one.button for one in read_gestures(mouse((5, 5), number=3)) if isinstance(one, Press)] == ["right"]


def test_moved_pointer_is_not_a_gesture() -> None:
    assert read_gestures([Input("motion", 0.0, Point(1, 1)), Input("motion", 0.1, Point(9, 9))]) == []


def test_backspace_takes_back_what_was_typed() -> None:
    (gesture,) = read_gestures(keys("Helo\blo"))
    assert isinstance(gesture, Keys)
    assert (gesture.typed, gesture.plain) == ("Hello", True)


def test_element_under_the_pointer_is_that_of_the_look_before() -> None:
    old, new = button(1, "Save"), button(2, "Saved")
    (step,) = shown(mouse(center(old)), screen(old), screen(new))
    assert (step.action, step.problem) == (Click(element_id=1), "")


def test_click_where_nothing_is_known_cannot_be_replayed() -> None:
    (step,) = shown(mouse((900, 700)), screen(button(1, "Save")), screen())
    assert step.problem == UNKNOWN_PLACE


def test_second_click_before_a_look_counts_only_on_what_stayed() -> None:
    save, other = button(1, "Save"), button(2, "Close")
    events = [*mouse(center(save)), *mouse(center(other), at=1.0)]
    _, stayed = shown(events, screen(save, other), screen(save, other))
    _, gone = shown(events, screen(save, other), screen(save))
    assert (stayed.problem, gone.problem) == ("", TOO_FAST)


def test_content_of_the_field_counts_and_not_the_keys() -> None:
    (step,) = typed_into(entry(1), "example.org", keys("exa"))
    assert step.action == Type(text="example.org")


def test_replaced_content_is_overwritten() -> None:
    (step,) = typed_into(entry(1, "Untitled"), "Untidy", keys("Untidy"))
    assert step.action == Type(text="Untidy", overwrite=True)


def test_text_inside_a_content_is_only_typed() -> None:
    (step,) = typed_into(entry(1, "one three"), "one two three", keys("two "))
    assert step.action == Type(text="two ")


def test_return_after_one_line_belongs_to_the_text() -> None:
    (step,) = typed_into(entry(1), "a.txt", keys("a.txt\n"))
    assert step.action == Type(text="a.txt", enter=True)


def test_lines_of_a_document_stay_one_text() -> None:
    document = replace(entry(1), states=frozenset({"editable", "multi_line"}))
    (step,) = typed_into(document, "a\nb\n", keys("a\nb\n"))
    assert step.action == Type(text="a\nb\n")


def test_click_and_text_in_one_go_are_one_action() -> None:
    field = entry(1)
    after = replace(screen(replace(field, text="Ada")), focus_id=1)
    steps = shown([*mouse(center(field)), *keys("Ada")], screen(field), after)
    assert [step.action for step in steps] == [Type(text="Ada", element_id=1)]


def test_fields_filled_in_one_go_are_known_by_their_contents() -> None:
    first, second = entry(1), entry(2)
    before = replace(screen(first, second), focus_id=1)
    after = replace(screen(replace(first, text="Ada"), replace(second, text="Oslo")), focus_id=2)
    steps = shown(keys("Ada\tOslo"), before, after)
    assert [step.action for step in steps] == [
        Type(text="Ada"),
        Hotkey(keys=("Tab",)),
        Type(text="Oslo", element_id=2),
    ]
    assert [step.problem for step in steps] == ["", "", ""]


def test_text_of_a_password_field_is_not_kept() -> None:
    (step,) = typed_into(entry(1, role="password text"), "•••••", keys("tiger"))
    assert step.action == Type(text="{{secret:IT}}")
    assert "tiger" not in repr(step.gesture)


def test_text_that_a_terminal_does_not_echo_is_not_kept() -> None:
    terminal = replace(entry(1, "Password: ", role="terminal"))
    (step,) = typed_into(terminal, "Password: \n$ ", keys("tiger\n"))
    assert step.action == Type(text="{{secret:IT}}", overwrite=True, enter=True)


def test_text_that_nothing_shows_is_not_kept() -> None:
    (step,) = typed_into(entry(1, "x"), "x", keys("tiger"))
    assert "tiger" not in repr(step.action)


def test_other_keys_are_hotkeys() -> None:
    seen = screen(button(1, "Save"))
    assert [one.action for one in shown([pressed("ctrl", "s")], seen, seen)] == [Hotkey(keys=("ctrl", "s"))]
    assert read_gestures([pressed("F5")]) == [Chord(0.0, ("F5",))]


def test_text_that_was_copied_before_is_kept_as_text() -> None:
    (step,) = typed_into(entry(1, "to: "), "to: Ada", [pressed("ctrl", "v")])
    assert (step.action, step.problem) == (Type(text="Ada"), "")
    (unread,) = shown([pressed("ctrl", "v")], screen(), screen())
    assert unread.problem == UNKNOWN_PASTE


def test_sent_text_is_kept_although_its_field_shows_the_result() -> None:
    field = replace(entry(1), states=frozenset({"editable", "multi_line"}))
    (step,) = typed_into(field, "42", keys("17+25\n"))
    assert step.action == Type(text="17+25", enter=True)


def test_wheel_is_joined_to_one_scroll() -> None:
    area = button(1, "List", "list")
    turns = [*mouse(center(area), number=5), *mouse(center(area), number=5)]
    (step,) = shown(turns, screen(area), screen(area))
    assert step.action == Scroll(element_id=1, clicks=-2)


def test_drag_ends_on_the_element_under_the_pointer() -> None:
    one, other = button(1, "Card", "list item"), button(2, "Bin", "list item")
    (step,) = shown(mouse(center(one), center(other)), screen(one, other), screen(one, other))
    assert step.action == DragAndDrop(drag_from_id=1, drop_on_id=2)


def test_drag_over_text_selects_words() -> None:
    text = replace(entry(1, "red green red"), rect=Rect(0, 0, 300, 20))
    after = screen(replace(text, selection=(10, 13)))
    (step,) = shown(mouse((200, 10), (280, 10)), screen(text), after)
    assert step.action == SelectText(element_id=1, text="red", occurrence=2)


def steps_over(screens: list[Observation], *actions: list[Input]) -> list[Shown]:
    pairs = zip(actions, screens, screens[1:], strict=False)
    return [step for events, before, after in pairs for step in shown(events, before, after)]


def test_menu_that_was_closed_again_is_left_out() -> None:
    bare, menu = screen(button(1, "File", "menu")), screen(button(1, "File", "menu"), button(2, "Open", "menu item"))
    steps = steps_over([bare, menu, bare], mouse(center(button(1, "File"))), [pressed("Escape")])
    kept, left_out = without_noise(steps)
    assert (kept, left_out) == ([], steps)


def test_dialog_that_was_answered_is_kept_although_the_screen_is_as_before() -> None:
    bare, dialog = screen(button(1, "Send...")), screen(button(1, "Send..."), button(2, "OK"))
    steps = steps_over([bare, dialog, bare], mouse(center(button(1, ""))), mouse(center(button(2, ""))))
    assert without_noise(steps) == (steps, [])
    again = steps_over([bare, dialog, bare], mouse(center(button(1, ""))), [pressed("Escape")])
    assert without_noise([*steps, *again]) == (steps, again)


def test_copy_is_kept_although_the_screen_is_as_before() -> None:
    bare, menu = screen(button(1, "Edit", "menu")), screen(button(1, "Edit", "menu"), button(2, "Copy", "label"))
    first, second = steps_over([bare, menu, bare], mouse(center(button(1, ""))), [pressed("Escape")])
    copied = replace(second, after=replace(second.after, copies=1))
    assert without_noise([first, copied]) == ([first, copied], [])

"""What is checked before a primitive touches anything, on a screen that is only pretended."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from aci.accessibility.texts import MissingText
from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Read,
    SaveToBuffer,
    Scroll,
    SelectText,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.performer import Performer
from aci.acting.settle import is_change
from aci.acting.spans import Spans
from aci.acting.targeting import Aim
from aci.acting.targets import Words
from aci.applications.catalog import Application, Catalog
from aci.errors import LaunchFailed
from aci.input.input_device import Button, Held
from aci.input.read_back import Delivery
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Source, Window
from aci.observation.snapshot import State
from aci.waiting import Clock

MAIN, OTHER, TIP = 1, 2, 3


class Screen:
    """Windows given by hand; the first that contains a point is hit."""

    def __init__(self) -> None:
        self.stack = [Window(MAIN, "Main", "App", Rect(0, 0, 100, 100), active=True)]
        self.tooltips: set[int] = set()
        self.activated: list[int] = []
        self.obeys = True
        self.size = (200, 200)
        self.rect = Rect(0, 0, 200, 200)

    def windows(self) -> tuple[Window, ...]:
        return tuple(self.stack)

    managed_windows = windows

    def window_at(self, point: Point) -> int | None:
        return next((window.id for window in self.stack if window.rect.contains(point)), None)

    def dark(self) -> tuple[Rect, ...]:
        return ()

    def is_tooltip(self, window_id: int) -> bool:
        return window_id in self.tooltips

    def pointer(self) -> Point:
        return Point(0, 0)

    def active_window(self) -> int | None:
        return next((window.id for window in self.stack if window.active), None)

    def activate(self, window_id: int) -> bool:
        self.activated.append(window_id)
        return self.obeys


TYPED = Delivery(state="exact", by="keys")


class InputDevice:
    """Keeps what was done; a tooltip goes when the pointer leaves."""

    def __init__(self, screen: Screen) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.held = Held()
        self.at: Point | None = None
        self._screen = screen

    def move(self, point: Point) -> None:
        self.at = point
        self._screen.stack = [window for window in self._screen.stack if window.id not in self._screen.tooltips]

    def click(self, point: Point, count: int = 1, button: str = "left", hold: Sequence[int] = ()) -> None:
        self.done.append(("click", point, count, button, len(hold)))

    def scroll(self, point: Point, clicks: int, horizontal: bool = False, hold: Sequence[int] = ()) -> None:
        self.done.append(("scroll", point, clicks, *(["across"] if horizontal else [])))

    def drag(self, points: Sequence[Point], hold: Sequence[int] = ()) -> None:
        self.done.append(("drag", *points))

    def press_button(self, button: Button) -> None:
        self.held = Held(self.held.keys, (*self.held.buttons, button))

    def release_button(self, button: Button) -> None:
        self.held = Held(self.held.keys)

    def hold_keys(self, keysyms: Sequence[int]) -> None:
        self.held = Held((*self.held.keys, *keysyms), self.held.buttons)

    def release_keys(self, keysyms: Sequence[int]) -> None:
        self.held = Held(tuple(key for key in self.held.keys if key not in keysyms), self.held.buttons)

    def press(self, keys: Sequence[int]) -> None:
        self.done.append(("press", len(keys)))

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        self.done.append(("press each", len(hold), len(chords)))


class Settle:
    def __init__(self) -> None:
        self.waits: list[dict[str, Any]] = []
        self.changed_after_s = 0.1
        self.works = False

    def is_working(self) -> bool:
        return self.works

    def look(self, until_idle: bool = False) -> NDArray[np.uint32]:
        return np.zeros((200, 200), np.uint32)

    def wait(self, before: NDArray[np.uint32], started: float, **limits: Any) -> float:
        self.waits.append(limits)
        return self.changed_after_s


class Typist:
    def __init__(self, device: InputDevice) -> None:
        self._device = device

    def type(self, place: Any, text: str, overwrite: bool, click_again: Any = None) -> Delivery:
        self.click_again = click_again
        self._device.done.append(("type", place.element.id if place.element else None, place.chosen, text, overwrite))
        return TYPED


class Bare:
    """No element has a text or a value."""

    def find_text(self, element_id: int, words: str, occurrence: int = 1, until: str = "") -> MissingText:
        return MissingText("no_text")

    def whole_text(self, element_id: int) -> None:
        return None

    def main_text(self, window_id: int) -> None:
        return None

    def value_range(self, element_id: int) -> None:
        return None

    def scroll_bar(self, element_id: int, horizontal: bool) -> None:
        return None


class Bench:
    """A performer with all its pretended parts."""

    def __init__(self) -> None:
        self.screen = Screen()
        self.device = InputDevice(self.screen)
        self.located: dict[int, Rect | None] = {}
        self.says_focused = True
        self.says_the_same_now = True  # whether elements report what they did when they were seen
        self.looks = 0
        self.focused_cell: int | None = None  # the only one that says it has the keyboard
        self.buffer: list[str] = []
        self.launched: list[Sequence[str]] = []
        self.now = 0.0
        self.elements = [self.element(10, Rect(10, 10, 20, 20)), self.element(11, Rect(50, 50, 20, 20))]
        self.focus_id: int | None = None
        self.pixels = np.zeros((200, 200), np.uint32)
        self.later: list[Element] | None = None
        self.settle = Settle()
        clock = Clock(lambda: self.now, self.pause)
        self.performer = Performer(
            screen=self.screen,  # type: ignore[arg-type]
            aim=Aim(
                screen=self.screen,
                locator=self,
                frame=lambda: self.pixels,
                look=self.look,
                look_closely=self.look,
                move=self.device.move,
                rest=lambda: None,
                has_new_events=lambda: False,
                spans=Spans(Bare(), lambda area: ()),  # type: ignore[arg-type]
                clock=clock,
            ),
            device=self.device,  # type: ignore[arg-type]
            typist=Typist(self.device),  # type: ignore[arg-type]
            locator=self,
            settle=self.settle,  # type: ignore[arg-type]
            launch=self.launch,  # type: ignore[arg-type]
            catalog=lambda: Catalog([Application("paint", "Paint", ("paint",))], "/nowhere"),
            buffer=self.buffer,
            clipboard_changes=lambda: 0,
            is_stop_key=lambda symbols: False,
            values=Bare(),  # type: ignore[arg-type]
            clock=clock,
        )

    def element(self, number: int, rect: Rect, source: Source = "accessibility", **more: Any) -> Element:
        self.located[number] = rect
        fields = {"role": "push button", "name": "B", "point": rect.center, "window_id": MAIN, "source": source, **more}
        return Element(id=number, rect=rect, **fields)

    def locate(self, element_id: int) -> Rect | None:
        return self.located[element_id]

    def has_focus(self, element_id: int) -> bool:
        return self.says_focused if self.focused_cell is None else element_id == self.focused_cell

    def is_unchanged(self, element_id: int) -> bool:
        return self.says_the_same_now

    def launch(self, argv: Sequence[str], settle: bool) -> None:
        if argv[0] == "paint" and "paint" in self.launched:
            raise LaunchFailed("paint showed no window")
        self.launched.append(argv[0])

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def look(self) -> Observation:
        """The screen as it is when it is looked at anew: `later`, or what can still be located where it is now."""
        self.looks += 1
        if self.later is not None:
            return self.observation(self.later)
        there = [(element, self.located[element.id]) for element in self.elements]
        return self.observation([replace(element, rect=rect, point=rect.center) for element, rect in there if rect])

    def observation(self, elements: Sequence[Element]) -> Observation:
        return Observation(
            screenshot=np.zeros((200, 200, 3), np.uint8),
            elements=tuple(elements),
            windows=self.screen.windows(),
            focus_id=self.focus_id,
        )

    def perform(self, action: Action) -> Any:
        return self.performer.perform(action, self.observation(self.elements))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_click_goes_to_the_elements_point(bench: Bench) -> None:
    result = bench.perform(Click(element_id=10, num_clicks=2, button_type="right", hold_keys=("ctrl",)))
    assert (result.ok, result.settled_after_s) == (True, 0.1)
    assert bench.device.done == [("click", Point(20, 20), 2, "right", 1)]


@pytest.mark.parametrize("click", [Click(element_id=10), Click(at=(20, 20))])
@pytest.mark.parametrize(
    ("role", "opens", "clicks"),
    [("menu", "menu", 0), ("menu", "tooltip", 1), ("menu", "", 1), ("menu item", "menu", 1)],
)
def test_an_entry_whose_menu_opens_at_the_pointer_is_not_clicked_as_well(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, role: str, opens: str, clicks: int, click: Click
) -> None:
    popup = Window(OTHER, "", "App", Rect(0, 0, 60, 60), popup=True)
    bench.screen.stack.insert(0, popup)
    bench.elements = [bench.element(10, Rect(10, 10, 20, 20), role=role, window_id=OTHER)]

    def move(point: Point) -> None:
        if opens:
            bench.screen.stack.insert(0, replace(popup, id=TIP, rect=Rect(60, 0, 60, 60)))
            bench.screen.tooltips |= {TIP} if opens == "tooltip" else set()

    monkeypatch.setattr(bench.device, "move", move)
    assert bench.perform(click).ok
    assert len(bench.device.done) == clicks
    assert bench.perform(click.model_copy(update={"button_type": "right"})).ok
    assert len(bench.device.done) == clicks + 1


@pytest.mark.parametrize(("by_click", "moves"), [(True, 1), (False, 2)])
def test_a_menu_that_has_opened_at_the_pointer_opens_by_a_click_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, by_click: bool, moves: int
) -> None:
    popup = Window(OTHER, "", "App", Rect(0, 0, 60, 60), popup=True)
    bench.elements = [bench.element(10, Rect(10, 10, 20, 20), role="menu", window_id=OTHER)]
    moved: list[Point] = []

    def opened() -> None:
        bench.screen.stack = [replace(popup, id=TIP, rect=Rect(60, 0, 60, 60)), popup, *main]

    def move(point: Point) -> None:
        moved.append(point)
        opened()

    def click(*given: Any) -> None:
        clicked.append(given)
        if by_click:
            opened()

    clicked: list[Any] = []
    main = bench.screen.stack
    monkeypatch.setattr(bench.device, "move", move)
    monkeypatch.setattr(bench.device, "click", click)
    for _ in range(2):
        bench.screen.stack = [popup, *main]
        assert bench.perform(Click(element_id=10)).ok
    assert (len(moved), len(clicked)) == (moves, 1)
    monkeypatch.setattr(bench.device, "move", moved.append)
    monkeypatch.setattr(bench.device, "click", lambda *given: clicked.append(given))
    bench.screen.stack = [popup, *main]
    assert bench.perform(Click(element_id=10)).ok
    assert len(clicked) == 2, "it is not clicked again where nothing has opened"


@pytest.mark.parametrize("action", [Click(element_id=10), Hotkey(keys=("ctrl", "s")), Scroll(element_id=10, clicks=3)])
def test_unsettled_action_does_not_wait_for_rest(bench: Bench, action: Action) -> None:
    bench.perform(action)
    bench.performer.perform(action, bench.observation(bench.elements), settle=False)
    patient, hurried = bench.settle.waits
    assert hurried["quiet_s"] < patient["quiet_s"] / 2 and hurried["first_change_s"] < patient["first_change_s"]
    assert hurried["by_events"] and not patient["by_events"]


@pytest.mark.parametrize(
    ("height", "opened", "elsewhere"),
    [(150, Rect(60, 60, 60, 60), True), (150, Rect(0, 44, 60, 4), False), (20, Rect(60, 55, 60, 10), False)],
    ids=["menu over a text", "border of the text", "field"],
)
def test_what_a_click_opens_over_a_text_that_had_the_focus_is_its_effect(
    bench: Bench, height: int, opened: Rect, elsewhere: bool
) -> None:
    bench.elements = [bench.element(10, Rect(0, 0, 40, 20)), bench.element(11, Rect(0, 45, 200, height), role="text")]
    bench.focus_id = 11
    bench.perform(Click(element_id=10))
    before = np.zeros((200, 200), np.uint32)
    after = before.copy()
    after[opened.y : opened.bottom, opened.x : opened.right] = 7
    [limits] = bench.settle.waits
    assert is_change(before, after, besides=limits["targets"]) is elsewhere


def test_menu_of_a_right_click_is_waited_for(bench: Bench) -> None:
    for button in ("left", "right"):
        bench.perform(Click.model_validate({"element_id": 10, "button_type": button}))
    left, right = bench.settle.waits
    assert right["first_change_s"] > left["first_change_s"]


def test_unsettled_wait_ends_with_the_first_change(bench: Bench) -> None:
    assert bench.performer.perform(Wait(time=2.5), None, settle=False).ok
    (wait,) = bench.settle.waits
    assert wait["first_change_s"] == wait["limit_s"] == 2.5


@pytest.mark.parametrize(("changed_after_s", "works"), [(0.0, False), (0.1, False), (0.0, True)])
def test_nothing_is_still_that_changes_or_works(bench: Bench, changed_after_s: float, works: bool) -> None:
    bench.settle.changed_after_s, bench.settle.works = changed_after_s, works
    waited = bench.performer.perform(Wait(time=0.1), None, settle=False)
    assert waited.still is not (works or bool(changed_after_s))


@pytest.mark.parametrize(
    ("states", "done"),
    [
        (["editable"], [("type", 10, False, "a.txt", False), ("press", 1)]),
        (["editable", "multi_line"], [("type", 10, False, "a.txt\n", False)]),
    ],
)
def test_a_line_break_at_the_end_of_a_single_line_is_return_which_waits_for_the_default_button(
    bench: Bench, states: list[State], done: list[tuple[Any, ...]]
) -> None:
    field = bench.element(10, Rect(10, 10, 60, 20), role="entry", states=frozenset(states))
    save = bench.element(11, Rect(50, 50, 20, 20), states=frozenset[State]({"default"}))
    bench.elements = [field, replace(save, states=save.states | {"disabled"})]
    bench.focus_id, bench.later = 10, [field, save]
    bench.perform(Type(text="a.txt\n"))
    assert bench.device.done == done
    assert bool(bench.looks) is ("multi_line" not in states)


@pytest.mark.parametrize(
    "action",
    [
        Click(element_id=99),
        Scroll(element_id=99, clicks=1),
        Type(text="x", element_id=99),
        DragAndDrop(drag_from_id=10, drop_on_id=99),
        DragAndDrop(drag_from_id=99, drop_on_id=10),
    ],
)
def test_an_unknown_element_is_an_error_and_nothing_is_touched(bench: Bench, action: Action) -> None:
    result = bench.perform(action)
    assert not result.ok
    assert "99" in result.error
    assert bench.device.done == []


def test_without_an_observation_no_element_is_known(bench: Bench) -> None:
    assert bench.performer.perform(Click(element_id=10), None).error.startswith("There is no element 10")


def test_on_an_empty_screen_a_refusal_says_how_to_open_something(bench: Bench) -> None:
    result = bench.performer.perform(Click(element_id=10), Observation(np.zeros((2, 2, 3), np.uint8), (), ()))
    assert result.error.endswith("since no window is open. switch_applications starts an application.")


def test_a_vanished_element_is_an_error(bench: Bench) -> None:
    bench.located[10] = None
    result = bench.perform(Click(element_id=10))
    assert result.error == "Element 10 is no longer on the screen."
    assert bench.device.done == []


def test_an_element_that_was_scrolled_away_is_an_error(bench: Bench) -> None:
    bench.located[10] = Rect(10, -500, 20, 20)
    bench.later = []
    assert "scrolled out of view" in bench.perform(Click(element_id=10)).error
    assert bench.device.done == []


def test_an_element_that_moved_is_followed(bench: Bench) -> None:
    bench.located[10] = Rect(60, 10, 20, 20)
    assert bench.perform(Click(element_id=10)).ok
    assert bench.device.done[0][1] == Point(70, 20)


def test_an_element_that_was_recreated_elsewhere_is_found_again(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), name="Save"), *bench.elements]
    bench.located[12] = None
    bench.later = [bench.element(30, Rect(60, 70, 20, 20), name="Save"), *bench.elements[1:]]
    assert bench.perform(Click(element_id=12)).ok
    assert bench.device.done[0][1] == Point(70, 80)


def test_one_of_several_alike_is_not_taken_for_another(bench: Bench) -> None:
    """Two buttons B; the first one goes, and the second one was there before."""
    bench.located[10] = None
    assert bench.perform(Click(element_id=10)).error == "Element 10 is no longer on the screen."
    assert bench.device.done == []


def test_successor_at_the_same_place_is_not_clicked(bench: Bench) -> None:
    """A list that is filled anew gives its rows other contents."""
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), name="Row 1")]
    bench.later = [bench.element(12, Rect(10, 10, 20, 20), name="Row 7")]
    bench.pixels[12:28, 12:28] = 0xFFFFFF
    result = bench.perform(Click(element_id=12))
    assert "it is the push button 'Row 7' (12) now" in result.error
    assert bench.device.done == []


def test_a_layer_of_the_same_window_that_came_over_the_element_is_named(bench: Bench) -> None:
    bench.pixels[:, :] = 0x808080
    dialog = bench.element(40, Rect(0, 0, 90, 90), role="dialog", name="Cookies")
    bench.later = [dialog, replace(bench.elements[0], point=None)]
    result = bench.perform(Click(element_id=10))
    assert "covered by the dialog 'Cookies' (40)" in result.error
    assert bench.device.done == []


def test_other_pixels_alone_do_not_stop_the_click(bench: Bench) -> None:
    bench.pixels[:, :] = 0x808080
    assert bench.perform(Click(element_id=10)).ok


def test_a_text_that_is_only_pixels_is_clicked_where_it_was_seen(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), source="ocr")]
    bench.located[12] = None
    bench.later = []
    bench.pixels[15, 15] = 0xFFFFFF  # a pixel of four hundred
    assert bench.perform(Click(element_id=12)).ok


def test_a_text_that_is_only_pixels_is_read_again_where_they_changed(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), source="ocr", role="text line", name="Start")]
    bench.pixels[12:16, 12:16] = 0xFFFFFF
    bench.later = [bench.element(12, Rect(60, 10, 20, 20), source="ocr", role="text line", name="Start")]
    assert bench.perform(Click(element_id=12)).ok
    assert bench.device.done[0][1] == Point(70, 20)
    bench.later = []
    assert "the text 'Start' is not where it was" in bench.perform(Click(element_id=12)).error


def test_a_screen_that_changed_its_size_is_observed_again(bench: Bench) -> None:
    bench.pixels = np.zeros((150, 150), np.uint32)
    bench.later = [bench.element(10, Rect(30, 30, 20, 20))]
    assert bench.perform(Click(element_id=10)).ok
    assert bench.device.done[0][1] == Point(40, 40)


def test_wheel_is_turned_outside_of_inner_parts_that_react_to_it(bench: Bench) -> None:
    pane = bench.element(12, Rect(0, 0, 100, 100), role="scroll pane")
    inner = bench.element(13, Rect(20, 20, 60, 60), role="list")
    bench.elements = [pane, inner, bench.element(14, Rect(0, 90, 100, 10), role="spin button")]
    for number in (12, 13, 14):
        assert bench.perform(Scroll(element_id=number, clicks=-2)).ok
    outer, own, value = (done[1] for done in bench.device.done)
    assert pane.rect.contains(outer) and not inner.rect.contains(outer) and outer.y < 90
    assert (own, value) == (Point(50, 50), Point(50, 95))


def test_a_window_that_came_over_the_element_stops_the_click(bench: Bench) -> None:
    bench.screen.stack.insert(0, Window(OTHER, "Question", "App", Rect(0, 0, 40, 40)))
    result = bench.perform(Click(element_id=10))
    assert not result.ok
    assert "covered by the window 'Question'" in result.error
    assert bench.device.done == []


def test_a_window_that_has_gone_stops_the_click(bench: Bench) -> None:
    bench.screen.stack.clear()
    bench.later = bench.elements
    assert "has gone" in bench.perform(Click(element_id=10)).error


def test_a_covered_element_is_an_error(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), point=None)]
    bench.later = bench.elements
    assert "covered" in bench.perform(Click(element_id=12)).error


def test_an_element_that_was_covered_and_is_free_now_is_clicked(bench: Bench) -> None:
    free = bench.elements[0]
    bench.elements[0] = replace(free, point=None)
    bench.later = [free]
    assert bench.perform(Click(element_id=10)).ok


def test_a_tooltip_is_made_to_go_first(bench: Bench) -> None:
    bench.screen.stack.insert(0, Window(TIP, "", "App", Rect(0, 0, 40, 40), popup=True))
    bench.screen.tooltips.add(TIP)
    assert bench.perform(Click(element_id=10)).ok


def test_a_drag_checks_both_ends(bench: Bench) -> None:
    bench.screen.stack.insert(0, Window(OTHER, "Question", "App", Rect(45, 45, 40, 40)))
    assert not bench.perform(DragAndDrop(drag_from_id=10, drop_on_id=11)).ok
    bench.screen.stack.pop(0)
    assert bench.perform(DragAndDrop(drag_from_id=10, drop_on_id=11)).ok
    assert bench.device.done == [("drag", Point(20, 20), Point(60, 60))]


@pytest.mark.parametrize(
    "action",
    [
        Hotkey(keys=("ctrl", "frob")),
        HoldAndPress(hold_keys=("frob",), press_keys=("a",)),
        Click(element_id=10, hold_keys=("frob",)),
    ],
)
def test_an_unknown_key_is_named_and_nothing_is_touched(bench: Bench, action: Action) -> None:
    result = bench.perform(action)
    assert "'frob'" in result.error
    assert bench.device.done == []


def test_typing_into_an_element_focuses_it_by_a_click(bench: Bench) -> None:
    assert bench.perform(Type(text="abc", element_id=10, enter=True)).delivery == TYPED
    kinds = [done[0] for done in bench.device.done]
    assert kinds == ["click", "type", "press"]
    assert bench.device.done[1] == ("type", 10, True, "abc", False)


def test_a_tab_in_a_field_of_one_line_leads_to_the_next_one(bench: Bench) -> None:
    line = frozenset[State]({"editable"})
    bench.elements = [bench.element(10, Rect(10, 10, 60, 20), role="entry", states=line)]
    assert bench.perform(Type(text="abc\tdef\t", element_id=10, overwrite=True)).ok
    typed = [done[3] if done[0] == "type" else done[0] for done in bench.device.done]
    assert typed == ["click", "abc", "press", "def", "press"]
    bench.device.done.clear()
    bench.elements = [bench.element(10, Rect(10, 10, 60, 60), role="text", states=line | {"multi_line"})]
    assert bench.perform(Type(text="abc\tdef", element_id=10)).ok
    assert bench.device.done[-1][3] == "abc\tdef"


def test_typing_into_the_focused_element_leaves_the_caret(bench: Bench) -> None:
    bench.focus_id = 10
    bench.perform(Type(text="abc", element_id=10))
    assert [done[0] for done in bench.device.done] == ["type"]


def test_an_element_that_does_not_have_the_keyboard_itself_is_clicked(bench: Bench) -> None:
    bench.focus_id, bench.says_focused = 10, False
    bench.perform(Type(text="abc", element_id=10))
    assert [done[0] for done in bench.device.done] == ["click", "type"]


def test_a_focus_in_a_window_that_lost_the_keyboard_is_clicked(bench: Bench) -> None:
    bench.focus_id = 10
    bench.screen.stack = [Window(MAIN, "Main", "App", Rect(0, 0, 100, 100), active=False)]
    bench.perform(Type(text="abc", element_id=10))
    assert [done[0] for done in bench.device.done] == ["click", "type"]


def test_nothing_is_typed_while_a_dialog_keeps_the_keyboard(bench: Bench) -> None:
    dialog = Window(2, "Format Cells", "App", Rect(100, 100, 50, 50), active=True)
    bench.screen.stack = [dialog, Window(MAIN, "Main", "App", Rect(0, 0, 100, 100), active=False)]
    result = bench.perform(Type(text="abc", element_id=10, enter=True))
    assert (result.ok, result.refusal) == (False, "not_in_front") and "'Format Cells'" in result.error
    assert [done[0] for done in bench.device.done] == ["click"]


class HurriedTypist(Typist):
    """Nothing that it types arrives at first, so that it clicks the element again."""

    def type(self, place: Any, text: str, overwrite: bool, click_again: Any = None) -> Delivery:
        click_again()
        return super().type(place, text, overwrite)


class MarkingTypist(Typist):
    """Types into a choice, whose open list marks an entry."""

    def __init__(self, bench: Bench, entry: str) -> None:
        super().__init__(bench.device)  # type: ignore[arg-type]
        self._bench, self._entry = bench, entry

    def type(self, place: Any, text: str, overwrite: bool, click_again: Any = None) -> Delivery:
        bench = self._bench
        bench.screen.stack.insert(0, Window(9, "", "App", Rect(0, 40, 100, 60), popup=True))
        bench.elements += [bench.element(30, Rect(0, 40, 99, 9), role="menu item", name=self._entry, window_id=9)]
        bench.focus_id = 30
        return super().type(place, text, overwrite, click_again)


@pytest.mark.parametrize(("entry", "taken"), [("Harbour (south)", True), ("North", False)])
def test_the_entry_of_an_open_choice_that_a_text_has_marked_is_taken(bench: Bench, entry: str, taken: bool) -> None:
    bench.elements = [bench.element(10, Rect(10, 10, 20, 20), role="combo box")]
    bench.performer.typist = MarkingTypist(bench, entry)  # type: ignore[assignment]
    assert bench.perform(Type(text="harbour", element_id=10)).ok
    assert [done[0] for done in bench.device.done] == ["click", "type", *(["press"] if taken else [])]


def test_text_that_went_elsewhere_is_not_typed_again_where_the_field_is_gone(bench: Bench) -> None:
    bench.performer.typist = HurriedTypist(bench.device)  # type: ignore[assignment]
    click = bench.device.click

    def click_and_lose(*what: Any) -> None:
        click(*what)
        bench.located[10] = None

    bench.device.click = click_and_lose  # type: ignore[method-assign]
    result = bench.perform(Type(text="abc", element_id=10))
    assert (result.ok, result.refusal) == (False, "not_typed")
    assert [done[0] for done in bench.device.done] == ["click"]


def test_text_is_appended_to_a_line(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), role="text", states=frozenset({"editable"}))]
    bench.perform(Type(text="abc", element_id=12))
    assert [done[0] for done in bench.device.done] == ["click", "press", "type"]


def test_nothing_is_typed_into_a_cell_in_whose_place_another_is_selected(bench: Bench) -> None:
    cell = {"role": "table cell", "text": "", "states": frozenset({"selected"})}
    merged = [
        bench.element(number, Rect(30 * number, 9, 30, 9), name=name, **cell) for number, name in ((1, "B3"), (2, "C3"))
    ]
    bench.elements = merged
    bench.focused_cell = 1
    result = bench.perform(Type(text="abc", element_id=2))
    assert (result.ok, result.refusal) == (False, "not_typed") and "selects B3" in result.error
    assert [done[0] for done in bench.device.done] == ["click"]
    assert bench.perform(Type(text="abc", element_id=1)).ok
    assert [done[0] for done in bench.device.done] == ["click", "click", "type"]


def test_a_cell_that_no_other_is_selected_for_is_typed_into(bench: Bench) -> None:
    bench.elements = [bench.element(2, Rect(10, 10, 20, 20), role="table cell", name="C3", text="")]
    bench.says_focused = False
    assert bench.perform(Type(text="abc", element_id=2)).ok


def test_typing_without_an_element_goes_to_the_focus(bench: Bench) -> None:
    bench.focus_id = 11
    bench.perform(Type(text="abc"))
    assert bench.device.done == [("type", 11, False, "abc", False)]


def test_an_open_window_is_brought_to_the_front(bench: Bench) -> None:
    result = bench.perform(SwitchApplications(app_code="Main"))
    assert (result.ok, result.switched_to) == (True, "Main")
    assert bench.screen.activated == [MAIN]


def test_a_window_that_does_not_come_is_an_error(bench: Bench) -> None:
    bench.screen.obeys = False
    assert "did not come to the front" in bench.perform(SwitchApplications(app_code="Main")).error


def test_an_application_without_a_window_is_started(bench: Bench) -> None:
    assert bench.perform(SwitchApplications(app_code="Paint")).started == "Paint"
    assert bench.launched == ["paint"]
    assert "no window" in bench.perform(SwitchApplications(app_code="Paint")).error


def test_missing_application_suggests_installed_ones(bench: Bench) -> None:
    assert "Paint" in bench.perform(SwitchApplications(app_code="Frobnicator")).error


def test_texts_are_kept_in_order(bench: Bench) -> None:
    bench.perform(SaveToBuffer(text="one"))
    bench.perform(SaveToBuffer(text="two"))
    assert bench.buffer == ["one", "two"]


def test_waiting_takes_its_time(bench: Bench) -> None:
    assert bench.perform(Wait(time=2.5)).ok
    assert bench.now == 2.5


@pytest.mark.parametrize("action", [Done(), Fail(reason="x"), CallUser(question="?")])
def test_primitives_of_the_agent_do_not_touch_the_desktop(bench: Bench, action: Action) -> None:
    assert bench.perform(action).ok
    assert bench.device.done == []


KEYS = [
    Type(text="x"),
    Hotkey(keys=("ctrl", "s")),
    Hotkey(keys=("Return",)),
    HoldAndPress(hold_keys=("shift",), press_keys=("a",)),
]


@pytest.mark.parametrize("action", KEYS)
def test_keys_are_refused_when_another_window_came_in_front(bench: Bench, action: Action) -> None:
    seen = bench.observation(bench.elements)
    bench.screen.stack = [
        Window(OTHER, "Other", "App", Rect(0, 0, 50, 50), active=True),
        replace(bench.screen.stack[0], active=False),
    ]
    result = bench.performer.perform(action, seen)
    assert (result.refusal, bench.device.done) == ("stale", [])
    assert "'Other'" in result.error


@pytest.mark.parametrize("action", KEYS)
def test_keys_are_refused_when_a_menu_has_opened(bench: Bench, action: Action) -> None:
    seen = bench.observation(bench.elements)
    bench.screen.stack.insert(0, Window(OTHER, "", "App", Rect(0, 0, 50, 50), popup=True))
    assert "a menu or list that has opened" in bench.performer.perform(action, seen).error
    assert bench.device.done == []


def test_a_tooltip_does_not_keep_keys_back(bench: Bench) -> None:
    seen = bench.observation(bench.elements)
    bench.screen.stack.insert(0, Window(TIP, "", "App", Rect(0, 0, 50, 50), popup=True))
    bench.screen.tooltips.add(TIP)
    assert bench.performer.perform(Hotkey(keys=("Return",)), seen).ok


@pytest.mark.parametrize(("action", "ok"), [(KEYS[0], False), (KEYS[1], True), (KEYS[2], False), (KEYS[3], False)])
def test_keys_for_the_focused_element_are_refused_when_the_focus_has_moved(
    bench: Bench, action: Action, ok: bool
) -> None:
    bench.elements = [replace(bench.elements[0], name="Name"), bench.elements[1]]
    bench.focus_id = 10
    seen = bench.observation(bench.elements)
    bench.focus_id, bench.says_focused = 11, False
    result = bench.performer.perform(action, seen)
    assert result.ok == ok
    assert ok or "no longer on the push button 'Name' (10), but on the push button 'B' (11)" in result.error


def test_a_click_behind_a_new_dialog_is_refused(bench: Bench) -> None:
    seen = bench.observation(bench.elements)
    dialog = Window(OTHER, "Really?", "App", Rect(120, 120, 50, 50), active=True, modal=True)
    bench.screen.stack = [dialog, replace(bench.screen.stack[0], active=False)]
    result = bench.performer.perform(Click(element_id=10), seen)
    assert (result.refusal, bench.device.done) == ("covered", [])


def test_an_element_in_another_state_is_not_clicked(bench: Bench) -> None:
    bench.elements = [bench.element(12, Rect(10, 10, 20, 20), role="check box", name="Public")]
    bench.later = [replace(bench.elements[0], states=frozenset({"checked"}))]
    bench.pixels[12:16, 12:16] = 0xFFFFFF
    assert "has changed its state" in bench.perform(Click(element_id=12)).error
    assert bench.device.done == []


def test_an_element_whose_row_shows_something_else_is_not_clicked(bench: Bench) -> None:
    """The row got another id, the button looks the same and lies at the same place."""
    bench.elements = [
        bench.element(12, Rect(10, 10, 20, 20), name="Delete"),
        bench.element(13, Rect(50, 10, 20, 20), name="Ann"),
    ]
    bench.later = [
        bench.element(22, Rect(10, 10, 20, 20), name="Delete"),
        bench.element(23, Rect(50, 10, 20, 20), name="Bob"),
    ]
    bench.located[12] = Rect(10, 10, 20, 20)
    bench.pixels[12:16, 52:60] = 0xFFFFFF
    assert not bench.perform(Click(element_id=12)).ok
    assert bench.device.done == []


def test_a_blinking_caret_costs_no_new_look(bench: Bench) -> None:
    bench.pixels[60:80, 30:32] = 0xFFFFFF
    bench.later = []
    assert bench.perform(Click(element_id=10)).ok


def test_keys_that_follow_an_action_without_a_look_go_where_it_led(bench: Bench) -> None:
    seen = bench.observation(bench.elements)
    assert bench.performer.perform(Hotkey(keys=("ctrl", "s")), seen).ok
    bench.screen.stack = [Window(OTHER, "Save As", "App", Rect(0, 0, 50, 50), active=True, modal=True)]
    assert not bench.performer.perform(Type(text="x"), seen).ok
    assert bench.performer.perform(Type(text="x"), seen, by_look=False).ok


def test_a_pixel_is_clicked_where_nothing_is_known_to_be(bench: Bench) -> None:
    assert bench.perform(Click(at=(80, 20))).ok
    assert bench.device.done == [("click", Point(80, 20), 1, "left", 0)]


def test_a_pixel_off_the_screen_is_refused(bench: Bench) -> None:
    result = bench.perform(Click(at=(200, 20)))
    assert (result.ok, result.refusal) == (False, "off_screen")
    assert "200 x 200" in str(result.error)
    assert not bench.device.done


def test_a_pixel_is_refused_if_something_else_lies_there_now(bench: Bench) -> None:
    seen = bench.observation(bench.elements)
    bench.pixels = bench.pixels.copy()
    bench.pixels[10:40, 70:95] = 0xFFFFFF
    result = bench.performer.perform(Click(at=(80, 20)), seen)
    assert (result.ok, result.refusal) == (False, "stale")
    assert not bench.device.done


def test_a_pixel_is_clicked_though_the_screen_changes_elsewhere(bench: Bench) -> None:
    seen = bench.observation(bench.elements)
    bench.pixels = bench.pixels.copy()
    bench.pixels[60:90, 10:30] = 0xFFFFFF
    assert bench.performer.perform(Click(at=(80, 20)), seen).ok


def test_a_pixel_is_refused_if_another_row_has_moved_under_it(bench: Bench) -> None:
    """Each row of a list has a button that looks and is called like all others."""
    seen = bench.observation(bench.elements)
    bench.located = {10: Rect(10, 50, 20, 20), 11: Rect(10, 10, 20, 20)}
    result = bench.performer.perform(Click(at=(20, 20)), seen)
    assert (result.ok, result.refusal) == (False, "stale")
    bench.located = {10: None, 11: Rect(50, 50, 20, 20)}  # drawn anew by its application, as another object
    bench.later = [bench.element(12, Rect(10, 10, 20, 20)), bench.element(13, Rect(50, 50, 20, 20))]
    assert bench.performer.perform(Click(at=(20, 20)), seen).refusal == "stale"
    bench.later.pop()
    assert bench.performer.perform(Click(at=(20, 20)), seen).ok
    assert bench.device.done == [("click", Point(20, 20), 1, "left", 0)]


def test_a_place_is_a_fraction_of_the_box(bench: Bench) -> None:
    assert bench.perform(Click(element_id=10, at=(0, 0))).ok
    assert bench.perform(Click(element_id=10, at=(1, 0.5))).ok
    assert [done[1] for done in bench.device.done] == [Point(10, 10), Point(29, 20)]


def test_a_place_under_another_window_is_refused(bench: Bench) -> None:
    bench.screen.stack.insert(0, Window(OTHER, "Cover", "App", Rect(5, 5, 12, 12)))
    assert bench.perform(Click(element_id=10, at=(0.9, 0.9))).ok
    result = bench.perform(Click(element_id=10, at=(0, 0)))
    assert (result.ok, result.refusal) == (False, "covered")
    assert len(bench.device.done) == 1


def test_a_path_is_dragged_through_places_of_its_element(bench: Bench) -> None:
    action = DragAndDrop(drag_from_id=10, from_at=(0, 0), path=((0.5, 0), (0.5, 0.5)), drop_at=(90, 90))
    assert bench.perform(action).ok
    assert bench.device.done == [("drag", Point(10, 10), Point(20, 10), Point(20, 20), Point(90, 90))]


def test_a_button_is_held_until_it_is_released(bench: Bench) -> None:
    assert bench.perform(MouseUp()).refusal == "not_allowed"
    assert bench.perform(MouseDown(at=(80, 20))).ok
    assert (bench.device.at, bench.device.held.buttons) == (Point(80, 20), ("left",))
    assert bench.perform(Move(element_id=11)).ok
    assert bench.perform(MouseUp()).ok
    assert (bench.device.at, bench.device.held) == (Point(60, 60), Held())


def test_a_button_is_not_pressed_where_a_person_has_moved_the_pointer(bench: Bench) -> None:
    seen = replace(bench.observation(bench.elements), pointer=Point(50, 50))
    assert bench.performer.perform(MouseDown(), seen).refusal == "stale"
    assert not bench.device.held.buttons
    assert bench.performer.perform(MouseDown(), replace(seen, pointer=bench.screen.pointer())).ok
    assert bench.performer.perform(MouseUp(), seen, by_look=False).ok, "an own action moved it"


def test_nothing_is_typed_while_a_key_is_held(bench: Bench) -> None:
    assert bench.perform(KeyDown(keys=("ctrl",))).ok
    assert bench.perform(Type(text="q", element_id=10)).refusal == "not_allowed"
    assert bench.perform(KeyUp(keys=("ctrl",))).ok
    assert bench.perform(Type(text="q", element_id=10)).ok


def test_words_of_an_element_without_text_are_refused(bench: Bench) -> None:
    for action in (Click(element_id=10, at=Words(text="fox")), SelectText(element_id=10, text="fox")):
        result = bench.perform(action)
        assert (result.ok, result.refusal) == (False, "no_text")
    assert not bench.device.done


def test_words_of_a_recognized_line_are_found_by_their_share_of_it(bench: Bench) -> None:
    bench.elements.append(bench.element(12, Rect(0, 80, 100, 10), source="ocr", role="text line", name="one two three"))
    assert bench.perform(Click(element_id=12, at=Words(text="two"))).ok
    assert 100 * 4 / 13 < bench.device.done[0][1].x < 100 * 7 / 13
    assert bench.perform(Click(element_id=12, at=Words(text="two", occurrence=2))).refusal == "no_text"


def test_zoom_shows_a_part_of_the_screen_enlarged(bench: Bench) -> None:
    result = bench.perform(Zoom(element_id=10, region=(0, 0, 0.5, 1)))
    assert result.picture is not None
    with Image.open(io.BytesIO(result.picture)) as picture:
        assert (result.area, picture.size) == (Rect(10, 10, 11, 20), (44, 80))
    assert bench.perform(Zoom(region=(150, 150, 900, 900))).area == Rect(150, 150, 50, 50)
    assert bench.perform(Zoom(region=(300, 300, 900, 900))).refusal == "off_screen"


def test_what_is_read_comes_page_by_page(bench: Bench) -> None:
    bench.elements.append(bench.element(12, Rect(0, 80, 100, 10), role="text", text="line of text\n" * 1000))
    first, second = bench.perform(Read(element_id=12)), bench.perform(Read(element_id=12, page=2))
    assert (first.page, second.page) == ((1, 2), (2, 2))
    assert first.text + second.text == "line of text\n" * 1000
    assert bench.perform(Read(element_id=12, page=3)).refusal == "no_text"
    assert bench.perform(Read()).refusal == "no_text"


def test_an_element_without_a_text_is_read_with_its_whole_description(bench: Bench) -> None:
    bench.elements.append(
        bench.element(12, Rect(0, 80, 100, 10), role="check box", name="Pause", description="Pauses it. " * 20)
    )
    assert bench.perform(Read(element_id=12)).text == "Pause\n" + "Pauses it. " * 20


@pytest.mark.parametrize(
    ("role", "states", "read"), [("combo box", (), "Bottom\nPlace of the title"), ("entry", ("editable",), "Bottom")]
)
def test_a_choice_is_read_with_its_description_and_a_field_without(
    bench: Bench, role: str, states: tuple[State, ...], read: str
) -> None:
    said = {"name": "Position", "text": "Bottom", "description": "Place of the title"}
    bench.elements.append(bench.element(12, Rect(0, 80, 100, 10), role=role, states=frozenset(states), **said))
    assert bench.perform(Read(element_id=12)).text == read


def a_cell(bench: Bench, number: int, name: str, rect: Rect, **more: Any) -> Element:
    return bench.element(number, rect, role="table cell", name=name, text="", **more)


def test_known_effect_is_waited_for_instead_of_rest(bench: Bench) -> None:
    def is_there() -> bool:
        return True

    bench.performer.perform(Click(element_id=10), bench.observation(bench.elements), settle=is_there)
    [limits] = bench.settle.waits
    assert limits["until"] is is_there and limits["by_events"] and not limits["until_idle"]


def test_cell_is_typed_into_once_it_has_the_keyboard(bench: Bench) -> None:
    bench.elements = [a_cell(bench, 10, "B1", Rect(10, 10, 20, 20))]
    seen = bench.observation(bench.elements)
    bench.performer.perform(Type(text="a", element_id=10), seen, settle=False)
    waits_for_keyboard = bench.settle.waits[0]["until"]
    assert waits_for_keyboard()
    bench.says_focused = False
    assert not waits_for_keyboard()


def test_cell_is_used_without_a_look_though_others_have_changed(bench: Bench) -> None:
    bench.elements = [a_cell(bench, 10, "B1", Rect(10, 10, 20, 20))]
    bench.pixels[60:70, 60:70] = 7
    assert bench.perform(Click(element_id=10)).ok
    assert (bench.looks, bench.device.done[0][1]) == (0, Point(20, 20))


@pytest.mark.parametrize("change", ["drawn otherwise", "says something else"])
def test_cell_that_has_changed_is_looked_at(bench: Bench, change: str) -> None:
    bench.elements = [a_cell(bench, 10, "B1", Rect(10, 10, 20, 20))]
    bench.pixels[60:70, 60:70] = 7
    if change == "drawn otherwise":
        bench.pixels[12:28, 12:28] = 7
    else:
        bench.says_the_same_now = False
    bench.perform(Click(element_id=10))
    assert bench.looks > 0


def test_keys_go_to_what_says_that_it_has_the_keyboard_without_a_look(bench: Bench) -> None:
    bench.focus_id = 11
    bench.pixels[:90, :90] = 7
    assert bench.perform(Hotkey(keys=("Right",))).ok
    assert bench.looks == 0


def test_keys_to_what_says_something_else_now_take_a_look(bench: Bench) -> None:
    bench.focus_id = 11
    bench.pixels[:90, :90] = 7
    bench.says_the_same_now = False
    bench.perform(Hotkey(keys=("Right",)))
    assert bench.looks > 0


def test_keys_to_an_editable_text_are_looked_after(bench: Bench) -> None:
    field = bench.element(11, Rect(50, 50, 20, 20), role="paragraph", states=frozenset({"editable"}))
    bench.elements, bench.focus_id = [field], 11
    bench.pixels[:90, :90] = 7
    assert bench.perform(Hotkey(keys=("Right",))).ok
    assert bench.looks > 0

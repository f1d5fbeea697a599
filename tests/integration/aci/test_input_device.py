"""Keys and buttons as an application gets them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from Xlib import XK, X

from aci.desktop.virtual import VirtualDesktop
from aci.errors import Halted
from aci.input.input_device import Held
from aci.input.keys import chord
from aci.input.xtest import Xtest
from aci.observation.geometry import Point
from tests.integration.aci.conftest import RecordingWindow

pytestmark = pytest.mark.desktop


@pytest.fixture(params=[True, False], ids=["private", "shared"])
def device(desktop: VirtualDesktop, request: pytest.FixtureRequest) -> Iterator[Xtest]:
    opened = Xtest(desktop.display, private=request.param)
    yield opened
    opened.close()


def inside(recorder: RecordingWindow, x: int = 50, y: int = 50) -> Point:
    corner = recorder.display.screen().root.translate_coords(recorder.window, 0, 0)
    return Point(corner.x + x, corner.y + y)


def held(recorder: RecordingWindow) -> tuple[int, int]:
    """Return how many keys are down, and the mask of buttons and modifiers."""
    down = sum(byte.bit_count() for byte in recorder.display.query_keymap())
    return down, recorder.display.screen().root.query_pointer().mask


@pytest.mark.parametrize("text", ["Hello, World! <a+b>=$%", "é ñ ß", "中文 한국어", "😀👍", "a\nb\tc", "aAaA" * 50])
def test_any_text_arrives_whole(device: Xtest, recorder: RecordingWindow, text: str) -> None:
    recorder.collect()
    device.type_text(text, drained=recorder.collect)
    assert recorder.typed() == text


def test_more_foreign_characters_than_spare_keys_arrive_whole(device: Xtest, recorder: RecordingWindow) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(200))
    arrived = []
    recorder.collect()
    device.type_text(text, drained=lambda: arrived.append(recorder.typed()))
    assert "".join(arrived) + recorder.typed() == text
    assert arrived  # Some key changed its meaning in between, which needed the wait.


def test_borrowed_keys_are_given_back(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    own = Xtest(desktop.display)
    own.type_text("中", drained=lambda: None)
    keysym = 0x01000000 | ord("中")
    recorder.collect()
    recorder.display._update_keymap(8, 248)
    assert recorder.display.keysym_to_keycode(keysym) != 0
    own.close()
    recorder.display._update_keymap(8, 248)
    assert recorder.display.keysym_to_keycode(keysym) == 0


def test_a_chord_is_held_in_order_and_released_in_reverse(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    device.press(chord(["ctrl", "shift", "s"]))
    events = [event for event in recorder.collect() if event.type in (X.KeyPress, X.KeyRelease)]
    names = [(event.type == X.KeyPress, recorder.display.keycode_to_keysym(event.detail, 0)) for event in events]
    keys = [XK.XK_Control_L, XK.XK_Shift_L, XK.XK_s]
    assert names == [(True, key) for key in keys] + [(False, key) for key in reversed(keys)]
    assert held(recorder) == (0, 0)


def test_a_shifted_character_brings_its_shift(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    device.press(chord(["?"]))
    assert recorder.typed() == "?"


def test_keys_are_pressed_one_by_one_while_another_is_held(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    device.press_each(chord(["shift"]), [chord(["Down"]), chord(["Down"]), chord(["a"])])
    pressed = [event for event in recorder.collect() if event.type == X.KeyPress]
    assert [bool(event.state & X.ShiftMask) for event in pressed] == [False, True, True, True]


@pytest.mark.parametrize(("button", "number"), [("left", 1), ("middle", 2), ("right", 3)])
def test_a_double_click_with_a_held_key_arrives_at_its_point(
    device: Xtest, recorder: RecordingWindow, button: str, number: int
) -> None:
    recorder.collect()
    device.click(inside(recorder), 2, button, chord(["ctrl"]))  # type: ignore[arg-type]
    events = [event for event in recorder.collect() if event.type in (X.ButtonPress, X.ButtonRelease)]
    assert [(event.type, event.detail) for event in events] == [(X.ButtonPress, number), (X.ButtonRelease, number)] * 2
    assert all(event.state & X.ControlMask for event in events)
    assert (events[0].event_x, events[0].event_y) == (50, 50)
    assert events[2].time - events[0].time < 250


def test_two_single_clicks_at_one_place_are_not_a_double_click(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    device.click(inside(recorder))
    device.click(inside(recorder))
    first, second = [event.time for event in recorder.collect() if event.type == X.ButtonPress]
    assert second - first > 500


@pytest.mark.parametrize(
    ("clicks", "horizontal", "number"), [(3, False, 4), (-2, False, 5), (-3, True, 6), (2, True, 7)]
)
def test_the_wheel_turns_in_the_direction_of_the_clicks(
    device: Xtest, recorder: RecordingWindow, clicks: int, horizontal: bool, number: int
) -> None:
    recorder.collect()
    device.scroll(inside(recorder), clicks, horizontal)
    assert [event.detail for event in recorder.collect() if event.type == X.ButtonPress] == [number] * abs(clicks)


def test_a_drag_moves_between_press_and_release(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    device.drag([inside(recorder, 20, 20), inside(recorder, 220, 120)])
    events = recorder.collect()
    kinds = [event.type for event in events if event.type in (X.ButtonPress, X.ButtonRelease, X.MotionNotify)]
    between = kinds[kinds.index(X.ButtonPress) + 1 : kinds.index(X.ButtonRelease)]
    assert between.count(X.MotionNotify) > 8
    release = next(event for event in events if event.type == X.ButtonRelease)
    assert (release.event_x, release.event_y) == (220, 120)


def test_a_path_is_followed_through_all_its_points(device: Xtest, recorder: RecordingWindow) -> None:
    recorder.collect()
    path = [(20, 20), (120, 20), (120, 100), (33, 71), (34, 72)]
    device.drag([inside(recorder, *point) for point in path])
    events = recorder.collect()
    pressed, released = (
        next(number for number, event in enumerate(events) if event.type == kind)
        for kind in (X.ButtonPress, X.ButtonRelease)
    )
    moved = [(event.event_x, event.event_y) for event in events[pressed:released] if event.type == X.MotionNotify]
    assert [point for point in moved if point in path] == path[1:]
    assert moved[-1] == path[-1] == (events[released].event_x, events[released].event_y)


def test_what_is_held_stays_down_over_other_actions_until_it_is_released(
    device: Xtest, recorder: RecordingWindow
) -> None:
    recorder.collect()
    device.hold_keys(chord(["shift"]))
    device.move(inside(recorder, 20, 20))
    device.press_button("left")
    device.move(inside(recorder, 90, 60))
    device.press(chord(["Down"]))
    assert device.held == Held(tuple(chord(["shift"])), ("left",))
    assert held(recorder)[0] == 1
    device.release_button("left")
    device.release_keys(chord(["shift"]))
    events = recorder.collect()
    down = next(event for event in events if event.type == X.KeyPress and event.state & X.Button1Mask)
    assert recorder.display.keycode_to_keysym(down.detail, 0) == XK.XK_Down
    assert down.state & X.ShiftMask
    assert held(recorder) == (0, 0)
    assert device.held == Held()


def test_a_stop_releases_what_is_held(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    stopped = False

    def guard() -> None:
        if stopped:
            raise Halted("stopped")

    own = Xtest(desktop.display, guard=guard)
    try:
        own.hold_keys(chord(["ctrl"]))
        own.move(inside(recorder, 20, 20))
        own.press_button("left")
        stopped = True
        with pytest.raises(Halted):
            own.move(inside(recorder, 40, 40))
        assert held(recorder) == (0, 0)
    finally:
        own.close()


def test_an_interrupt_in_the_middle_releases_everything(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    def interrupt(seconds: float) -> None:
        down, mask = held(recorder)
        assert down == 1
        assert mask & X.Button1Mask
        raise KeyboardInterrupt

    own = Xtest(desktop.display, pause=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            own.drag([inside(recorder, 20, 20), inside(recorder, 220, 120)], chord(["ctrl"]))
        assert held(recorder) == (0, 0)
    finally:
        own.close()


def test_caps_lock_does_not_turn_the_case(device: Xtest, recorder: RecordingWindow) -> None:
    device.press(chord(["capslock"]))
    try:
        assert held(recorder)[1] & X.LockMask
        recorder.collect()
        device.type_text("aB", drained=lambda: None)
        letters = [
            event
            for event in recorder.collect()
            if event.type == X.KeyPress and recorder.display.keycode_to_keysym(event.detail, 0) in (XK.XK_a, XK.XK_b)
        ]
        assert not any(event.state & X.LockMask for event in letters)
        assert held(recorder)[1] & X.LockMask
    finally:
        device.press(chord(["capslock"]))

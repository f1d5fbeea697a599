"""A person who stops everything from the screen itself, played by another client of the X server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from Xlib import XK, X
from Xlib.ext import xtest

from aci.acting.actions import Hotkey, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from aci.errors import Halted, KeysHeld
from aci.input.backends import open_input_device
from aci.input.input_device import InputDevice
from aci.input.keys import chord
from aci.input.modifiers import Modifiers
from aci.input.user_watch import UserWatch
from aci.observation.geometry import Point
from aci.screen.emergency_stop import Halt, StopBy
from aci.screen.screen import open_display
from tests.integration.aci.conftest import RecordingWindow
from tests.integration.aci.seeing import LIMIT_S
from tests.integration.aci.test_input_device import held, inside

pytestmark = pytest.mark.desktop

MIDDLE = Point(500, 350)


class Person:
    """Somebody with a keyboard and a mouse of their own."""

    def __init__(self, display_name: str) -> None:
        self.display = open_display(display_name)

    def key(self, name: str, down: bool) -> None:
        code = self.display.keysym_to_keycode(XK.string_to_keysym(name))
        xtest.fake_input(self.display, X.KeyPress if down else X.KeyRelease, code)
        self.display.sync()

    def press(self, *names: str) -> None:
        for name in names:
            self.key(name, down=True)
        for name in reversed(names):
            self.key(name, down=False)

    def put_pointer(self, x: int, y: int) -> None:
        xtest.fake_input(self.display, X.MotionNotify, x=x, y=y)
        self.display.sync()


@pytest.fixture
def person(desktop: VirtualDesktop) -> Iterator[Person]:
    own = Person(desktop.display)
    own.put_pointer(MIDDLE.x, MIDDLE.y)
    yield own
    own.display.close()


@contextmanager
def watched(desktop: VirtualDesktop, stop_by: StopBy = StopBy()) -> Iterator[tuple[Halt, InputDevice]]:  # noqa: B008
    halt = Halt()
    watch = UserWatch(desktop.display, stop_by, halt)
    device = open_input_device("xtest", desktop.display, halt=halt, moving=watch.own_motion)
    try:
        yield halt, device
    finally:
        device.close()
        watch.close()


def in_time(condition: Callable[[], Any], limit_s: float = LIMIT_S) -> bool:
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def keeps_away(condition: Callable[[], Any]) -> bool:
    """Tell that something does not come about in the time that several looks take."""
    return not in_time(condition, 0.4)


@pytest.mark.parametrize("keys", [("Control_L", "Shift_L", "Escape"), ("Shift_R", "Control_R", "Escape")])
def test_the_stop_key_stops(desktop: VirtualDesktop, person: Person, keys: tuple[str, ...]) -> None:
    with watched(desktop) as (halt, _):
        person.press("Control_L", "Escape")
        person.press("a")
        assert keeps_away(lambda: halt.reason)
        person.press(*keys)
        assert in_time(lambda: halt.reason)
        assert halt.reason == "the stop key ctrl+shift+escape was pressed"


def test_the_stop_key_can_be_another(desktop: VirtualDesktop, person: Person) -> None:
    with watched(desktop, StopBy("Pause", corner=False)) as (halt, _):
        person.press("Control_L", "Shift_L", "Escape")
        person.put_pointer(0, 0)
        assert keeps_away(lambda: halt.reason)
        person.press("Pause")
        assert in_time(lambda: halt.reason)


def test_stop_key_is_polled_on_servers_without_raw_events(
    desktop: VirtualDesktop, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UserWatch, "_listen", lambda self: False)
    with watched(desktop) as (halt, _):
        for name in ("Control_L", "Shift_L", "Escape"):
            person.key(name, down=True)
        try:
            assert in_time(lambda: halt.reason)
        finally:
            for name in ("Control_L", "Shift_L", "Escape"):
                person.key(name, down=False)


@pytest.mark.parametrize("corner", [(0, 0), (999, 0), (0, 699), (999, 699)])
def test_the_mouse_in_a_corner_stops(desktop: VirtualDesktop, person: Person, corner: tuple[int, int]) -> None:
    with watched(desktop) as (halt, _):
        person.put_pointer(corner[0], 350)  # an edge is no corner
        assert keeps_away(lambda: halt.reason)
        person.put_pointer(*corner)
        assert in_time(lambda: halt.reason)
        assert "corner" in halt.reason


def test_own_input_in_a_corner_does_not_stop(desktop: VirtualDesktop, person: Person) -> None:
    with watched(desktop) as (halt, device):
        for point in (Point(0, 0), Point(999, 699), MIDDLE, Point(0, 699)):
            device.click(point)
            assert keeps_away(lambda: halt.reason)
        person.put_pointer(400, 300)
        assert keeps_away(lambda: halt.reason)
        person.put_pointer(0, 699)  # where own input was before
        assert in_time(lambda: halt.reason)


def test_a_pointer_that_was_left_in_a_corner_does_not_stop(desktop: VirtualDesktop, person: Person) -> None:
    person.put_pointer(0, 0)
    with watched(desktop) as (halt, _):
        assert keeps_away(lambda: halt.reason)


def test_typing_stops_within_a_key_or_two(desktop: VirtualDesktop, recorder: RecordingWindow, person: Person) -> None:
    with watched(desktop) as (halt, device):
        arrived = []

        def stop_after_a_while() -> None:
            while len(arrived) < 50:
                arrived.extend(event for event in recorder.collect(0.0) if event.type == X.KeyPress)
            person.put_pointer(0, 0)
            assert in_time(lambda: halt.reason)
            recorder.collect(0.0)

        recorder.collect()
        thread = threading.Thread(target=stop_after_a_while)
        thread.start()
        with pytest.raises(Halted):
            device.type_text("a" * 10_000, drained=lambda: None)
        thread.join()
        after = [event for event in recorder.collect() if event.type == X.KeyPress]
        assert len(after) <= 2
        assert held(recorder) == (0, 0)


def test_a_stop_in_the_middle_of_a_drag_releases_the_button(
    desktop: VirtualDesktop, recorder: RecordingWindow, person: Person
) -> None:
    with watched(desktop) as (_, device):
        recorder.collect()

        def stop_when_pressed() -> None:
            assert in_time(lambda: person.display.screen().root.query_pointer().mask & X.Button1Mask)
            person.press("Control_L", "Shift_L", "Escape")

        thread = threading.Thread(target=stop_when_pressed)
        thread.start()
        with pytest.raises(Halted):
            for _ in range(500):
                device.drag([inside(recorder, 20, 20), inside(recorder, 220, 120)])
        thread.join()
        # The window manager may hold the pointer until it has handled the press.
        assert in_time(lambda: held(recorder) == (0, 0))


def test_desktop_refuses_actions_until_the_stop_is_lifted(desktop: VirtualDesktop, person: Person) -> None:
    with X11Desktop(desktop.display, environment=desktop.environment, ocr=None) as own:
        told: list[str] = []
        with own.halt.notifying(told.append):
            timer = threading.Timer(0.2, person.put_pointer, (0, 0))
            timer.start()
            with pytest.raises(Halted, match="corner"):
                own.perform(Wait(time=30))
        assert told == [own.halt.reason]
        person.put_pointer(MIDDLE.x, MIDDLE.y)
        with pytest.raises(Halted):
            own.observe()
        own.halt.lift()
        own.observe()
        result = own.perform(Hotkey(keys=("shift", "Ctrl", "Esc")))
        assert not result.ok and "person stops" in (result.error or "")
        assert not own.halt.reason


def test_input_waits_for_a_held_modifier_and_is_then_refused(
    desktop: VirtualDesktop, recorder: RecordingWindow, person: Person
) -> None:
    with watched(desktop) as (_, device):
        recorder.collect()
        person.key("Control_L", down=True)
        timer = threading.Timer(0.3, person.key, ("Control_L", False))
        timer.start()
        device.type_text("ab", drained=lambda: None)
        pressed = [event for event in recorder.collect() if event.type == X.KeyPress]
        assert [bool(event.state & X.ControlMask) for event in pressed] == [False, False, False]  # Ctrl, a, b
        person.key("Shift_L", down=True)
        try:
            with pytest.raises(KeysHeld, match="Shift"):
                device.press(chord(["s"]))
            assert [event.detail for event in recorder.collect() if event.type == X.KeyPress] == [
                recorder.display.keysym_to_keycode(XK.XK_Shift_L)
            ]
        finally:
            person.key("Shift_L", down=False)


def test_input_waits_for_a_held_button(desktop: VirtualDesktop, person: Person) -> None:
    waits: list[float] = []

    def let_go(seconds: float) -> None:
        waits.append(seconds)
        xtest.fake_input(person.display, X.ButtonRelease, 3)
        person.display.sync()

    modifiers = Modifiers(person.display, let_go)
    modifiers.await_free()
    assert not waits
    xtest.fake_input(person.display, X.ButtonPress, 3)
    person.display.sync()
    modifiers.await_free()
    assert len(waits) == 1


def test_keys_held_by_a_killed_program_are_released(
    desktop: VirtualDesktop, recorder: RecordingWindow, person: Person
) -> None:
    person.key("Control_L", down=True)
    xtest.fake_input(person.display, X.ButtonPress, 1)
    person.display.sync()
    assert held(recorder) != (0, 0)
    open_input_device("xtest", desktop.display).close()
    assert held(recorder) == (0, 0)

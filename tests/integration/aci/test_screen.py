"""Windows and pixels of a real screen."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from Xlib import X, Xatom

from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from aci.errors import NoDisplay
from aci.observation.geometry import Point, Rect
from aci.observation.snapshot import Window
from aci.screen.screen import Screen, open_display
from aci.screen.window_watch import WindowWatch
from tests.integration.aci.conftest import RecordingWindow
from tests.integration.aci.seeing import LIMIT_S, wait_until

pytestmark = pytest.mark.desktop


@pytest.fixture
def screen(desktop: VirtualDesktop) -> Iterator[Screen]:
    opened = Screen(desktop.display)
    yield opened
    opened.close()


@pytest.fixture
def second(desktop: VirtualDesktop, recorder: RecordingWindow) -> Iterator[RecordingWindow]:
    window = RecordingWindow(desktop.display, "Second é中", x=200, y=150)
    yield window
    window.close()


def test_a_screenshot_has_the_colors_of_the_screen(screen: Screen, recorder: RecordingWindow) -> None:
    recorder.window.change_attributes(background_pixel=0x3366CC)
    recorder.window.clear_area()
    recorder.display.sync()
    picture = screen.screenshot()
    assert picture.shape == (700, 1000, 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    (window,) = screen.windows()
    assert tuple(picture[window.rect.center.y, window.rect.center.x]) == (0x33, 0x66, 0xCC)
    assert screen.frame().shape == (700, 1000)


@pytest.fixture
def private(desktop: VirtualDesktop) -> Iterator[Screen]:
    opened = Screen(desktop.display, private=True)
    yield opened
    opened.close()


def test_pixels_of_a_private_screen_are_fetched_only_after_something_was_drawn(
    private: Screen, recorder: RecordingWindow
) -> None:
    wait_until(lambda: private.frame() is private.frame())
    before = private.frame()
    assert before.shape == (700, 1000)
    assert private.frame() is before
    recorder.window.fill_rectangle(recorder.window.create_gc(foreground=0xAA3311), 5, 5, 20, 20)
    recorder.display.sync()
    after = private.frame()
    assert after is not before
    (window,) = private.windows()
    assert after[window.rect.y + 10, window.rect.x + 10] & 0xFFFFFF == 0xAA3311


def test_no_drawing_on_a_private_screen_is_missed(
    private: Screen, screen: Screen, recorder: RecordingWindow, second: RecordingWindow
) -> None:
    """Another thread draws and moves a window; whenever it pauses, the pixels must be the current ones."""
    drawing, resting, ended = threading.Event(), threading.Event(), threading.Event()
    drawing.set()

    def draw() -> None:
        gc, number = second.window.create_gc(), 0
        while not ended.is_set():
            if not drawing.is_set():
                second.display.sync()
                resting.set()
                drawing.wait(LIMIT_S)
            number += 1
            gc.change(foreground=number * 0x010305 & 0xFFFFFF)
            second.window.fill_rectangle(gc, number % 50, number % 30, 10, 10)
            if number % 40 == 0:
                second.window.configure(x=number % 300)
            second.display.flush()

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(60):
            for _ in range(5):
                private.frame()
            resting.clear()
            drawing.clear()
            assert resting.wait(LIMIT_S)
            now = screen.frame()
            seen = private.frame()
            while not np.array_equal(now, later := screen.frame()):  # the window manager follows
                now, seen = later, private.frame()
            assert np.array_equal(seen, now)
            drawing.set()
    finally:
        ended.set()
        drawing.set()
        thread.join()


def test_windows_come_topmost_first(screen: Screen, recorder: RecordingWindow, second: RecordingWindow) -> None:
    top, below = screen.windows()
    assert (top.id, top.title, top.app, top.active) == (second.id, "Second é中", "Recorder", True)
    assert (below.id, below.active) == (recorder.id, False)
    assert (below.rect.width, below.rect.height) == (300, 200)
    assert top.pid is not None  # The window does not say; the server does.


def test_the_place_of_a_window_is_that_of_its_content(screen: Screen, recorder: RecordingWindow) -> None:
    (window,) = screen.windows()
    corner = recorder.display.screen().root.translate_coords(recorder.window, 0, 0)
    assert window.rect == Rect(corner.x, corner.y, 300, 200)


def test_a_point_hits_the_topmost_window(screen: Screen, recorder: RecordingWindow, second: RecordingWindow) -> None:
    top, below = screen.windows()
    common = top.rect.intersection(below.rect)
    assert common is not None
    assert screen.window_at(common.center) == second.id
    assert screen.window_at(Point(below.rect.x + 2, below.rect.y + 2)) == recorder.id
    assert screen.window_at(Point(top.rect.x + 20, top.rect.y - 5)) == second.id  # Its title bar.
    assert screen.window_at(Point(990, 690)) is None


def test_activate_brings_to_the_front(screen: Screen, recorder: RecordingWindow, second: RecordingWindow) -> None:
    assert screen.activate(recorder.id)
    assert [window.id for window in screen.windows()] == [recorder.id, second.id]
    assert screen.active_window() == recorder.id


def test_a_minimized_window_comes_back(screen: Screen, recorder: RecordingWindow) -> None:
    from Xlib.protocol.event import ClientMessage

    change_state = recorder.display.intern_atom("WM_CHANGE_STATE")
    event = ClientMessage(window=recorder.window, client_type=change_state, data=(32, [3, 0, 0, 0, 0]))
    mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
    recorder.display.screen().root.send_event(event, event_mask=mask)
    recorder.display.sync()
    wait_until(lambda: screen.windows() == ())
    assert [window.id for window in screen.managed_windows()] == [recorder.id]
    assert screen.activate(recorder.id)
    assert [window.id for window in screen.windows()] == [recorder.id]


def test_popup_is_marked_as_such_and_lies_on_top(screen: Screen, recorder: RecordingWindow) -> None:
    root = recorder.display.screen().root
    popup = root.create_window(150, 150, 80, 60, 0, 24, override_redirect=True)
    popup.map()
    recorder.display.sync()
    top, below = screen.windows()
    assert (top.id, top.popup, top.title, top.app) == (popup.id, True, "", "Recorder")
    assert top.pid == below.pid
    assert not below.popup
    assert screen.window_at(Point(160, 160)) == popup.id
    popup.destroy()


def test_modal_dialog_is_marked_as_such(screen: Screen, recorder: RecordingWindow) -> None:
    from Xlib import Xatom

    state, modal = (recorder.display.intern_atom(name) for name in ("_NET_WM_STATE", "_NET_WM_STATE_MODAL"))
    dialog = recorder.display.screen().root.create_window(300, 300, 80, 60, 0, 24)
    dialog.set_wm_class("recorder", "Recorder")
    dialog.set_wm_transient_for(recorder.window)
    dialog.change_property(state, Xatom.ATOM, 32, [modal])
    dialog.map()
    recorder.display.sync()
    wait_until(lambda: len(screen.windows()) == 2)
    top, below = screen.windows()
    assert (top.id, top.modal, below.modal) == (dialog.id, True, False)
    dialog.destroy()


def test_windows_are_those_of_now_after_every_change(
    desktop: VirtualDesktop, screen: Screen, recorder: RecordingWindow
) -> None:
    second = RecordingWindow(desktop.display, "Second é中", x=200, y=150)
    display, window = second.display, second.window
    utf8, name, kind = (display.intern_atom(atom) for atom in ("UTF8_STRING", "_NET_WM_NAME", "_NET_WM_WINDOW_TYPE"))

    def changed(*windows: RecordingWindow) -> dict[int, Window]:
        for each in windows:
            each.display.sync()
        with closing(Screen(desktop.display)) as fresh:
            wait_until(lambda: screen.windows() == fresh.windows())  # the window manager answers a moment later
        wait_until(lambda: screen.windows() is screen.windows())  # those that did not change are not read again
        return {each.id: each for each in screen.windows()}

    assert changed(second)[second.id].title == "Second é中"
    window.change_property(name, utf8, 8, b"Renamed")
    assert changed(second)[second.id].title == "Renamed"
    window.change_property(kind, Xatom.ATOM, 32, [display.intern_atom("_NET_WM_WINDOW_TYPE_DIALOG")])
    window.set_wm_transient_for(recorder.window)
    assert changed(second)[second.id].modal
    before = changed(second)[second.id].rect
    window.configure(x=333, width=250)
    display.sync()
    wait_until(lambda: changed(second)[second.id].rect.width == 250)
    assert changed(second)[second.id].rect != before
    assert screen.activate(recorder.id)
    wait_until(lambda: changed(second)[recorder.id].active)
    popup = display.screen().root.create_window(40, 40, 80, 60, 0, 24, override_redirect=True)
    popup.set_wm_class("popup", "Popup")
    popup.map()
    assert changed(second)[popup.id].popup
    popup.configure(x=90)
    assert changed(second)[popup.id].rect.x == 90
    popup.unmap()
    assert popup.id not in changed(second)
    second.close()
    wait_until(lambda: second.id not in {each.id for each in screen.windows()})
    with closing(RecordingWindow(desktop.display, "Third")) as third:  # often with the same id
        assert changed(third)[third.id].title == "Third"
        third.window.change_property(name, utf8, 8, b"Fourth")
        assert changed(third)[third.id].title == "Fourth"


def test_a_window_is_followed_although_one_with_its_id_was_gone(
    desktop: VirtualDesktop, recorder: RecordingWindow
) -> None:
    root = recorder.display.screen().root
    with closing(WindowWatch(open_display(desktop.display))) as watch:
        first = root.create_window(0, 0, 10, 10, 0, 24)
        watch.follow([first.id + 1])
        window = root.create_window(0, 0, 10, 10, 0, 24)
        recorder.display.sync()
        assert window.id == first.id + 1
        watch.follow([window.id])
        before = watch.changes()
        window.set_wm_name("Renamed")
        recorder.display.sync()
        assert watch.changes() == before + 1


def test_close_asks_the_application(screen: Screen, recorder: RecordingWindow) -> None:
    recorder.window.set_wm_protocols([recorder.display.intern_atom("WM_DELETE_WINDOW")])
    recorder.display.sync()
    screen.close_window(recorder.id)
    recorder.wait_for(X.ClientMessage)


def test_there_is_no_such_display() -> None:
    with pytest.raises(NoDisplay, match="virtual desktop"):
        Screen(":4711")


def test_without_a_display_in_the_environment() -> None:
    with pytest.raises(NoDisplay, match="DISPLAY is not set"):
        X11Desktop(environment={})


def test_own_screen_without_an_accessibility_bus_has_a_note(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    environment = {**desktop.environment, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    with X11Desktop(environment=environment) as own:
        observation = own.observe()
    assert [window.title for window in observation.windows] == ["Recorder"]
    assert observation.elements == ()
    assert any("No elements" in note for note in observation.notes)


def test_server_that_hangs_up_at_connection_raises_no_display() -> None:
    number = 7000 + os.getpid() % 1000
    place = Path(f"/tmp/.X11-unix/X{number}")
    place.parent.mkdir(mode=0o1777, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(place))
        try:
            listening.listen(1)
            greeter = threading.Thread(target=lambda: listening.accept()[0].close())
            greeter.start()
            with pytest.raises(NoDisplay, match=f":{number}"):
                Screen(f":{number}")
            greeter.join(LIMIT_S)
        finally:
            place.unlink()

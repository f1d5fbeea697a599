"""Input by PyAutoGUI itself, where it is installed, in a process of its own: it serves one display in a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from Xlib import X

from aci.acting.actions import Hotkey, Scroll, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from aci.remote.pyautogui_code import pyautogui_code
from tests.integration.aci.conftest import RecordingWindow
from tests.integration.aci.seeing import LIMIT_S
from tests.integration.aci.test_input_device import inside

pytest.importorskip("pytweening", reason="pip install --no-deps pyautogui pytweening")
pytestmark = pytest.mark.desktop

OPENING = """
import sys
from aci.errors import AciError
from aci.observation.geometry import Point
from aci.input.backends import open_input_device
from aci.input.keys import chord
device = open_input_device("pyautogui", sys.argv[1])
here = Point(int(sys.argv[2]), int(sys.argv[3]))
there = Point(here.x + 150, here.y + 60)
"""


def act(desktop: VirtualDesktop, recorder: RecordingWindow, work: str) -> str:
    """Run some lines that use `device`; return what they print."""
    point = inside(recorder, 30, 30)
    recorder.collect()
    done = subprocess.run(
        [sys.executable, "-c", OPENING + work + "\ndevice.close()", desktop.display, str(point.x), str(point.y)],
        env={"PATH": "/usr/bin:/bin", "HOME": str(desktop.home)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_text_is_typed_exactly(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    act(desktop, recorder, 'device.type_text("Hello, World! {a+b}~\\n\\t", lambda: None)')
    assert recorder.typed() == "Hello, World! {a+b}~\n\t"


def test_text_that_pyautogui_would_drop_is_refused_before_typing(
    desktop: VirtualDesktop, recorder: RecordingWindow
) -> None:
    said = act(
        desktop,
        recorder,
        """
try:
    device.type_text("caf\u00e9 \u4e2d \U0001f600", lambda: None)
except AciError as error:
    print(type(error).__name__, ascii(str(error)))
""",
    )
    assert said.startswith("CannotType") and "\\xe9\\u4e2d\\U0001f600" in said
    assert recorder.typed() == ""


def test_keys_clicks_wheel_and_drag(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    act(
        desktop,
        recorder,
        """
device.press(chord(["ctrl", "s"]))
device.press_each(chord(["shift"]), [chord(["Down"]), chord(["F5"])])
device.click(here, 2, "right", chord(["ctrl"]))
device.scroll(here, -2)
device.drag([here, there])
""",
    )
    events = recorder.collect()
    keys = [(event.detail, event.state & 5) for event in events if event.type == X.KeyPress]
    code = {name: recorder.display.keysym_to_keycode(value) for name, value in KEYS.items()}
    assert keys == [
        *((code["ctrl"], 0), (code["s"], X.ControlMask)),
        *((code["shift"], 0), (code["Down"], X.ShiftMask), (code["F5"], X.ShiftMask)),
        (code["ctrl"], 0),
    ]
    buttons = [(event.detail, event.state & 5) for event in events if event.type == X.ButtonPress]
    assert buttons == [(3, X.ControlMask)] * 2 + [(5, 0)] * 2 + [(1, 0)]
    released = [event for event in events if event.type == X.ButtonRelease][-1]
    assert (released.event_x, released.event_y) == (180, 90)
    assert sum(1 for event in events if event.type == X.MotionNotify and event.state & X.Button1Mask) > 8


def test_nothing_stays_pressed(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    act(
        desktop,
        recorder,
        """
from aci.screen.emergency_stop import Halt
class Stop(BaseException): pass
class Stopping(Halt):
    def pause(self, seconds): raise Stop
stopping = open_input_device("pyautogui", sys.argv[1], halt=Stopping())
try:
    stopping.drag([here, there], chord(["ctrl"]))
except Stop:
    pass
""",
    )
    assert sum(recorder.display.query_keymap()) == 0
    assert recorder.display.screen().root.query_pointer().mask == 0


def test_a_second_display_is_refused(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    with VirtualDesktop(size=(320, 240), ocr=None) as other:
        said = act(
            desktop,
            recorder,
            f"""
try:
    open_input_device("pyautogui", {other.display!r})
except AciError as error:
    print(type(error).__name__, error)
""",
        )
        assert said.startswith("DesktopError") and other.display in said


KEYS = {"End": 0xFF57, "ctrl": 0xFFE3, "shift": 0xFFE1, "s": ord("s"), "Down": 0xFF54, "F5": 0xFFC2}


def test_code_for_osworld_does_what_the_primitive_does(desktop: VirtualDesktop, recorder: RecordingWindow) -> None:
    point = inside(recorder, 30, 30)
    there = Element(1, "text", "", Rect(point.x, point.y, 1, 1), point, recorder.id)
    seen = Observation(np.zeros((1, 1, 3), np.uint8), (there,), ())
    recorder.collect()
    actions = (Type(text='Bob\'s "x"\n', element_id=1), Hotkey(keys=("ctrl", "End")), Scroll(element_id=1, clicks=2))
    for action in actions:
        code = pyautogui_code(action, seen)
        environment = {"PATH": "/usr/bin:/bin", "DISPLAY": desktop.display}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=LIMIT_S)
    events = recorder.collect()
    assert [event.detail for event in events if event.type == X.ButtonPress] == [1, 4, 4]
    recorder.seen = [event for event in events if event.type == X.KeyPress]
    assert recorder.typed().startswith('Bob\'s "x"\n')
    last = [event for event in events if event.type == X.KeyPress][-1]
    assert recorder.display.keycode_to_keysym(last.detail, 0) == KEYS["End"] and last.state & X.ControlMask

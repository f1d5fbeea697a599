"""Primitives in the space `computer_13`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aci.acting.actions import (
    Action,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    MouseUp,
    Move,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
)
from aci.errors import NotTranslatable
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from aci.remote.computer_13 import computer_13

WINDOW = Window(7, "Notes", "notes", Rect(0, 0, 400, 300))
SCREEN = Observation(
    np.zeros((1, 1, 3), np.uint8),
    (
        Element(1, "text", "Name", Rect(0, 0, 40, 20), Point(10, 20), 7),
        Element(2, "text", "Name", Rect(100, 100, 40, 20), Point(110, 120), 7),
        Element(3, "text", "Name", Rect(0, 0, 40, 20), None, 7),
    ),
    (WINDOW,),
)


def step(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"action_type": kind, "parameters": parameters}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (Done(), ["DONE"]),
        (Fail(), ["FAIL"]),
        (Wait(time=3), ["WAIT"]),
        (SaveToBuffer(text="a"), ["WAIT"]),
        (Click(element_id=1), [step("CLICK", x=10, y=20, button="left", num_clicks=1)]),
        (
            Click(at=(5, 6), num_clicks=2, button_type="right", hold_keys=("ctrl",)),
            [
                step("KEY_DOWN", key="ctrl"),
                step("CLICK", x=5, y=6, button="right", num_clicks=2),
                step("KEY_UP", key="ctrl"),
            ],
        ),
        (
            Type(text="a\nb", element_id=2, overwrite=True, enter=True),
            [
                step("CLICK", x=110, y=120, button="left", num_clicks=1),
                step("HOTKEY", keys=["ctrl", "a"]),
                step("PRESS", key="backspace"),
                step("TYPING", text="a\nb"),
                step("PRESS", key="enter"),
            ],
        ),
        (Type(text=""), ["WAIT"]),
        (Scroll(element_id=1, clicks=-3), [step("MOVE_TO", x=10, y=20), step("SCROLL", dy=-3)]),
        (Scroll(element_id=1, clicks=2, horizontal=True), [step("MOVE_TO", x=10, y=20), step("SCROLL", dx=2)]),
        (DragAndDrop(drag_from_id=1, drop_on_id=2), [step("MOVE_TO", x=10, y=20), step("DRAG_TO", x=110, y=120)]),
        (
            DragAndDrop(from_at=(1, 2), path=((3, 4), (5, 6))),
            [
                step("MOVE_TO", x=1, y=2),
                step("MOUSE_DOWN", button="left"),
                step("MOVE_TO", x=3, y=4),
                step("MOVE_TO", x=5, y=6),
                step("MOUSE_UP", button="left"),
            ],
        ),
        (Hotkey(keys=("ctrl", "s")), [step("HOTKEY", keys=["ctrl", "s"])]),
        (Hotkey(keys=("Return",)), [step("PRESS", key="return")]),
        (
            HoldAndPress(hold_keys=("shift",), press_keys=("Left", "Left")),
            [
                step("KEY_DOWN", key="shift"),
                step("PRESS", key="left"),
                step("PRESS", key="left"),
                step("KEY_UP", key="shift"),
            ],
        ),
        (Move(at=(1, 2)), [step("MOVE_TO", x=1, y=2)]),
        (MouseUp(button_type="middle"), [step("MOUSE_UP", button="middle")]),
        (KeyDown(keys=("alt",)), [step("KEY_DOWN", key="alt")]),
        (
            SwitchApplications(app_code="files"),
            [step("PRESS", key="win"), "WAIT", step("TYPING", text="files"), "WAIT", step("PRESS", key="enter")],
        ),
    ],
)
def test_each_primitive_has_its_form(action: Action, expected: list[Any]) -> None:
    assert computer_13(action, SCREEN) == expected


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Click(element_id=9), "no element 9"),
        (Click(element_id=3), "covered"),
        (Type(text="größer"), "types ASCII only"),
        (Hotkey(keys=("XF86AudioMute",)), "no name for the key"),
    ],
)
def test_what_the_space_lacks_is_said(action: Action, reason: str) -> None:
    with pytest.raises(NotTranslatable, match=reason):
        computer_13(action, SCREEN)

"""Primitives as OSWorld's code: what it calls, and that nothing in a text can become code."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
)
from aci.errors import NotTranslatable
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from aci.remote.pyautogui_code import pyautogui_code

WINDOW = Window(0x2A, "notes.txt", "Mousepad", Rect(0, 0, 400, 300))


def element(number: int, point: Point | None) -> Element:
    return Element(number, "text", "Name", Rect(0, 0, 40, 20), point, WINDOW.id)


SCREEN = Observation(
    np.zeros((1, 1, 3), np.uint8),
    (element(1, Point(10, 20)), element(2, Point(110, 120)), element(3, None)),
    (WINDOW,),
)


class Recording:
    """Stands for the modules that the code may use, and keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.modules = {
            name: SimpleNamespace(**{call: self.recorder(call) for call in calls.split()})
            for name, calls in {
                "pyautogui": "click moveTo scroll dragTo keyDown keyUp hotkey press write sleep",
                "time": "sleep",
                "subprocess": "run",
                "pyperclip": "copy",
            }.items()
        }

    def recorder(self, name: str) -> Any:
        return lambda *given, **more: self.calls.append((name, *given, *more.items()))

    def run(self, code: str) -> list[tuple[Any, ...]]:
        """Carry the statements out one by one: imports and calls with literals are all that there may be."""
        for statement in ast.parse(code).body:
            if isinstance(statement, ast.Import):
                assert all(name.name in self.modules for name in statement.names)
                continue
            assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            call = statement.value
            assert isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
            function = getattr(self.modules[call.func.value.id], call.func.attr)
            keywords = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            function(*map(ast.literal_eval, call.args), **keywords)
        return self.calls


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        (Click(element_id=1), [("click", 10, 20, ("clicks", 1), ("button", "left"))]),
        (
            Click(element_id=1, num_clicks=2, button_type="right", hold_keys=("ctrl", "shift")),
            [
                *(("keyDown", "ctrl"), ("keyDown", "shift")),
                ("click", 10, 20, ("clicks", 2), ("button", "right")),
                *(("keyUp", "shift"), ("keyUp", "ctrl")),
            ],
        ),
        (Scroll(element_id=2, clicks=-3), [("moveTo", 110, 120), ("scroll", -3)]),
        (
            DragAndDrop(drag_from_id=1, drop_on_id=2, hold_keys=("alt",)),
            [
                *(("moveTo", 10, 20), ("keyDown", "alt")),
                *(("dragTo", 110, 120, ("duration", 0.5), ("button", "left")), ("keyUp", "alt")),
            ],
        ),
        (Hotkey(keys=("Ctrl", "Shift", "Page_Up")), [("hotkey", "ctrl", "shift", "pageup")]),
        (
            HoldAndPress(hold_keys=("shift",), press_keys=("Down", "F5", "?")),
            [("keyDown", "shift"), ("press", "down"), ("press", "f5"), ("press", "?"), ("keyUp", "shift")],
        ),
        (
            Type(text="a'b\"\n", element_id=1, overwrite=True, enter=True),
            [
                *(
                    ("click", 10, 20, ("clicks", 1), ("button", "left")),
                    ("hotkey", "ctrl", "a"),
                    ("press", "backspace"),
                ),
                *(("write", "a'b\"\n"), ("press", "enter")),
            ],
        ),
        (Type(text="é 中 😀"), [("copy", "é 中 😀"), ("hotkey", "ctrl", "v")]),
        (SwitchApplications(app_code="mousepad"), [("run", ["wmctrl", "-i", "-a", "0x2a"])]),
        (
            SwitchApplications(app_code="Files"),
            [("press", "win"), ("sleep", 1.0), ("write", "Files"), ("sleep", 1.0), ("press", "enter")],
        ),
        (Wait(time=1.5), [("sleep", 1.5)]),
    ],
)
def test_primitive_becomes_calls_of_pyautogui(action: Action, calls: list[tuple[Any, ...]]) -> None:
    assert Recording().run(pyautogui_code(action, SCREEN)) == calls


def test_a_window_of_which_only_the_title_is_known_is_activated_by_title() -> None:
    window = Window(-3, "notes.txt", "Mousepad", Rect(0, 0, 400, 300))
    seen = Observation(np.zeros((1, 1, 3), np.uint8), (), (window,))
    code = pyautogui_code(SwitchApplications(app_code="mousepad"), seen)
    assert code == "import subprocess; subprocess.run(['wmctrl', '-a', 'notes.txt'])"


@pytest.mark.parametrize(
    ("action", "word"),
    [
        (Done(), "DONE"),
        (Fail(reason="no"), "FAIL"),
        (SaveToBuffer(text="x"), "WAIT"),
        (CallUser(question="?"), "WAIT"),
    ],
)
def test_actions_without_input_become_special_words(action: Action, word: str) -> None:
    assert pyautogui_code(action, SCREEN) == word


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Click(element_id=9), "no element 9"),
        (Type(text="x", element_id=3), "covered"),
        (Hotkey(keys=("frob",)), "frob"),
        (Hotkey(keys=("volumeup",)), "no name"),
    ],
)
def test_untranslatable_action_is_an_error(action: Action, said: str) -> None:
    with pytest.raises(NotTranslatable, match=said):
        pyautogui_code(action, SCREEN)


@given(st.text(min_size=1, max_size=200))
def test_no_text_breaks_out_of_its_literal(text: str) -> None:
    calls = Recording().run(pyautogui_code(Type(text=text), SCREEN))
    given_texts = [call[1] for call in calls if call[0] in ("write", "copy")]
    assert given_texts == ([text.replace("\r\n", "\n").replace("\r", "\n")] if text else [])


@given(st.text(min_size=1, max_size=200))
def test_no_name_breaks_out_of_its_literal(name: str) -> None:
    for call in Recording().run(pyautogui_code(SwitchApplications(app_code=name), SCREEN)):
        assert call[0] in ("run", "press", "sleep", "write", "copy", "hotkey")

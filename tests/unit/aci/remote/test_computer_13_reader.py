"""Primitives from the space `computer_13`, and the way there and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
)
from aci.errors import MalformedAction, NotTranslatable
from aci.observation.geometry import Point
from aci.observation.observation import Observation
from aci.remote.computer_13 import Step, call_user_step, computer_13
from aci.remote.computer_13_reader import Computer13Reader

SCREEN = Observation(np.zeros((1, 1, 3), np.uint8), (), ())
# the names of `KEYBOARD_KEYS` in desktop_env 1.0.2, and the capital letters
PRESSED = """
    tab return escape delete insert backspace home end left right up down pageup pagedown pause print help
    alt ctrl shift win altright ctrlright shiftright winright apps capslock numlock scrolllock
    add divide multiply subtract
"""
WRITTEN = [*PRESSED.split(), *(f"f{number}" for number in range(1, 25)), *map(chr, range(ord(" "), ord("~") + 1))]
SYNONYMS = {
    "\t": "tab", "\n": "return", "\r": "return", "enter": "return", "esc": "escape", "del": "delete",
    "pgup": "pageup", "pgdn": "pagedown", "printscreen": "print", "prntscrn": "print", "prtsc": "print",
    "prtscr": "print", "altleft": "alt", "ctrlleft": "ctrl", "shiftleft": "shift", "winleft": "win",
    "command": "win", "option": "alt",
}  # fmt: skip
READ_ONLY = """
    clear decimal execute kanji select separator volumedown volumemute volumeup yen
    num0 num1 num2 num3 num4 num5 num6 num7 num8 num9
"""
REFUSED = """
    accept browserback browserfavorites browserforward browserhome browserrefresh browsersearch browserstop convert
    final fn hanguel hangul hanja junja kana launchapp1 launchapp2 launchmail launchmediaselect modechange nexttrack
    nonconvert playpause prevtrack sleep stop optionleft optionright
"""


def step(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"action_type": kind, "parameters": parameters}


def read(steps: Iterable[object], pointer: Point | None = None) -> list[Action]:
    reader = Computer13Reader(pointer)
    return [action for one in steps for action in reader.read(one)]


def write(actions: Iterable[Action]) -> list[Step]:
    return [
        one
        for action in actions
        for one in ([call_user_step(action.question)] if isinstance(action, CallUser) else computer_13(action, SCREEN))
    ]


@pytest.mark.parametrize(
    ("given_step", "expected"),
    [
        ("WAIT", [Wait(time=2)]),
        ("DONE", [Done()]),
        ("FAIL", [Fail()]),
        ({"action_type": "DONE"}, [Done()]),
        (step("MOVE_TO", x=3, y=4), [Move(at=(3, 4))]),
        ({"action_type": "MOVE_TO", "x": 3.7, "y": 4.0}, [Move(at=(3, 4))]),
        (step("CLICK"), [Click(at=(10, 20))]),
        ({"action_type": "CLICK", "parameters": None}, [Click(at=(10, 20))]),
        (step("CLICK", num_clicks=3), [Click(at=(10, 20), num_clicks=3)]),
        (step("CLICK", x=1, y=2, button="middle"), [Click(at=(1, 2), button_type="middle")]),
        (step("RIGHT_CLICK"), [Click(at=(10, 20), button_type="right")]),
        (step("DOUBLE_CLICK", x=1, y=2), [Click(at=(1, 2), num_clicks=2)]),
        (step("MOUSE_DOWN"), [MouseDown(at=(10, 20))]),
        (step("MOUSE_UP", button="right"), [MouseUp(at=(10, 20), button_type="right")]),
        (step("DRAG_TO", x=1, y=2), [DragAndDrop(from_at=(10, 20), drop_at=(1, 2))]),
        (step("SCROLL", dy=-3), [Scroll(at=(10, 20), clicks=-3)]),
        (step("SCROLL", dx=2, dy=0), [Scroll(at=(10, 20), clicks=2, horizontal=True)]),
        (
            step("SCROLL", dx=1, dy=-150),
            [
                Scroll(at=(10, 20), clicks=1, horizontal=True),
                Scroll(at=(10, 20), clicks=-100),
                Scroll(at=(10, 20), clicks=-50),
            ],
        ),
        (step("TYPING", text="a\nb"), [Type(text="a\nb")]),
        (step("PRESS", key="Enter"), [Hotkey(keys=("enter",))]),
        (step("KEY_DOWN", key="ctrlleft"), [KeyDown(keys=("Control_L",))]),
        (step("KEY_UP", key="num0"), [KeyUp(keys=("KP_0",))]),
        (step("HOTKEY", keys=["ctrl", "s"]), [Hotkey(keys=("ctrl", "s"))]),
        (step("HOTKEY", keys=["ctrlright", "S"]), [Hotkey(keys=("Control_R", "shift", "s"))]),
        (step("HOTKEY", keys=["ctrl", "shift", "S"]), [Hotkey(keys=("ctrl", "shift", "s"))]),
        (step("PRESS", key="S"), [Hotkey(keys=("S",))]),
        (step("CALL_USER", call_type="email"), [CallUser(question="Please type your email.")]),
    ],
)
def test_each_action_becomes_primitives(given_step: object, expected: list[Action]) -> None:
    assert read([given_step], Point(10, 20)) == expected


@pytest.mark.parametrize(
    ("given_step", "expected"),
    [
        (step("CLICK", num_clicks=2), [MouseDown(), MouseUp(), MouseDown(), MouseUp()]),
        (step("MOUSE_DOWN"), [MouseDown()]),
        (step("DRAG_TO", x=1, y=2), [MouseDown(), Move(at=(1, 2)), MouseUp(at=(1, 2))]),
    ],
)
def test_an_unknown_pointer_is_used_where_it_is(given_step: object, expected: list[Action]) -> None:
    assert read([given_step]) == expected


def test_the_pointer_is_remembered() -> None:
    steps = [step("DOUBLE_CLICK", x=5, y=6), step("DRAG_TO", x=7, y=8), step("TYPING", text="a"), step("SCROLL", dy=1)]
    assert read(steps)[-1] == Scroll(at=(7, 8), clicks=1)


@pytest.mark.parametrize(
    ("given_step", "said"),
    [
        ("CLICK_ON", "no action 'CLICK_ON'; there are: MOVE_TO, CLICK,"),
        (step("click"), "no action 'click'"),
        (7, "an object with action_type and parameters, not '7'"),
        ({"parameters": {}}, "an object with action_type"),
        ({"action_type": "CLICK", "parameters": {}, "x": 3}, "beside them x"),
        ({"action_type": "CLICK", "parameters": [1, 2]}, "CLICK: .*dictionary"),
        (step("MOVE_TO", x=3), "MOVE_TO: y: Field required. Its parameters: x, y"),
        (step("MOVE_TO", x="3", y=4), "x: .*valid number"),
        (step("MOVE_TO", x=True, y=4), "x: .*valid number"),
        (step("MOVE_TO", x=-1, y=4), "x: .*greater than or equal to 0"),
        (step("MOVE_TO", x=math.nan, y=4), "x: .*finite"),
        (step("CLICK", x=3), "CLICK: it takes both x and y"),
        (step("CLICK", button="side"), "button: Input should be 'left', 'middle' or 'right'"),
        (step("CLICK", num_clicks=0), "num_clicks: "),
        (step("CLICK", clicks=2), "clicks: Extra inputs .* Its parameters: x, y, button, num_clicks"),
        (step("SCROLL"), "it takes dx, dy or both"),
        (step("SCROLL", dy=1.5), "dy: "),
        (step("SCROLL", dy=-3), "MOVE_TO first"),
        (step("SCROLL", dy=10**9), "dy: .*10000"),
        (step("TYPING"), "text: Field required"),
        (step("PRESS", key="ctrl+s"), "key: There is no key 'ctrl"),
        (step("PRESS", key="entr"), "Did you mean 'enter'"),
        (step("HOTKEY", keys="ctrl"), "keys: .*list"),
        (step("HOTKEY", keys=[]), "keys: .*at least 1"),
        (step("HOTKEY", keys=[*"abcdefghi"]), "keys: .*at most 8"),
        (step("HOTKEY", keys=["ctrl", "nokey"]), "keys.1: There is no key"),
        (step("CALL_USER"), "call_type: Field required"),
        (step("WAIT", time=3), "WAIT: time: .* Its parameters: none"),
    ],
)
def test_what_cannot_be_read_is_named(given_step: object, said: str) -> None:
    with pytest.raises(MalformedAction, match=said):
        read([given_step])


def test_every_key_of_the_space_is_written_read_only_or_refused() -> None:
    for key in [*WRITTEN, *SYNONYMS]:
        assert write(read([step("PRESS", key=key)])) == [step("PRESS", key=SYNONYMS.get(key, key))]
    for key in READ_ONLY.split():
        with pytest.raises(NotTranslatable):
            write(read([step("PRESS", key=key)]))
    for key in REFUSED.split():
        with pytest.raises(MalformedAction, match="There is no key"):
            read([step("PRESS", key=key)])


PIXEL = st.integers(0, 3000)
PLACE = st.tuples(PIXEL, PIXEL)
BUTTON = st.sampled_from(["left", "middle", "right"])
TEXT = st.text(st.sampled_from([*map(chr, range(ord(" "), 127)), "\n", "\t"]))
SAME_NAME = st.sampled_from(["ctrl", "shift", "alt", "return", "left", "f5", "a", "7", "+", "~"])
LOSSLESS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Click, at=PLACE, num_clicks=st.integers(1, 100), button_type=BUTTON),
    st.builds(Move, at=PLACE),
    st.builds(Scroll, at=PLACE, clicks=st.integers(-100, 100).filter(bool), horizontal=st.booleans()),
    st.builds(DragAndDrop, from_at=PLACE, drop_at=PLACE),
    st.builds(MouseDown, button_type=BUTTON),
    st.builds(MouseUp, at=st.none() | PLACE, button_type=BUTTON),
    st.builds(KeyDown, keys=st.tuples(SAME_NAME)),
    st.builds(KeyUp, keys=st.tuples(SAME_NAME)),
    st.builds(Hotkey, keys=st.lists(SAME_NAME, min_size=1, max_size=8).map(tuple)),
    st.builds(Type, text=TEXT.filter(bool)),
    st.sampled_from([Wait(time=2), Done(), Fail()]),
)


@settings(deadline=None)
@given(LOSSLESS)
def test_written_primitives_are_read_back_unchanged(action: Action) -> None:
    *before, last = read(write([action]))
    assert last == action
    assert all(isinstance(move, Move) and move.targets() == action.targets()[:1] for move in before)


KEY = st.sampled_from([key for key in [*WRITTEN, *SYNONYMS] if not key.isupper()])  # a capital letter needs Shift
COORDINATE = PIXEL | st.floats(0, 3000)
MAYBE_PLACE = st.just({}) | st.fixed_dictionaries({"x": COORDINATE, "y": COORDINATE})
WHEEL = st.integers(-300, 300)
PARAMETERS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "MOVE_TO": st.fixed_dictionaries({"x": COORDINATE, "y": COORDINATE}),
    "CLICK": st.builds(
        lambda place, rest: {**place, **rest},
        MAYBE_PLACE,
        st.fixed_dictionaries({}, optional={"button": BUTTON, "num_clicks": st.integers(1, 3)}),
    ),
    "MOUSE_DOWN": st.fixed_dictionaries({}, optional={"button": BUTTON}),
    "MOUSE_UP": st.fixed_dictionaries({}, optional={"button": BUTTON}),
    "RIGHT_CLICK": MAYBE_PLACE,
    "DOUBLE_CLICK": MAYBE_PLACE,
    "DRAG_TO": st.fixed_dictionaries({"x": COORDINATE, "y": COORDINATE}),
    "SCROLL": st.fixed_dictionaries({"dx": WHEEL}, optional={"dy": WHEEL}) | st.fixed_dictionaries({"dy": WHEEL}),
    "TYPING": st.fixed_dictionaries({"text": TEXT}),
    "PRESS": st.fixed_dictionaries({"key": KEY}),
    "KEY_DOWN": st.fixed_dictionaries({"key": KEY}),
    "KEY_UP": st.fixed_dictionaries({"key": KEY}),
    "HOTKEY": st.fixed_dictionaries({"keys": st.lists(KEY, min_size=1, max_size=8)}),
    "CALL_USER": st.fixed_dictionaries({"call_type": st.sampled_from(["email", "password"])}),
}
STEP: st.SearchStrategy[Step] = st.sampled_from(["WAIT", "DONE", "FAIL"]) | st.sampled_from([*PARAMETERS]).flatmap(
    lambda kind: PARAMETERS[kind].map(lambda parameters: step(kind, **parameters))
)


@settings(deadline=None)
@given(st.lists(STEP, max_size=8))
def test_what_was_read_is_written_with_the_same_inputs(steps: list[Step]) -> None:
    steps = [step("MOVE_TO", x=1, y=2), *steps]
    assert list(inputs(write(read(steps)))) == list(inputs(steps))


@settings(deadline=None)
@given(STEP.filter(lambda one: isinstance(one, str) or one["action_type"] != "SCROLL"))
def test_what_was_read_is_written_with_the_same_inputs_when_the_pointer_is_unknown(first: Step) -> None:
    assert list(inputs(write(read([first])))) == list(inputs([first]))


def inputs(steps: Iterable[Step]) -> Iterator[tuple[Any, ...]]:  # noqa: C901 - one case per type of action
    """Yield what PyAutoGUI does for actions, as `execute_action` of desktop_env 1.0.2 calls it."""
    pointer = None
    for one in steps:
        kind, p = (one, {}) if isinstance(one, str) else (one["action_type"], one["parameters"])
        held = ("left", 1)
        match kind:
            case "CLICK":
                held = (p.get("button", "left"), p.get("num_clicks", 1))
            case "RIGHT_CLICK":
                held = ("right", 1)
            case "DOUBLE_CLICK":
                held = ("left", 2)
            case "DRAG_TO":
                yield ("down", "left")
        if "x" in p and (place := (int(p["x"]), int(p["y"]))) != pointer:
            pointer = place
            yield ("move", *place)
        match kind:
            case "CLICK" | "RIGHT_CLICK" | "DOUBLE_CLICK":
                yield from (("down", held[0]), ("up", held[0])) * held[1]
            case "DRAG_TO":
                yield ("up", "left")
            case "MOUSE_DOWN" | "MOUSE_UP":
                yield ("down" if kind == "MOUSE_DOWN" else "up", p.get("button", "left"))
            case "SCROLL":  # by single clicks
                for axis in ("dx", "dy"):
                    yield from [(axis, math.copysign(1, p.get(axis, 0)))] * abs(p.get(axis, 0))
            case "TYPING":
                yield from (("type", character) for character in p["text"])
            case "KEY_DOWN" | "KEY_UP":
                yield (kind, SYNONYMS.get(p["key"], p["key"]))
            case "PRESS" | "HOTKEY":
                keys = [SYNONYMS.get(key, key) for key in p.get("keys", [p.get("key")])]
                yield from (("KEY_DOWN", key) for key in keys)
                yield from (("KEY_UP", key) for key in reversed(keys))
            case "DONE" | "FAIL" | "CALL_USER":
                yield (kind, p.get("call_type"))

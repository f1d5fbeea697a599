"""Primitives in OSWorld's space `computer_13`: dictionaries such as `{"action_type": "CLICK", "parameters": {...}}`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.targets import Target
from aci.errors import CannotType, NotTranslatable
from aci.input.keys import UnknownKey
from aci.observation.observation import Observation
from aci.remote.pyautogui_code import DONE, FAIL, WAIT, key_names, point_of

CALL_USER = "CALL_USER"
"""OS-MAP's addition to the space, with which its harness plays the person."""
Step = dict[str, Any] | str
"""An action of the space; `WAIT`, `DONE` and `FAIL` are words, since OSWorld ends an episode by the word only."""


def computer_13(action: Action, observation: Observation) -> list[Step]:
    """Return what OSWorld is sent for a primitive, in order.

    Args:
        action: The primitive.
        observation: The screen that its element ids are of.

    Raises:
        NotTranslatable: An element is not in the observation or covered, or the space has no such key or character.
    """
    try:
        return _steps(action, observation)
    except (CannotType, UnknownKey) as error:
        raise NotTranslatable(str(error)) from error


def call_user_step(question: str) -> Step:
    """Return OS-MAP's action that has the harness type an email address or, if the question names it, a password."""
    return _step(CALL_USER, call_type="password" if "password" in question.casefold() else "email")


def _steps(action: Action, seen: Observation) -> list[Step]:  # noqa: C901 - one case per primitive
    match action:
        case Done():
            return [DONE]
        case Fail():
            return [FAIL]
        case Wait() | SaveToBuffer() | CallUser() | Zoom() | Read():
            return [WAIT]
        case Click():
            button, times = action.button_type, action.num_clicks
            click = _step("CLICK", **_at(action.target, seen), button=button, num_clicks=times)
            return _held(action.hold_keys, [click])
        case Type():
            return _typing(action, seen)
        case Scroll():
            wheel = _step("SCROLL", **({"dx": action.clicks} if action.horizontal else {"dy": action.clicks}))
            return [_step("MOVE_TO", **_at(action.target, seen)), *_held(action.hold_keys, [wheel])]
        case DragAndDrop():
            start, *rest = [_at(target, seen) for target in action.targets()]
            drag = [_step("DRAG_TO", **rest[0])]
            if len(rest) > 1:
                moves = [_step("MOVE_TO", **point) for point in rest]
                drag = [_step("MOUSE_DOWN", button="left"), *moves, _step("MOUSE_UP", button="left")]
            return [_step("MOVE_TO", **start), *_held(action.hold_keys, drag)]
        case Hotkey():
            names = key_names(action.keys)
            return [_step("HOTKEY", keys=names) if len(names) > 1 else _step("PRESS", key=names[0])]
        case HoldAndPress():
            return _held(action.hold_keys, [_step("PRESS", key=name) for name in key_names(action.press_keys)])
        case Move():
            return [_step("MOVE_TO", **_at(action.target, seen))]
        case MouseDown() | MouseUp():
            kind = "MOUSE_DOWN" if isinstance(action, MouseDown) else "MOUSE_UP"
            moves = [_step("MOVE_TO", **_at(target, seen)) for target in action.targets()]
            return [*moves, _step(kind, button=action.button_type)]
        case KeyDown() | KeyUp():
            kind = "KEY_DOWN" if isinstance(action, KeyDown) else "KEY_UP"
            return [_step(kind, key=name) for name in key_names(action.keys)]
        case SwitchApplications():  # the search of GNOME's shell brings a running application to the front
            name = _typing(Type(text=action.app_code, enter=True), seen)
            return [_step("PRESS", key="win"), WAIT, *name[:-1], WAIT, *name[-1:]]
    raise NotTranslatable(f"computer_13 has no form of {action.action}.")


def _typing(action: Type, seen: Observation) -> list[Step]:
    text = action.text.replace("\r\n", "\n").replace("\r", "\n")
    if strange := sorted({character for character in text if not (" " <= character <= "~" or character in "\n\t")}):
        raise NotTranslatable(f"computer_13 has no keys for {''.join(strange[:20])!r}; it types ASCII only.")
    steps: list[Step] = []
    if action.target is not None:
        steps.append(_step("CLICK", **_at(action.target, seen), button="left", num_clicks=1))
    if action.overwrite:
        steps += [_step("HOTKEY", keys=["ctrl", "a"]), _step("PRESS", key="backspace")]
    steps += [_step("TYPING", text=text)] if text else []
    return [*steps, *([_step("PRESS", key="enter")] if action.enter else [])] or [WAIT]


def _held(keys: tuple[str, ...], steps: Iterable[Step]) -> list[Step]:
    names = key_names(keys)
    down = [_step("KEY_DOWN", key=name) for name in names]
    return [*down, *steps, *(_step("KEY_UP", key=name) for name in reversed(names))]


def _at(target: Target, seen: Observation) -> dict[str, int]:
    point = point_of(target, seen)
    return {"x": point.x, "y": point.y}


def _step(kind: str, **parameters: Any) -> Step:
    return {"action_type": kind, "parameters": parameters}

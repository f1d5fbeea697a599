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
from aci.acting.targets import Described, Place, Span, Target
from aci.acting.wording import no_element
from aci.errors import CannotType, NotTranslatable
from aci.input.keys import UnknownKey, chord
from aci.input.pyautogui import key_name
from aci.observation.geometry import Point
from aci.observation.observation import Observation

WAIT, DONE, FAIL = "WAIT", "DONE", "FAIL"
"""OSWorld's words for a step without input, for the end, and for a task that cannot be done."""
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
    steps = steps_of(action, observation)
    for step in steps:
        if not isinstance(step, str) and (strange := untypable(step["parameters"].get("text", ""))):
            raise NotTranslatable(f"computer_13 has no keys for {strange[:20]!r}; it types ASCII only.")
    return steps


def steps_of(action: Action, observation: Observation) -> list[Step]:
    """Return a primitive as steps of the space, also with texts that its keyboard lacks (`untypable`).

    Raises:
        NotTranslatable: An element is not in the observation or covered, or there is no such key.
    """
    try:
        return _steps(action, observation)
    except (CannotType, UnknownKey) as error:
        raise NotTranslatable(str(error)) from error


def untypable(text: str) -> str:
    """Return the characters of a text that PyAutoGUI has no keys for, each once."""
    return "".join(sorted({one for one in text if not (" " <= one <= "~" or one in "\n\t")}))


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
        case Scroll(clicks=int()):
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
            names = _key_names(action.keys)
            return [_step("HOTKEY", keys=names) if len(names) > 1 else _step("PRESS", key=names[0])]
        case HoldAndPress():
            return _held(action.hold_keys, [_step("PRESS", key=name) for name in _key_names(action.press_keys)])
        case Move():
            return [_step("MOVE_TO", **_at(action.target, seen))]
        case MouseDown() | MouseUp():
            kind = "MOUSE_DOWN" if isinstance(action, MouseDown) else "MOUSE_UP"
            moves = [_step("MOVE_TO", **_at(target, seen)) for target in action.targets()]
            return [*moves, _step(kind, button=action.button_type)]
        case KeyDown() | KeyUp():
            kind = "KEY_DOWN" if isinstance(action, KeyDown) else "KEY_UP"
            return [_step(kind, key=name) for name in _key_names(action.keys)]
        case SwitchApplications():  # the search of GNOME's shell brings a running application to the front
            name = _typing(Type(text=action.app_code, enter=True), seen)
            return [_step("PRESS", key="win"), WAIT, *name[:-1], WAIT, *name[-1:]]
    if isinstance(action, Scroll):
        raise NotTranslatable("OSWorld has no form of a position to scroll to; scroll by clicks.")
    raise NotTranslatable(f"OSWorld has no form of {action.action}.")


def _typing(action: Type, seen: Observation) -> list[Step]:
    text = action.text.replace("\r\n", "\n").replace("\r", "\n")
    steps: list[Step] = []
    if action.target is not None:
        steps.append(_step("CLICK", **_at(action.target, seen), button="left", num_clicks=1))
    if action.overwrite:
        steps += [_step("HOTKEY", keys=["ctrl", "a"]), _step("PRESS", key="backspace")]
    steps += [_step("TYPING", text=text)] if text else []
    return [*steps, *([_step("PRESS", key="enter")] if action.enter else [])] or [WAIT]


def _held(keys: tuple[str, ...], steps: Iterable[Step]) -> list[Step]:
    names = _key_names(keys)
    down = [_step("KEY_DOWN", key=name) for name in names]
    return [*down, *steps, *(_step("KEY_UP", key=name) for name in reversed(names))]


def _at(target: Target, seen: Observation) -> dict[str, int]:
    point = _point_of(target, seen)
    return {"x": point.x, "y": point.y}


def _point_of(target: Target, seen: Observation) -> Point:
    if isinstance(target, Point):
        return target
    if isinstance(target, Described):
        raise NotTranslatable(f"Where {target.text!r} is on the screen is not known; name an element or a pixel.")
    element = seen.by_id.get(target.element_id)
    if element is None:
        raise NotTranslatable(no_element(target.element_id, seen))
    if element.point is None:
        raise NotTranslatable(f"Element {target.element_id} is covered.")
    if isinstance(target, Span):
        raise NotTranslatable("Where words of a text lie is not known outside of the machine; name a pixel.")
    return target.inside(element.rect) if isinstance(target, Place) else element.point


def _key_names(keys: tuple[str, ...]) -> list[str]:
    return [key_name(symbol) for symbol in chord(keys)]


def _step(kind: str, **parameters: Any) -> Step:
    return {"action_type": kind, "parameters": parameters}

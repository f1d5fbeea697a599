"""Primitives from OSWorld's space `computer_13`, as agents and recordings of others write it.

Types, parameters and what they mean are those of `desktop_env` 1.0.2 (`desktop_env/actions.py`, and
`PythonController.execute_action`, which turns them into PyAutoGUI) and, for `CALL_USER`, of OS-MAP. What
`aci.remote.computer_13` writes of the primitives does the same as what was read, with these differences of form:

- `CLICK`, `MOUSE_DOWN` and `MOUSE_UP` get the place where the pointer is, if that is known; without it, a click is a
  button that is pressed and released. `RIGHT_CLICK` and `DOUBLE_CLICK` are written as `CLICK`.
- `SCROLL` with `dx` and `dy` becomes two, and more than 100 clicks become several.
- `HOTKEY` with one key is written as `PRESS`, and an empty text as `WAIT`.
- Of several names of one key, that of `aci.input.pyautogui` is written: `return` for `enter`, `win` for `command`. Keys
  for which PyAutoGUI presses nothing on Linux, or another key without Num Lock, are read (`volumeup`, `num0`) but not
  written.
- Fractions of a pixel are cut off, as PyAutoGUI does, and texts outside of ASCII are read but not written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from aci.acting.actions import (
    MAX_CLICKS,
    Action,
    Button,
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
    Text,
    Type,
    Wait,
)
from aci.acting.targets import MAX_PIXEL
from aci.errors import MalformedAction
from aci.input.keys import MODIFIERS, keysym, left_key
from aci.observation.geometry import Point
from aci.remote.computer_13 import CALL_USER, DONE, FAIL, WAIT

Actions = tuple[Action, ...]

WAIT_S = 2.0
"""How long `WAIT` waits, as OSWorld's `DesktopEnv.step` does by default."""
MAX_WHEEL = 10_000
"""Largest number of clicks of the wheel in one `SCROLL`."""
_WHEEL_PART = 100  # largest number of one primitive

# PyAutoGUI's names of keys that `aci.input.keys` does not have, or has for another key
_KEYS = {
    **{f"{name}{side}": f"{symbol}_{side[0].upper()}" for side in ("left", "right")
       for name, symbol in (("alt", "Alt"), ("ctrl", "Control"), ("shift", "Shift"), ("win", "Super"))},
    **{f"num{digit}": f"KP_{digit}" for digit in range(10)},
    **{name: f"KP_{name.title()}" for name in ("add", "decimal", "divide", "multiply", "separator", "subtract")},
    "prntscrn": "Print",
}  # fmt: skip


def _key(name: str) -> str:
    key = name if len(name) == 1 else _KEYS.get(name.lower(), name.lower())
    keysym(key)  # its error becomes part of the one of pydantic
    return key


Key = Annotated[str, Field(strict=True, min_length=1, max_length=32), AfterValidator(_key)]
Pixel = Annotated[float, Field(strict=True, ge=0, lt=MAX_PIXEL + 1, allow_inf_nan=False), AfterValidator(math.floor)]
Clicks = Annotated[int, Field(strict=True, ge=-MAX_WHEEL, le=MAX_WHEEL)]


class _Nothing(BaseModel):
    """No parameters; the base of the models of parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Place(_Nothing):
    x: Pixel
    y: Pixel


class _MaybePlace(_Nothing):
    x: Pixel | None = None
    y: Pixel | None = None

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise ValueError("it takes both x and y, or neither to click where the pointer is")
        return self


class _Click(_MaybePlace):
    button: Button = "left"
    num_clicks: Annotated[int, Field(strict=True, ge=1, le=MAX_CLICKS)] = 1


class _Button(_Nothing):
    button: Button = "left"


class _Wheel(_Nothing):
    dx: Clicks = 0
    dy: Clicks = 0

    @model_validator(mode="after")
    def _check_given(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("it takes dx, dy or both")
        return self


class _Text(_Nothing):
    text: Text


class _Key(_Nothing):
    key: Key


class _Keys(_Nothing):
    keys: Annotated[list[Key], Field(min_length=1, max_length=8)]


class _CallType(_Nothing):
    call_type: Literal["email", "password"]


def _click(given: _MaybePlace, pointer: Point | None, button: Button, number: int) -> Actions:
    at = (given.x, given.y) if given.x is not None and given.y is not None else _pair(pointer)
    if at is None:
        return (MouseDown(button_type=button), MouseUp(button_type=button)) * number
    return (Click(at=at, button_type=button, num_clicks=number),)


def _drag(given: _Place, pointer: Point | None) -> Actions:
    end = (given.x, given.y)
    if pointer is None:
        return MouseDown(), Move(at=end), MouseUp(at=end)
    return (DragAndDrop(from_at=(pointer.x, pointer.y), drop_at=end),)


def _scroll(given: _Wheel, pointer: Point | None) -> Actions:
    at = _pair(pointer)
    if at is None:
        raise MalformedAction(
            "SCROLL: the position of the pointer is not known; send MOVE_TO first, or give the reader the pointer."
        )
    turns = [(part, True) for part in _parts(given.dx)] + [(part, False) for part in _parts(given.dy)]
    return tuple(Scroll(at=at, clicks=part, horizontal=across) for part, across in turns or [(0, False)])


def _hotkey(given: _Keys, pointer: Point | None) -> Actions:
    *held, last = given.keys
    symbols = {left_key(keysym(key)) for key in held}
    capital = len(last) == 1 and last.isupper()  # for which PyAutoGUI presses Shift
    if capital and symbols & set(map(keysym, MODIFIERS)):
        shift = () if keysym("shift") in symbols else ("shift",)
        return (Hotkey(keys=(*held, *shift, last.lower())),)
    return (Hotkey(keys=tuple(given.keys)),)


# the parameters of each type of action, and what it does with the pointer there; None if nobody knows where that is
_FORMS: dict[str, tuple[type[_Nothing], Callable[[Any, Point | None], Actions]]] = {
    "MOVE_TO": (_Place, lambda given, _: (Move(at=(given.x, given.y)),)),
    "CLICK": (_Click, lambda given, pointer: _click(given, pointer, given.button, given.num_clicks)),
    "MOUSE_DOWN": (_Button, lambda given, pointer: (MouseDown(at=_pair(pointer), button_type=given.button),)),
    "MOUSE_UP": (_Button, lambda given, pointer: (MouseUp(at=_pair(pointer), button_type=given.button),)),
    "RIGHT_CLICK": (_MaybePlace, lambda given, pointer: _click(given, pointer, "right", 1)),
    "DOUBLE_CLICK": (_MaybePlace, lambda given, pointer: _click(given, pointer, "left", 2)),
    "DRAG_TO": (_Place, _drag),
    "SCROLL": (_Wheel, _scroll),
    "TYPING": (_Text, lambda given, _: (Type(text=given.text),)),
    "PRESS": (_Key, lambda given, _: (Hotkey(keys=(given.key,)),)),
    "KEY_DOWN": (_Key, lambda given, _: (KeyDown(keys=(given.key,)),)),
    "KEY_UP": (_Key, lambda given, _: (KeyUp(keys=(given.key,)),)),
    "HOTKEY": (_Keys, _hotkey),
    CALL_USER: (_CallType, lambda given, _: (CallUser(question=f"Please type your {given.call_type}."),)),
    WAIT: (_Nothing, lambda _, __: (Wait(time=WAIT_S),)),
    DONE: (_Nothing, lambda _, __: (Done(),)),
    FAIL: (_Nothing, lambda _, __: (Fail(),)),
}


class Computer13Reader:
    """Reads actions of `computer_13` one after another, and remembers where they leave the pointer.

    ```python
    reader = Computer13Reader()
    reader.read({"action_type": "MOVE_TO", "parameters": {"x": 300, "y": 200}})  # (Move(at=(300, 200)),)
    reader.read({"action_type": "SCROLL", "dy": -3})  # (Scroll(at=(300, 200), clicks=-3),)
    reader.read("DONE")  # (Done(),)
    ```

    Attributes:
        pointer: The pixel where the pointer is; None if nobody knows.
    """

    def __init__(self, pointer: Point | None = None) -> None:
        self.pointer = pointer

    def read(self, step: object) -> Actions:
        """Return the primitives of an action, in order.

        Args:
            step: `{"action_type": ..., "parameters": {...}}`, the same with the parameters beside the type, or a word.

        Raises:
            MalformedAction: There is no such type of action, or a parameter is missing, unknown or out of its bounds.
        """
        kind, parameters = _kind_and_parameters(step)
        if kind not in _FORMS:
            raise MalformedAction(f"computer_13 has no action {kind[:60]!r}; there are: {', '.join(_FORMS)}.")
        form, primitives = _FORMS[kind]
        try:
            actions = primitives(form.model_validate(parameters), self.pointer)
        except ValidationError as error:
            known = ", ".join(form.model_fields) or "none"
            raise MalformedAction(f"{kind}: {_problems(error)}. Its parameters: {known}.") from error
        points = [target for action in actions for target in action.targets() if isinstance(target, Point)]
        self.pointer = points[-1] if points else self.pointer
        return actions


def _kind_and_parameters(step: object) -> tuple[str, Any]:
    if isinstance(step, str):
        return step, {}
    if not isinstance(step, Mapping) or not isinstance(step.get("action_type"), str):
        raise MalformedAction(
            "An action of computer_13 is WAIT, DONE, FAIL, or an object with action_type and parameters, not "
            f"{str(step)[:100]!r}."
        )
    beside = {name: value for name, value in step.items() if name != "action_type"}
    if "parameters" not in beside:
        return step["action_type"], beside
    parameters = beside.pop("parameters")
    if beside:
        raise MalformedAction(
            f"{step['action_type']}: there are parameters, and beside them {', '.join(map(str, beside))}."
        )
    return step["action_type"], {} if parameters is None else parameters


def _problems(error: ValidationError) -> str:
    places = [".".join(map(str, item["loc"])) for item in error.errors()]
    messages = [item["msg"].removeprefix("Value error, ").rstrip(".") for item in error.errors()]
    return "; ".join(f"{place}: {said}" if place else said for place, said in zip(places, messages, strict=True))


def _pair(pointer: Point | None) -> tuple[float, float] | None:
    return (pointer.x, pointer.y) if pointer is not None else None


def _parts(clicks: int) -> list[int]:
    """Return a number of clicks in parts, each with its sign, that a primitive takes."""
    sign = 1 if clicks > 0 else -1
    whole, rest = divmod(abs(clicks), _WHEEL_PART)
    return [sign * _WHEEL_PART] * whole + [sign * rest] * bool(rest)

"""Primitives in the action space of OSWorld: a line of Python with PyAutoGUI, or one of its special words.

This is output for OSWorld's environment, which runs such lines inside of its virtual machine. Nothing here runs them.
Everything that comes from a model or a screen is written with `repr`, so that it is a literal and nothing else.
"""

from __future__ import annotations

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
from aci.applications.catalog import Catalog
from aci.applications.switching import find_window
from aci.errors import CannotType, NotTranslatable
from aci.input.keys import UnknownKey, chord
from aci.input.pyautogui import key_name
from aci.observation.geometry import Point
from aci.observation.observation import Observation

WAIT, DONE, FAIL = "WAIT", "DONE", "FAIL"
"""OSWorld's words for a step without input, for the end, and for a task that cannot be done."""

_DRAG_S = 0.5
_MENU_S = 1.0
"""How long the desktop's own search is given to open, and to find an application."""


def pyautogui_code(action: Action, observation: Observation) -> str:
    """Return what OSWorld is sent for a primitive.

    Args:
        action: The primitive.
        observation: The screen that its element ids are of.

    Returns:
        One line of statements, or `WAIT`, `DONE` or `FAIL`. What touches nothing on the screen is `WAIT`.

    Raises:
        NotTranslatable: An element is not in the observation or covered, or PyAutoGUI has no such key.
    """
    match action:
        case Done():
            return DONE
        case Fail():
            return FAIL
        case SaveToBuffer() | CallUser() | Zoom() | Read():
            return WAIT
        case Wait():
            return f"import time; time.sleep({action.time!r})"
        case SwitchApplications():
            return _switch(action.app_code, observation)
    try:
        return "; ".join(["import pyautogui", *_input(action, observation)])
    except (CannotType, UnknownKey) as error:
        raise NotTranslatable(str(error)) from error


def _input(action: Action, observation: Observation) -> list[str]:  # noqa: C901 - one case per primitive
    match action:
        case Click():
            point = point_of(action.target, observation)
            click = f"pyautogui.click({point.x}, {point.y}, clicks={action.num_clicks}, button={action.button_type!r})"
            return _held(key_names(action.hold_keys), [click])
        case Scroll():
            point = point_of(action.target, observation)
            wheel = f"pyautogui.{'hscroll' if action.horizontal else 'scroll'}({action.clicks})"
            return [f"pyautogui.moveTo({point.x}, {point.y})", *_held(key_names(action.hold_keys), [wheel])]
        case DragAndDrop():
            start, *rest = [point_of(target, observation) for target in action.targets()]
            if len(rest) == 1:
                drag = [f"pyautogui.dragTo({rest[0].x}, {rest[0].y}, duration={_DRAG_S}, button='left')"]
            else:
                moves = [f"pyautogui.moveTo({point.x}, {point.y}, duration={_DRAG_S / len(rest):g})" for point in rest]
                drag = ["pyautogui.mouseDown()", *moves, "pyautogui.mouseUp()"]
            return [f"pyautogui.moveTo({start.x}, {start.y})", *_held(key_names(action.hold_keys), drag)]
        case Hotkey():
            return [f"pyautogui.hotkey({', '.join(map(repr, key_names(action.keys)))})"]
        case HoldAndPress():
            presses = [f"pyautogui.press({name!r})" for name in key_names(action.press_keys)]
            return _held(key_names(action.hold_keys), presses)
        case Type():
            return _typing(action, observation)
        case Move():
            return _moved(action.targets(), observation)
        case MouseDown() | MouseUp():
            verb = "mouseDown" if isinstance(action, MouseDown) else "mouseUp"
            return [*_moved(action.targets(), observation), f"pyautogui.{verb}(button={action.button_type!r})"]
        case KeyDown():
            return [f"pyautogui.keyDown({name!r})" for name in key_names(action.keys)]
        case KeyUp():
            return [f"pyautogui.keyUp({name!r})" for name in key_names(action.keys)]
    raise NotTranslatable(f"OSWorld has no form of {action.action}.")


def _typing(action: Type, observation: Observation) -> list[str]:
    steps = []
    if action.target is not None:
        point = point_of(action.target, observation)
        steps.append(f"pyautogui.click({point.x}, {point.y})")
    if action.overwrite:
        steps += ["pyautogui.hotkey('ctrl', 'a')", "pyautogui.press('backspace')"]
    text = action.text.replace("\r\n", "\n").replace("\r", "\n")
    if all(" " <= character <= "~" or character in "\n\t" for character in text):
        steps += [f"pyautogui.write({text!r})"] if text else []
    else:  # PyAutoGUI drops what is not on its keyboard; OSWorld's machines have pyperclip.
        steps += ["import pyperclip", f"pyperclip.copy({text!a})", "pyautogui.hotkey('ctrl', 'v')"]
    return [*steps, *(["pyautogui.press('enter')"] if action.enter else [])] or ["pyautogui.sleep(0)"]


def _switch(app_code: str, observation: Observation) -> str:
    """Bring a window to the front that the observation shows, else have the desktop's own search start it."""
    window = find_window(app_code, observation.windows, Catalog([], ""))
    if window is not None:
        named = ["-i", "-a", hex(window.id)] if window.id > 0 else ["-a", window.title or window.app]
        return f"import subprocess; subprocess.run({['wmctrl', *named]!r})"
    search = ["import pyautogui, time", "pyautogui.press('win')", f"time.sleep({_MENU_S})"]
    typed = _typing(Type(text=app_code), observation)
    return "; ".join([*search, *typed, f"time.sleep({_MENU_S})", "pyautogui.press('enter')"])


def _held(names: list[str], steps: list[str]) -> list[str]:
    down = [f"pyautogui.keyDown({name!r})" for name in names]
    up = [f"pyautogui.keyUp({name!r})" for name in reversed(names)]
    return [*down, *steps, *up]


def key_names(keys: tuple[str, ...]) -> list[str]:
    """Return PyAutoGUI's names of keys.

    Raises:
        UnknownKey: There is no such key.
        CannotType: PyAutoGUI has no name for it.
    """
    return [key_name(symbol) for symbol in chord(keys)]


def _moved(targets: tuple[Target, ...], observation: Observation) -> list[str]:
    points = [point_of(target, observation) for target in targets]
    return [f"pyautogui.moveTo({point.x}, {point.y})" for point in points]


def point_of(target: Target, observation: Observation) -> Point:
    """Return the pixel that a target means.

    Raises:
        NotTranslatable: Its element is not in the observation or covered, or it is words of a text.
    """
    if isinstance(target, Point):
        return target
    if isinstance(target, Described):
        raise NotTranslatable(f"Where {target.text!r} is on the screen is not known; name an element or a pixel.")
    element = observation.by_id.get(target.element_id)
    if element is None:
        raise NotTranslatable(f"There is no element {target.element_id} on the screen.")
    if element.point is None:
        raise NotTranslatable(f"Element {target.element_id} is covered.")
    if isinstance(target, Span):
        raise NotTranslatable("Where words of a text lie is not known outside of the machine; name a pixel.")
    return target.inside(element.rect) if isinstance(target, Place) else element.point

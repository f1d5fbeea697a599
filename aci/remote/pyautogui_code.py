"""Primitives in the action space of OSWorld: a line of Python with PyAutoGUI, or one of its special words.

This is output for OSWorld's environment, which runs such lines inside of its virtual machine. Nothing here runs them.
Everything that comes from a model or a screen is written with `repr`, so that it is a literal and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aci.acting.actions import Action, SwitchApplications, Wait
from aci.applications.catalog import Catalog
from aci.applications.switching import find_window
from aci.observation.observation import Observation
from aci.remote.computer_13 import DONE, FAIL, WAIT, Step, steps_of, untypable

_DRAG_S = 0.5
_WAIT_S = 1.0  # how long the desktop's own search is given to open, and to find an application


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
    if isinstance(action, Wait):
        return f"import time; time.sleep({action.time!r})"
    if isinstance(action, SwitchApplications) and (command := _to_front(action.app_code, observation)):
        return command
    steps = steps_of(action, observation)
    if steps in ([WAIT], [DONE], [FAIL]):
        return str(steps[0])
    return "; ".join(["import pyautogui", *(line for step in steps for line in _lines(step))])


def _to_front(app_code: str, observation: Observation) -> str:
    """Return what brings a window to the front that the observation shows; empty if none fits."""
    window = find_window(app_code, observation.windows, Catalog([], ""))
    if window is None:
        return ""
    named = ["-i", "-a", hex(window.id)] if window.id > 0 else ["-a", window.title or window.app]
    return f"import subprocess; subprocess.run({['wmctrl', *named]!r})"


def _lines(step: Step) -> list[str]:
    if isinstance(step, str):
        return [f"pyautogui.sleep({_WAIT_S})"]
    given = step["parameters"]
    if untypable(given.get("text", "")):  # PyAutoGUI would drop it; OSWorld's machines have pyperclip
        return ["import pyperclip", f"pyperclip.copy({given['text']!a})", "pyautogui.hotkey('ctrl', 'v')"]
    return [f"pyautogui.{_CALLS[step['action_type']](given)}"]


_CALLS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "MOVE_TO": lambda given: f"moveTo({given['x']}, {given['y']})",
    "CLICK": lambda given: (
        f"click({given['x']}, {given['y']}, clicks={given['num_clicks']}, button={given['button']!r})"
    ),
    "DRAG_TO": lambda given: f"dragTo({given['x']}, {given['y']}, duration={_DRAG_S}, button='left')",
    "SCROLL": lambda given: f"hscroll({given['dx']})" if "dx" in given else f"scroll({given['dy']})",
    "MOUSE_DOWN": lambda given: f"mouseDown(button={given['button']!r})",
    "MOUSE_UP": lambda given: f"mouseUp(button={given['button']!r})",
    "TYPING": lambda given: f"write({given['text']!r})",
    "PRESS": lambda given: f"press({given['key']!r})",
    "HOTKEY": lambda given: f"hotkey({', '.join(map(repr, given['keys']))})",
    "KEY_DOWN": lambda given: f"keyDown({given['key']!r})",
    "KEY_UP": lambda given: f"keyUp({given['key']!r})",
}

"""The back ends of input, and which of them work here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

from aci.input.input_device import InputDevice
from aci.observation.geometry import Point
from aci.screen.emergency_stop import Halt

InputName = Literal["xtest", "pyautogui"]

# --no-deps, since its dependency python3-xlib overwrites python-xlib's files
XLIB_REPAIR = "pip uninstall -y python3-xlib; pip install --force-reinstall --no-deps python-xlib"


@dataclass(frozen=True, slots=True)
class InputInfo:
    """Whether a way of input can be used."""

    name: InputName  # the way
    works: bool  # whether its packages are there
    problem: str = ""  # why it does not work; empty where it does
    hint: str = ""  # what makes it work; empty where it does


def available_inputs() -> tuple[InputInfo, ...]:
    """Return for each back end whether it can be used here, without loading it."""
    return tuple(_look_at(name) for name in get_args(InputName))


def open_input_device(
    name: InputName,
    display_name: str,
    private: bool = False,
    halt: Halt | None = None,
    moving: Callable[[Point], None] = lambda point: None,
) -> InputDevice:
    """Connect a back end to a display.

    Args:
        name: The back end.
        display_name: Name of the X display.
        private: Whether nobody else uses the keyboard, so that more keys may be remapped for a while.
        halt: A stop request, which ends all input.
        moving: Called before the pointer is moved.

    Raises:
        NoDisplay: There is no such display.
        MissingDependency: The back end is not installed.
        DesktopError: It cannot be used with this display.
    """
    halt = halt or Halt()
    if name == "xtest":
        from aci.input.xtest import Xtest

        return Xtest(display_name, private, halt.pause, halt.check, moving)
    from aci.input.pyautogui import PyAutoGui

    return PyAutoGui(display_name, halt.pause, halt.check, moving, os.environ)


def xlib_problem() -> str:
    """Return a warning if python3-xlib was installed over python-xlib, else ""."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        version = distribution("python3-xlib").version
    except PackageNotFoundError:
        return ""
    return f"python3-xlib {version} has overwritten files of python-xlib, whose newer parts are needed"


def _look_at(name: InputName) -> InputInfo:
    problem = xlib_problem()
    if problem:
        return InputInfo(name, works=False, problem=problem, hint=XLIB_REPAIR)
    if name == "pyautogui":
        from aci.input.pyautogui import INSTALL

        missing = [module for module in ("pyautogui", "pytweening") if find_spec(module) is None]
        if missing:
            return InputInfo(name, works=False, problem=f"{' and '.join(missing)} not there", hint=INSTALL)
    return InputInfo(name, works=True)

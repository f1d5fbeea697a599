"""What an action risks, and whether to allow it, to ask the person first, or to refuse it.

A risk is read off what the action is and what it touches: the element, its window, the window that has the keyboard.
Nothing a model says about its own action counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from aci.actions import (
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
from aci.observation import Element, Observation, Window

Risk = Literal["terminal", "irreversible", "unsaved", "password", "outside"]
"""Kinds of risk.

terminal: types into a terminal. irreversible: presses a button that deletes, sends, pays, formats or the like.
unsaved: closes something with unsaved changes. password: types into a password field. outside: touches a window of an
application that the run is not allowed to use.
"""

Rule = Literal["allow", "confirm", "refuse"]

OWN_SCREEN: Mapping[Risk, Rule] = {
    "terminal": "confirm",
    "irreversible": "confirm",
    "unsaved": "confirm",
    "password": "confirm",
    "outside": "refuse",
}
"""Default for a person's own screen."""

VIRTUAL: Mapping[Risk, Rule] = {
    "terminal": "allow",
    "irreversible": "allow",
    "unsaved": "allow",
    "password": "allow",
    "outside": "refuse",
}
"""Default for a virtual desktop, where there is nothing of the person's to lose."""

TERMINALS = re.compile(
    r"term(inal)?\b|xterm|konsole|kitty|alacritty|tilix|yakuake|guake|rxvt|wezterm|foot\b", re.IGNORECASE
)
HARMLESS = (Wait, Done, Fail, CallUser, SaveToBuffer)
PRESSED_ROLES = frozenset({"push button", "button", "toggle button", "menu item", "link", "push button menu", "icon"})
CLOSING_CHORDS = frozenset({"alt+f4", "ctrl+w", "ctrl+q", "ctrl+shift+w", "ctrl+f4"})
ACTIVATING_KEYS = frozenset({"return", "enter", "space", "kp_enter"})
CLOSING_NAMES = re.compile(r"(close|quit|exit)\b", re.IGNORECASE)
IRREVERSIBLE = re.compile(
    r"(?:permanently |yes, |move to )?"
    r"(?:delete|remove|erase|wipe|format|trash|wastebasket|empty (?:trash|wastebasket)|uninstall|destroy|"
    r"send|post|publish|pay|buy|purchase|order|checkout|transfer|donate|"
    r"discard|don.t save|close without saving|overwrite|replace|"
    r"shut ?down|power off|restart|reboot|log ?out|sign out|reset)\b(?! (?:later|filter|cell|paragraph|text|view))",
    re.IGNORECASE,
)
UNSAVED_TITLE = re.compile(r"^\*|[*•●]\s*$|[*•●] -|\((?:modified|unsaved)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Danger:
    """One risk of an action, and what it comes from, in words."""

    risk: Risk
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about an action; `reason` is empty for one that is allowed."""

    rule: Rule
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides about actions.

    Attributes:
        rules: What to do about each risk.
        allowed_apps: Names of the applications that may be used, as windows show them; empty for all.
        confirm_all: Whether the person is asked before every action that touches anything, risky or not.
    """

    rules: Mapping[Risk, Rule] = field(default_factory=lambda: OWN_SCREEN)
    allowed_apps: frozenset[str] = frozenset()
    confirm_all: bool = False

    def decide(self, action: Action, observation: Observation) -> Decision:
        """Return the strictest rule among those of the action's risks."""
        dangers = tuple(find_dangers(action, observation, self.allowed_apps))
        for rule in ("refuse", "confirm"):
            reasons = [danger.reason for danger in dangers if self.rules.get(danger.risk, "confirm") == rule]
            if reasons:
                return Decision(rule, "; ".join(reasons))
        if self.confirm_all and not isinstance(action, HARMLESS):
            return Decision("confirm", "every action is to be confirmed")
        return Decision("allow")


def find_dangers(
    action: Action, observation: Observation, allowed_apps: frozenset[str] = frozenset()
) -> Iterator[Danger]:
    """Yield what the action risks on this screen."""
    element, window = _touched(action, observation)
    if allowed_apps:
        yield from _outside(action, element, window, allowed_apps)
    match action:
        case Click():
            if element is not None and action.button_type == "left":
                yield from _pressing(element, window)
        case Type():
            yield from _typing(action, element, window, observation)
        case Hotkey() | HoldAndPress():
            yield from _keys(action, window, observation)


def _touched(action: Action, observation: Observation) -> tuple[Element | None, Window | None]:
    """Return the element and the window that an action acts on; without an element, what has the keyboard."""
    ids = {Click: "element_id", Scroll: "element_id", Type: "element_id", DragAndDrop: "drop_on_id"}
    element_id = getattr(action, ids.get(type(action), ""), None)
    element = observation.by_id.get(element_id) if element_id is not None else None
    if element is None:
        return None, observation.active_window
    return element, next((window for window in observation.windows if window.id == element.window_id), None)


def _outside(
    action: Action, element: Element | None, window: Window | None, allowed: frozenset[str]
) -> Iterator[Danger]:
    names = {name.casefold() for name in allowed}
    if isinstance(action, SwitchApplications):
        touched = action.app_code
    elif isinstance(action, Click | Type | Scroll | DragAndDrop | Hotkey | HoldAndPress):
        touched = element.app if element is not None and element.app else window.app if window is not None else ""
    else:
        return
    if touched and touched.casefold() not in names:
        yield Danger("outside", f"{touched!r} is not among the applications that may be used")


def _pressing(element: Element, window: Window | None) -> Iterator[Danger]:
    if element.role in PRESSED_ROLES and IRREVERSIBLE.match(element.name):
        yield Danger("irreversible", f"it presses the {element.role} {element.name!r}")
    if element.role in PRESSED_ROLES and CLOSING_NAMES.match(element.name) and _unsaved(window):
        yield Danger("unsaved", f"it closes {_title(window)}, which has unsaved changes")


def _typing(action: Type, element: Element | None, window: Window | None, observation: Observation) -> Iterator[Danger]:
    target = element or observation.by_id.get(observation.focus_id or -1)
    if target is not None and "password" in target.states:
        yield Danger("password", "it types into a password field")
    if _is_terminal(target, window):
        yield Danger("terminal", f"it types into the terminal {_title(window)}")
    elif action.enter and target is not None:
        yield from _pressing(target, window)


def _keys(action: Hotkey | HoldAndPress, window: Window | None, observation: Observation) -> Iterator[Danger]:
    if _is_terminal(None, window):
        yield Danger("terminal", f"it presses keys in the terminal {_title(window)}")
    pressed = action.keys if isinstance(action, Hotkey) else (*action.hold_keys, *action.press_keys)
    names = [key.casefold().replace("control", "ctrl") for key in pressed]
    if "+".join(names) in CLOSING_CHORDS and _unsaved(window):
        yield Danger("unsaved", f"it closes {_title(window)}, which has unsaved changes")
    focused = observation.by_id.get(observation.focus_id or -1)
    if focused is not None and ACTIVATING_KEYS.intersection(names):
        yield from _pressing(focused, window)


def _is_terminal(element: Element | None, window: Window | None) -> bool:
    if element is not None and element.role == "terminal":
        return True
    return window is not None and bool(TERMINALS.search(window.app))


def _unsaved(window: Window | None) -> bool:
    return window is not None and bool(UNSAVED_TITLE.search(window.title))


def _title(window: Window | None) -> str:
    return repr(window.title or window.app) if window is not None else "in front"

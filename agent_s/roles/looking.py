"""Read-only actions, with which the evaluator may look closer."""

from __future__ import annotations

from collections.abc import Sequence

from aci.acting.actions import Action, Click, Hotkey, Move, Read, Scroll, SwitchApplications, Wait, Zoom
from aci.acting.effects import acted_on
from aci.acting.targets import element_meant
from aci.observation.observation import Element, Observation
from agent_s.records import Step
from intents.labels import label

LOOKS_ONLY = (
    "the evaluator may only scroll, switch applications, navigate with the keys, open tabs, menus and dialogs, and "
    "close a dialog that it opened"
)

_NAVIGATION_KEYS = frozenset({"home", "end", "page_up", "page_down", "pageup", "pagedown", "prior", "next", "up",
                              "down", "left", "right"})  # fmt: skip
_CLOSING_KEYS = frozenset({"escape", "esc"})
_VALUE_ROLES = frozenset({"spin button", "slider", "dial", "combo box", "radio button", "date editor"})
"""Roles whose value the wheel or the arrow keys change."""
_NAVIGATION_MODIFIERS = frozenset({"ctrl", "control"})
_NAVIGATION_ROLES = frozenset({"page tab", "menu"})
_OPENERS = frozenset({"menu item", "push button", "button"})
_DIALOG_FOLLOWS = ("...", "…")  # by convention, they mark commands that open a dialog before they do anything


def is_read_only(action: Action, observation: Observation, done: Sequence[Step] = (), opened: int = 0) -> bool:
    """Return whether an action only looks: it scrolls, switches, moves the cursor, or opens a tab, menu or dialog.

    Args:
        action: The action that the evaluator requests.
        observation: The screen that its ids refer to.
        done: The steps of the run; actions that only opened a window may be repeated.
        opened: Id of the active dialog if the evaluator opened it, so that it may close it; 0 for none.
    """
    match action:
        case Scroll(hold_keys=()):
            element = element_meant(action.target, observation)
            return element is None or element.role not in _VALUE_ROLES
        case SwitchApplications() | Wait() | Move() | Zoom() | Read():
            return True
        case Hotkey(keys=keys):
            names = [key.casefold() for key in keys]
            moves = set(names[:-1]) <= _NAVIGATION_MODIFIERS and _is_navigation(names[-1], observation, opened)
            return moves or any(step.response.action == action and _only_opened(step) for step in done)
        case Click(num_clicks=1, button_type="left", hold_keys=()):
            element = element_meant(action.target, observation)
            return element is not None and _is_safe_to_click(element, done, opened)
    return False


def _is_navigation(key: str, observation: Observation, opened: int) -> bool:
    """Return whether a key neither changes a value nor closes a dialog that the run left open."""
    front = observation.active_window
    if key in _CLOSING_KEYS:
        return front is None or not front.modal or front.id == opened
    focused = observation.focused
    return key in _NAVIGATION_KEYS and (focused is None or focused.role not in _VALUE_ROLES)


def _is_safe_to_click(element: Element, done: Sequence[Step], opened: int) -> bool:
    if element.role in _NAVIGATION_ROLES:
        return True
    if element.role not in _OPENERS:
        return False
    if element.name.rstrip().endswith(_DIALOG_FOLLOWS):
        return True
    if opened and element.window_id == opened and label("discards").fullmatch(element.name.strip()):
        return True
    before = ((acted_on(step.response.action, step.observation), step) for step in done)
    return any(
        one is not None
        and (one.role, one.name, one.app) == (element.role, element.name, element.app)
        and _only_opened(step)
        for one, step in before
    )


def _only_opened(step: Step) -> bool:
    effect = step.result.effect
    if not step.result.ok or effect is None or step.recalled:
        return False
    kinds = {one.kind for one in effect.differences}
    return "opened" in kinds and not kinds & {"closed", "title", "text", "value", "states", "clipboard"}

"""The agent's own actions, judged in OSWorld's space `computer_13`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.errors import CheckFailed
from evaluation.state.metrics import Score

_POINTED = ("MOVE_TO", "CLICK", "RIGHT_CLICK", "DOUBLE_CLICK", "DRAG_TO")
_COMPARED = {"TYPING": "text", "PRESS": "key", "KEY_DOWN": "key", "KEY_UP": "key", "HOTKEY": "keys"}


def check_step_actions(result: Any, expected: Any) -> Score:
    """The actions are the expected ones, in order; moves of the pointer are free, and the last may be missing.

    Rules are `{"expected": [...]}`; some task files call it `action`, or have rules and actions the wrong way round.
    """
    actions, rules = (expected, result) if isinstance(result, Mapping) else (result, expected)
    wanted = rules.get("expected", rules.get("action")) if isinstance(rules, Mapping) else None
    if not isinstance(wanted, Sequence) or not isinstance(actions, Sequence):
        raise CheckFailed("check_step_actions needs actions and rules with the key 'expected'")
    place: tuple[float, float] = (-1, -1)
    number = 0
    for kind, given in filter(None, map(_read, actions)):
        if kind == "FAIL":
            return Score(0.0, "the agent gave up")
        if number >= len(wanted):
            return Score(0.0, f"action {number + 1}, {kind}, is one more than expected")
        place = (given["x"], given["y"]) if "x" in given and "y" in given else place
        if kind == "MOVE_TO" and wanted[number]["action_type"] != kind:
            continue
        if problem := _problem(kind, given, wanted[number], place):
            return Score(0.0, f"action {number + 1}: {problem}")
        number += kind != "MOVE_TO"
    return Score(1.0, f"{number} actions are as expected")


def _read(action: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the kind and parameters of an action; None for one that does nothing."""
    if isinstance(action, Mapping):
        kind = str(action["action_type"]).upper()
        flat = {key: value for key, value in action.items() if key != "action_type"}
        given = action.get("parameters", flat)
    elif action in ("FAIL", "WAIT", "DONE"):
        kind, given = action, {}
    else:
        raise CheckFailed(f"{action!r} is not an action of the space computer_13")
    return None if kind in ("WAIT", "DONE") else (kind, given)


def _problem(kind: str, given: Mapping[str, Any], right: Mapping[str, Any], place: tuple[float, float]) -> str:
    wanted = right.get("parameters", {})
    if kind != right["action_type"]:
        return f"it is {kind}, expected {right['action_type']}"
    if kind in _POINTED and not _inside(place, wanted["bbox"]):
        return f"it is at {place}, expected {wanted['bbox']}"
    name = _COMPARED.get(kind)
    if name is not None and given[name] != wanted[name]:
        return f"{name} is {given[name]!r}, expected {wanted[name]!r}"
    return ""


def _inside(place: tuple[float, float], box: Sequence[float]) -> bool:
    return box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3]

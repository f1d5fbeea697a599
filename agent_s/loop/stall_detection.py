"""Stall detection: reasons to reflect on a subtask, to try another method, and to give up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from aci.acting.actions import (
    Action,
    Click,
    DragAndDrop,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
)
from aci.acting.wording import describe_delivery, describe_effect
from agent_s.records import Step

MAX_REPEATS = 3
MAX_UNDOS, UNDO_WINDOW = 3, 6  # number of undos within the latest steps, and the number of these
MAX_SCROLLS = 8
MAX_TRIES_BY_ONE_METHOD = 2
MAX_TRIES = 6  # consecutive tries without an effect, by any method

_METHODS: dict[type[Action], str] = {
    Click: "the mouse",
    **dict.fromkeys((DragAndDrop, Move, MouseDown, MouseUp), "the mouse"),
    Scroll: "scrolling",
    **dict.fromkeys((Hotkey, HoldAndPress, KeyDown, KeyUp), "the keyboard"),
    Type: "typing",
    SwitchApplications: "switching applications",
}


def find_trouble(steps: Sequence[Step], every: int = 0) -> str:
    """Return what looks wrong with a subtask; empty if nothing does.

    Args:
        steps: The steps of the subtask so far, with their effects, oldest first.
        every: Interval in steps at which to report even without trouble; 0 for never.
    """
    if not steps:
        return ""
    found = _find_last_failure(steps) or _find_repetition(steps)
    trouble = "; ".join(part for part in (found, _exhausted_method(_futile_steps(steps))) if part)
    if not trouble and every and len(steps) % every == 0:
        return f"{len(steps)} steps have been taken"
    return trouble


def is_hopeless(steps: Sequence[Step]) -> str:
    """Return why to give up the subtask; empty to continue. Its thresholds are twice those of `find_trouble`."""
    if len(_futile_steps(steps)) >= MAX_TRIES:
        return f"{MAX_TRIES} tries in a row had no effect"
    actions = _actions(steps)
    if _scrolls(actions) >= 2 * MAX_SCROLLS:
        return f"{2 * MAX_SCROLLS} scrolls in a row did not find it"
    if _undos(actions, 2 * UNDO_WINDOW) >= 2 * MAX_UNDOS:
        return "the same changes are undone again and again"
    if _alternates(actions, 4):
        return "two actions undo each other again and again"
    return ""


def find_circle(actions: Sequence[Action]) -> str:
    """Return how actions go in circles although each of them may work; empty if they do not.

    Args:
        actions: The actions, oldest first.
    """
    if _alternates(actions, 2):
        return "two actions undo each other in turn"
    if _undos(actions, UNDO_WINDOW) >= MAX_UNDOS:
        return f"{MAX_UNDOS} of the last {UNDO_WINDOW} steps were undone"
    if _scrolls(actions) >= MAX_SCROLLS:
        return f"{MAX_SCROLLS} scrolls in a row did not find it; search for it, or look elsewhere"
    return ""


def find_failure(step: Step) -> str:
    """Return what went wrong with a step whose effect is known; empty if nothing did."""
    result = step.result
    if not result.ok:
        return f"the last action was refused: {result.error}"
    if result.effect is not None and (result.effect.kind == "other" or not result.worked):
        return f"the last action had {describe_effect(result)}"
    if result.delivery is not None and result.delivery.state == "different" and _names_field(step):
        return f"the text that was typed is not in the field: {describe_delivery(result.delivery)}"
    return ""


def _find_last_failure(steps: Sequence[Step]) -> str:
    """Return what went wrong with the last step, unless its result explains it and the step before worked."""
    failure = find_failure(steps[-1])
    again = any(find_failure(step) for step in steps[-2:-1])
    return failure if again or not _is_explained(steps[-1]) else ""


def _is_explained(step: Step) -> bool:
    """Return whether the result of a failed step tells the Worker why: it is a refusal, or has a remark."""
    effect = step.result.effect
    return not step.result.ok or (effect is not None and bool(effect.remark))


def _names_field(step: Step) -> bool:
    action = step.response.action
    return isinstance(action, Type) and action.element_id is not None and not action.enter


def _find_repetition(steps: Sequence[Step]) -> str:
    actions = _actions(steps)
    latest = actions[-MAX_REPEATS:]
    repeats = len(latest) == MAX_REPEATS and all(action == latest[0] for action in latest)
    if repeats and not isinstance(latest[0], Scroll):
        return f"the same action was performed {MAX_REPEATS} times in a row"
    return find_circle(actions)


def _exhausted_method(futile: Sequence[Step]) -> str:
    """Return advice to change the method if the latest tries all used the same one."""
    actions = _actions(futile[-MAX_TRIES_BY_ONE_METHOD:])
    methods = {_METHODS.get(type(action), action.action) for action in actions}
    if len(actions) < MAX_TRIES_BY_ONE_METHOD or len(methods) > 1:
        return ""
    return (
        f"{MAX_TRIES_BY_ONE_METHOD} tries by {methods.pop()} had no effect: take another way (keyboard, menu, search "
        "in the application, another element)"
    )


def _futile_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the consecutive steps at the end that were refused or changed nothing, ignoring waits."""
    tried = [step for step in steps if not isinstance(step.response.action, Wait)]
    return list(takewhile(lambda step: not step.worked, tried[::-1]))[::-1]


def _actions(steps: Sequence[Step]) -> list[Action]:
    return [step.response.action for step in steps]


def _alternates(actions: Sequence[Action], rounds: int) -> bool:
    """Return whether the latest actions are two that alternate for this number of rounds."""
    latest = list(actions[-2 * rounds :])
    pair = latest[:2]
    return len(latest) == 2 * rounds and pair[0] != pair[1] and latest == pair * rounds


def _undos(actions: Sequence[Action], window: int) -> int:
    return sum(
        isinstance(action, Hotkey) and [key.casefold() for key in action.keys] == ["ctrl", "z"]
        for action in actions[-window:]
    )


def _scrolls(actions: Sequence[Action]) -> int:
    return sum(1 for _ in takewhile(lambda action: isinstance(action, Scroll), reversed(actions)))

"""Ambiguity checks: whether it is clear which parts of learned steps the values of a task stand for.

A value is recognized by its text alone: "3" in "go down 3 rows and type 3" is both a text and a number of key presses,
but only the text would be replaced. Ambiguous steps are not replayed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from aci.acting.actions import Click, DragAndDrop, HoldAndPress, Hotkey, Scroll
from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import typed_text
from agent_s.replay.template import values_shown
from intents.alignment import Parameters, holds

COMMANDS = frozenset(
    {
        *("push button", "button", "toggle button", "menu", "menu item", "check menu item", "radio menu item"),
        *("check box", "radio button", "switch"),
    }
)  # roles whose names come from the application; only other elements get their names from typed text


def find_ambiguity(steps: Sequence[GroundedStep], parameters: Parameters) -> str:
    """Return why it is ambiguous what to replace in steps; empty if it is clear.

    Args:
        steps: All steps of the task, as learned.
        parameters: The values that differ.
    """
    shown = list(values_shown(steps))
    unexplained = parameters.unexplained(shown)
    if unexplained:
        return f"no learned step shows what {unexplained[0]!r} is for"
    rival = next((found for old in parameters.pairs if (found := find_rival_use(old, steps))), "")
    if rival:
        return rival
    return (
        _find_partial_value(shown, parameters)
        or _find_number_in_target(steps, parameters)
        or _find_used_filler(steps, parameters)
    )


def find_rival_use(old: str, steps: Sequence[GroundedStep]) -> str:
    """Return what else a value may be in the steps: a control, a key or a count; empty if nothing."""
    clicked = (target for step in steps if isinstance(step.action, Click) for target in step.targets.values())
    uses = {target.role for target in clicked if old == (target.name or target.label)}
    uses |= {"typed" for step in steps if holds(typed_text(step.action), old)}
    if len(uses) > 1 and uses & COMMANDS:
        return f"{old!r} may also be the fixed name of a control"
    if old.casefold() in _pressed_keys(steps):
        return f"{old!r} may also be a key"
    if old.isdecimal() and int(old) in _repetition_counts(steps):
        return f"{old!r} may also be a number of repetitions"
    return ""


def _pressed_keys(steps: Sequence[GroundedStep]) -> set[str]:
    """Return the keys that steps press or hold, except to type text."""
    keys: set[str] = set()
    for action in (step.action for step in steps):
        match action:
            case Hotkey(keys=pressed):
                keys.update(pressed)
            case HoldAndPress(hold_keys=held, press_keys=pressed) if not typed_text(action):
                keys.update(held, pressed)
            case Click(hold_keys=held) | DragAndDrop(hold_keys=held):
                keys.update(held)
    return {key.casefold() for key in keys}


def _repetition_counts(steps: Sequence[GroundedStep]) -> set[int]:
    """Return how often steps, clicks and keys are repeated, if more than once."""
    runs = [len(list(same)) for _, same in groupby(steps, key=lambda step: (step.action, tuple(step.targets.items())))]
    for action in (step.action for step in steps):
        match action:
            case Click(num_clicks=times):
                runs.append(times)
            case Scroll(clicks=int(times)):
                runs.append(abs(times))
            case HoldAndPress(press_keys=keys) if not typed_text(action):
                runs += [len(list(same)) for _, same in groupby(keys)]
    return {times for times in runs if times > 1}


def _find_partial_value(shown: Sequence[str], parameters: Parameters) -> str:
    """Return which unchanged value appears nowhere as a whole, so that a changed value may be a part of it."""
    whole = (kept for kept in parameters.kept if any(old != kept and holds(kept, old) for old in parameters.pairs))
    cut = next((kept for kept in whole if not any(holds(text, kept) for text in shown)), None)
    return f"it is not clear where {cut!r} was used" if cut is not None else ""


def _find_number_in_target(steps: Sequence[GroundedStep], parameters: Parameters) -> str:
    """Return which element has a changed number in its name or position that would not be replaced, as in "A2"."""
    numbers = [old for old in parameters.pairs if old.isdecimal()]
    values = {*parameters.pairs, *parameters.kept}
    for target in (target for step in steps for target in step.targets.values()):
        for number in numbers:
            if _has_number(target, number, values):
                return f"{number!r} may also be which {target.role} is meant"
    return ""


def _has_number(target: ElementDescription, number: str, values: set[str]) -> bool:
    if target.ordinal and str(target.ordinal + 1) == number:
        return True
    if target.name in values or holds(target.name, number):
        return False
    return re.search(rf"(?<!\d){number}(?!\d)", target.name) is not None


def _find_used_filler(steps: Sequence[GroundedStep], parameters: Parameters) -> str:
    """Return which word was ignored as a filler although a step types, presses or targets it."""
    used = {typed_text(step.action).strip().casefold() for step in steps} | _pressed_keys(steps)
    used |= {target.name.casefold() for step in steps for target in step.targets.values()}
    meant = next((word for word in sorted(parameters.ignored) if word in used), None)
    return f"{meant!r} may be more than a filler" if meant is not None else ""

"""Grounding of learned steps: finding their elements on the current screen."""

from __future__ import annotations

from aci.acting.actions import ACTION_ADAPTER, Action, HoldAndPress, Hotkey
from aci.observation.identity import find_again, titles_agree
from aci.observation.observation import Element, Observation
from agent_s.records import GroundedStep
from agent_s.replay.anchors import find_places
from agent_s.replay.grounded_steps import FIELDS
from agent_s.replay.template import Mismatch

_TABLES = frozenset({"document spreadsheet", "table", "tree", "tree table"})


def ground(step: GroundedStep, observation: Observation, files: frozenset[str] = frozenset()) -> Action | Mismatch:
    """Return the primitive of a step with the ids of its elements on this screen.

    Args:
        step: The step.
        observation: The screen.
        files: File names; those in the title of the step's window must be in the title of the active one.
    """
    if other := _find_wrong_document(step, observation, files):
        return Mismatch(other)
    fields = step.action.model_dump()
    for name, description in step.targets.items():
        element = find_again(description, observation)
        if element is None:
            shown = description.name or description.label or description.description
            return Mismatch(f"no {description.role} {shown!r} on the screen, or several that cannot be told apart")
        if "disabled" in element.states:
            return Mismatch(f"{element.role} {element.name!r} is disabled", greyed_out=True)
        problem = _find_blocking_dialog(element, observation) or _find_other_words(step, element, observation)
        if problem:
            return Mismatch(problem)
        fields[name] = element.id
    problem = (
        find_places(fields, step.pictures, observation)
        or _find_focus_mismatch(step, observation)
        or _find_capturing_field(step, observation)
    )
    return Mismatch(problem) if problem else ACTION_ADAPTER.validate_python(fields)


def _find_wrong_document(step: GroundedStep, observation: Observation, files: frozenset[str]) -> str:
    described = (*step.targets.values(), *([step.focus] if step.focus is not None else []))
    titles = [step.front, *(one.window for one in described)]
    front = observation.active_window
    shown = front.title if front is not None else ""
    missing = next((file for file in files if file not in shown and any(file in title for title in titles)), "")
    return f"the window of {missing!r} should be in front, not {shown!r}" if missing else ""


def _find_blocking_dialog(element: Element, observation: Observation) -> str:
    dialog = observation.blocking_dialog(element.window_id)
    return f"the dialog {dialog.title!r} is in front of {element.role} {element.name!r}" if dialog is not None else ""


def window_says(window_id: int, observation: Observation) -> tuple[str, ...]:
    """Return all names in a window, sorted; what OCR read does not count."""
    inside = (each for each in observation.elements if each.window_id == window_id)
    return tuple(sorted({each.name for each in inside if each.name and each.source == "accessibility"}))


def _find_other_words(step: GroundedStep, element: Element, observation: Observation) -> str:
    """Return why an answer does not belong to this window; dialogs may have the title and the buttons of others."""
    same = not step.window_says or step.window_says == window_says(element.window_id, observation)
    return "" if same else f"the window of {element.role} {element.name!r} says something else"


def _find_focus_mismatch(step: GroundedStep, observation: Observation) -> str:
    """Return why keyboard input would go elsewhere than when the step was learned; empty if it would not."""
    front = observation.active_window
    if step.front and (front is None or not titles_agree(step.front, front.title)):
        return f"the keyboard is in {front.title if front else 'no window'!r}, not in {step.front!r}"
    if step.focus is None:
        return ""
    element = find_again(step.focus, observation)
    if element is None or element.id != observation.focus_id:
        return f"the keyboard is not in the {step.focus.role} {(step.focus.name or step.focus.label)!r}"
    return ""


def _find_capturing_field(step: GroundedStep, observation: Observation) -> str:
    """Return which focused field would interfere with a step, if none had the focus when it was learned.

    A field may consume keys that are meant for its window. A cell that is being edited commits its content as soon as
    anything else is done.
    """
    focused = observation.focused
    if focused is None or not step.keyboard or "editable" not in focused.states:
        return ""
    presses = isinstance(step.action, Hotkey | HoldAndPress)
    takes_keys = presses and focused.role in FIELDS and "multi_line" not in focused.states
    in_cell = any(part.partition(":")[0] in _TABLES for part in focused.path)
    if step.keyboard == focused.role or not (takes_keys or in_cell):
        return ""
    inside = focused.path[-1].partition(":")[2] if focused.path else ""
    called = focused.name or focused.label or inside
    return f"the keyboard is in the {focused.role} {called!r}, not in a {step.keyboard}"

"""Guard for answers of several primitives: each runs only while the screen is as the answer expected.

All primitives of an answer are chosen from one observation. A later one is performed only if

- the earlier ones had an effect,
- no window opened, closed, changed its title or came to the front,
- its targets are unchanged and in the same place (for a pixel: the picture around it is unchanged), and
- the keyboard focus is where it was, or where an earlier primitive of the answer put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Type,
)
from aci.acting.effects import changed_pixels
from aci.acting.targets import Described
from aci.acting.wording import describe_effect, describe_element
from aci.observation.geometry import Point
from aci.observation.observation import Element, Observation, State, Window
from aci.observation.quoting import quote
from agent_s.records import Step

MOVED_PX = 3  # smaller shifts of an element's extents are jitter
NEAR_PX = 12  # radius around a target pixel within which the picture must be unchanged

_RELEVANT_STATES: frozenset[State] = frozenset(
    {"checked", "mixed", "pressed", "expanded", "selected", "invalid", "read_only", "busy"}
)
_TOOLTIP_ROLES = frozenset({"tool tip", "label", "static", "text line"})
_NAVIGATION_KEYS = frozenset({"tab", "up", "down", "left", "right", "home", "end", "page_up", "page_down"})
_UNSAVED_MARKS = re.compile(r"^\W+|\W+$")  # marks of unsaved changes around a title


def find_unforeseen(action: Action, answer: Sequence[Step], now: Observation) -> str:
    """Return why the next primitive of an answer must not be performed; empty if the screen is as expected.

    Args:
        action: The next primitive.
        answer: The steps taken for the answer so far, at least one, with their effects.
        now: The screen after them.
    """
    foreseen = answer[0].observation
    if isinstance(action, Done | Fail | CallUser):
        return f"{action.action} needs an answer of its own"
    return (
        _failure(answer[-1])
        or _window_difference(foreseen, now, allow_popups=_continues_typing(action, answer[-1].response.action, now))
        or _target_difference(action, answer, now)
        or _focus_difference(action, answer, now)
    )


def _failure(step: Step) -> str:
    result = step.result
    if not result.ok:
        return f"step {step.number} was refused"
    # holding, releasing and moving often have no visible effect
    silent = isinstance(step.response.action, Move | MouseDown | MouseUp | KeyDown | KeyUp)
    if result.effect is not None and (result.effect.kind == "other" or not (result.worked or silent)):
        return f"step {step.number} had {describe_effect(result)}"
    if result.delivery is not None and result.delivery.state == "different":
        return f"the text of step {step.number} is not in the field"
    return ""


def _continues_typing(action: Action, last: Action, now: Observation) -> bool:
    """Return whether an action types into the field that was just clicked, which may pop up suggestions."""
    focused = now.focused
    if focused is None or "editable" not in focused.states or not isinstance(action, Type) or action.targets():
        return False
    return isinstance(last, Click) and (
        focused.id in _target_ids(last) or any(focused.rect.contains(point) for point in _target_points(last))
    )


def _window_difference(foreseen: Observation, now: Observation, allow_popups: bool) -> str:
    if foreseen.screenshot.shape != now.screenshot.shape:
        return "the screen has another size"
    then = {window.id: window for window in foreseen.windows}
    current = {window.id: window for window in now.windows if window.id in then or not _is_tooltip(window, now)}
    for number, window in current.items():
        if number not in then and not (window.popup and allow_popups):
            return f"{_quoted_window(window)} opened"
        if number in then and _UNSAVED_MARKS.sub("", window.title) != _UNSAVED_MARKS.sub("", then[number].title):
            return f"{_quoted_window(then[number])} is {_quoted_window(window)} now"
    for number, window in then.items():
        if number not in current and not window.popup:  # menus close by a choice or by a click elsewhere
            return f"{_quoted_window(window)} closed"
    front = now.active_window
    if front is not None and foreseen.active_window is not None and front.id != foreseen.active_window.id:
        return f"{_quoted_window(front)} came to the front"
    return ""


def _is_tooltip(window: Window, seen: Observation) -> bool:
    return window.popup and all(one.role in _TOOLTIP_ROLES for one in seen.elements if one.window_id == window.id)


def _quoted_window(window: Window) -> str:
    return f"the {'menu' if window.popup else 'window'} {quote(window.title or window.app)}"


def _target_difference(action: Action, answer: Sequence[Step], now: Observation) -> str:
    foreseen = answer[0].observation
    used = {number for step in answer for number in _target_ids(step.response.action)}
    for number in _target_ids(action):
        then, current = foreseen.by_id.get(number), now.by_id.get(number)
        if then is None:
            return f"element {number} was not on the screen that it was chosen on"
        if current is None:
            return f"the {describe_element(then)} is gone"
        if isinstance(action, Type) and action.overwrite:
            then = replace(then, text=current.text, value=current.value)  # its content will be replaced anyway
        if problem := _element_difference(then, current, number in used, now.focus_id == number):
            return f"the {describe_element(then)} {problem}"
        if (cover := _covering_element(current, foreseen, now)) is not None:
            return f"the {describe_element(cover)} lies over the {describe_element(then)}"
    points = [point for point in _target_points(action) if not any(_is_near_target(point, step) for step in answer)]
    areas = changed_pixels(foreseen.screenshot, now.screenshot) or () if points else ()
    for point in points:
        if any(area.grown(NEAR_PX, NEAR_PX).contains(point) for area in areas):
            return f"the picture at {point.x},{point.y} has changed"
    return ""


def _element_difference(then: Element, now: Element, used: bool, focused: bool) -> str:
    """Return how an element differs from what was expected.

    If an earlier primitive of the answer `used` it, its size, state and content may have changed. If it is `focused`,
    it may have become selected.
    """
    if (then.role, then.name, then.window_id) != (now.role, now.name, now.window_id):
        return f"is the {describe_element(now)} now"
    if "disabled" in now.states:
        return "is disabled"
    if abs(then.rect.x - now.rect.x) + abs(then.rect.y - now.rect.y) > MOVED_PX:
        return "has moved"
    if used:
        return ""
    if abs(then.rect.width - now.rect.width) + abs(then.rect.height - now.rect.height) > MOVED_PX:
        return "has another size"
    changed = (then.states ^ now.states) & _RELEVANT_STATES - ({"selected"} if focused else frozenset())
    if changed or (then.text, then.value, then.label) != (now.text, now.value, now.label):
        return "has changed"
    return ""


def _covering_element(target: Element, foreseen: Observation, now: Observation) -> Element | None:
    """Return a new element over the click point of a target, or None; OCR may have read the target's own text."""
    own = f"{target.name} {target.text or ''}".casefold()
    for one in now.elements:
        new = one.id not in foreseen.by_id and target.point is not None and one.rect.contains(target.point)
        if new and not (one.source == "ocr" and one.name.casefold() in own):
            return one
    return None


def _focus_difference(action: Action, answer: Sequence[Step], now: Observation) -> str:
    by_keys = isinstance(action, Hotkey | HoldAndPress | KeyDown) or (isinstance(action, Type) and not action.targets())
    if not by_keys or now.focus_id == answer[0].observation.focus_id:
        return ""
    seen = [*(step.observation for step in answer[1:]), now]
    if any(
        after.focus_id == now.focus_id and _moved_focus(step, after) for step, after in zip(answer, seen, strict=True)
    ):
        return ""
    focused = now.focused
    return f"the keyboard is on the {describe_element(focused)}" if focused else "no element has the keyboard"


def _moved_focus(step: Step, after: Observation) -> bool:
    """Return whether a step explains why the element that has the focus after it has it."""
    action, before = step.response.action, step.observation
    focused = after.focused
    if focused is None:
        return False
    if focused.id in _target_ids(action):
        return True
    if any(focused.rect.contains(point) for point in _target_points(action)):
        return True
    if isinstance(action, Click) and any(
        _was_clicked_in(focused, before.by_id.get(number)) for number in _target_ids(action)
    ):
        return True  # the view around the clicked entry, such as a list of files
    if _navigates(action, before.focused, focused):
        return True
    if isinstance(action, Type) and (typed := action.text.casefold()):
        was = before.by_id.get(focused.id)
        taken = (was is None or was.text != focused.text) and typed in (focused.text or "").casefold()
        if taken or focused.name.casefold().startswith(typed):
            return True  # a field that opened at the first key, or the list entry that starts with the typed text
    # a field that a shortcut such as Ctrl+L or Ctrl+F focuses
    return isinstance(action, Hotkey) and after.focus_id != before.focus_id and "editable" in focused.states


def _was_clicked_in(focused: Element, clicked: Element | None) -> bool:
    if clicked is None or clicked.point is None or "editable" in clicked.states:
        return False
    return clicked.window_id == focused.window_id and focused.rect.contains(clicked.point)


def _navigates(action: Action, was: Element | None, focused: Element) -> bool:
    """Return whether a primitive moves between elements of one kind, such as from cell to cell or down a list."""
    if was is None or (was.role, was.window_id) != (focused.role, focused.window_id):
        return False
    in_cells = focused.role == "table cell"
    if isinstance(action, Type):
        return in_cells and (action.enter or "\t" in action.text or "\n" in action.text)
    if not isinstance(action, Hotkey):
        return False
    key = action.keys[-1].casefold()
    return key in _NAVIGATION_KEYS or (in_cells and key in ("return", "enter"))


def _target_ids(action: Action) -> Iterator[int]:
    """Yield the ids of the elements that an action targets."""
    yield from (target.element_id for target in action.targets() if not isinstance(target, Point | Described))


def _target_points(action: Action) -> Iterator[Point]:
    """Yield the pixels that an action targets."""
    yield from (target for target in action.targets() if isinstance(target, Point))


def _is_near_target(point: Point, step: Step) -> bool:
    used = _target_points(step.response.action)
    return any(abs(one.x - point.x) <= NEAR_PX and abs(one.y - point.y) <= NEAR_PX for one in used)

"""Grounded steps: they describe their elements instead of using ids, so that they can be replayed on another screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from aci.accessibility.roles import ROWS
from aci.acting.actions import LOOKS, Action, Click, DragAndDrop, HoldAndPress, Hotkey, SaveToBuffer, Scroll, Type
from aci.acting.targets import element_meant
from aci.observation.identity import ElementDescription, cells_of, describe
from aci.observation.observation import Element, Observation
from aci.observation.sheet_places import AXES, CellPlace, find_cells
from aci.observation.visibility import bounding
from agent_s.records import ID_FIELDS, Change, ElementState, EndState, GroundedStep, Step
from agent_s.replay.anchors import anchor_points, pictures_of
from intents.alignment import holds
from intents.text import tokens

COMPARED_STATES = frozenset({"checked", "mixed", "selected", "expanded", "pressed"})
"""Lasting states that actions change."""
CONTROLS = frozenset(
    {
        *("push button", "button", "toggle button", "check box", "radio button", "combo box", "spin button", "slider"),
        *("entry", "text", "password text", "page tab", "menu", "menu item", "check menu item", "radio menu item"),
        *("link", "heading", "label", "switch", "info bar", "alert"),
    }
)  # roles of controls that belong to the application itself; rows, cells and the like are contents
_BUTTONS = frozenset({"push button", "button", "toggle button", "menu item", "link"})
FIELDS = frozenset({"entry", "text", "password text", "spin button"})
CHOICES = frozenset({"check box", "radio button", "toggle button", "switch", "list item"})

Fields = dict[int, tuple[str, str]]  # mark ("role:name") and content or states of each field or choice, by element id

MAX_TEXT = 2000  # longer contents are documents, which say little about a step
_MAX_NAME = 80
_NUMBERS = re.compile(r"\d+")
_MAX_MARKS = 12


def ground_steps(
    steps: Sequence[Step], last: Observation, written: Callable[[str], str] = lambda text: "", wording: str = ""
) -> tuple[GroundedStep, ...]:
    """Ground the learnable steps (`learnable_steps`), so that they can be replayed elsewhere.

    Args:
        steps: The steps, oldest first.
        last: The screen after the last step.
        written: Callback that returns the path, from "~", of a recently written file that a text names, else an empty
            text. It is called for typed texts and for the files in the title of the last active window.
        wording: The instruction, which may name cells of a sheet by their address, or by their row or column.
    """
    after = [step.observation for step in steps[1:]] + [last]
    kept = learnable_steps(steps)
    done = [(step, seen) for step, seen in zip(steps, after, strict=True) if any(step is one for one in kept)]
    grounded = []
    for number, (step, seen) in enumerate(done, start=1):
        action, before = step.response.action, step.observation
        element = acted_on(action, before)
        end = last.by_id.get(element.id) if element is not None else None
        front = last.active_window if number == len(done) else None
        names = (typed_text(action), *_files_in_title(front.title if front is not None else ""))
        kept_action = anchor_points(action, before) or action
        bare = GroundedStep(
            action=kept_action,
            targets=_targets(kept_action, before, wording),
            pictures=pictures_of(kept_action, before),
            focus=_focus(action, before, wording),
            front=_front(action, before),
            keyboard=before.focused.role if before.focused is not None else "",
            intent=step.response.next_action,
            end=EndState(
                element=state_of(end) if end is not None else None,
                files=tuple(dict.fromkeys(file for name in names if (file := written(name)))),
                title=front.title if front is not None else "",
            ),
        )
        grounded.append(with_effect(bare, action, before, seen))
    return tuple(grounded)


def learnable_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the steps to learn, without those that only look or had no effect.

    A button or a shortcut may write a file without a visible effect, and a program may read text without echoing it.
    Such steps are kept, unless their target was disabled or they were retried later.
    """
    return [
        step
        for number, step in enumerate(steps)
        if not isinstance(step.response.action, LOOKS)
        if step.worked or (step.result.ok and _may_work_invisibly(step) and not _is_retried(step, steps[number + 1 :]))
    ]


def _may_work_invisibly(step: Step) -> bool:
    action, effect = step.response.action, step.result.effect
    if effect is not None and effect.remark == "disabled":
        return False
    if isinstance(action, Click):
        element = element_meant(action.target, step.observation)
        return element is not None and element.role in _BUTTONS
    return isinstance(action, Type) or (isinstance(action, Hotkey) and len(action.keys) > 1)


def _is_retried(step: Step, later: Sequence[Step]) -> bool:
    return any(other.response.action == step.response.action and other.worked for other in later)


def with_effect(step: GroundedStep, action: Action, before: Observation, after: Observation) -> GroundedStep:
    """Return a step with the effect that it had.

    Args:
        step: The step.
        action: Its primitive, with the ids of these observations.
        before: The screen before it.
        after: The screen after it.
    """
    element = acted_on(action, before)
    now = after.by_id.get(element.id) if element is not None else None
    effect = window_changes(*({window.id: window.title for window in seen.windows} for seen in (before, after)))
    if not effect and not isinstance(action, Type | Scroll):
        # Typing and scrolling change contents, not controls; what windows cover depends on their position.
        effect = _mark_changes(before, after)
    others = changed_fields(fields_of(before), after, element.id if element is not None else None)
    return step.model_copy(
        update={
            "effect": (*effect, *(Change(kind="rewritten", what=mark) for mark in others)),
            "state_before": state_of(element) if element is not None else None,
            "state_after": state_of(now) if now is not None else None,
        }
    )


def window_changes(before: Mapping[int, str], after: Mapping[int, str]) -> tuple[Change, ...]:
    """Return the windows that opened and closed, given the titles of all windows by id."""
    return (
        *(Change(kind="opened", what=title, after="open") for number, title in after.items() if number not in before),
        *(Change(kind="closed", what=title, before="open") for number, title in before.items() if number not in after),
    )


def acted_on(action: Action, observation: Observation) -> Element | None:
    """Return the target element of a primitive: the one it names, or the focused one if it types into that."""
    if isinstance(action, DragAndDrop):
        return element_meant(action.targets()[-1], observation)
    named: int | None = getattr(action, "element_id", None)
    if named is None and types_into_focus(action):
        named = observation.focus_id
    return observation.by_id.get(named) if named is not None else None


def types_into_focus(action: Action) -> bool:
    """Return whether a primitive enters text into the focused element."""
    if isinstance(action, Type):
        return action.element_id is None
    return isinstance(action, HoldAndPress) and typed_text(action) != ""


def typed_text(action: Action) -> str:
    """Return the text that a primitive enters, as text or as single keys."""
    if isinstance(action, Type):
        return action.text
    if isinstance(action, HoldAndPress) and not action.hold_keys and all(len(key) == 1 for key in action.press_keys):
        return "".join(action.press_keys)
    return ""


def state_of(element: Element) -> ElementState:
    """Return the state of an element for comparisons, without passwords, long texts and the counts of rows."""
    text = element.text
    hidden = text is None or len(text) > MAX_TEXT or element.is_password or element.role in ROWS
    return ElementState(
        states=tuple(sorted(COMPARED_STATES & element.states)), text=None if hidden else text, value=element.value
    )


def marks_of(observation: Observation, windows: frozenset[int]) -> frozenset[str]:
    """Return the marks ("role:name") of the named controls in the given windows."""
    return frozenset(_mark(each) for each in _controls(observation) if each.window_id in windows)


def fields_of(observation: Observation) -> Fields:
    """Return the named input fields with their contents, and the named choices with their states."""
    named = ((element, element.name or element.label) for element in observation.elements)
    return {
        e.id: (f"{e.role}:{name}", " ".join(sorted(COMPARED_STATES & e.states)) if e.role in CHOICES else e.text or "")
        for e, name in named
        if name and (e.role in CHOICES or (e.role in FIELDS and e.text is not None))
    }


def changed_fields(known: Fields, after: Observation, own: int | None) -> list[str]:
    """Return the marks of fields and choices that have changed, except the one with the id `own`."""
    now = fields_of(after)
    changed = (
        mark for number, (mark, text) in known.items() if number != own and now.get(number, ("", text))[1] != text
    )
    return list(dict.fromkeys(changed))


def is_repeatable(steps: Sequence[Step]) -> bool:
    """Return whether steps can be replayed.

    They cannot if they carry text from the screen in the buffer, or target a pixel outside any known element.
    """
    if any(anchor_points(step.response.action, step.observation) is None for step in learnable_steps(steps)):
        return False
    kept = [text for step in steps for text in step.observation.buffer]
    return not any(
        isinstance(action, SaveToBuffer) or (isinstance(action, Type) and any(text in action.text for text in kept))
        for action in (step.response.action for step in steps)
    )


def _files_in_title(title: str) -> list[str]:
    return [token.value for token in tokens(title.lstrip("*• ")) if token.sort in ("file", "path")]


def _targets(action: Action, observation: Observation, wording: str) -> dict[str, ElementDescription]:
    ids = {name: getattr(action, name, None) for name in ID_FIELDS}
    return {
        name: _describe(observation.by_id[element_id], observation, wording)
        for name, element_id in ids.items()
        if element_id is not None and element_id in observation.by_id
    }


def _focus(action: Action, observation: Observation, wording: str) -> ElementDescription | None:
    focused = observation.focused if types_into_focus(action) else None
    return _describe(focused, observation, wording) if focused is not None else None


def _describe(element: Element, observation: Observation, wording: str) -> ElementDescription:
    """Describe an element; a cell is described by the parts of its address that the wording names."""
    description = describe(element, observation)
    place = description.cell
    if place is None:
        return description
    said = wording.casefold()
    if holds(said, element.name.casefold()):
        place = CellPlace(said=AXES)
    else:
        words = {"row": place.row, "column": place.column}
        place = place.model_copy(update={"said": tuple(axis for axis in AXES if holds(said, words[axis].casefold()))})
        cells = cells_of(description, observation.elements)
        place = place.model_copy(update={"alike": len(find_cells(place, element.name, cells))})
    return description.model_copy(update={"cell": place})


def _front(action: Action, observation: Observation) -> str:
    presses = isinstance(action, Hotkey | HoldAndPress) or (isinstance(action, Type) and action.element_id is None)
    window = observation.active_window if presses else None
    return window.title if window is not None else ""


def _mark_changes(before: Observation, after: Observation) -> tuple[Change, ...]:
    stayed = lasting_windows(before, after)
    old, new = (marks_of(seen, stayed) for seen in (before, after))
    gone = (old - new) - _covered(before, old - new, after, new - old)
    return (
        *(Change(kind="appeared", what=mark, after="shown") for mark in _first_marks(after, new - old)),
        *(Change(kind="vanished", what=mark, before="shown") for mark in _first_marks(before, gone)),
    )


def _covered(before: Observation, gone: frozenset[str], after: Observation, come: frozenset[str]) -> frozenset[str]:
    """Return the marks of what vanished where others appeared, which depends on the size of the window.

    What only got another number is not among them.
    """
    places = [each.rect for each in after.elements if each.id not in before.by_id and each.rect.area]
    around = bounding(places) if places and come else None
    kept = {mask_numbers(mark) for mark in come}
    below = (each for each in _controls(before) if around is not None and around.intersection(each.rect))
    return frozenset(mark for each in below if (mark := _mark(each)) in gone and mask_numbers(mark) not in kept)


def mask_numbers(mark: str) -> str:
    """Return a mark with "#" in place of each number."""
    return _NUMBERS.sub("#", mark)


def _mark(element: Element) -> str:
    return f"{element.role}:{element.name}"


def lasting_windows(before: Observation, after: Observation) -> frozenset[int]:
    """Return the ids of the windows, except popups, that both observations show."""
    old, new = ({window.id for window in seen.windows if not window.popup} for seen in (before, after))
    return frozenset(old & new)


def _first_marks(observation: Observation, marks: frozenset[str]) -> list[str]:
    in_order = dict.fromkeys(map(_mark, _controls(observation)))
    return [mark for mark in in_order if mark in marks][:_MAX_MARKS]


def _controls(observation: Observation) -> Iterator[Element]:
    for element in observation.elements:
        named = 0 < len(element.name) <= _MAX_NAME
        if named and element.role in CONTROLS and element.source == "accessibility":
            yield element

"""Turning steps into ones that can be done again on another screen: elements are described instead of numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from aci.acting.actions import Action, DragAndDrop, HoldAndPress, Hotkey, SaveToBuffer, Scroll, Type
from aci.observation.identity import ElementDescription, describe
from aci.observation.observation import Element, Observation
from agent_s.records import ID_FIELDS, Effect, ElementState, GroundedStep, Left, Step

TOLD_STATES = frozenset({"checked", "mixed", "selected", "expanded", "pressed"})
"""States that actions change and that stay."""
CONTROLS = frozenset(
    {
        *("push button", "button", "toggle button", "check box", "radio button", "combo box", "spin button", "slider"),
        *("entry", "text", "password text", "page tab", "menu", "menu item", "check menu item", "radio menu item"),
        *("link", "heading", "label", "switch", "info bar", "alert"),
    }
)
"""Roles of what an application shows of itself; rows, cells and the like are what a person put there."""

FIELDS = frozenset({"entry", "text", "password text", "spin button"})
"""Roles of what is typed into."""
CHOICES = frozenset({"check box", "radio button", "toggle button", "switch", "list item"})
"""Roles of what is switched or chosen, and stays so."""

Fields = dict[int, tuple[str, str]]
"""Of each field or choice its mark, "role:name", and its content or the states that tell what is chosen, by its id."""

LONGEST_TEXT = 2000
"""Longer contents are not kept: they are what somebody wrote, and say little about a step."""
_LONGEST_NAME = 80
_MOST_MARKS = 12

Written = Callable[[str], str]
"""Returns the file that a text names as a path from "~" where it was written lately, else an empty text."""


def ground_steps(
    steps: Sequence[Step], last: Observation, written: Written = lambda text: ""
) -> tuple[GroundedStep, ...]:
    """Turn steps into ones that can be done again elsewhere; steps that were refused are left out.

    Args:
        steps: What was done, oldest first.
        last: The screen after the last step.
        written: Tells which files were written.
    """
    after = [step.observation for step in steps[1:]] + [last]
    done = [(step, seen) for step, seen in zip(steps, after, strict=True) if step.result.ok]
    return tuple(
        GroundedStep(
            action=step.response.action,
            targets=_targets(step.response.action, step.observation),
            focus=_focus(step.response.action, step.observation),
            front=_front(step.response.action, step.observation),
            intent=step.response.next_action,
            effect=effect_of(step.response.action, step.observation, seen),
            left=_left(step, last, written, number == len(done)),
        )
        for number, (step, seen) in enumerate(done, start=1)
    )


def effect_of(action: Action, before: Observation, after: Observation) -> Effect:
    """Return what a primitive changed between two observations."""
    effect = window_effect(before, after)
    if not effect.opened and not effect.closed:
        # What windows cover as they come, and uncover as they go, depends on where they happen to be.
        effect = effect.model_copy(update=_marks(action, before, after))
    element = acted_on(action, before)
    own = element.id if element is not None else None
    effect = effect.model_copy(update={"rewritten": tuple(rewritten(fields_of(before), after, own))})
    if element is None:
        return effect
    now = after.by_id.get(element.id)
    return effect.model_copy(update={"before": state_of(element), "after": state_of(now) if now is not None else None})


def window_effect(before: Observation, after: Observation) -> Effect:
    """Return the windows that came and went between two observations."""
    old, new = ({window.id: window.title for window in seen.windows} for seen in (before, after))
    return Effect(
        opened=tuple(title for window, title in new.items() if window not in old),
        closed=tuple(title for window, title in old.items() if window not in new),
    )


def acted_on(action: Action, observation: Observation) -> Element | None:
    """Return the element that a primitive acts on: the one it names, else the one that has the keyboard."""
    if isinstance(action, DragAndDrop):
        return observation.by_id.get(action.drop_on_id)
    named: int | None = getattr(action, "element_id", None)
    if named is None and types_blindly(action):
        named = observation.focus_id
    return observation.by_id.get(named) if named is not None else None


def types_blindly(action: Action) -> bool:
    """Tell whether a primitive enters text where the keyboard happens to be."""
    if isinstance(action, Type):
        return action.element_id is None
    return isinstance(action, HoldAndPress) and typed_text(action) != ""


def typed_text(action: Action) -> str:
    """Return the text that a primitive enters; of single keys, these in a row."""
    if isinstance(action, Type):
        return action.text
    if isinstance(action, HoldAndPress) and not action.hold_keys and all(len(key) == 1 for key in action.press_keys):
        return "".join(action.press_keys)
    return ""


def state_of(element: Element) -> ElementState:
    """Return what is worth comparing of an element."""
    text = element.text
    hidden = text is None or len(text) > LONGEST_TEXT or "password" in element.states or element.role == "password text"
    return ElementState(
        states=tuple(sorted(TOLD_STATES & element.states)), text=None if hidden else text, value=element.value
    )


def marks_of(observation: Observation, windows: frozenset[int]) -> frozenset[str]:
    """Return the named controls of some windows, each "role:name"."""
    return frozenset(f"{e.role}:{e.name}" for e in _controls(observation) if e.window_id in windows)


def fields_of(observation: Observation) -> Fields:
    """Return the named fields that are typed into, with what they hold, and the named choices."""
    named = ((element, element.name or element.label) for element in observation.elements)
    return {
        e.id: (f"{e.role}:{name}", " ".join(sorted(TOLD_STATES & e.states)) if e.role in CHOICES else e.text or "")
        for e, name in named
        if name and (e.role in CHOICES or (e.role in FIELDS and e.text is not None))
    }


def rewritten(known: Fields, after: Observation, own: int | None) -> list[str]:
    """Return the fields and choices, other than one, that are still there and not as they were."""
    now = fields_of(after)
    changed = (
        mark for number, (mark, text) in known.items() if number != own and now.get(number, ("", text))[1] != text
    )
    return list(dict.fromkeys(changed))


def is_repeatable(steps: Sequence[Step]) -> bool:
    """Tell whether steps do the same thing whatever the screen says.

    Steps that carry a text from the screen through the buffer are not: done again, they would carry the old text.
    """
    kept = [text for step in steps for text in step.observation.buffer]
    return not any(
        isinstance(action, SaveToBuffer) or (isinstance(action, Type) and any(text in action.text for text in kept))
        for action in (step.response.action for step in steps)
    )


def _targets(action: Action, observation: Observation) -> dict[str, ElementDescription]:
    ids = {name: getattr(action, name, None) for name in ID_FIELDS}
    return {
        name: describe(observation.by_id[element_id], observation)
        for name, element_id in ids.items()
        if element_id is not None and element_id in observation.by_id
    }


def _focus(action: Action, observation: Observation) -> ElementDescription | None:
    focused = observation.by_id.get(observation.focus_id or -1) if types_blindly(action) else None
    return describe(focused, observation) if focused is not None else None


def _front(action: Action, observation: Observation) -> str:
    presses = isinstance(action, Hotkey | HoldAndPress) or (isinstance(action, Type) and action.element_id is None)
    window = observation.active_window if presses else None
    return window.title if window is not None else ""


def _marks(action: Action, before: Observation, after: Observation) -> dict[str, tuple[str, ...]]:
    """Return the controls that came and went; what is typed or scrolled by changes what a person put there."""
    if isinstance(action, Type | Scroll):
        return {}
    stayed = staying(before, after)
    old, new = (marks_of(seen, stayed) for seen in (before, after))
    return {"appeared": tuple(_first(after, new - old)), "vanished": tuple(_first(before, old - new))}


def staying(before: Observation, after: Observation) -> frozenset[int]:
    """Return the windows that both observations show, popups left out."""
    old, new = ({window.id for window in seen.windows if not window.popup} for seen in (before, after))
    return frozenset(old & new)


def _first(observation: Observation, marks: frozenset[str]) -> list[str]:
    in_order = dict.fromkeys(f"{element.role}:{element.name}" for element in _controls(observation))
    return [mark for mark in in_order if mark in marks][:_MOST_MARKS]


def _controls(observation: Observation) -> Iterator[Element]:
    for element in observation.elements:
        named = 0 < len(element.name) <= _LONGEST_NAME
        if named and element.role in CONTROLS and element.source == "accessibility":
            yield element


def _left(step: Step, last: Observation, written: Written, at_the_end: bool) -> Left:
    element = acted_on(step.response.action, step.observation)
    now = last.by_id.get(element.id) if element is not None else None
    file = written(typed_text(step.response.action))
    front = last.active_window
    return Left(
        element=state_of(now) if now is not None else None,
        files=(file,) if file else (),
        title=front.title if at_the_end and front is not None else "",
    )

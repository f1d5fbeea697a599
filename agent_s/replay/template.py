"""Template instantiation: replaces the values in the stored steps of an experience by those of the task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from aci.acting.actions import ACTION_ADAPTER, Action, HoldAndPress, Hotkey, SwitchApplications
from aci.observation.identity import ElementDescription
from aci.observation.sheet_places import CellPlace
from agent_s.records import ID_FIELDS, Derived, ElementState, GroundedStep
from agent_s.replay.grounded_steps import typed_text
from intents.alignment import Parameters
from memory_store import EpisodicExperience, SkillExperience

_KEPT_FIELDS = frozenset({"action", "keys", "hold_keys", "press_keys", "button_type", "path", *ID_FIELDS})
"""Fields of primitives that never contain a value of a task."""

Numbers = dict[float, float | None]  # current number by learned number; None if it is ambiguous


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The reason why an experience does not match the screen or the task."""

    reason: str
    greyed_out: bool = False  # whether the target is there, but disabled


@dataclass(frozen=True, slots=True)
class Replayable:
    """Learned steps that can be replayed."""

    experience_id: str  # id of their experience
    steps: tuple[GroundedStep, ...]  # steps with the current values
    opens: str = ""  # application to bring to the front first; may be empty
    wording: str = ""  # the instruction or subtask
    exact: bool = False  # whether it was learned with the same wording
    parameters: Parameters = field(default_factory=Parameters)  # the values that differ from the learned ones
    # placeholder of each derived value, which the steps contain in its place
    marks: dict[str, str] = field(default_factory=dict)
    # text that a step must not type, and why, by index of the step
    refused: dict[int, tuple[str, str]] = field(default_factory=dict)
    reads: bool = False  # whether the task reads derived values, so that the screen must settle after each step


def read_steps(experience: EpisodicExperience | SkillExperience) -> tuple[GroundedStep, ...] | Mismatch:
    """Parse the steps of an experience; those of another version may be unreadable."""
    try:
        return tuple(GroundedStep.model_validate(step) for step in experience.steps)
    except ValidationError as error:
        return Mismatch(f"the stored steps cannot be read: {error.errors()[0]['msg']}")


def with_parameters(steps: Sequence[GroundedStep], parameters: Parameters) -> tuple[GroundedStep, ...] | Mismatch:
    """Return steps with values replaced in all typed texts, names and expected effects."""
    if not parameters:
        return tuple(steps)
    try:
        numbers = _numbers(steps, parameters)
        return tuple(_replaced(step, parameters, numbers) for step in steps)
    except ValidationError as error:
        return Mismatch(f"the new values do not fit the stored steps: {error.errors()[0]['msg']}")


def values_shown(steps: Sequence[GroundedStep]) -> Iterator[str]:
    """Yield the texts in steps that may contain values of a task: typed texts and names of elements."""
    for step in steps:
        yield from _texts(_values(step.action))
        yield typed_text(step.action)
        for description in step.targets.values():
            yield from (description.name, description.label, description.beside)
            if description.cell is not None:
                yield from (description.cell.row, description.cell.column)


def _numbers(steps: Sequence[GroundedStep], parameters: Parameters) -> Numbers:
    """Return the new value of each number that steps type, to replace it in the values of elements."""
    numbers: Numbers = {}
    for step in steps:
        typed = typed_text(step.action)
        old, new = _as_number(typed), _as_number(parameters.replace(typed))
        if old is not None:
            numbers[old] = new if numbers.get(old, new) == new else None
    return numbers


def _replaced(step: GroundedStep, parameters: Parameters, numbers: Numbers) -> GroundedStep:
    action = _action(step.action, parameters)
    if isinstance(action, SwitchApplications) and action != step.action:
        # The effect in another application is unknown; the primitive itself ensures that its window is active.
        step = step.model_copy(update={"effect": (), "end": step.end.model_copy(update={"title": ""})})
    return step.model_copy(
        update={
            "action": action,
            "targets": {name: _description(target, parameters) for name, target in step.targets.items()},
            "focus": _description(step.focus, parameters) if step.focus is not None else None,
            "front": parameters.replace(step.front),
            "intent": parameters.replace(step.intent),
            "effect": tuple(one.model_copy(update={"what": parameters.replace(one.what)}) for one in step.effect),
            "state_before": _state(step.state_before, parameters, numbers),
            "state_after": _state(step.state_after, parameters, numbers),
            "end": step.end.model_copy(
                update={
                    "element": _state(step.end.element, parameters, numbers),
                    "files": tuple(map(parameters.replace, step.end.files)),
                    "title": parameters.replace(step.end.title),
                }
            ),
            "derived": _derived(step.derived, parameters),
        }
    )


def _derived(derived: tuple[Derived, ...] | None, parameters: Parameters) -> tuple[Derived, ...] | None:
    """Return the sources of derived values, with values replaced in the names of the places."""
    replace = parameters.replace
    return derived and tuple(
        one.model_copy(
            update={
                "typed": replace(one.typed) if one.said else one.typed,
                "beside": replace(one.beside),
                "after": replace(one.after),
                "around": tuple(map(replace, one.around)),
            }
        )
        for one in derived
    )


def _action(action: Action, parameters: Parameters) -> Action:
    typed = typed_text(action)
    if isinstance(action, HoldAndPress) and typed:
        keys = tuple(parameters.replace(typed))
        return HoldAndPress.model_validate({**action.model_dump(), "press_keys": keys})
    fields = action.model_dump()
    return ACTION_ADAPTER.validate_python({**fields, **_replace_in(_values(action), parameters)})


def _values(action: Action) -> dict[str, Any]:
    """Return the fields of a primitive that may contain values of a task."""
    if isinstance(action, Hotkey | HoldAndPress):
        return {}
    return {
        name: value
        for name, value in action.model_dump().items()
        if name not in _KEPT_FIELDS and isinstance(value, str | list | tuple | dict)
    }


def _replace_in(value: Any, parameters: Parameters) -> Any:
    """Replace values in nested data, such as the contents of cells."""
    match value:
        case str():
            return parameters.replace(value)
        case dict():
            return {parameters.replace(str(key)): _replace_in(inner, parameters) for key, inner in value.items()}
        case list() | tuple():
            return [_replace_in(inner, parameters) for inner in value]
        case bool() | None:
            return value
        case int() | float():
            return _number(value, parameters)
    return value


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield str(key)
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)
        case str() | int() | float():
            yield str(value)


def _number(value: float, parameters: Parameters) -> float | str:
    """Return the new value of a number; a text if it is not a number."""
    new = parameters.pairs.get(f"{value:g}")
    if new is None:
        return value
    try:
        return int(new) if isinstance(value, int) else float(new)
    except ValueError:
        return new


def _description(description: ElementDescription, parameters: Parameters) -> ElementDescription:
    replace = parameters.replace
    return description.model_copy(
        update={
            "name": replace(description.name),
            "label": replace(description.label),
            "description": replace(description.description),
            "window": replace(description.window),
            "path": tuple(map(replace, description.path)),
            "beside": replace(description.beside),
            "cell": _cell(description.cell, parameters),
        }
    )


def _cell(place: CellPlace | None, parameters: Parameters) -> CellPlace | None:
    words = {} if place is None else {"row": parameters.replace(place.row), "column": parameters.replace(place.column)}
    return place and place.model_copy(update=words)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _state(state: ElementState | None, parameters: Parameters, numbers: Numbers) -> ElementState | None:
    if state is None:
        return None
    text = parameters.replace(state.text) if state.text is not None else None
    value = numbers.get(state.value, state.value) if state.value is not None else None
    return state.model_copy(update={"text": text, "value": value})

"""Placeholders for derived values in learned steps, so that no outdated value is ever typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count, groupby

from aci.acting.actions import Click
from agent_s.records import ID_FIELDS, Derived, GroundedStep
from agent_s.replay.ambiguity import find_rival_use
from agent_s.replay.derived import entered_text, not_in_wording, unexplained_pieces
from agent_s.replay.template import Mismatch, Replayable, values_shown, with_parameters
from agent_s.replay.value_forms import is_distinctive
from intents.alignment import Parameters

_FIRST, _NUMBER = 0xE200, 4096  # private-use characters, which do not occur in real texts


def new_placeholders() -> Iterator[str]:
    """Yield placeholders that are unique within a run."""
    return (chr(_FIRST + number % _NUMBER) for number in count())


def has_placeholder(text: str) -> bool:
    """Return whether a text contains a placeholder, whose value was not read yet."""
    return any(_FIRST <= ord(char) < _FIRST + _NUMBER for char in text)


def derived_values(steps: Sequence[GroundedStep]) -> dict[str, Derived]:
    """Return the derived values that are not in the wording, as they were typed, with one source of each."""
    return {one.typed: one for step in steps for one in step.derived or () if not one.said}


def as_descriptions(values: dict[str, Derived]) -> Parameters:
    """Return replacements that describe where each value comes from, for the wording that a Worker sees."""
    return Parameters({typed: f"(what {_describe_source(one)} shows)" for typed, one in values.items()})


def outdated_numbers(text: str, steps: Sequence[GroundedStep], task: str) -> list[str]:
    """Return the outdated numbers and codes of a wording: those that come neither from the task nor from a step."""
    used = [*values_shown(steps), *(step.action.model_dump_json(exclude={*ID_FIELDS}) for step in steps)]
    pieces = (piece for piece in not_in_wording(text, task) if any(char.isdigit() for char in piece))
    return [piece for piece in pieces if not any(piece.casefold() in one.casefold() for one in used)]


def prepare(
    steps: tuple[GroundedStep, ...], parameters: Parameters, marks: dict[str, str], subtask: str, task: str
) -> Replayable | Mismatch:
    """Return learned steps with the current values, and with placeholders for derived values.

    Args:
        steps: The steps as learned.
        parameters: The values that differ.
        marks: The placeholder of each derived value.
        subtask: The wording of the subtask, with the current values.
        task: The wording of the task.
    """
    current = with_parameters(steps, parameters)
    marked = with_parameters(steps, Parameters(marks))
    ready = marked if isinstance(marked, Mismatch) else with_parameters(marked, parameters)
    if isinstance(current, Mismatch) or isinstance(ready, Mismatch):
        return current if isinstance(current, Mismatch) else Mismatch("the values cannot be replaced in the steps")
    refused = {
        at: why
        for at, (learned, step) in enumerate(zip(steps, current, strict=True))
        if (why := _find_refusal(learned, step, steps, task)) is not None
    }
    refused |= {
        at: (value, f"{value!r} was clicked when learned, and is not in the task")
        for at, value in (*_clicked_numbers(current), *_clicked_codes(current, task))
        if not_in_wording(value, task) and value not in marks
    }
    return Replayable(
        "", ready, wording=subtask, exact=not parameters, parameters=parameters, marks=marks, refused=refused
    )


def _find_refusal(
    learned: GroundedStep, current: GroundedStep, steps: Sequence[GroundedStep], task: str
) -> tuple[str, str] | None:
    """Return the text that a step must not type, as it is of unknown origin, and why; None if there is none."""
    pieces = unexplained_pieces(current, task)
    if pieces:
        return pieces[0], f"{pieces[0]!r} was typed when learned, and is not in the task"
    if has_placeholder(text := entered_text(learned.action)):
        return text, "the learned text has characters that cannot be replayed"
    return next(((typed, why) for typed in derived_values([learned]) if (why := find_rival_use(typed, steps))), None)


def _clicked_numbers(steps: Sequence[GroundedStep]) -> Iterator[tuple[int, str]]:
    """Yield the numbers that are entered by clicks, such as on the digits of a calculator, with their first step."""
    names = [
        step.targets["element_id"].name if isinstance(step.action, Click) and "element_id" in step.targets else ""
        for step in steps
    ]
    begin = 0
    for is_digit, same in groupby(names, key=lambda name: re.fullmatch(r"\d+", name) is not None):
        run = list(same)
        if is_digit:
            yield begin, "".join(run)
        begin += len(run)


def _clicked_codes(steps: Sequence[GroundedStep], task: str) -> Iterator[tuple[int, str]]:
    """Yield the distinctive numbers and codes in the names of clicked elements, such as an order number."""
    for at, step in enumerate(steps):
        for target in step.targets.values():
            pieces = not_in_wording(target.name, task)
            yield from ((at, one) for one in pieces if any(char.isdigit() for char in one) and is_distinctive(one))


def _describe_source(one: Derived) -> str:
    name = one.beside or one.around[0].strip()
    return f"the {one.role}{f' {name}' if name else ''} of {one.app}"

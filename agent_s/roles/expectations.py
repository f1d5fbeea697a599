"""Checks whether the screen confirms a finished subtask: the Worker's expectations and the typed text."""

from __future__ import annotations

from collections.abc import Sequence

from aci.acting.actions import Type
from aci.acting.effects import with_effect
from aci.observation.observation import Observation
from agent_s.records import Expectation, Step
from agent_s.roles.evidence import normalized
from agent_s.roles.screen_evidence import content_of
from intents.numbers import shows


def find_unmet(expected: Sequence[Expectation], before: Observation, now: Observation) -> str:
    """Return why the screen does not show that a subtask is done; empty if it does.

    All expectations must hold, and at least one must not have held before: only then do they prove anything.

    Args:
        expected: The Worker's expectations.
        before: The screen that the Worker saw when it stated them.
        now: The screen after its primitives.
    """
    for one in expected:
        if not _holds(one, now, before):
            return f"{_describe(one)} is not what the screen shows"
    if all(_holds(one, before, before) for one in expected):
        return f"{' and '.join(map(_describe, expected)) or 'nothing'} was so before, which shows nothing"
    return ""


def _holds(expected: Expectation, seen: Observation, before: Observation) -> bool:
    words = normalized(expected.shows)
    if expected.element_id is None:
        texts = [*(window.title for window in seen.windows), *(f"{e.name} {e.text or ''}" for e in seen.elements)]
        return bool(words) and expected.gone is not any(shows(normalized(text), words) for text in texts)
    if expected.element_id not in before.by_id and expected.gone:
        return False  # it was never there
    element = seen.by_id.get(expected.element_id)
    if element is None or not words:
        return expected.gone and element is None
    return expected.gone is not shows(normalized(content_of(element, seen)), words)


def _describe(expected: Expectation) -> str:
    where = "" if expected.element_id is None else f" on element {expected.element_id}"
    return f"{'no ' if expected.gone else ''}{expected.shows!r}{where}"


def find_unread(steps: Sequence[Step], now: Observation) -> tuple[Step, ...]:
    """Return the steps whose typed text nothing confirms: no read-back, no later screen and no retyping.

    Args:
        steps: The steps of a subtask, oldest first.
        now: The screen after the last of them.
    """
    return tuple(
        step
        for number, step in enumerate(steps)
        if _is_unread(step) and not _shows(step, now) and not _was_retyped(step, steps[number + 1 :])
    )


def _is_unread(step: Step) -> bool:
    delivery, effect = step.result.delivery, step.result.effect
    if step.recalled or delivery is None or delivery.state != "unread":
        return False
    # For a password field, that it changed is all there is to see.
    return not (delivery.unread == "password" and effect is not None and effect.kind == "expected")


def _shows(step: Step, now: Observation) -> bool:
    delivery = with_effect(step.result, step.response.action, step.observation, now).delivery
    return delivery is not None and delivery.confirmed


def _was_retyped(step: Step, later: Sequence[Step]) -> bool:
    action = step.response.action
    return isinstance(action, Type) and any(
        isinstance(other.response.action, Type)
        and action.text in other.response.action.text
        and other.result.delivery is not None
        and other.result.delivery.confirmed
        for other in later
    )

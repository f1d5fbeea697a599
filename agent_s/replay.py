"""Doing a verified experience again without a model: each step is grounded anew and its effect is checked."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from aci.actions import ACTION_ADAPTER, Action
from aci.identity import find_again
from aci.observation import Observation
from agent_s.records import Effect, GroundedStep
from memory_store import EpisodicExperience


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why the screen does not fit the next step of an experience."""

    reason: str


def read_steps(experience: EpisodicExperience) -> tuple[GroundedStep, ...] | Mismatch:
    """Read the steps of an experience; one that an older or newer version wrote may not be readable."""
    try:
        return tuple(GroundedStep.model_validate(step) for step in experience.steps)
    except ValidationError as error:
        return Mismatch(f"the stored steps cannot be read: {error.errors()[0]['msg']}")


def ground(step: GroundedStep, observation: Observation) -> Action | Mismatch:
    """Find the step's elements on this screen and return the primitive with their ids."""
    fields = step.action.model_dump()
    for name, description in step.targets.items():
        element = find_again(description, observation)
        if element is None:
            shown = description.name or description.label or description.description
            return Mismatch(f"no {description.role} {shown!r} on the screen")
        if "disabled" in element.states:
            return Mismatch(f"{description.role} {element.name!r} is disabled")
        fields[name] = element.id
    return ACTION_ADAPTER.validate_python(fields)


def differs(expected: Effect, actual: Effect) -> str:
    """Say how the effect of a step differs from the one that was learned; empty where it does not.

    Titles carry file names and counters, so windows are counted and not compared by title.
    """
    if len(actual.opened) < len(expected.opened):
        return f"{len(expected.opened)} windows should have opened, {len(actual.opened)} did"
    if len(actual.closed) < len(expected.closed):
        return f"{len(expected.closed)} windows should have closed, {len(actual.closed)} did"
    return ""

"""Doing a verified experience again without a model: each step is grounded anew and its effect is checked."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from pydantic import ValidationError

from aci.actions import ACTION_ADAPTER, Action
from aci.identity import find_again
from aci.observation import Observation
from agent_s.events import Event, ReplayStarted, ReplayStopped
from agent_s.grounded_steps import window_effect
from agent_s.llm.protocol import ActResponse
from agent_s.records import Effect, GroundedStep, Step, Subtask
from agent_s.session import Session
from memory_store import EpisodicExperience, SkillExperience

PATIENCE_S = 6.0
"""How long a replay waits for the screen to look as it was learned."""

POLL_S = 0.3


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why the screen does not fit the next step of an experience."""

    reason: str


def replay(
    session: Session, subtask: Subtask, experience: EpisodicExperience | SkillExperience, steps: list[Step]
) -> Generator[Event, None, bool]:
    """Do an experience again step by step.

    Args:
        session: The run's desktop.
        subtask: What the experience is replayed for.
        experience: A verified one, or an active skill.
        steps: Gets each step as it is done, so that a Worker who takes over knows of them.

    Returns:
        Whether it ran to its end as it was learned.
    """
    learned = read_steps(experience)
    problem = learned.reason if isinstance(learned, Mismatch) else ""
    if not isinstance(learned, Mismatch):
        yield ReplayStarted(subtask=subtask, experience_id=experience.id, steps=len(learned))
        for step in learned:
            problem = yield from _replay_step(session, step, steps)
            if problem:
                break
    if problem:
        yield ReplayStopped(subtask=subtask, experience_id=experience.id, reason=problem)
    return not problem


def _replay_step(session: Session, learned: GroundedStep, steps: list[Step]) -> Generator[Event, None, str]:
    """Do one learned step; return why the screen does not fit, or an empty text."""
    deadline = session.clock() + PATIENCE_S
    observation = yield from session.look()
    while isinstance(action := ground(learned, observation), Mismatch):
        if session.clock() > deadline:
            return action.reason
        observation = yield from session.look_again(POLL_S)
    step = yield from session.step(observation, ActResponse(next_action=learned.intent, action=action), replayed=True)
    steps.append(step)
    if not step.result.ok:
        return step.result.error or "the action was refused"
    after = yield from session.look()
    while difference := differs(learned.effect, window_effect(observation, after)):
        if session.clock() > deadline:
            return difference
        after = yield from session.look_again(POLL_S)
    return ""


def read_steps(experience: EpisodicExperience | SkillExperience) -> tuple[GroundedStep, ...] | Mismatch:
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

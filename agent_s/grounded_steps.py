"""Turning steps into ones that can be done again on another screen: elements are described instead of numbered."""

from __future__ import annotations

from collections.abc import Sequence

from aci.actions import Action, SaveToBuffer, Type
from aci.identity import ElementDescription, describe
from aci.observation import Observation
from agent_s.records import Effect, GroundedStep, Step

ID_FIELDS = ("element_id", "drag_from_id", "drop_on_id")
"""The fields of primitives that name an element."""


def ground_steps(steps: Sequence[Step], last: Observation) -> tuple[GroundedStep, ...]:
    """Turn steps into ones that can be done again elsewhere; steps that were refused are left out.

    Args:
        steps: What was done, oldest first.
        last: The screen after the last step.
    """
    after = [step.observation for step in steps[1:]] + [last]
    return tuple(
        GroundedStep(
            action=step.response.action,
            targets=_targets(step.response.action, step.observation),
            intent=step.response.next_action,
            effect=window_effect(step.observation, seen),
        )
        for step, seen in zip(steps, after, strict=True)
        if step.result.ok
    )


def window_effect(before: Observation, after: Observation) -> Effect:
    """Return the windows that came and went between two observations."""
    old, new = ({window.id: window.title for window in seen.windows} for seen in (before, after))
    return Effect(
        opened=tuple(title for window, title in new.items() if window not in old),
        closed=tuple(title for window, title in old.items() if window not in new),
    )


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

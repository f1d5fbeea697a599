"""Cheap signs that a step has had its learned effect, which make a full observation unnecessary."""

from __future__ import annotations

from collections.abc import Callable

from aci.observation.identity import ElementDescription
from aci.observation.observation import Element
from aci.observation.sheet_text import is_sheet_cell
from agent_s.records import GroundedStep
from agent_s.replay.effect_checks import find_missing_window, state_difference
from agent_s.replay.grounded_steps import state_of
from agent_s.replay.screen import Screen

Sign = Callable[[], bool]


def sign_of(
    learned: GroundedStep, following: GroundedStep | None, element: Element | None, screen: Screen
) -> Sign | None:
    """Return a check for the effect of a step; None if only an observation of a settled screen can show it.

    Windows and controls that open or appear take time to complete, and so do fields that are rewritten besides the
    target. The application may revert the state of a field or control a moment later, such as a box that must not be
    checked; only cells of a sheet are reliable.

    Args:
        learned: The step.
        following: The next step; None after the last one.
        element: The target element, before the step.
        screen: The screen.
    """
    if learned.untried or learned.names_of("opened", "appeared", "vanished", "rewritten"):
        return None
    if learned.names_of("closed"):
        return _closing_sign(learned, screen)
    was, became = learned.state_before, learned.state_after
    if element is None or was is None or became is None:
        return None
    takes_focus = following is not None and _is_same(learned.targets.get("element_id"), following.focus)
    if was == became:
        return (lambda: _has_focus(screen.element_now(element))) if takes_focus else None
    if not is_sheet_cell(element):
        return None

    def changed(now: Element | None) -> bool:
        if now is None or (now.text is None and element.text is not None) or (takes_focus and not _has_focus(now)):
            return False
        return not state_difference(learned, was, became, state_of(element), state_of(now))

    return None if changed(element) else lambda: changed(screen.element_now(element))


def _closing_sign(learned: GroundedStep, screen: Screen) -> Sign | None:
    before = screen.windows()
    if before is None or not all(learned.names_of("closed")):  # a window without a title cannot be identified
        return None
    return lambda: not find_missing_window(learned, before, screen.windows() or before)


def _has_focus(element: Element | None) -> bool:
    return element is not None and "focused" in element.states


def _is_same(target: ElementDescription | None, other: ElementDescription | None) -> bool:
    """Return whether two descriptions are of the same element, regardless of its state."""
    keys = [(each.role, each.name, each.label, each.path) for each in (target, other) if each is not None]
    return len(keys) == 2 and keys[0] == keys[1]

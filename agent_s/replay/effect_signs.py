"""Signs that a step has had its learned effect, which can be seen without a look at the screen."""

from __future__ import annotations

from collections.abc import Callable

from aci.observation.identity import ElementDescription
from aci.observation.observation import Element
from aci.observation.sheet_text import is_sheet_cell
from agent_s.records import GroundedStep
from agent_s.replay.effect_checks import state_differs, windows_missing
from agent_s.replay.grounded_steps import state_of
from agent_s.replay.screen import Screen

Sign = Callable[[], bool]


def sign_of(
    learned: GroundedStep, following: GroundedStep | None, element: Element | None, screen: Screen
) -> Sign | None:
    """Return what says that a step has had its effect; None where only a look at a still screen does.

    What opens or appears needs time to be complete, and so does what is rewritten besides the element. What a field or
    a control shows may be taken back a moment later by its program, as a box that may not be checked; a cell keeps it.

    Args:
        learned: The step.
        following: The next step; None after the last one.
        element: The element that the step acts on, before it.
        screen: The screen.
    """
    if learned.untried or learned.names_of("opened", "appeared", "vanished", "rewritten"):
        return None
    if learned.names_of("closed"):
        return _closing(learned, screen)
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
        return not state_differs(learned, was, became, state_of(element), state_of(now))

    return None if changed(element) else lambda: changed(screen.element_now(element))


def _closing(learned: GroundedStep, screen: Screen) -> Sign | None:
    before = screen.windows()
    if before is None or not all(learned.names_of("closed")):  # a window without a title cannot be told from others
        return None
    return lambda: not windows_missing(learned, before, screen.windows() or before)


def _has_focus(element: Element | None) -> bool:
    return element is not None and "focused" in element.states


def _is_same(target: ElementDescription | None, other: ElementDescription | None) -> bool:
    """Return whether two descriptions are of the same element, regardless of what changes in it."""
    keys = [(each.role, each.name, each.label, each.path) for each in (target, other) if each is not None]
    return len(keys) == 2 and keys[0] == keys[1]

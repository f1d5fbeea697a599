"""Noise removal in demonstrations: undone actions, such as opening and closing a menu, are removed.

Actions that leave the screen as it was before are removed. But the screen also looks the same after a dialog was
answered or a text was copied, and such actions are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from aci.acting.actions import Click, Hotkey, Type
from aci.acting.targets import element_meant
from aci.observation.observation import Observation
from agent_s.demonstration.interpretation import Look, Shown

_PASSING = frozenset({"focused", "active", "busy", "visited"})
_ACTS_ELSEWHERE = frozenset({"push button", "button", "link", "menu item", "check menu item", "radio menu item"})
"""Roles of what closes a dialog or menu by doing what it is called."""


def without_noise(steps: Sequence[Shown]) -> tuple[list[Shown], list[Shown]]:
    """Return the actions to keep and the undone ones, both in order."""
    kept: list[Shown] = []
    settled = 0  # actions before it were not undone
    for step in steps:
        kept.append(step)
        now = look_of(step.after)
        first = next((at for at in reversed(range(settled, len(kept) - 1)) if look_of(kept[at].before) == now), None)
        if first is None:
            continue
        if may_act_elsewhere(step) or any(look_of(one.before) == look_of(one.after) for one in kept[first:]):
            settled = len(kept)
        else:
            del kept[first:]
    counts = {id(step) for step in kept}
    return kept, [step for step in steps if id(step) not in counts]


def may_act_elsewhere(step: Shown) -> bool:
    """Return whether an action may have an effect outside its window, such as submitting a form."""
    action = step.action
    if isinstance(action, Click):
        element = element_meant(action.target, step.before.seen)
        return element is None or element.role in _ACTS_ELSEWHERE
    return (isinstance(action, Hotkey) and "Return" in action.keys) or (isinstance(action, Type) and action.enter)


def look_of(look: Look) -> Hashable:
    """Return the content of a screen without transient parts: the focus, the pointer and tooltips."""
    return (_shown(look.seen), look.copies)


def _shown(seen: Observation) -> Hashable:
    titles = {window.id: window.title for window in seen.windows}
    elements = Counter(
        (titles.get(one.window_id, ""), one.role, one.name, one.text, one.value, one.states - _PASSING)
        for one in seen.elements
        if one.source == "accessibility" and one.role != "tool tip"
    )
    windows = Counter((window.app, window.title) for window in seen.windows if window.title)
    return frozenset(windows.items()), frozenset(elements.items())

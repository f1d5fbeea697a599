"""When a subtask goes in circles: reasons to reflect, to take another way, and to give up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from aci.acting.actions import Action, Click, DragAndDrop, HoldAndPress, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.observation.observation import Observation
from agent_s.records import Step

REPEATS = 3
"""The same action so often in a row is a reason to reflect, also where the screen changes."""
UNDOS, UNDO_SPAN = 3, 6
"""So many undos among so many steps are a chain."""
SCROLLS = 8
"""Scrolling so often in a row finds nothing more."""
TRIES = 2
"""So many tries by one way without an effect ask for another."""
FUTILE = 6
"""After so many tries in a row without an effect, by whatever way, nothing will come of it."""

_WAYS: dict[type[Action], str] = {
    Click: "the mouse",
    DragAndDrop: "the mouse",
    Scroll: "scrolling",
    Hotkey: "the keyboard",
    HoldAndPress: "the keyboard",
    Type: "typing",
    SwitchApplications: "switching applications",
}


def trouble(steps: Sequence[Step], observation: Observation) -> str:
    """Say what looks wrong; empty where nothing does.

    Args:
        steps: What was done in the subtask so far, oldest first.
        observation: The screen after the last of them.
    """
    if not steps:
        return ""
    found = _last_one(steps[-1], observation) or _circle(steps)
    way = _worn_out(_futile(steps, observation))
    return "; ".join(part for part in (found, way) if part)


def hopeless(steps: Sequence[Step], observation: Observation) -> str:
    """Say why going on is of no use; empty where it may be. The bounds are twice those of `trouble`."""
    if len(_futile(steps, observation)) >= FUTILE:
        return f"{FUTILE} tries in a row had no effect"
    if _scrolls(steps) >= 2 * SCROLLS:
        return f"{2 * SCROLLS} scrolls in a row did not find it"
    if _undos(steps, 2 * UNDO_SPAN) >= 2 * UNDOS:
        return "what was done is undone again and again"
    if _alternates(steps, 4):
        return "two actions undo each other again and again"
    return ""


def same_screen(before: Observation, after: Observation) -> bool:
    """Tell whether nothing that a model is shown differs: windows, elements and kept texts."""
    return (before.windows, before.elements, before.buffer) == (after.windows, after.elements, after.buffer)


def _last_one(last: Step, observation: Observation) -> str:
    if not last.result.ok:
        return f"the last action was refused: {last.result.error}"
    if same_screen(last.observation, observation) and not isinstance(last.response.action, Wait):
        return "the last action changed nothing on the screen"
    return ""


def _circle(steps: Sequence[Step]) -> str:
    latest = _actions(steps)[-REPEATS:]
    if len(latest) == REPEATS and all(action == latest[0] for action in latest) and not isinstance(latest[0], Scroll):
        return f"the same action was performed {REPEATS} times in a row"
    if _alternates(steps, 2):
        return "two actions undo each other in turn"
    if _undos(steps, UNDO_SPAN) >= UNDOS:
        return f"{UNDOS} of the last {UNDO_SPAN} steps were undone"
    if _scrolls(steps) >= SCROLLS:
        return f"{SCROLLS} scrolls in a row did not find it; search for it, or look elsewhere"
    return ""


def _worn_out(futile: Sequence[Step]) -> str:
    """Name the way that was tried often enough."""
    ways = [_way(step.response.action) for step in futile[-TRIES:]]
    if len(ways) < TRIES or len(set(ways)) > 1:
        return ""
    return (
        f"{TRIES} tries by {ways[0]} had no effect: take another way (keyboard, menu, search in the application, "
        "another element)"
    )


def _futile(steps: Sequence[Step], observation: Observation) -> list[Step]:
    """Return the latest steps that were refused or changed nothing, back to the last one that did; waits aside."""
    after = [*(step.observation for step in steps), observation][1:]
    tried = [pair for pair in zip(steps, after, strict=True) if not isinstance(pair[0].response.action, Wait)]
    without = takewhile(lambda pair: not pair[0].result.ok or same_screen(pair[0].observation, pair[1]), tried[::-1])
    return [step for step, _ in without][::-1]


def _way(action: Action) -> str:
    return _WAYS.get(type(action), action.action)


def _actions(steps: Sequence[Step]) -> list[Action]:
    return [step.response.action for step in steps]


def _alternates(steps: Sequence[Step], rounds: int) -> bool:
    """Tell whether the latest steps are the same two actions in turn, so many times each."""
    latest = _actions(steps)[-2 * rounds :]
    pair = latest[:2]
    return len(latest) == 2 * rounds and pair[0] != pair[1] and latest == pair * rounds


def _undos(steps: Sequence[Step], span: int) -> int:
    return sum(
        isinstance(action, Hotkey) and [key.casefold() for key in action.keys] == ["ctrl", "z"]
        for action in _actions(steps)[-span:]
    )


def _scrolls(steps: Sequence[Step]) -> int:
    return sum(1 for _ in takewhile(lambda action: isinstance(action, Scroll), reversed(_actions(steps))))

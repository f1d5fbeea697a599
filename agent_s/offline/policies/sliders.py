"""Sliders that pages make of plain elements: a handle that takes keys, and a number somewhere that tells the value."""

from __future__ import annotations

import re

from aci.acting.actions import Click, HoldAndPress, Hotkey
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, give_up
from agent_s.offline.policies.common import Steps, must, name_of, number_in
from agent_s.offline.roles import LABELS, ROLES
from agent_s.offline.screen import Screen, content_of, in_page
from agent_s.offline.targets import TargetQuery

_HANDLE = re.compile(r"slider|\bthumb\b", re.IGNORECASE)
_MOST_PRESSES = 60
_ROUNDS = 8


def bare_slider(query: TargetQuery, screen: Screen) -> Element | None:
    """Return the handle that is meant where a page has sliders without the role of one; None elsewhere."""
    if query.kinds[:1] != ("slider",) or query.name or any(one.role in ROLES["slider"] for one in screen.front):
        return None
    handles = [
        element
        for element in screen.front
        if in_page(element) and _HANDLE.search(element.description) and "focusable" in element.states and element.point
    ]
    handles.sort(key=lambda element: (element.rect.y // 8, element.rect.x))
    number = (query.ordinal or 1) - 1
    return handles[number] if number < len(handles) else None


def steer(handle: Element, value: str, screen: Screen) -> Course:
    """Press arrow keys until the number that follows the handle is the one that is wanted."""
    wanted = number_in(value)
    if wanted is None:
        give_up(f"{name_of(handle)} takes a number, not {value!r}")
    sight = yield from must(Click(element_id=handle.id), "give the slider the keyboard")
    read_out, step, screen = yield from _find_read_out(sight.screen)
    for _ in range(_ROUNDS):
        current = _numbers(screen).get(read_out)
        if current is None or current == wanted:
            break
        presses = round((wanted - current) / step)
        if presses == 0:
            break
        key = "Right" if presses > 0 else "Left"
        count = min(abs(presses), _MOST_PRESSES)
        purpose = f"press {key} {count} times to bring the slider from {current:g} to {wanted:g}"
        screen = (yield from must(HoldAndPress(hold_keys=(), press_keys=(key,) * count), purpose)).screen
    current = _numbers(screen).get(read_out)
    if current != wanted:
        give_up(f"the slider came to {current}, not to {wanted:g}")
    return Achieved(f"the slider is at {wanted:g}")


def _find_read_out(screen: Screen) -> Steps[tuple[int, float, Screen]]:
    """Press a key once each way, and return the number that changed, by how much to the right, and the screen."""
    for key, sign in (("Right", 1), ("Left", -1)):
        before = _numbers(screen)
        sight = yield from must(Hotkey(keys=(key,)), f"press {key} to see what number tells the value")
        after = _numbers(sight.screen)
        moved = [one for one in before.keys() & after.keys() if before[one] != after[one]]
        screen = sight.screen
        if moved:
            return moved[0], sign * (after[moved[0]] - before[moved[0]]), screen
    give_up("no number on the screen follows the slider")


def _numbers(screen: Screen) -> dict[int, float]:
    texts = {
        element.id: content_of(element).strip()
        for element in screen.front
        if element.role in LABELS | frozenset({"text line"}) and element.source == "accessibility"
    }
    return {key: float(text) for key, text in texts.items() if re.fullmatch(r"-?\d{1,6}(?:\.\d+)?", text)}

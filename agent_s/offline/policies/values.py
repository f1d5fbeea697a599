"""Policies for controls that have a state or value: boxes, sliders, spin buttons, dates, lists."""

from __future__ import annotations

import re
from dataclasses import replace

from aci.acting.actions import Click, HoldAndPress, Hotkey, Type
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, give_up
from agent_s.offline.dates import Day, TimeOfDay, parse_day, parse_time
from agent_s.offline.intents import SelectOptions, SetChecked, SetValue
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.names import normalize
from agent_s.offline.policies.calendars import pick_day, set_segments
from agent_s.offline.policies.choosing import select_options
from agent_s.offline.policies.common import (
    Steps,
    click_best,
    finder,
    look_around,
    must,
    name_of,
    not_found,
    now,
    number_in,
    same_number,
    shorten,
    type_into,
)
from agent_s.offline.policies.sliders import bare_slider, steer
from agent_s.offline.roles import ACTIONABLE, CHECKABLE, EDITABLE, ROLES
from agent_s.offline.screen import Screen, in_page, is_box
from agent_s.offline.targets import TargetQuery

_ON = frozenset({"checked", "pressed", "selected"})
_MOST_PRESSES = 60
_ROUNDS = 6
_NEAR = 25


# Boxes


def set_checked(intent: SetChecked, screen: Screen) -> Course:
    """Give each box its state; one that has it already is left alone."""
    evidence: list[str] = []
    for query in intent.targets:
        screen, found = yield from _find_boxes(query, intent, screen)
        for candidate in found:
            screen, shown = yield from _set_one(candidate, intent.state, screen)
            evidence.append(shown)
    return Achieved("; ".join(evidence))


def _find_boxes(query: TargetQuery, intent: SetChecked, screen: Screen) -> Steps[tuple[Screen, list[Candidate]]]:
    """Find the boxes that are meant: one, or all; whatever has no box must be a button that toggles, by its exact name."""
    boxes = finder(query, CHECKABLE)
    whole = TargetQuery(phrase=intent.said, name=intent.said)
    screen, found = yield from look_around(
        screen, lambda view: boxes(view) or _beside_text(query, view) or _toggles(query, view), query
    )
    if not found and len(intent.targets) > 1 and (found := rank(whole, screen, CHECKABLE)):
        return screen, found[:1]
    if not found:
        give_up(not_found(query if query.kinds else replace(query, kinds=("checkbox",)), screen))
    if query.every:
        return screen, [one for one in found if one.score >= found[0].score - 3]
    return screen, found[:1]


def _toggles(query: TargetQuery, screen: Screen) -> list[Candidate]:
    """Find what has that very name though it does not say that it can be on or off, such as an entry of a menu."""
    return [one for one in rank(query, screen, ACTIONABLE - EDITABLE) if one.score >= 88]


def _beside_text(query: TargetQuery, screen: Screen) -> list[Candidate]:
    """Find the box in the same row as a text of that name, for lists with a column of boxes."""
    texts = [one for one in rank(replace(query, kinds=()), screen) if one.score >= 80]
    if not texts:
        return []
    row = TargetQuery(kinds=("checkbox", "switch", "radio"), relation="beside", anchor=replace(query, kinds=()))
    at = texts[0].element.rect
    return [one for one in rank(row, screen, CHECKABLE) if abs(one.element.rect.center.y - at.center.y) < 20]


def _set_one(candidate: Candidate, state: bool | None, screen: Screen) -> Steps[tuple[Screen, str]]:
    element = candidate.element
    was = is_on(element)
    wanted = not was if state is None else state
    if was == wanted and _tells_state(element):
        return screen, f"{name_of(element)} is {'on' if wanted else 'off'} already"
    if "disabled" in element.states:
        give_up(f"{name_of(element)} is disabled")
    screen, element = yield from click_best(screen, [candidate])
    after = now(screen, element)
    if after is not None and _tells_state(after) and is_on(after) != wanted:
        sight = yield from must(
            Hotkey(keys=("space",)), f"press space, since the click did not change {name_of(element)}"
        )
        screen = sight.screen
        after = now(screen, element)
        if after is not None and is_on(after) != wanted:
            give_up(f"{name_of(element)} stayed {'on' if is_on(after) else 'off'}")
    if after is None or not _tells_state(after):
        return screen, f"{name_of(element)} was clicked"
    return screen, f"{name_of(after)} is {'on' if wanted else 'off'}"


def is_on(element: Element) -> bool:
    """Tell whether a box, switch or option is on."""
    return bool(element.states & _ON)


def _tells_state(element: Element) -> bool:
    return is_box(element)


# Values


def set_value(intent: SetValue, screen: Screen) -> Course:
    """Give a control a value in the way that its kind takes one."""
    named = finder(intent.target, _VALUED, _VALUED)

    def find(view: Screen) -> list[Candidate]:
        return _better_without_name(intent, [one for one in named(view) if _takes_value(one, intent.target)], view)

    if (handle := bare_slider(intent.target, screen)) is not None:
        return (yield from steer(handle, intent.value, screen))
    screen, found = yield from look_around(screen, find, intent.target)
    if not found and _options_of(intent, screen):
        return (
            yield from select_options(
                SelectOptions((TargetQuery(phrase=intent.value, name=intent.value),), intent.target, intent.value),
                screen,
            )
        )
    if not found:
        give_up(not_found(intent.target, screen))
    element = _that_takes(intent, found)
    return (yield from _set(element, intent, screen))


_VALUED = (
    EDITABLE
    | ROLES["slider"]
    | ROLES["combo"]
    | ROLES["date"]
    | ROLES["spin"]
    | frozenset({"table cell", "list", "scroll bar", "toggle button", "panel", "push button"})
)


_NEUTRAL = frozenset(
    [
        "selection",
        "selector",
        "select",
        "menu",
        "list",
        "chooser",
        "choose",
        "dropdown",
        "mode",
        "button",
        "options",
        "option",
        "change",
        "picker",
        "type",
    ]
)


def _takes_value(candidate: Candidate, query: TargetQuery) -> bool:
    """Tell whether a control can be given a value: a button only if its name says no more than what is chosen with it."""
    element = candidate.element
    if element.role not in ("push button", "toggle button", "panel"):
        return True
    words = set(normalize(query.name or query.phrase).split())
    return any(
        set(normalize(name).split()) - words <= _NEUTRAL
        for name in (element.name, element.description, element.label)
        if words & set(normalize(name).split())
    )


def _better_without_name(intent: SetValue, found: list[Candidate], screen: Screen) -> list[Candidate]:
    """Where no control is called so but the word is a unit of one beside a text ("the minutes"), or there is only one."""
    if found and found[0].score >= 66:
        return found
    value = intent.value
    if (parse_day(value) or parse_time(value)) and re.search(
        r"date|day|time|hour", intent.target.phrase, re.IGNORECASE
    ):
        dates = [element for element in screen.front if element.role in ROLES["date"]]
        fields = [element for element in screen.editors() if "multi_line" not in element.states]
        only = dates or (fields if len(fields) == 1 else [])
        return [Candidate(element, 70.0, "the only one that takes a date") for element in only[:1]] or found
    unit = _unit_beside(intent.target, screen)
    return [Candidate(unit, 70.0, "stands beside that word")] if unit is not None else found


def _unit_beside(query: TargetQuery, screen: Screen) -> Element | None:
    """Find the number field that a word stands behind: "[10] minutes"."""
    beside = TargetQuery(
        kinds=("spin", "field"),
        relation="left of",
        anchor=TargetQuery(phrase=query.phrase, name=query.name or query.phrase),
    )
    found = rank(beside, screen, EDITABLE)
    if found:
        return found[0].element
    singular = query.phrase.rstrip("s").casefold()
    return next(
        (
            e
            for e in screen.front
            if e.role == "spin button" and e.text and re.search(rf"\d\s*{re.escape(singular)}", e.text.casefold())
        ),
        None,
    )


def _that_takes(intent: SetValue, found: list[Candidate]) -> Element:
    """Prefer, among controls of one name, the kind that takes such a value: a spin button for a number."""
    peers = [
        one.element
        for one in found
        if one.score >= found[0].score - 12 and one.element.point is not None and "disabled" not in one.element.states
    ]
    if not peers:
        return found[0].element
    order = (
        ["spin button", "slider", "dial", "entry", "text", "combo box"]
        if number_in(intent.value) is not None or intent.steps
        else ["entry", "text", "combo box"]
    )
    exact = [element for element in peers if element.role == found[0].element.role] or peers
    if found[0].element.role in (*EDITABLE, "slider", "combo box", "date editor", "table cell"):
        return exact[0]
    return min(peers, key=lambda element: order.index(element.role) if element.role in order else len(order))


def _options_of(intent: SetValue, screen: Screen) -> bool:
    return bool(rank(TargetQuery(phrase=intent.value, name=intent.value), screen, CHECKABLE | frozenset({"list item"})))


def _set(element: Element, intent: SetValue, screen: Screen) -> Course:
    value = intent.value
    day, time = parse_day(value), parse_time(value)
    if "disabled" in element.states and not (day is not None and "read_only" in element.states):
        give_up(f"{name_of(element)} is disabled")
    if intent.steps is not None:
        return (yield from _press_steps(element, intent.steps, screen))
    if element.role in ("slider", "dial", "scroll bar", "rating"):
        return (yield from _set_slider(element, value, screen))
    if day is not None or time is not None:
        done = yield from _set_day(element, day, time, value, screen)
        if done is not None:
            return done
    if element.role in ("spin button",):
        return (yield from _set_spin(element, value, screen))
    if (
        element.role in ("combo box", "list", "list box", "push button", "toggle button", "panel")
        and "editable" not in element.states
    ):
        option = TargetQuery(phrase=value, name=value)
        return (yield from select_options(SelectOptions((option,), intent.target, value), screen))
    screen, evidence = yield from type_into(screen, element, value, overwrite=not _keeps(element))
    return Achieved(evidence)


def _keeps(element: Element) -> bool:
    return element.role == "document text"


def _set_day(
    element: Element, day: Day | None, time: TimeOfDay | None, value: str, screen: Screen
) -> Steps[Achieved | None]:
    """Set a date or time by its segments, or by a calendar where the field takes no text; None where it is plain text."""
    segments = yield from set_segments(element, day, time, screen)
    if segments is not None:
        return segments
    if day is None or element.role not in EDITABLE | ROLES["date"] | ROLES["combo"]:
        return None
    if "editable" in element.states and "read_only" not in element.states:
        return None
    sight = yield from must(Click(element_id=element.id), f"click {name_of(element)}, so that a calendar opens")
    return (yield from pick_day(day, value, sight.screen))


def _set_spin(element: Element, value: str, screen: Screen) -> Course:
    """Type the number, leave the field, and see; else step with the arrow keys, in pages those first if it is near."""
    away = _near_whole(element, value)
    if away and in_page(element):  # scripts of pages listen to the keys, and may overlook what is typed
        sight = yield from must(Click(element_id=element.id), f"give {name_of(element)} the keyboard")
        keys = ("Up" if away > 0 else "Down",) * abs(away)
        sight = yield from must(HoldAndPress(hold_keys=(), press_keys=keys), f"press {keys[0]} {len(keys)} times")
        after = now(sight.screen, element)
        if after is not None and _has_value(after, value):
            return Achieved(f"{name_of(element)} reads {shorten(value)!r}")
        element = after or element
    sight = yield from must(
        Type(text=value, element_id=element.id, overwrite=True), f"type {shorten(value)!r} into {name_of(element)}"
    )
    after = now(sight.screen, element)
    if after is not None and _has_value(after, value):
        sight = yield from must(Hotkey(keys=("Tab",)), f"leave {name_of(element)}, so that it takes the value")
        after = now(sight.screen, element)
        if after is None or _has_value(after, value):
            return Achieved(f"{name_of(element)} reads {shorten(value)!r}")
    if after is None:
        return Achieved("")
    return (yield from _approach(after, value, sight.screen, up="Up", down="Down"))


def _near_whole(element: Element, value: str) -> int:
    """Return by how much a whole number differs from the one that is wanted; 0 where that is far, or neither is whole."""
    current, wanted = _value_of(element), number_in(value)
    if current is None or wanted is None or current != int(current) or wanted != int(wanted):
        return 0
    away = int(wanted - current)
    return away if abs(away) <= _NEAR else 0


def _has_value(element: Element, value: str) -> bool:
    if element.text is not None and (element.text.strip() == value.strip() or same_number(element.text, value)):
        return True
    number = number_in(value)
    return element.value is not None and number is not None and abs(element.value - number) < 1e-6


def _set_slider(element: Element, value: str, screen: Screen) -> Course:
    """Focus the slider, then step with the keys until the value reads as wanted."""
    if number_in(value) is None:
        keys = {"max": "End", "maximum": "End", "highest": "End", "min": "Home", "minimum": "Home", "lowest": "Home"}
        key = keys.get(value.casefold().strip())
        if key is None:
            give_up(f"{name_of(element)} takes a number, not {value!r}")
        sight = yield from must(Click(element_id=element.id), f"give {name_of(element)} the keyboard")
        sight = yield from must(Hotkey(keys=(key,)), f"move {name_of(element)} to its end")
        return Achieved(f"{name_of(element)} was moved to its end")
    sight = yield from must(Click(element_id=element.id), f"give {name_of(element)} the keyboard")
    return (yield from _approach(now(sight.screen, element) or element, value, sight.screen, up="Right", down="Left"))


def _value_of(element: Element) -> float | None:
    if element.value is not None:
        return element.value
    return number_in(element.text or "")


def _approach(element: Element, value: str, screen: Screen, up: str, down: str) -> Course:
    """Step towards a number with two keys; the size of a step is learned from the first ones."""
    wanted = number_in(value)
    current = _value_of(element)
    if wanted is None or current is None:
        give_up(f"{name_of(element)} shows no number to set to {value!r}")
    step = 1.0
    for _ in range(_ROUNDS):
        away = wanted - current
        if abs(away) < max(1e-6, step / 2 if step < 1e-3 else 1e-6):
            return Achieved(f"{name_of(element)} is at {current:g}")
        presses = max(1, min(_MOST_PRESSES, round(abs(away) / step)))
        key = up if away > 0 else down
        sight = yield from must(
            HoldAndPress(hold_keys=(), press_keys=(key,) * presses),
            f"press {key} {presses} times to bring {name_of(element)} from {current:g} to {wanted:g}",
        )
        after = now(sight.screen, element)
        moved = _value_of(after) if after is not None else None
        if after is None or moved is None:
            return Achieved("")
        if moved == current:
            break
        step = max(abs(moved - current) / presses, 1e-9)
        element, current = after, moved
    if abs(wanted - current) > step / 2:
        give_up(f"{name_of(element)} is at {current:g} and could not be brought to {value}")
    return Achieved(f"{name_of(element)} is at {current:g}, the nearest that it takes")


def _press_steps(element: Element, steps: int, screen: Screen) -> Course:
    current = _value_of(element)
    if current is None:
        give_up(f"{name_of(element)} shows no number")
    return (yield from _set(element, SetValue(TargetQuery(phrase=name_of(element)), f"{current + steps:g}"), screen))

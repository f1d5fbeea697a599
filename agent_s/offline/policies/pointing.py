"""Policies for the pointer, the keys and the view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from aci.acting.actions import DragAndDrop, HoldAndPress, Hotkey, Scroll
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, give_up
from agent_s.offline.intents import ClickOn, DragOnto, FocusOn, PressKeys, ScrollView, Unfold
from agent_s.offline.keys import Chord, parse_keys, show_chord
from agent_s.offline.matching import EXACT, Candidate, elements_within, rank
from agent_s.offline.policies.common import (
    SURE,
    Finder,
    Steps,
    await_element,
    changed,
    click_best,
    do,
    finder,
    look_around,
    must,
    name_of,
    not_found,
    now,
    opens_when_pointed_at,
    point_at,
    scroll_once,
    scrollable,
    seek,
)
from agent_s.offline.roles import EDITABLE, LABELS, ROLES
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery, named

MOST_SCROLLS = 15
_TAB_ROLES = frozenset({"page tab"})
_IN_TABS = frozenset({"link", "push button"})
"""What takes the click for the tab that it lies in, in pages."""
_FOLDED = frozenset({"expandable"})


def click_on(intent: ClickOn, screen: Screen) -> Course:
    """Click each element; what is not in sight is waited for, scrolled to, and looked for where the intent says."""
    start = screen
    last: Element | None = None
    for query in _several(intent.targets, screen):
        if query.every:
            screen = yield from _click_all(query, screen, intent)
            continue
        screen, found = yield from _find(query, screen, intent)
        if not found:
            return (yield from _press_instead(query, intent, screen))
        for _ in range(intent.times):
            screen, last = yield from click_best(screen, found, intent.clicks, intent.button, intent.hold)
            found = rank(query, screen) or found
    clicked = name_of(last) if last is not None else intent.said
    return Achieved(f"{clicked} was clicked; {changed(start, screen)}")


def _several(targets: tuple[TargetQuery, ...], screen: Screen) -> tuple[TargetQuery, ...]:
    """Read "5, divide and 8" as three buttons where the screen has those and none of that whole name."""
    if (
        len(targets) != 1
        or targets[0].quoted
        or not re.search(r",|\sand\s|\s", targets[0].phrase)
        or rank(targets[0], screen)
    ):
        return targets
    for pattern in (r"\s*,\s*(?:and\s+|then\s+)?|\s+(?:and|then)\s+", r"\s+"):
        parts = tuple(named(part) for part in re.split(pattern, targets[0].phrase) if part)
        if len(parts) > 1 and all((found := rank(part, screen)) and found[0].score >= 84 for part in parts):
            return parts
    return targets


def _find(query: TargetQuery, screen: Screen, intent: ClickOn) -> Steps[tuple[Screen, list[Candidate]]]:
    find = finder(query)
    if query.kinds[:1] == ("result",) and query.ordinal is not None and query.ordinal > 0:
        return (yield from _on_later_pages(query, query.ordinal, screen))
    if intent.explore and not find(screen):
        screen, found = yield from explore(screen, query, intent.explore)
        if found:
            return screen, found
    return (yield from look_around(screen, find, query))


_NEXT_PAGE = (">", "Next", "Next page", "»", "›", "→")
_MOST_PAGES = 12


def _on_later_pages(query: TargetQuery, ordinal: int, screen: Screen) -> Steps[tuple[Screen, list[Candidate]]]:
    """Count results from page to page until the one that is meant is in sight."""
    every = replace(query, ordinal=None, phrase="")
    for _ in range(_MOST_PAGES):
        screen, _found = yield from await_element(screen, finder(every), query)
        found = rank(replace(query, ordinal=ordinal, phrase=""), screen)
        onward = [
            one
            for name in _NEXT_PAGE
            for one in rank(named(name), screen)
            if one.score >= 84 and one.element.role in ("link", "push button")
        ]
        if found or not onward:
            return screen, found
        ordinal -= len([one for one in rank(every, screen) if one.score >= 84])
        screen, _element = yield from click_best(screen, onward[:1])
    return screen, []


def _press_instead(query: TargetQuery, intent: ClickOn, screen: Screen) -> Course:
    """Press the key of that name where there is no such button ("press the Enter button")."""
    plain = (
        query.name and not (query.quoted or query.ordinal or query.anchor or query.within) and intent.button == "left"
    )
    chords = parse_keys(query.name) if plain else None
    if chords and len(chords) == 1 and chords[0][-1] in _HARMLESS:
        sight = yield from must(Hotkey(keys=chords[0]), f"press {show_chord(chords[0])}, since there is no such button")
        return Achieved(f"{show_chord(chords[0])} was pressed; {changed(screen, sight.screen)}")
    if query.name.casefold() == "submit" and intent.said == "submit":
        sight = yield from must(Hotkey(keys=("Return",)), "press Return, since there is no button to submit with")
        return Achieved(f"Return was pressed; {changed(screen, sight.screen)}")
    give_up(not_found(query, screen))


_HARMLESS = frozenset(
    {"Return", "Escape", "Tab", "space", "Up", "Down", "Left", "Right", "Page_Up", "Page_Down", "Home", "End"}
)


def _click_all(query: TargetQuery, screen: Screen, intent: ClickOn) -> Steps[Screen]:
    screen, found = yield from seek(screen, finder(query), query)
    best = found[0].score
    for candidate in [one for one in found if one.score >= best - 3]:
        screen, _ = yield from click_best(screen, [candidate], intent.clicks, intent.button, intent.hold)
    return screen


def explore(screen: Screen, query: TargetQuery, where: str) -> Steps[tuple[Screen, list[Candidate]]]:
    """Open one tab, section, branch or submenu after another, also those in them, until the element is in sight."""
    opened = {element.id for element in screen.front if element.role in _TAB_ROLES and "selected" in element.states}
    for _ in range(_MOST_DOORS):
        door = next((element for element in _doors(screen, where) if element.id not in opened), None)
        if door is None:
            break
        opened.add(door.id)
        waits = _MENU_WAITS if opens_when_pointed_at(door) else ()
        screen = yield from _open_door(door, screen)
        screen, found = yield from await_element(screen, _surely(query), query, waits)
        if found:
            return screen, found
    return screen, []


def _surely(query: TargetQuery) -> Finder:
    return lambda screen: [one for one in rank(query, screen) if one.score >= SURE]


_MENU_WAITS = (0.3,)
"""What a menu holds comes into the accessibility tree a moment after it is drawn, and goes with the pointer, s."""
_MOST_DOORS = 16


def _open_door(door: Element, screen: Screen) -> Steps[Screen]:
    if opens_when_pointed_at(door):
        return (yield from point_at(door)).screen
    inside = (one for one in screen.front if one.role in _IN_TABS and one.path[-1:] == (f"{door.role}:{door.name}",))
    inner = next(inside, door) if door.role in _TAB_ROLES else door
    screen, _ = yield from click_best(screen, [Candidate(inner, 100.0, "not looked into yet")])
    return screen


def _doors(screen: Screen, where: str) -> Sequence[Element]:
    submenus = [element for element in screen.front if opens_when_pointed_at(element)]
    if submenus:
        return submenus
    if where == "tabs":
        tabs = [element for element in screen.front if element.role in _TAB_ROLES and "selected" not in element.states]
        web = [element for element in tabs if any(part.startswith("document web") for part in element.path)]
        return web or tabs
    folded = [
        element for element in screen.front if "expandable" in element.states and "expanded" not in element.states
    ]
    plain = [
        element for element in folded if element.role not in ROLES["combo"] | EDITABLE | {"menu", "push button menu"}
    ]
    in_page = [element for element in plain if any(part.startswith("document web") for part in element.path)]
    tabs = [element for element in screen.front if element.role in _TAB_ROLES and "selected" not in element.states]
    headings = [element for element in screen.front if element.role in ("heading",)]
    return in_page or plain or _unmarked_doors(screen) or tabs or headings


def _unmarked_doors(screen: Screen) -> list[Element]:
    """Return what has no role but is said to be expandable by its class, as in the trees of many pages."""
    return [
        element
        for element in screen.front
        if element.role in LABELS and re.search(r"\bexpandable\b", element.description) and element.point is not None
    ]


def press_keys(intent: PressKeys, screen: Screen) -> Course:
    """Press the chords; a single sign that names a button in sight is a click on it."""
    if intent.label and (button := _button_named(intent, screen)):
        return (yield from click_on(ClickOn((named(button.name),), times=intent.times, said=button.name), screen))
    start = screen
    for chords in _batches(intent):
        if len(chords) == 1:
            sight = yield from must(Hotkey(keys=chords[0]), f"press {show_chord(chords[0])}")
        else:
            hold = chords[0][:-1]
            keys = tuple(chord[-1] for chord in chords)
            sight = yield from must(HoldAndPress(hold_keys=hold, press_keys=keys), f"press {', '.join(keys)}")
        screen = sight.screen
    return Achieved(f"the keys were pressed; {changed(start, screen)}")


def _button_named(intent: PressKeys, screen: Screen) -> Element | None:
    """Find a button that is called like the key: "7" on a calculator, "Delete" in a dialog."""
    label = intent.label.strip()
    if len(label) > 1 and label.casefold() not in (
        "delete",
        "insert",
        "menu",
        "space",
        "plus",
        "minus",
        "equals",
        "dot",
    ):
        return None
    found = [
        one
        for one in rank(named(label, "button"), screen, ROLES["button"])
        if one.score >= EXACT and screen.is_active(one.element)
    ]
    if len(label) > 1 and found and label != found[0].element.name:
        return None
    return found[0].element if found else None


def _batches(intent: PressKeys) -> list[tuple[Chord, ...]]:
    """Group chords so that many presses take few steps: those with the same modifiers go together."""
    chords = [chord for _ in range(intent.times) for chord in intent.chords]
    batches: list[list[Chord]] = []
    for chord in chords:
        last = batches[-1] if batches else None
        if last and last[0][:-1] == chord[:-1] and len(last) < 60 and _may_join(chord):
            last.append(chord)
        else:
            batches.append([chord])
    return [tuple(batch) for batch in batches]


def _may_join(chord: Chord) -> bool:
    """Keys that open or close something are pressed alone, so that what they did can be seen."""
    return chord[-1] not in ("Return", "Escape") and not (len(chord) > 1 and chord[0] in ("ctrl", "alt", "super"))


def drag_onto(intent: DragOnto, screen: Screen) -> Course:
    """Drag one element onto another."""
    screen, sources = yield from seek(screen, finder(intent.source), intent.source)
    screen, targets = yield from seek(screen, finder(intent.destination), intent.destination, scroll=False)
    source = sources[0].element
    target = next((one.element for one in targets if one.element.id != source.id), None)
    if target is None:
        give_up(not_found(intent.destination, screen))
    sight = yield from must(
        DragAndDrop(drag_from_id=source.id, drop_on_id=target.id), f"drag {name_of(source)} onto {name_of(target)}"
    )
    return Achieved(f"{name_of(source)} was dragged onto {name_of(target)}; {changed(screen, sight.screen)}")


def focus_on(intent: FocusOn, screen: Screen) -> Course:
    """Click an element for the keyboard only."""
    screen, found = yield from seek(screen, finder(intent.target, prefer=EDITABLE), intent.target)
    if "focused" in found[0].element.states:
        return Achieved(f"{name_of(found[0].element)} has the keyboard")
    screen, element = yield from click_best(screen, found)
    return Achieved(f"{name_of(element)} was clicked")


def unfold(intent: Unfold, screen: Screen) -> Course:
    """Expand or collapse: by a double click or keys where a click on it only selects."""
    screen, found = yield from seek(screen, finder(_foldable(intent.target)), intent.target)
    element = _folding(found)
    if _is_unfolded(element) == intent.expanded:
        return Achieved(f"{name_of(element)} is {'expanded' if intent.expanded else 'collapsed'} already")
    before = screen
    screen, element = yield from click_best(screen, [Candidate(element, 100.0, "to fold")])
    for keys in (
        ("Right",) if intent.expanded else ("Left",),
        ("plus",) if intent.expanded else ("minus",),
        ("Return",),
    ):
        current = now(screen, element)
        if current is None or not current.states & _FOLDED or _is_unfolded(current) == intent.expanded:
            break
        if "focused" not in current.states and "selected" not in current.states and current.role not in ROLES["tree"]:
            break  # the keys would go elsewhere
        sight = yield from do(Hotkey(keys=keys), f"press {keys[0]}, since the click did not fold {name_of(element)}")
        screen = sight.screen
    current = now(screen, element)
    if current is not None and current.states & _FOLDED and _is_unfolded(current) != intent.expanded:
        give_up(f"{name_of(element)} could not be {'expanded' if intent.expanded else 'collapsed'}")
    return Achieved(
        f"{name_of(element)} was {'expanded' if intent.expanded else 'collapsed'}; {changed(before, screen)}"
    )


def _foldable(query: TargetQuery) -> TargetQuery:
    """Read "the section below" as any section: the word says where it is on the page, not beneath what."""
    return replace(query, name="", phrase="") if query.name.casefold() in ("below", "above") else query


def _folding(found: list[Candidate]) -> Element:
    best = found[0].score
    peers = [one.element for one in found if one.score >= best - 12]
    return next((element for element in peers if "expandable" in element.states), found[0].element)


def _is_unfolded(element: Element) -> bool:
    return "expanded" in element.states


def scroll_view(intent: ScrollView, screen: Screen) -> Course:
    """Turn the wheel, to an end by keys where there is one, or until something is in sight."""
    if intent.until is not None:
        return (yield from _scroll_until(intent, intent.until, screen))
    surface = _surface(intent, screen)
    sign = 1 if intent.direction in ("up", "left") else -1
    for _ in range(MOST_SCROLLS if intent.to_end else 1):
        if surface is None:
            return (yield from _scroll_by_keys(intent, screen))
        clicks = sign * (50 if intent.to_end else intent.clicks or 5)
        before = screen
        sight = yield from must(
            Scroll(element_id=surface.id, clicks=max(-100, min(100, clicks))), f"scroll {intent.direction}"
        )
        screen = sight.screen
        surface = now(screen, surface) or _surface(intent, screen)
        if before.elements == screen.elements:
            break
    return Achieved(f"scrolled {intent.direction}")


def _scroll_by_keys(intent: ScrollView, screen: Screen) -> Course:
    """Scroll with the keyboard where nothing in sight takes the wheel, as in the empty part of a page."""
    up = intent.direction in ("up", "left")
    keys = ("ctrl", "Home" if up else "End") if intent.to_end else ("Page_Up" if up else "Page_Down",)
    sight = yield from must(Hotkey(keys=keys), f"press {show_chord(keys)}, since nothing in sight can be scrolled")
    return Achieved(changed(screen, sight.screen))


def _surface(intent: ScrollView, screen: Screen) -> Element | None:
    if intent.within is None:
        return scrollable(screen)
    found = rank(intent.within, screen)
    if found:
        return found[0].element
    inside = elements_within(intent.within, screen)
    return next(
        (element for element in screen.elements if inside and element.id in inside and element.point is not None),
        scrollable(screen),
    )


def _scroll_until(intent: ScrollView, query: TargetQuery, screen: Screen) -> Course:
    find = finder(query)
    for _ in range(MOST_SCROLLS):
        found = [one for one in find(screen) if one.element.point is not None]
        if found:
            return Achieved(f"{name_of(found[0].element)} is in sight")
        screen, moved = yield from scroll_once(
            intent.direction, screen, f"scroll {intent.direction} to look for {query.describe()!r}"
        )
        if not moved:
            break
    if find(screen):
        return Achieved(f"{query.describe()!r} is in sight")
    give_up(not_found(query, screen))

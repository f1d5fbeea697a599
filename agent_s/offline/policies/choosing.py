"""Policies for choices: options of lists and groups, entries of menus, paths through menus and trees."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Hotkey, Scroll, Type, Wait
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, GaveUp, Move, give_up
from agent_s.offline.intents import SelectOptions
from agent_s.offline.matching import EXACT, Candidate, elements_within, rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.common import (
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
    scroll_for,
    shorten,
)
from agent_s.offline.policies.listing import drawn_lists, scroll_list_for
from agent_s.offline.roles import ACTIONABLE, EDITABLE, ROLES
from agent_s.offline.screen import Screen, content_of, is_box, same_line
from agent_s.offline.targets import TargetQuery

_COMBOS = ROLES["combo"] | frozenset({"toggle button", "push button", "menu button"})
_MOST_LISTS = 4
_LONG_LIST = 9
_OPTIONS = frozenset(
    {
        "list item",
        "menu item",
        "check menu item",
        "radio menu item",
        "table cell",
        "tree item",
        "option",
        "radio button",
        "check box",
        "icon",
        "label",
        "static",
        "link",
        "page tab",
        "push button",
        "toggle button",
        "menu",
        "desktop icon",
    }
)
_STATEFUL = frozenset({"check box", "radio button", "check menu item", "radio menu item", "switch"})


def select_options(intent: SelectOptions, screen: Screen) -> Course:
    """Choose each value: in a list that is named, else wherever one of that name is."""
    start = screen
    evidence: list[str] = []
    values = yield from _as_one(intent, screen)
    for number, value in enumerate(values):
        screen, shown = yield from _select_one(value, intent, screen, add=number > 0)
        evidence.append(shown)
    return Achieved("; ".join(part for part in evidence if part) or changed(start, screen))


def _as_one(intent: SelectOptions, screen: Screen) -> Steps[tuple[TargetQuery, ...]]:
    """Take "Mele, Ivo" as one value where there is such a one."""
    yield from ()
    whole = intent.said.strip()
    if len(intent.values) > 1 or (intent.source is not None and " " in whole):
        found = rank(TargetQuery(phrase=whole, name=whole), screen)
        if found and found[0].score >= EXACT - 2:
            return (TargetQuery(phrase=whole, name=whole),)
    return intent.values


def _select_one(value: TargetQuery, intent: SelectOptions, screen: Screen, add: bool) -> Steps[tuple[Screen, str]]:
    if add or (intent.source is not None and "list" in intent.source.kinds):
        screen = yield from scroll_list_for(value, screen, add)
    if intent.source is not None:
        screen, combos = yield from _find_sources(intent.source, value, screen)
        if combos:
            return (yield from choose_in_first(combos, value, screen))
        value = _in_source(value, intent.source, screen)
    return (yield from _pick(value, screen, add))


def choose_in_first(combos: list[Element], value: TargetQuery, screen: Screen) -> Steps[tuple[Screen, str]]:
    """Choose a value in the first of several drop-down lists that has it."""
    reasons: list[str] = []
    for combo in combos[:_MOST_LISTS]:
        current = now(screen, combo)
        if current is None:
            continue
        try:
            return (yield from choose_in(current, value, screen))
        except GaveUp as reason:
            reasons.append(str(reason))
    give_up("; ".join(reasons) or "the list is gone")


def _in_source(value: TargetQuery, source: TargetQuery, screen: Screen) -> TargetQuery:
    inside = elements_within(source, screen)
    if not inside:
        return value
    placed = replace(value, within=source)
    return placed if rank(placed, screen) else value


def _find_sources(source: TargetQuery, value: TargetQuery, screen: Screen) -> Steps[tuple[Screen, list[Element]]]:
    """Find the drop-down list that is named, or all there are where none is; none where the options are in sight."""
    lists = finder(source, _COMBOS | EDITABLE, ROLES["combo"])

    def options(view: Screen) -> list[Candidate]:
        return [one for one in rank(value, view, _OPTIONS) if one.score >= 84]

    def find(view: Screen) -> list[Candidate]:
        drawn = drawn_lists(source, view) if "combo" in source.kinds else []
        return [one for one in lists(view) if one.score >= 64] or options(view) or drawn

    screen, found = yield from look_around(screen, find, source)
    if not source.name and options(screen):
        return screen, []
    combos = [one.element for one in found if one.element.role in ROLES["combo"] and one.score >= found[0].score - 6]
    if combos:
        return screen, combos if not source.name else combos[:1]
    if options(screen):
        return screen, []
    if found and (found[0].element.role not in EDITABLE or "has_popup" in found[0].element.states):
        return screen, [found[0].element]
    if not source.name and (every := _combos(screen)):
        return screen, every
    if not found and not _has_place(source, screen):
        give_up(not_found(source, screen))
    return screen, []


def _combos(screen: Screen) -> list[Element]:
    return [
        element
        for element in screen.front
        if element.role in ROLES["combo"] and element.point is not None and "disabled" not in element.states
    ]


def _has_place(source: TargetQuery, screen: Screen) -> bool:
    return bool(elements_within(source, screen))


def choose_in(combo: Element, value: TargetQuery, screen: Screen) -> Steps[tuple[Screen, str]]:
    """Choose an entry of a drop-down list: from what opens, else by typing its name, else by scrolling to it."""
    if value.name and _shows(combo, value.name) and value.ordinal is None:
        return screen, f"{name_of(combo)} shows {value.name!r} already"
    before = screen
    screen, _ = yield from click_best(screen, [Candidate(combo, 100.0, "the list")])
    screen, visible = yield from _await_entries(value, combo, before, screen)
    if visible:
        return (yield from _click_entry(visible, combo, value, screen))
    if value.name and value.ordinal is None:
        screen, done = yield from _type_choice(combo, value, before, screen)
        if done:
            return screen, done
    screen, visible = yield from _scroll_entries(value, combo, before, screen)
    if visible:
        return (yield from _click_entry(visible, combo, value, screen))
    entries = [name for element in _opened(combo, before, screen) if (name := element.name)]
    if screen.popups:
        yield from do(Hotkey(keys=("Escape",)), "close the list again")
    there = f"; it has {', '.join(map(repr, entries[:8]))}" if entries else ""
    give_up(f"{name_of(combo)} has no entry {value.describe()!r}{there}")


def _click_entry(
    visible: list[Candidate], combo: Element, value: TargetQuery, screen: Screen
) -> Steps[tuple[Screen, str]]:
    before = screen
    screen, entry = yield from click_best(screen, visible)
    after = now(screen, combo)
    if not value.name or after is None or _shows(after, value.name):
        return screen, f"{name_of(entry)} was chosen from {name_of(combo)}"
    if after == now(before, combo) and screen.popups:
        sight = yield from must(Hotkey(keys=("Return",)), f"confirm {name_of(entry)}")
        screen, after = sight.screen, now(sight.screen, combo)
    if after is not None and after.text and not _shows(after, value.name) and not _names_alike(entry, after):
        give_up(f"{name_of(combo)} shows {after.text!r} after {value.name!r} was chosen")
    return screen, f"{name_of(entry)} was chosen from {name_of(combo)}"


def _names_alike(entry: Element, combo: Element) -> bool:
    return name_score(entry.name, content_of(combo) or combo.name)[0] >= 66


def _shows(combo: Element, name: str) -> bool:
    """Tell whether a drop-down list shows a value as its choice."""
    return any(
        shown and name_score(name, shown)[0] >= 96
        for shown in (combo.text or "", combo.name if not combo.label else "")
    )


def _await_entries(
    value: TargetQuery, combo: Element, before: Screen, screen: Screen
) -> Steps[tuple[Screen, list[Candidate]]]:
    """Wait briefly until the list has opened; a list that has opened without the entry in sight is not waited for."""
    for pause in (0.4, 0.6, 0.0):
        found = _entries(value, combo, screen, before)
        if found or _opened(combo, before, screen) or not pause:
            return screen, found
        sight = yield Move(Wait(time=pause), f"wait for the entries of {name_of(combo)}")
        screen = sight.screen
    return screen, []


def _scroll_entries(
    value: TargetQuery, combo: Element, before: Screen, screen: Screen
) -> Steps[tuple[Screen, list[Candidate]]]:
    """Scroll an open list for an entry further down, then further up."""
    if len(_opened(combo, before, screen)) < _LONG_LIST:
        return screen, []
    for clicks in (-5, -5, -5, -5, 10, 10):
        entries = _opened(combo, before, screen)
        if not entries:
            return screen, []
        middle = entries[len(entries) // 2]
        sight = yield Move(
            Scroll(element_id=middle.id, clicks=clicks), f"scroll the list to look for {value.describe()!r}"
        )
        if not sight.ok:
            return sight.screen, []
        screen = sight.screen
        found = _entries(value, combo, screen, before)
        if found:
            return screen, found
    return screen, []


def _opened(combo: Element, before: Screen, screen: Screen) -> list[Element]:
    """Return the entries that came with the opening of a list."""
    known = set(before.observation.by_id)
    popups = {window.id for window in screen.popups}
    own = f"{combo.role}:{combo.name}"
    return [
        element
        for element in screen.elements
        if element.role in _OPTIONS and element.point is not None and element.id != combo.id
        and (element.window_id in popups or element.id not in known or own in element.path)
    ]  # fmt: skip


def _entries(value: TargetQuery, combo: Element, screen: Screen, before: Screen) -> list[Candidate]:
    pool = {element.id for element in _opened(combo, before, screen)}
    return [one for one in rank(value, screen, _OPTIONS, ROLES["item"] | ROLES["menuitem"]) if one.element.id in pool]


def _type_choice(combo: Element, value: TargetQuery, before: Screen, screen: Screen) -> Steps[tuple[Screen, str]]:
    """Type the name of an entry, which lists take as a search, and confirm it only where that led to the entry."""
    editable = "editable" in combo.states
    if not editable and 0 < len(_opened(combo, before, screen)) < _LONG_LIST:
        return screen, ""  # all of it is in sight
    action = Type(text=value.name, element_id=combo.id if editable else None, overwrite=editable)
    sight = yield from do(action, f"type {shorten(value.name)!r} to look for it in {name_of(combo)}")
    was, screen = screen, sight.screen
    focus = screen.focus
    led_there = focus is not None and name_score(value.name, focus.name)[0] >= 96
    led_away = _chosen_in_sight(combo, before, was) and not _chosen_in_sight(combo, before, screen)
    after = now(screen, combo)
    if led_there or led_away or (after is not None and _shows(after, value.name)):
        sight = yield from do(Hotkey(keys=("Return",)), f"confirm {value.name!r}")
        screen = sight.screen
        after = now(screen, combo)
        if after is not None and (_shows(after, value.name) or after.text is None):
            return screen, f"{name_of(combo)} shows {value.name!r}"
    return screen, ""


def _chosen_in_sight(combo: Element, before: Screen, screen: Screen) -> bool:
    """Tell whether the entry that an open list stands on can be seen: it cannot once the list stands on one further down."""
    return any("focused" in element.states for element in _opened(combo, before, screen))


def _pick(value: TargetQuery, screen: Screen, add: bool) -> Steps[tuple[Screen, str]]:
    """Choose something that is in sight, or an entry of a drop-down list that holds it unseen."""
    find = finder(value, SELECTABLE, ACTIONABLE)
    screen, found = yield from await_element(screen, find, value, waits=(0.5, 0.7))
    found = [one for one in found if one.score >= 64]
    if found and found[0].element.role in ROLES["combo"]:
        return screen, f"{name_of(found[0].element)} shows {value.name!r} already" if _shows(
            found[0].element, value.name
        ) else ""
    if found:
        return (yield from _choose_visible(found, screen, add))
    if combos := _combos(screen):
        return (yield from choose_in_first(combos, value, screen))
    screen, found = yield from scroll_for(screen, find, value)
    if not found:
        give_up(not_found(value, screen))
    return (yield from _choose_visible(found, screen, add))


SELECTABLE = (ACTIONABLE | _OPTIONS | frozenset({"text line", "heading", "image", "paragraph", "section"})) - frozenset(
    {"spin button", "slider"}
)


def _choose_visible(found: list[Candidate], screen: Screen, add: bool) -> Steps[tuple[Screen, str]]:
    element = found[0].element
    if element.role in ROLES["text"] and (box := _box_beside(element, screen)) is not None:
        found, element = [Candidate(box, 90.0, "the box beside it")], box
    if element.role in _STATEFUL and element.states & {"checked"}:
        return screen, f"{name_of(element)} is chosen already"
    if (
        "selected" in element.states
        and element.role in ("page tab", "list item", "tree item", "table cell")
        and not add
        and _alone(element, screen)
    ):
        return screen, f"{name_of(element)} is selected already"
    if add and "selected" in element.states:
        return screen, f"{name_of(element)} is selected already"
    hold = ("ctrl",) if add and element.role in ("list item", "table cell", "tree item", "icon") else ()
    before = screen
    screen, element = yield from click_best(screen, found, hold=hold)
    after = now(screen, element)
    if (
        after is not None
        and element.role in _STATEFUL
        and not after.states & {"checked"}
        and not after.states & {"selected"}
    ):
        sight = yield from must(
            Hotkey(keys=("space",)), f"press space, since the click did not choose {name_of(element)}"
        )
        screen = sight.screen
    return screen, f"{name_of(element)} was chosen; {changed(before, screen)}"


def _alone(element: Element, screen: Screen) -> bool:
    peers = [
        other
        for other in screen.elements
        if other.role == element.role and other.window_id == element.window_id and "selected" in other.states
    ]
    return len(peers) == 1 and ("focused" in element.states or element.role == "page tab")


def _box_beside(element: Element, screen: Screen) -> Element | None:
    boxes = [
        other
        for other in screen.elements
        if is_box(other)
        and other.window_id == element.window_id
        and same_line(other.rect, element.rect)
        and not other.name
    ]
    return min(boxes, key=lambda other: abs(other.rect.center.x - element.rect.x), default=None)

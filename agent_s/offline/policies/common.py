"""What all policies need: find an element, wait for it, scroll to it, click it, type into it, and see what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeVar

from aci.acting.actions import Action, Click, Hotkey, Scroll, Type, Wait
from aci.observation.observation import Element, Window
from agent_s.offline.course import Move, Sight, give_up, what_changed
from agent_s.offline.intents import Button
from agent_s.offline.matching import Candidate, nearest_names, rank
from agent_s.offline.roles import ACTIONABLE, EDITABLE, LABELS, show_kinds
from agent_s.offline.screen import Screen, content_of, in_page
from agent_s.offline.targets import TargetQuery

T = TypeVar("T")
Finder = Callable[[Screen], list[Candidate]]
Steps = Generator[Move, Sight, T]

WAITS = (0.5, 0.7, 1.0)
"""Pauses before an element that is not there yet is looked for elsewhere, s."""
SURE = 78.0
"""Score below which a better match is waited for a moment, as what is meant may still be coming."""
SCROLLS = 7
SCROLL_CLICKS = 4
"""Notches of the wheel at once: browsers move by 120 px for one, and nothing may be passed over."""
_SCROLLED_ROLES = ("document web", "document text", "list", "list box", "tree", "tree table", "table", "document frame")


def finder(query: TargetQuery, only: frozenset[str] | None = None, prefer: frozenset[str] = ACTIONABLE) -> Finder:
    """Return a function that finds a described element on a screen."""
    return lambda screen: rank(query, screen, only, prefer)


def seek(
    screen: Screen, find: Finder, query: TargetQuery, scroll: bool = True
) -> Steps[tuple[Screen, list[Candidate]]]:
    """Find an element, waiting and scrolling for it within bounds; end the policy where it is nowhere."""
    screen, found = yield from look_around(screen, find, query, scroll)
    if not found:
        give_up(not_found(query, screen))
    return screen, found


def look_around(
    screen: Screen, find: Finder, query: TargetQuery, scroll: bool = True
) -> Steps[tuple[Screen, list[Candidate]]]:
    """Find an element: wait a moment, scroll for it, wait some more; nothing is found where it is nowhere."""
    screen, found = yield from await_element(screen, find, query, WAITS[:1])
    if found and found[0].score < SURE and found[0].element.role in LABELS:
        screen, found = yield from await_element(screen, find, query, WAITS[1:2])
    if not found and scroll:
        screen, found = yield from scroll_for(screen, find, query)
    if not found:
        screen, found = yield from await_element(screen, find, query, WAITS[1:])
    return screen, found


def await_element(
    screen: Screen, find: Finder, query: TargetQuery, waits: tuple[float, ...] = WAITS
) -> Steps[tuple[Screen, list[Candidate]]]:
    """Find an element, waiting briefly for it; nothing is found where it does not come."""
    found = find(screen)
    for number, pause in enumerate(waits):
        if found and (number or found[0].score >= SURE):
            break
        sight = yield Move(
            Wait(time=pause), f"wait for {query.describe()!r} to appear", f"There is no {query.describe()!r} yet."
        )
        screen = sight.screen
        found = find(screen)
    return screen, found


def scroll_for(screen: Screen, find: Finder, query: TargetQuery) -> Steps[tuple[Screen, list[Candidate]]]:
    """Scroll what can be scrolled, down and then up, until the element is in sight or nothing moves any more."""
    if not _can_scroll(screen):
        return screen, []
    screen, found = yield from _scroll_along("down", screen, find, query)
    if not found:
        screen, found = yield from _scroll_along("up", screen, find, query)
    return screen, found


def _can_scroll(screen: Screen) -> bool:
    if screen.has_sheet():
        return False
    return scrollable(screen) is not None or any(
        "address" in element.name.casefold() for element in screen.front if element.role == "entry"
    )


def _scroll_along(
    direction: str, screen: Screen, find: Finder, query: TargetQuery
) -> Steps[tuple[Screen, list[Candidate]]]:
    for _ in range(SCROLLS):
        before = screen
        screen, moved = yield from scroll_once(
            direction, screen, f"scroll {direction} to look for {query.describe()!r}"
        )
        found = find(screen)
        if found or not moved or same_sight(before, screen):
            return screen, found
    return screen, []


def scroll_once(direction: str, screen: Screen, purpose: str) -> Steps[tuple[Screen, bool]]:
    """Scroll by a part of the view, with the wheel or, where nothing is in sight to point at, with a key.

    Returns:
        The screen, and whether something may have moved.
    """
    surface = scrollable(screen)
    before = screen
    if surface is None:
        sight = yield Move(
            Hotkey(keys=("Page_Up" if direction == "up" else "Page_Down",)),
            purpose,
            "Nothing is in sight to turn the wheel over.",
        )
        return sight.screen, True
    sight = yield Move(
        Scroll(element_id=surface.id, clicks=SCROLL_CLICKS if direction == "up" else -SCROLL_CLICKS), purpose
    )
    if not sight.ok or not same_sight(before, sight.screen):
        return sight.screen, sight.ok
    sight = yield Move(Wait(time=0.4), "see whether it still scrolls")
    return sight.screen, not same_sight(before, sight.screen)


def same_sight(before: Screen, after: Screen) -> bool:
    """Tell whether nothing in front has moved."""

    def shape(screen: Screen) -> list[tuple[int, int, str]]:
        return [(element.rect.y, element.rect.x, element.name) for element in screen.front]

    return shape(before) == shape(after)


def scrollable(screen: Screen) -> Element | None:
    """Return an element over which the wheel scrolls the main part of the active window; None where nothing would move."""
    front = [element for element in screen.front if element.point is not None]
    window = screen.active
    if screen.has_sheet():
        return next((element for element in front if element.role == "table cell"), None)
    for role in _SCROLLED_ROLES:
        surfaces = [element for element in front if element.role == role]
        if surfaces:
            return max(surfaces, key=lambda element: element.rect.area)
    held = [
        element
        for element in front
        if any(part.split(":")[0] in (*_SCROLLED_ROLES, "scroll pane", "viewport") for part in element.path)
        and element.role not in ("combo box", "spin button", "slider", "menu")
    ]
    if not held or window is None or not _fills(held, window):
        return None
    middle = window.rect.center
    return min(held, key=lambda element: abs(element.rect.center.x - middle.x) + abs(element.rect.center.y - middle.y))


def _fills(held: list[Element], window: Window) -> bool:
    """Tell whether elements take up a good part of a window: a side pane or a display need not be searched."""
    width = max(element.rect.right for element in held) - min(element.rect.x for element in held)
    height = max(element.rect.bottom for element in held) - min(element.rect.y for element in held)
    return width * height * 4 >= window.rect.area


def not_found(query: TargetQuery, screen: Screen) -> str:
    """Say what was sought and what is there instead."""
    near = nearest_names(query, screen)
    what = f"{show_kinds(query.kinds)} {query.name!r}" if query.name else repr(query.describe())
    if query.ordinal is not None and not query.name:
        what = repr(query.describe())
    window = screen.active
    where = f" in the window {window.title!r}" if window is not None and window.title else " on the screen"
    there = f"; the nearest names are {', '.join(map(repr, near))}" if near else ""
    return f"there is no {what}{where}{there}"


def do(action: Action, purpose: str, seen: str = "") -> Steps[Sight]:
    """Perform a primitive."""
    return (yield Move(action, purpose, seen))


def must(action: Action, purpose: str, seen: str = "") -> Steps[Sight]:
    """Perform a primitive; end the policy where it is refused."""
    sight = yield Move(action, purpose, seen)
    if not sight.ok:
        give_up(f"could not {purpose}: {sight.error}")
    return sight


def name_of(element: Element) -> str:
    """Return how an element is called in reports."""
    called = element.name or element.label or element.description or (element.text or "")[:40]
    return f"the {element.role} {called!r}" if called else f"the {element.role} without a name"


def click_best(
    screen: Screen,
    found: list[Candidate],
    clicks: int = 1,
    button: Button = "left",
    hold: tuple[str, ...] = (),
    most: int = 3,
) -> Steps[tuple[Screen, Element]]:
    """Click the best candidate, the next best where the desktop refuses; end the policy where all are refused."""
    errors: list[str] = []
    for candidate in _usable(found)[:most]:
        element = candidate.element
        action = Click(element_id=element.id, num_clicks=clicks, button_type=button, hold_keys=hold)
        sight = yield Move(
            action,
            f"click {name_of(element)}",
            f"{name_of(element)} is on the screen ({candidate.reason or 'the only one'}).",
        )
        if sight.ok:
            return sight.screen, element
        errors.append(sight.error)
    element = found[0].element
    if "disabled" in element.states:
        give_up(f"{name_of(element)} is disabled")
    give_up(f"could not click {name_of(element)}: {errors[0] if errors else 'it is covered'}")


def _usable(found: list[Candidate]) -> list[Candidate]:
    """Return the candidates that can be clicked and are about as good as the best."""
    best = found[0].score if found else 0.0
    return [
        one
        for one in found
        if one.element.point is not None and "disabled" not in one.element.states and one.score >= best - 12
    ]


def point_at(element: Element) -> Steps[Sight]:
    """Move the pointer over an element without clicking it: by a turn of the wheel, for menus that open then."""
    return (yield Move(Scroll(element_id=element.id, clicks=1), f"point at {name_of(element)}, so that it opens"))


def opens_when_pointed_at(element: Element) -> bool:
    """Tell whether an entry opens a menu of its own in a page, where a click may choose the entry itself."""
    return element.role == "menu item" and "has_popup" in element.states and in_page(element)


def now(screen: Screen, element: Element) -> Element | None:
    """Return an element as it is on a later screen; None where it has gone."""
    return screen.observation.by_id.get(element.id)


def type_into(
    screen: Screen, element: Element, text: str, overwrite: bool, enter: bool = False
) -> Steps[tuple[Screen, str]]:
    """Type into a field and read it back; try once more, all of it, where it reads differently.

    Returns:
        The screen, and what shows that the text is there ("" where nothing can).
    """
    before = content_of(element)
    purpose = f"type {shorten(text)!r} into {name_of(element)}"
    sight = yield Move(Type(text=text, element_id=element.id, overwrite=overwrite, enter=enter), purpose)
    if not sight.ok:
        give_up(f"could not {purpose}: {sight.error}")
    after = now(sight.screen, element)
    verdict = reads_back(after, text, before, overwrite)
    if verdict is not False or enter:
        return sight.screen, evidence_of(after, text) if verdict else ""
    if after is not None and overwrite:
        sight = yield Move(
            Hotkey(keys=("ctrl", "a")),
            f"select what {name_of(element)} holds, since it reads {shorten(content_of(after))!r}",
        )
        sight = yield Move(Type(text=text), f"type {shorten(text)!r} again over it")
        after = now(sight.screen, element)
        verdict = reads_back(after, text, before, overwrite)
    if verdict is False and after is not None and not is_secret(after) and not alike(content_of(after), text):
        give_up(f"{name_of(element)} reads {shorten(content_of(after))!r} after {shorten(text)!r} was typed")
    return sight.screen, evidence_of(after, text)


def is_secret(element: Element) -> bool:
    """Tell whether a field does not show what it holds."""
    return element.role == "password text" or "password" in element.states


def reads_back(element: Element | None, text: str, before: str, overwrite: bool) -> bool | None:
    """Tell whether a field holds what was typed; None where it cannot be read."""
    if element is None or element.text is None:
        return None
    if is_secret(element):  # shows signs for letters at most, but those
        return False if text and not element.text else None
    if element.role not in EDITABLE and "editable" not in element.states:
        return None
    held = element.text.replace("\r\n", "\n").strip("\n ")
    wanted = text.strip("\n ")
    if overwrite:
        return held == wanted or (element.value is not None and same_number(held, wanted))
    return wanted in held and (held != before.strip("\n ") or not wanted)


def alike(held: str, wanted: str) -> bool:
    """Tell whether a field shows a text as applications rewrite it: capitals, spaces, signs."""

    def bare(text: str) -> str:
        return "".join(char for char in text.casefold() if char.isalnum())

    return bool(bare(wanted)) and bare(wanted) in bare(held)


def same_number(one: str, other: str) -> bool:
    """Tell whether two texts are the same number, whatever unit or zeros are written with it."""
    values = [number_in(text) for text in (one, other)]
    return values[0] is not None and values[0] == values[1]


def number_in(text: str) -> float | None:
    """Return the first number in a text."""
    import re

    match = re.search(r"-?\d{1,15}(?:[.,]\d{1,9})?", text)
    return float(match[0].replace(",", ".")) if match else None


def evidence_of(element: Element | None, text: str) -> str:
    """Say what shows that a text is there."""
    if element is None or element.text is None or is_secret(element):
        return ""
    return f"{name_of(element)} reads {shorten(element.text)!r}"


def shorten(text: str, longest: int = 80) -> str:
    """Cut a text for a message."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def changed(before: Screen, after: Screen) -> str:
    """Say what differs between two screens."""
    return what_changed(before.observation, after.observation)


def within(query: TargetQuery, place: TargetQuery | None) -> TargetQuery:
    """Narrow a description down to a place, unless it names one itself."""
    return replace(query, within=place) if place is not None and query.within is None else query

"""Policies for pages: go to an address, search."""

from __future__ import annotations

import re

from aci.acting.actions import Hotkey, SwitchApplications, Type, Wait
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.intents import GoToAddress, SearchFor
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.common import (
    Steps,
    await_element,
    changed,
    finder,
    must,
    name_of,
    not_found,
    now,
    shorten,
)
from agent_s.offline.roles import EDITABLE
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery, named


def go_to_address(intent: GoToAddress, screen: Screen) -> Course:
    """Type an address into the browser's bar."""
    bar = _address_bar(screen)
    if bar is None:
        screen = yield from _to_browser(screen)
        bar = _address_bar(screen)
    before = screen.active.title if screen.active else ""
    if bar is None:
        sight = yield from must(Hotkey(keys=("ctrl", "l")), "go to the address bar")
        sight = yield from must(Type(text=intent.url, enter=True), f"type the address {intent.url!r}")
    else:
        sight = yield from must(
            Type(text=intent.url, element_id=bar.id, overwrite=True, enter=True), f"type the address {intent.url!r}"
        )
    screen = sight.screen
    for pause in (0.5, 1.0):
        if screen.active is not None and screen.active.title != before:
            break
        sight = yield Move(Wait(time=pause), "wait for the page")
        screen = sight.screen
    return Achieved(f"the address was entered; the title is {screen.active.title!r}" if screen.active else "")


def _address_bar(screen: Screen) -> Element | None:
    for name in ("Address and search bar", "Search or enter address", "Address bar", "Location"):
        found = [
            one
            for one in rank(named(name), screen, EDITABLE)
            if one.score >= 90 and one.element in screen.front and one.element.point
        ]
        if found:
            return found[0].element
    return None


def _to_browser(screen: Screen) -> Steps[Screen]:
    sight = yield Move(SwitchApplications(app_code="web browser"), "bring the browser to the front")
    if not sight.ok:
        give_up(f"there is no browser to open the page in: {sight.error}")
    screen, _ = yield from await_element(
        sight.screen,
        lambda view: [Candidate(bar, 100.0, "")] if (bar := _address_bar(view)) else [],
        named("address bar"),
    )
    return screen


def search_for(intent: SearchFor, screen: Screen) -> Course:
    """Search in the field that is named or shown, else with Ctrl+F."""
    field = yield from _search_field(intent, screen)
    if field is not None:
        sight = yield from must(
            Type(text=intent.text, element_id=field.id, overwrite=True, enter=True),
            f"search for {shorten(intent.text)!r} in {name_of(field)}",
        )
        return Achieved(f"{name_of(field)} was searched for {intent.text!r}; {changed(screen, sight.screen)}")
    sight = yield from must(Hotkey(keys=("ctrl", "f")), "open the search")
    after = sight.screen
    focus = after.focus
    into = focus.id if focus is not None and focus.role in EDITABLE and "multi_line" not in focus.states else None
    sight = yield from must(
        Type(text=intent.text, element_id=into, overwrite=into is not None, enter=True),
        f"search for {shorten(intent.text)!r}",
    )
    found = now(sight.screen, focus) if focus is not None else None
    return Achieved(f"{intent.text!r} was searched for; {changed(after, sight.screen)}" if found or sight.ok else "")


def _names_window(query: TargetQuery, screen: Screen) -> bool:
    return any(
        name_score(query.phrase, window.title)[0] >= 66 or name_score(query.phrase, window.app)[0] >= 66
        for window in screen.windows
    )


def _search_field(intent: SearchFor, screen: Screen) -> Steps[Element | None]:
    if intent.target is not None:
        screen, found = yield from await_element(screen, finder(intent.target, EDITABLE, EDITABLE), intent.target)
        if found:
            return found[0].element
        containers = {"page", "window", "area", "dialog", "list", "table", "form", "section"}
        if not set(intent.target.kinds) & containers and not _names_window(intent.target, screen):
            give_up(not_found(intent.target, screen))
    for name in ("Search", "Find", "Query", "Search term"):
        found = [
            one
            for one in rank(named(name), screen, EDITABLE)
            if one.score >= 76
            and one.element in screen.front
            and not re.search("address", one.element.name, re.IGNORECASE)
        ]
        if found:
            return found[0].element
    return _address_bar(screen)

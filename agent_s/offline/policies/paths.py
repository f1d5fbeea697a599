"""Policies for paths: through menus as they open, and through trees in dialogs."""

from __future__ import annotations

from aci.acting.actions import Hotkey
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, give_up
from agent_s.offline.intents import FollowPath
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.policies.choosing import SELECTABLE
from agent_s.offline.policies.common import (
    Finder,
    Steps,
    await_element,
    changed,
    click_best,
    do,
    name_of,
    not_found,
    now,
    opens_when_pointed_at,
    point_at,
    scroll_for,
)
from agent_s.offline.roles import ACTIONABLE, EDITABLE, ROLES
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery, named


def follow_path(intent: FollowPath, screen: Screen) -> Course:
    """Click one item after another, in menus as they open, then in the dialog that a menu led to."""
    start = screen
    parent: Element | None = None
    for depth, item in enumerate(intent.items):
        screen, parent = yield from _follow(item, intent.items[:depth], intent.items[depth + 1 :], parent, screen)
    return Achieved(f"{' > '.join(intent.items)} was chosen; {changed(start, screen)}")


def _follow(
    item: str, before: tuple[str, ...], after: tuple[str, ...], parent: Element | None, screen: Screen
) -> Steps[tuple[Screen, Element]]:
    find = _below(parent, _item_finder(item, first=not before))
    query = TargetQuery(phrase=item, name=item, kinds=("menuitem",) if screen.popups or not before else ())
    screen, found = yield from await_element(screen, find, query)
    if not found and not before:
        screen, found = yield from _by_main_menu(item, find, screen)
    if not found:
        screen, found = yield from scroll_for(screen, find, query)
    if not found:
        if screen.popups:
            yield from do(Hotkey(keys=("Escape",)), "close the menu again")
        where = f" after {' > '.join(before)}" if before else ""
        give_up(not_found(query, screen) + where)
    element = found[0].element
    if "disabled" in element.states:
        yield from do(Hotkey(keys=("Escape",)), "close the menu again")
        give_up(f"{name_of(element)} is disabled now")
    if after and _opens_already(element, after[0], screen):
        return screen, element
    if after and opens_when_pointed_at(element):
        sight = yield from point_at(element)
        if sight.ok and rank(named(after[0]), sight.screen, SELECTABLE - EDITABLE):
            return sight.screen, element
        screen = sight.screen
    screen, element = yield from click_best(screen, found)
    if after:
        screen = yield from _open_branch(element, after[0], screen)
    return screen, element


def _below(parent: Element | None, find: Finder) -> Finder:
    """In a tree, look beneath the branch that was opened first: "View" may be the name of several."""
    if parent is None or parent.role not in ROLES["tree"]:
        return find

    def beneath(screen: Screen) -> list[Candidate]:
        found = find(screen)
        at = now(screen, parent)
        if at is None or not found:
            return found
        inside = [
            one
            for one in found
            if one.score >= found[0].score - 3
            and one.element.window_id == at.window_id
            and one.element.rect.y > at.rect.y
        ]
        return sorted(inside, key=lambda one: one.element.rect.y) or found

    return beneath


def _item_finder(item: str, first: bool) -> Finder:
    """Look in an open menu alone while there is one; else among menus first, then among all that can be chosen."""

    def find(screen: Screen) -> list[Candidate]:
        query = TargetQuery(phrase=item, name=item)
        popups = {window.id for window in screen.popups}
        found = [
            one
            for one in rank(query, screen, SELECTABLE - EDITABLE, ROLES["menuitem"] if first else ACTIONABLE)
            if one.score >= 66
        ]
        if popups and not first:
            inside = [one for one in found if one.element.window_id in popups]
            if inside:
                return inside
        return [one for one in found if not first or one.score >= 80]

    return find


def _opens_already(element: Element, following: str, screen: Screen) -> bool:
    """Tell whether a branch of a tree, or a menu, is open: what follows is in sight behind it."""
    if "expanded" not in element.states and element.role not in ("menu",):
        return False
    if element.role == "menu":
        return (
            bool(screen.popups) and bool(_item_finder(following, first=False)(screen)) and "selected" in element.states
        )
    return bool(rank(named(following), screen, SELECTABLE - EDITABLE))


def _open_branch(element: Element, following: str, screen: Screen) -> Steps[Screen]:
    """Unfold a branch of a tree that a click only selected."""
    current = now(screen, element)
    if (
        current is None
        or "expandable" not in current.states
        or "expanded" in current.states
        or current.role in ("menu", "menu item")
    ):
        return screen
    for key in ("Right", "plus"):
        sight = yield from do(Hotkey(keys=(key,)), f"press {key} to unfold {name_of(element)}")
        screen = sight.screen
        current = now(screen, element)
        if current is None or "expanded" in current.states or rank(named(following), screen, SELECTABLE - EDITABLE):
            break
    return screen


def _by_main_menu(item: str, find: Finder, screen: Screen) -> Steps[tuple[Screen, list[Candidate]]]:
    """Look in the application's one menu button where it has no menu bar."""
    for name in (
        "Main Menu",
        "Primary menu",
        "Open Menu",
        "Menu",
        "Chromium",
        "Application menu",
        "Customize and control Chromium",
    ):
        buttons = [
            one for one in rank(named(name, "button"), screen, ROLES["button"] | ROLES["menu"]) if one.score >= 84
        ]
        if buttons:
            sight_screen, _ = yield from click_best(screen, buttons)
            found = find(sight_screen)
            if not found:
                sight = yield from do(Hotkey(keys=("Escape",)), "close the menu again, since it does not hold it")
                return sight.screen, []
            return sight_screen, found
    return screen, []

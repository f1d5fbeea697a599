"""Follow a path through menus, trees and tabs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Hotkey
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.choose import CHOOSABLE
from agent_s.offline.commands.click import point_at
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import GOOD, Candidate, best, rank
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE, ROLES, split_last_noun
from agent_s.offline.finding.screen import Screen, name_of
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.ui import UI, Finder, Steps, changed, opens_on_pointing
from agent_s.offline.words import BUTTONS
from intents.text import Phrase

_ITEMS = CHOOSABLE - EDITABLE
_ARROW = re.compile(r"\s*(?:->|=>|→|›|»|▸|>)\s*")


@dataclass(frozen=True, slots=True)
class FollowPath(Command):
    """Follow a path through menus, trees and tabs."""

    items: tuple[str, ...]

    def run(self, ui: UI) -> Execution:
        """Click one item after another, in menus as they open, then in the dialog that a menu led to."""
        start, parent = ui.screen, None
        for depth in range(len(self.items)):
            parent = yield from self._follow(depth, parent, ui)
        return f"{' > '.join(self.items)} was chosen; {changed(start, ui.screen)}"

    def _follow(self, depth: int, parent: Element | None, ui: UI) -> Steps[Element]:
        item, following = self.items[depth], self.items[depth + 1 : depth + 2]
        target = Target(phrase=item, name=item, kinds=("menuitem",) if ui.screen.popups or not depth else ())
        find = _finder(item, parent)
        found = yield from ui.await_element(target, find)
        if not found and not depth:
            found = yield from _by_main_menu(find, ui)
        found = found or (yield from ui.scroll_for(target, find))
        disabled = bool(found) and "disabled" in found[0].element.states
        if not found or disabled:
            if ui.screen.popups:
                yield from ui.try_to(Hotkey(keys=("Escape",)), "close the menu again")
            where = f" after {' > '.join(self.items[:depth])}" if depth else ""
            if disabled:
                give_up(f"{name_of(found[0].element)} is disabled now", final=True)
            give_up(ui.not_found(target) + where)
        element = found[0].element
        if following and _is_open(element, following[0], ui.screen):
            return element
        if following and opens_on_pointing(element):
            yield from point_at(element, ui)
            if rank(named(following[0]), ui.screen, _ITEMS):
                return element
        element = yield from ui.click(found)
        current = ui.now(element)
        for key in ("Right", "plus") if following and element.role not in ("menu", "menu item") else ():
            # a click on a branch of a tree may only select it
            if current is None or "expandable" not in current.states or _is_open(current, following[0], ui.screen):
                break
            yield from ui.try_to(Hotkey(keys=(key,)), f"press {key} to unfold {name_of(element)}")
            current = ui.now(element)
        return element


def _finder(item: str, parent: Element | None) -> Finder:
    """Search only an open menu, the branch of a tree that was found before, or all elements with menus first."""

    def find(screen: Screen) -> list[Candidate]:
        popups = {window.id for window in screen.popups}
        prefer = ACTIONABLE if parent is not None else ROLES["menuitem"]
        found = best(rank(named(item), screen, _ITEMS, prefer), 66.0 if parent is not None else 80.0)
        if parent is None:
            return found
        inside = [one for one in found if one.element.window_id in popups]
        if inside or parent.role not in ROLES["tree"] or not found:
            return inside or found
        at = screen.observation.by_id.get(parent.id)
        same = best(found, found[0].score - 3)
        beneath = [
            one for one in same if at and one.element.window_id == at.window_id and one.element.rect.y > at.rect.y
        ]
        return sorted(beneath, key=lambda one: one.element.rect.y) or found

    return find


def _is_open(element: Element, following: str, screen: Screen) -> bool:
    """Return whether a branch of a tree, or a menu, is open with the next item in sight."""
    if element.role == "menu":
        return bool(screen.popups) and "selected" in element.states and bool(_finder(following, element)(screen))
    return "expanded" in element.states and bool(rank(named(following), screen, _ITEMS))


def _by_main_menu(find: Finder, ui: UI) -> Steps[list[Candidate]]:
    names = BUTTONS["main menu"]
    buttons = [one for name in names for one in best(ui.rank(named(name, "button"), ROLES["menu"]), GOOD)]
    if not buttons:
        return []
    yield from ui.click(buttons[:1])
    found = find(ui.screen)
    if not found:
        yield from ui.try_to(Hotkey(keys=("Escape",)), "close the menu again, since it does not hold it")
    return found


def path_in(words: Phrase) -> tuple[str, ...] | None:
    """Return the items of a path such as "File > Save As"; None where it is none."""
    words = words.part(re.sub(r"^the\s+", "", words.marked.strip(), flags=re.IGNORECASE))
    literal = words.literal
    if literal is not None and ">" in literal:
        items = [item.strip() for item in literal.split(">")]
        items[0] = items[0].removesuffix(" menu")
    else:
        parts = _ARROW.split(words.marked)
        # What was quoted is a name as it stands; "menu" is taken off only where it is the instruction's own word.
        items = [words.part(re.sub(r"\s+menu(?:\s+(?:item|entry))?$", "", part)).strip() for part in parts]
    items = [re.sub(r"(?:\.\.\.|…)$", "", item) for item in items]
    return tuple(items) if len(items) > 1 and all(items) and max(map(len, items)) < 80 else None


def read(path: tuple[str, ...] = (), menu: Phrase | None = None, what: Phrase | None = None) -> Command | None:
    """Read a path, or an entry and its menu."""
    if menu is None or what is None:
        return FollowPath(path) if path else None
    if split_last_noun(f"{menu.marked} menu")[1] != "menu":  # "the Size dropdown menu"
        return None
    return FollowPath((str(menu), *(path_in(what) or (str(what),))))

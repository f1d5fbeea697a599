"""Choose values: from drop-down lists, lists and groups, or wherever one of that name is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from aci.acting.actions import Hotkey, Scroll, Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, GaveUp, give_up
from agent_s.offline.finding.matching import EXACT, Candidate, best, elements_within, rank
from agent_s.offline.finding.names import name_score
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE, ROLES
from agent_s.offline.finding.screen import Screen, content_of, is_box, name_of, same_line
from agent_s.offline.finding.targets import Target, named, parse_target, split_list
from agent_s.offline.ui import UI, Steps, changed, shorten
from intents.text import Phrase

_LISTS = ROLES["combo"] | {"toggle button", "push button", "menu button"}
_OPTIONS = (ROLES["item"] | ROLES["menuitem"] | {"radio button", "check box", "label", "static", "link"}) | {
    "push button", "toggle button"
}  # fmt: skip
CHOOSABLE = ((ACTIONABLE | _OPTIONS | ROLES["text"] | {"image"}) - {"spin button", "slider"}) - {"status bar", "alert"}
_STATEFUL = frozenset({"check box", "radio button", "check menu item", "radio menu item", "switch"})
_MAX_LISTS = 4
_LONG_LIST = 9


@dataclass(frozen=True, slots=True)
class Choose(Command):
    """Choose values from a list, group or menu, if one is named; `said` is the list of values as one name."""

    values: tuple[Target, ...]
    source: Target | None = None
    said: str = ""

    def run(self, ui: UI) -> Execution:
        """Choose each value: in a list that is named, else wherever one of that name is."""
        start, values = ui.screen, self.values
        may_be_one = len(values) > 1 or (self.source is not None and " " in self.said)  # "Mele, Ivo"
        if self.said and may_be_one and best(ui.rank(named(self.said)), EXACT - 2):
            values = (named(self.said),)
        evidence: list[str] = []
        for number, value in enumerate(values):
            evidence.append((yield from self._choose(value, ui, add=number > 0)))
        return "; ".join(part for part in evidence if part) or changed(start, ui.screen)

    def at(self, place: Target) -> Command:
        """Return the choice inside a place."""
        if self.source is not None:
            return replace(self, source=self.source.at(place))
        return replace(self, values=tuple(value.at(place) for value in self.values))

    def _choose(self, value: Target, ui: UI, add: bool) -> Steps[str]:
        source = self.source
        if add or (source is not None and source.is_a("list")):
            yield from _bring_into_sight(value, ui)
        if source is not None:
            lists = yield from _find_lists(source, value, ui)
            if lists:
                return (yield from _choose_in_first(lists, value, ui))
            placed = replace(value, within=source)
            value = placed if elements_within(source, ui.screen) and ui.rank(placed) else value
        found = yield from ui.await_element(value, lambda view: best(rank(value, view, CHOOSABLE), 64.0), (0.5, 0.7))
        if found and found[0].element.role in ROLES["combo"]:
            shown = _shows(found[0].element, value.name)
            return f"{name_of(found[0].element)} shows {value.name!r} already" if shown else ""
        if not found and (lists := _drop_downs(ui.screen)):
            return (yield from _choose_in_first(lists, value, ui))
        found = found or (yield from ui.scroll_for(value, lambda view: best(rank(value, view, CHOOSABLE), 64.0)))
        if not found:
            give_up(ui.not_found(value))
        return (yield from _choose_visible(found, ui, add))


def _choose_visible(found: list[Candidate], ui: UI, add: bool) -> Steps[str]:
    """Click an option in sight, unless it is chosen already; a text is chosen by the box beside it."""
    element = found[0].element
    if element.role in ROLES["text"]:
        boxes = [box for box in ui.screen.elements if is_box(box) and not box.name]
        row = [box for box in boxes if box.window_id == element.window_id and same_line(box.rect, element.rect)]
        if row:
            element = min(row, key=lambda box: abs(box.rect.center.x - element.rect.x))
            found = [Candidate(element, 90.0, "the box beside it")]
    peers = [one for one in ui.screen.elements if one.role == element.role and one.window_id == element.window_id]
    alone = sum("selected" in one.states for one in peers) == 1 and element.role in (*_ROWS, "page tab")
    settled = alone and ("focused" in element.states or element.role == "page tab")
    is_chosen = element.role in _STATEFUL and "checked" in element.states
    if is_chosen or ("selected" in element.states and (add or settled)):
        return f"{name_of(element)} is chosen already"
    before = ui.screen
    element = yield from ui.click(found, hold=("ctrl",) if add and element.role in _ROWS else ())
    after = ui.now(element)
    if after is not None and element.role in _STATEFUL and not after.states & {"checked", "selected"}:
        yield from ui.press("space", purpose=f"choose {name_of(element)}, since the click did not")
    return f"{name_of(element)} was chosen; {changed(before, ui.screen)}"


_ROWS = frozenset({"list item", "table cell", "tree item", "icon"})


# Drop-down lists


def _drop_downs(screen: Screen) -> list[Element]:
    return [e for e in screen.front if e.role in ROLES["combo"] and e.point is not None and "disabled" not in e.states]


def _find_lists(source: Target, value: Target, ui: UI) -> Steps[list[Element]]:
    """Find the named drop-down list, or all of them if none is named; none if the options are visible."""

    def options(view: Screen) -> list[Candidate]:
        return best(rank(value, view, _OPTIONS))

    def find(view: Screen) -> list[Candidate]:
        return best(rank(source, view, _LISTS | EDITABLE, ROLES["combo"]), 64.0) or options(view)

    found = yield from ui.find(source, find)
    if not source.name and options(ui.screen):
        return []
    elements = [one.element for one in best(found, found[0].score - 6)] if found else []
    if lists := [element for element in elements if element.role in ROLES["combo"]]:
        return lists[:1] if source.name else lists
    if options(ui.screen):
        return []
    if elements and (elements[0].role not in EDITABLE or "has_popup" in elements[0].states):
        return elements[:1]
    if not elements and source.name and not elements_within(source, ui.screen):
        give_up(ui.not_found(source))
    return [] if source.name else _drop_downs(ui.screen)


def _choose_in_first(lists: list[Element], value: Target, ui: UI) -> Steps[str]:
    reasons: list[str] = []
    for element in filter(None, map(ui.now, lists[:_MAX_LISTS])):
        try:
            return (yield from choose_in(element, value, ui))
        except GaveUp as reason:
            reasons.append(str(reason))
    give_up("; ".join(reasons) or "the list is gone")


def choose_in(combo: Element, value: Target, ui: UI) -> Steps[str]:
    """Choose an entry of a drop-down list: from what opens, else by typing its name, else by scrolling to it."""
    if value.name and value.ordinal is None and _shows(combo, value.name):
        return f"{name_of(combo)} shows {value.name!r} already"
    before = ui.screen
    yield from ui.click_element(combo)

    def opened() -> list[Element]:
        return _opened(combo, before, ui.screen)

    def entries() -> list[Candidate]:
        pool = {element.id for element in opened()}
        likely = ROLES["item"] | ROLES["menuitem"]
        return [one for one in ui.rank(value, _OPTIONS, likely) if one.element.id in pool]

    purpose = f"wait for the entries of {name_of(combo)}"
    yield from ui.wait_until(lambda: entries() or opened(), (0.4, 0.6), purpose)
    hidden = "editable" in combo.states or len(opened()) not in range(1, _LONG_LIST)
    by_name = bool(value.name) and value.ordinal is None and hidden and not entries()
    if by_name and (evidence := (yield from _type_choice(combo, value, before, ui))):
        return evidence
    for notches in (-5, -5, -5, -5, 10, 10) if len(opened()) >= _LONG_LIST else ():
        shown = opened()
        if entries() or not shown:
            break
        yield from ui.try_to(Scroll(element_id=shown[len(shown) // 2].id, clicks=notches), "scroll the list")
    if found := entries():
        return (yield from _click_entry(found, combo, value, ui))
    names = ", ".join([repr(element.name) for element in opened() if element.name][:8])
    if ui.screen.popups:
        yield from ui.try_to(Hotkey(keys=("Escape",)), "close the list again")
    there = f"; it has {names}" if names else ""
    give_up(f"{name_of(combo)} has no entry {value.describe()!r}{there}")


def _click_entry(found: list[Candidate], combo: Element, value: Target, ui: UI) -> Steps[str]:
    before = ui.now(combo)
    entry = yield from ui.click(found)
    after = ui.now(combo)
    evidence = f"{name_of(entry)} was chosen from {name_of(combo)}"
    if not value.name or after is None or _shows(after, value.name):
        return evidence
    if after == before and ui.screen.popups:
        yield from ui.press("Return", purpose=f"confirm {name_of(entry)}")
        after = ui.now(combo)
    alike = after is not None and name_score(entry.name, content_of(after) or after.name)[0] >= 66
    if after is not None and after.text and not _shows(after, value.name) and not alike:
        give_up(f"{name_of(combo)} shows {after.text!r} after {value.name!r} was chosen")
    return evidence


def _shows(combo: Element, name: str) -> bool:
    shown = (combo.text or "", combo.name if not combo.label else "")
    return any(text and name_score(name, text)[0] >= 96 for text in shown)


def _opened(combo: Element, before: Screen, screen: Screen) -> list[Element]:
    popups = {window.id for window in screen.popups}
    known, own = before.observation.by_id, f"{combo.role}:{combo.name}"
    return [
        element
        for element in screen.elements
        if element.role in _OPTIONS and element.point is not None and element.id != combo.id
        and (element.window_id in popups or element.id not in known or own in element.path)
    ]  # fmt: skip


def _type_choice(combo: Element, value: Target, before: Screen, ui: UI) -> Steps[str]:
    """Type the name of an entry, which lists take as a search, and confirm it only where that led to the entry."""
    editable = "editable" in combo.states

    def stands_in_sight() -> bool:
        return any("focused" in element.states for element in _opened(combo, before, ui.screen))

    stood = stands_in_sight()
    action = Type(text=value.name, element_id=combo.id if editable else None, overwrite=editable)
    yield from ui.try_to(action, f"type {shorten(value.name)!r} to look for it in {name_of(combo)}")
    focus, after = ui.screen.focus, ui.now(combo)
    led_there = focus is not None and name_score(value.name, focus.name)[0] >= 96
    led_away = stood and not stands_in_sight()  # to an entry out of sight
    if led_there or led_away or (after is not None and _shows(after, value.name)):
        yield from ui.try_to(Hotkey(keys=("Return",)), f"confirm {value.name!r}")
        after = ui.now(combo)
        if after is not None and (_shows(after, value.name) or after.text is None):
            return f"{name_of(combo)} shows {value.name!r}"
    return ""


# Lists that show a part of their rows


def _rows(screen: Screen) -> list[Element]:
    rows = [
        element
        for element in screen.front
        if element.role == "list item" and element.point is not None and element.path
        and element.path[-1].partition(":")[0] in ("list", "list box")
    ]  # fmt: skip
    if not rows:
        return []
    most, _ = Counter(row.path for row in rows).most_common(1)[0]
    return [row for row in rows if row.path == most]


def _bring_into_sight(value: Target, ui: UI) -> Steps[None]:
    """Scroll a list with the wheel, down and then up, until a row is visible; its selection does not change."""

    def is_hidden() -> bool:
        rows = _rows(ui.screen)
        here = [one.element for one in best(ui.rank(value, frozenset({"list item"})))]
        return bool(value.name) and len(rows) > 1 and not any(element in rows for element in here)

    for direction in (-1, 1):
        for _ in range(20):
            if not is_hidden():
                return
            rows = _rows(ui.screen)
            notches = direction * (1 if len(rows) <= 6 else 3)  # a notch may be more than the list shows
            action = Scroll(element_id=rows[len(rows) // 2].id, clicks=notches)
            result = yield from ui.try_to(action, f"turn the list to look for {value.describe()!r}")
            if not result.ok or [row.name for row in _rows(ui.screen)] == [row.name for row in rows]:
                break


# Reading

_NO_LIST = ("dialog", "window", "page", "form", "toolbar", "section")


def read(what: Phrase, where: Phrase | None = None, weak: Phrase | None = None) -> Command | None:
    """Read the values, and the list: `weak` is one only after quoted values, or with a noun for one."""
    place = where or weak
    source = parse_target(place) if place is not None else None
    if source is not None and source.is_a(*_NO_LIST):
        return None
    if source is not None and weak is not None and not (what.quotes or source.kinds or source.quoted):
        return None
    whole, values = parse_target(what), tuple(parse_target(part) for part in split_list(what))
    if len(values) > 1 and whole.kinds and not whole.within:
        values = tuple(replace(value, kinds=value.kinds or whole.kinds) for value in values)
    return Choose(values, source, str(what))

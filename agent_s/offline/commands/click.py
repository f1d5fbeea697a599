"""Click elements, one after another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Scroll
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate, best, rank
from agent_s.offline.finding.roles import EDITABLE, ROLES
from agent_s.offline.finding.screen import in_page, name_of
from agent_s.offline.finding.targets import Target, named, parse_target, split_list
from agent_s.offline.ui import UI, Button, Steps, changed, opens_on_pointing
from intents.keys import Chord
from intents.lexicon import read_number
from intents.text import OPEN, PLACEHOLDER, Phrase

_MAX_DOORS = 16


@dataclass(frozen=True, slots=True)
class Click(Command):
    """Click elements, one after another."""

    targets: tuple[Target, ...]  # the elements
    clicks: int = 1  # 2 for a double click
    button: Button = "left"  # of the mouse
    hold: Chord = ()  # keys held during the click
    times: int = 1  # how often each is clicked
    look_in: str = ""  # kind of containers to open one after another while an element is not visible

    def run(self, ui: UI) -> Execution:
        """Click each element; one that is not visible is awaited, scrolled to, and searched in `look_in`."""
        start, element = ui.screen, None
        for target in self.targets:
            found: list[Candidate] = []
            if self.look_in and not ui.rank(target):
                found = yield from look_behind(target, self.look_in, ui)
            found = found or (yield from ui.seek(target))
            for one in best(found, found[0].score - 3) if target.every else found[:1]:
                again = [one] if target.every else found
                for _ in range(self.times):
                    element = yield from ui.click(again, self.clicks, self.button, self.hold)
                    again = again if target.every else ui.rank(target) or again
        if element is None:
            give_up("nothing to click was named")
        return f"{name_of(element)} was clicked; {changed(start, ui.screen)}"


def read(
    what: Phrase | str,
    clicks: str = "1",
    button: Button = "left",
    hold: tuple[Chord, ...] = (),
    times: Phrase | int = 1,
    look_in: str = "",
) -> Command | None:
    """Read the element, or several if each is quoted or has its own article."""
    targets = split_targets(what) if isinstance(what, Phrase) else (named(what, "button"),)
    count = times if isinstance(times, int) else read_number(times)
    if not targets[0].phrase or count is None:
        return None
    return Click(targets, int(clicks), button, hold[0] if hold else (), count, look_in)


def split_targets(words: Phrase) -> tuple[Target, ...]:
    """Read "'A', 'B' and 'C'" or "the OK button and the Cancel button" as several elements, anything else as one."""
    parts = split_list(words)
    if len(parts) < 2 or not all(re.match(rf"{OPEN}|the\s", part.marked, re.IGNORECASE) for part in parts):
        return (parse_target(words),)
    noun = re.search(rf"{PLACEHOLDER}\s+(\w+?)s$", parts[-1].marked)
    return tuple(
        parse_target(part.part(f"{part.marked} {noun[1]}") if noun and part.literal is not None else part)
        for part in parts
    )


def look_behind(target: Target, where: str, ui: UI) -> Steps[list[Candidate]]:
    """Open tabs, sections, branches or submenus one after another, recursively, until an element is visible."""
    opened: set[int] = set()
    for _ in range(_MAX_DOORS):
        door = next((element for element in _doors(ui, where) if element.id not in opened), None)
        if door is None:
            break
        opened.add(door.id)
        if opens_on_pointing(door):
            yield from point_at(door, ui)
        else:
            yield from ui.click_element(_handle(door, ui))
        pauses = (0.3,) if opens_on_pointing(door) else ()  # menus come a moment after they are drawn
        found = yield from ui.await_element(target, lambda screen: best(rank(target, screen), 78.0), pauses)
        if found:
            return found
    return []


def point_at(element: Element, ui: UI) -> Steps[None]:
    """Hover over an element by turning the wheel there, for menus that open on hover."""
    yield from ui.try_to(Scroll(element_id=element.id, clicks=1), f"point at {name_of(element)}, so that it opens")


def _handle(door: Element, ui: UI) -> Element:
    """Return the link that receives the clicks of a tab in a web page, or the element itself."""
    own = (f"{door.role}:{door.name}",) if door.role == "page tab" else None
    inside = (one for one in ui.screen.front if one.path[-1:] == own and one.role in ("link", "push button"))
    return next(inside, door)


def _doors(ui: UI, where: str) -> list[Element]:
    """Return elements that may hide others: submenus, tabs or collapsed sections; in a page, only those within it."""
    front = ui.screen.front
    submenus = [element for element in front if opens_on_pointing(element)]
    tabs = [element for element in front if element.role == "page tab" and "selected" not in element.states]
    no_section = ROLES["combo"] | EDITABLE | {"menu", "push button menu"}
    folded = [e for e in front if "expandable" in e.states and "expanded" not in e.states and e.role not in no_section]
    headings = [element for element in front if element.role == "heading"]
    doors = submenus or (tabs if where == "tabs" else folded or tabs or headings)
    return [door for door in doors if in_page(door)] or doors

"""Expand or collapse a section or a branch of a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Hotkey
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import best
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.ui import UI, changed
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Expand(Command):
    """Expand an element, or collapse it."""

    target: Target
    expanded: bool = True

    def run(self, ui: UI) -> Execution:
        """Click it, and use the keyboard where a click only selects."""
        state = "expanded" if self.expanded else "collapsed"
        found = yield from ui.seek(self.target)
        peers = [one.element for one in best(found, found[0].score - 12)]
        element = next((one for one in peers if "expandable" in one.states), found[0].element)
        if ("expanded" in element.states) == self.expanded:
            return f"{name_of(element)} is {state} already"
        before = ui.screen
        yield from ui.click_element(element)
        for key in ("Right", "plus", "Return") if self.expanded else ("Left", "minus", "Return"):
            current = ui.now(element)
            if current is None or "expandable" not in current.states or ("expanded" in current.states) == self.expanded:
                break
            if not current.states & {"focused", "selected"} and current.role not in ROLES["tree"]:
                break  # the keys would go elsewhere
            yield from ui.try_to(Hotkey(keys=(key,)), f"press {key}, since the click did not: {name_of(element)}")
        current = ui.now(element)
        if current is not None and "expandable" in current.states and ("expanded" in current.states) != self.expanded:
            give_up(f"{name_of(element)} could not be {state}")
        return f"{name_of(element)} was {state}; {changed(before, ui.screen)}"


def read(what: Phrase, collapse: str = "") -> Command:
    """Read the element; "the section below" is any section, since "below" only gives its position on the page."""
    marked = re.sub(r"\s+(?:below|above)$", "", what.marked, flags=re.IGNORECASE)
    return Expand(parse_target(what.part(marked)), not collapse)

"""Search for a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.go_to import address_bar
from agent_s.offline.commands.type import names_window, text_in
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import best, rank
from agent_s.offline.finding.roles import CONTAINERS, EDITABLE
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.ui import UI, Steps, changed, shorten
from agent_s.offline.words import FIELDS
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Search(Command):
    """Search for a text, in a field that is named or shown, or with the application's own search."""

    text: str
    target: Target | None = None

    def run(self, ui: UI) -> Execution:
        """Type into the search field, else press Ctrl+F first."""
        start, field = ui.screen, (yield from self._field(ui))
        purpose = f"search for {shorten(self.text)!r}"
        if field is None:
            yield from ui.press("ctrl", "f", purpose="open the search")
            focus = ui.screen.focus
            field = focus if focus and focus.role in EDITABLE and "multi_line" not in focus.states else None
        into = field.id if field is not None else None
        yield from ui.do(Type(text=self.text, element_id=into, overwrite=into is not None, enter=True), purpose)
        where = f" in {name_of(field)}" if field is not None else ""
        return f"{self.text!r} was searched for{where}; {changed(start, ui.screen)}"

    def _field(self, ui: UI) -> Steps[Element | None]:
        target = self.target
        if target is not None:
            found = yield from ui.await_element(target, lambda screen: rank(target, screen, EDITABLE, EDITABLE))
            if found:
                return found[0].element
            if not target.is_a(*CONTAINERS) and not names_window(target, ui):
                give_up(ui.not_found(target))
        for name in FIELDS["search"]:
            found = [one for one in best(ui.rank(named(name), EDITABLE), 76.0) if one.element in ui.screen.front]
            found = [one for one in found if not re.search("address", one.element.name, re.IGNORECASE)]
            if found:
                return found[0].element
        return address_bar(ui)


def read(what: Phrase, where: Target | None = None) -> Command | None:
    """Read the text and the field."""
    text = text_in(what)
    return Search(text, where) if text else None

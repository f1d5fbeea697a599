"""Empty a field."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.type import TYPABLE
from agent_s.offline.execution import Execution
from agent_s.offline.finding.matching import best, rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.ui import UI


@dataclass(frozen=True, slots=True)
class Clear(Command):
    """Empty a field."""

    target: Target

    def run(self, ui: UI) -> Execution:
        """Empty it, or click the button of that name, such as "Clear display"."""
        target, button = self.target, named(f"Clear {self.target.phrase}")
        found = yield from ui.seek(
            target, lambda screen: rank(target, screen, TYPABLE, EDITABLE) or best(rank(button, screen), 88.0)
        )
        element = found[0].element
        if element.role not in TYPABLE:
            return f"{name_of((yield from ui.click(found)))} was clicked"
        if element.text is not None and not element.text.strip():
            return f"{name_of(element)} is empty"
        return (yield from ui.type_into(element, "", overwrite=True)) or f"{name_of(element)} was emptied"


def read(what: Target) -> Command | None:
    """Read the field; boxes are switched off instead."""
    return None if what.is_a("checkbox", "switch", "radio") and not what.is_a("field") else Clear(what)

"""Give an element the keyboard without changing it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target
from agent_s.offline.ui import UI


@dataclass(frozen=True, slots=True)
class Focus(Command):
    """Give an element the keyboard."""

    target: Target

    def run(self, ui: UI) -> Execution:
        """Click it, unless it has the keyboard."""
        found = yield from ui.seek(self.target, lambda screen: rank(self.target, screen, prefer=EDITABLE))
        if "focused" in found[0].element.states:
            return f"{name_of(found[0].element)} has the keyboard"
        return f"{name_of((yield from ui.click(found)))} was clicked"


read = Focus

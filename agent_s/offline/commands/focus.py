"""Give an element the keyboard without changing it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target


@dataclass(frozen=True, slots=True)
class Focus(Command):
    """Give an element the keyboard."""

    target: Target

    def run(self, desk: Desk) -> Course:
        """Click it, unless it has the keyboard."""
        found = yield from desk.seek(self.target, lambda screen: rank(self.target, screen, prefer=EDITABLE))
        if "focused" in found[0].element.states:
            return f"{name_of(found[0].element)} has the keyboard"
        return f"{name_of((yield from desk.click(found)))} was clicked"


read = Focus

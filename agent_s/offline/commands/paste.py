"""Insert what was copied."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.type import TypeText, place_in
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk, changed
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.targets import Target
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Paste(Command):
    """Insert what was copied."""

    target: Target | None = None

    def run(self, desk: Desk) -> Course:
        """Type what was kept; where nothing was kept, paste the clipboard."""
        if desk.screen.buffer:
            return (yield from TypeText(desk.screen.buffer[-1], self.target).run(desk))
        if self.target is not None:
            target = self.target
            yield from desk.click((yield from desk.seek(target, lambda screen: rank(target, screen, prefer=EDITABLE))))
        before = desk.screen
        yield from desk.press("ctrl", "v", purpose="paste the clipboard")
        return f"the clipboard was pasted; {changed(before, desk.screen)}"


def read(where: Phrase | None = None) -> Command:
    """Read the place."""
    return Paste(place_in(where))

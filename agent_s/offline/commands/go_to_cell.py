"""Select a cell or a range of a sheet."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.cells import name_box, select_cell
from agent_s.offline.commands.choose import Choose
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk
from agent_s.offline.finding.targets import named


@dataclass(frozen=True, slots=True)
class GoToCell(Command):
    """Select a cell or a range of a sheet."""

    address: str

    def run(self, desk: Desk) -> Course:
        """Select it; where there is no sheet, choose what is called like the address."""
        if not desk.screen.has_sheet() and not name_box(desk.screen, desk):
            return (yield from Choose((named(self.address),)).run(desk))
        yield from select_cell(self.address, desk)
        return f"{self.address} is selected"


def read(cell: str) -> Command:
    """Read the address."""
    return GoToCell(cell)

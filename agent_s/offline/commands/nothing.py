"""A part of an instruction that asks for nothing, such as "do not touch anything"."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk


@dataclass(frozen=True, slots=True)
class Nothing(Command):
    """Do nothing."""

    lasting = False

    def run(self, desk: Desk) -> Course:
        """End at once."""
        yield from ()
        return "nothing was to be done"


def read(what: object = None) -> Command:
    """Return the command, whatever is not to be done."""
    return Nothing()

"""A command that is repeated until something holds."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.conditions import Condition
from agent_s.offline.commands.scroll import Scroll
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk

_MAX_TIMES = 15


@dataclass(frozen=True, slots=True)
class Repeat(Command):
    """A command that is repeated until a condition holds."""

    command: Command
    condition: Condition

    def run(self, desk: Desk) -> Course:
        """Look first, then repeat."""
        for _ in range(_MAX_TIMES):
            if evidence := self.condition.holds(desk.screen):
                return evidence
            yield from self.command.run(desk)
        if evidence := self.condition.holds(desk.screen):
            return evidence
        give_up(f"after {_MAX_TIMES} times it was not so that {self.condition.words!r}")


def read(do: Command, condition: Condition) -> Command | None:
    """Read the command and the condition; scrolling looks by itself."""
    return None if isinstance(do, Scroll) else Repeat(do, condition)

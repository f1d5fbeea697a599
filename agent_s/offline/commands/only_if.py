"""A command that is carried out only where something holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.conditions import Condition
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk
from agent_s.offline.finding.targets import Target
from agent_s.offline.words import TABLE
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class OnlyIf(Command):
    """A command that is carried out only where a condition holds."""

    command: Command
    condition: Condition

    def run(self, desk: Desk) -> Course:
        """Carry it out where the condition holds; a dialog gets a moment to appear."""
        words = self.condition.words
        purpose = f"see whether {words}"
        if (yield from desk.wait_until(lambda: self.condition.holds(desk.screen), (0.6, 1.0), purpose)):
            return (yield from self.command.run(desk))
        return f"nothing was to be done, since not {words!r}"


def read(do: Command, condition: Condition | None = None, asked: Phrase | str = "") -> Command | None:
    """Read the condition; "if it exists" is about what the command is about, "if asked" about any dialog."""
    if asked:
        dialog = Target("dialog", kinds=("dialog",))
        return OnlyIf(do, Condition("shown", dialog, words=str(asked)))
    if condition is None:
        return None
    if condition.target.phrase.casefold() in TABLE["pronouns"] and do.about():
        condition = replace(condition, target=do.about()[0])
    return OnlyIf(do, condition)

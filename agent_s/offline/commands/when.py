"""Conditional commands: carried out only if a condition holds, or repeated until it does."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.conditions import Condition
from agent_s.offline.commands.scroll import Scroll
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.targets import Target
from agent_s.offline.ui import UI
from agent_s.offline.words import TABLE

_MAX_TIMES = 15


@dataclass(frozen=True, slots=True)
class OnlyIf(Command):
    """A command that is carried out only if a condition holds."""

    command: Command
    condition: Condition

    def run(self, ui: UI) -> Execution:
        """Carry out the command if the condition holds; a dialog gets a moment to appear."""
        words = self.condition.words
        purpose = f"see whether {words}"
        if (yield from ui.wait_until(lambda: self.condition.holds(ui.screen), (0.6, 1.0), purpose)):
            return (yield from self.command.run(ui))
        return f"nothing was to be done, since not {words!r}"


@dataclass(frozen=True, slots=True)
class Repeat(Command):
    """A command that is repeated until a condition holds."""

    command: Command
    condition: Condition

    def run(self, ui: UI) -> Execution:
        """Check the condition first, then repeat."""
        for left in range(_MAX_TIMES, -1, -1):
            if evidence := self.condition.holds(ui.screen):
                return evidence
            if left:
                yield from self.command.run(ui)
        give_up(f"after {_MAX_TIMES} times it was not so that {self.condition.words!r}")


def read(
    do: Command, condition: Condition | None = None, until: Condition | None = None, asked: str = ""
) -> Command | None:
    """Read the condition; "if it exists" is about what the command is about, "if asked" about any dialog."""
    if until is not None:
        return None if isinstance(do, Scroll) else Repeat(do, until)  # scrolling looks by itself
    if asked:
        return OnlyIf(do, Condition("shown", Target("dialog", kinds=("dialog",)), words=asked))
    if condition is None:
        return None
    if condition.target.phrase.casefold() in TABLE["pronouns"] and do.about():
        condition = replace(condition, target=do.about()[0])
    return OnlyIf(do, condition)

"""Several commands, one after another."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.conditions import Condition
from agent_s.offline.commands.type import TypeText
from agent_s.offline.commands.wait import Await
from agent_s.offline.execution import Execution
from agent_s.offline.ui import UI


@dataclass(frozen=True, slots=True)
class InTurn(Command):
    """Several commands, one after another."""

    commands: tuple[Command, ...]

    def run(self, ui: UI) -> Execution:
        """Carry out each; a question that the next one answers is left to it."""
        evidence, following = [], ui.following
        for number, command in enumerate(self.commands, 1):
            ui.following = self.commands[number].about() if number < len(self.commands) else following
            evidence.append((yield from command.run(ui)))
        return "; ".join(filter(None, evidence))

    def judge(self, seen: Seen) -> Finding:
        """Judge each; all that leave something behind must be proven."""
        findings = [(command, command.judge(seen)) for command in self.commands]
        refuted = next((evidence for _, (verdict, evidence) in findings if verdict is False), None)
        if refuted is not None:
            return False, refuted
        proofs = [evidence for command, (verdict, evidence) in findings if verdict]
        open_ = any(verdict is None and command.lasting for command, (verdict, _) in findings)
        return UNDECIDED if open_ or not proofs else (True, "; ".join(proofs))


NOTHING = InTurn(())


def read(then: Command = NOTHING, first: Command | None = None, when: Condition | None = None) -> Command | None:
    """Read the commands, or a condition to wait for first; "after typing the name" gives no text to type."""
    if isinstance(first, TypeText):
        return None
    before = Await(when) if when is not None else first
    return then if before is None else InTurn((before, then))

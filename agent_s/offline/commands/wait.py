"""Wait for some seconds, or until something holds."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import Wait as Pause
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.conditions import Condition, shown
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk
from agent_s.offline.words import meanings
from intents.text import Phrase

_PAUSES = (0.5, 0.5, 0.8, 0.8, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 2.5, 2.5, 3.0)
_SECONDS = meanings("seconds")


@dataclass(frozen=True, slots=True)
class Wait(Command):
    """Wait until a condition holds; for some seconds where there is none."""

    condition: Condition | None = None
    seconds: float = 0.0

    def run(self, desk: Desk) -> Course:
        """Wait."""
        condition = self.condition
        if condition is None:
            yield from desk.do(Pause(time=self.seconds), f"wait for {self.seconds:g} s")
            return f"{self.seconds:g} s were waited"
        purpose = f"wait until {condition.words}"
        evidence = yield from desk.wait_until(lambda: condition.holds(desk.screen), _PAUSES, purpose)
        if not evidence:
            waited = f"waited {sum(_PAUSES):g} s, but not until {condition.words!r}"
            give_up(f"{waited}: {condition.why_not(desk)}")
        return evidence

    def judge(self, seen: Seen) -> Finding:
        """Look again at the screen that was left."""
        evidence = self.condition.holds(seen.after) if self.condition is not None else ""
        return (True, evidence) if evidence else UNDECIDED


def read(
    condition: Condition | None = None, what: Phrase | None = None, count: float = 1.0, unit: Phrase | str = "s"
) -> Command | None:
    """Read the condition, what is to appear, or the time."""
    if condition is None and what is not None:
        condition = shown(what)
    if condition is not None:
        return Wait(condition)
    length = _SECONDS.get(unit.casefold())
    return Wait(None, min(60.0, float(count) * float(length))) if length is not None else None

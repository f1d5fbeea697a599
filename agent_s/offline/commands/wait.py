"""Wait for some seconds, or look whether a condition holds, now or later."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import Wait
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.conditions import Condition, shown
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import ACTIONABLE, LABELS
from agent_s.offline.finding.screen import name_of
from agent_s.offline.ui import UI
from agent_s.offline.words import meanings
from intents.text import Phrase

_PAUSES = {
    "short": (0.5, 1.0),
    "long": (0.5, 0.5, 0.8, 0.8, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 2.5, 2.5, 3.0),
}
_SECONDS = meanings("seconds")


@dataclass(frozen=True, slots=True)
class Pause(Command):
    """Wait for some seconds."""

    seconds: float

    def run(self, ui: UI) -> Execution:
        """Wait."""
        yield from ui.do(Wait(time=self.seconds), f"wait for {self.seconds:g} s")
        return f"{self.seconds:g} s were waited"


@dataclass(frozen=True, slots=True)
class Await(Command):
    """Wait until a condition holds; with short patience, also scroll to see whether it does."""

    condition: Condition
    patience: str = "long"

    def run(self, ui: UI) -> Execution:
        """Check the condition after each of the pauses."""
        condition, pauses = self.condition, _PAUSES[self.patience]
        purpose = f"see whether {condition.words}"
        evidence = yield from ui.wait_until(lambda: condition.holds(ui.screen), pauses, purpose)
        if not evidence and condition.kind == "shown" and self.patience == "short":
            target = condition.target
            found = yield from ui.scroll_for(target, lambda screen: rank(target, screen, prefer=ACTIONABLE | LABELS))
            evidence = f"{name_of(found[0].element)} is on the screen" if found else ""
        if not evidence:
            give_up(f"{condition.words!r} does not hold after {sum(pauses):g} s: {condition.why_not(ui)}")
        return evidence

    def judge(self, seen: Seen) -> Finding:
        """Check the condition again on the screen after it."""
        evidence = self.condition.holds(seen.after)
        return (True, evidence) if evidence else UNDECIDED


def read(
    condition: Condition | None = None,
    what: Phrase | None = None,
    patience: str = "long",
    count: float = 1.0,
    unit: str = "s",
) -> Command | None:
    """Read a condition, an element to wait for, or a time."""
    if condition is not None or what is not None:
        return Await(condition or shown(what or Phrase("")), patience)
    length = _SECONDS.get(unit.casefold())
    return Pause(min(60.0, float(count) * float(length))) if length is not None else None

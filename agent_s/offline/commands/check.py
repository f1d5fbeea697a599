"""Look whether something holds, and change nothing."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.conditions import Condition, shown
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import ACTIONABLE, LABELS
from agent_s.offline.finding.screen import name_of
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Check(Command):
    """Look whether a condition holds."""

    condition: Condition

    def run(self, desk: Desk) -> Course:
        """Look, a moment later once more, and further down; only the view may change."""
        condition = self.condition
        purpose = f"see whether {condition.words}"
        evidence = yield from desk.wait_until(lambda: condition.holds(desk.screen), (0.5, 1.0), purpose)
        if not evidence and condition.kind == "shown":
            target = condition.target
            found = yield from desk.scroll_for(target, lambda screen: rank(target, screen, prefer=ACTIONABLE | LABELS))
            evidence = f"{name_of(found[0].element)} is on the screen" if found else ""
        if not evidence:
            give_up(f"{condition.words!r} does not hold: {condition.why_not(desk)}")
        return evidence

    def judge(self, seen: Seen) -> Finding:
        """Look again at the screen that was left."""
        evidence = self.condition.holds(seen.after)
        return (True, evidence) if evidence else UNDECIDED


def read(condition: Condition | None = None, what: Phrase | None = None) -> Command | None:
    """Read the condition, or what is to be on the screen."""
    if condition is None:
        return Check(shown(what)) if what is not None else None
    return Check(condition)

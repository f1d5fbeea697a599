"""The decision whether to allow an action, to ask the user first, or to refuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from aci.acting.actions import LOOKS, Action, CallUser, Done, Fail, SaveToBuffer, Wait
from aci.observation.observation import Observation
from aci.safety.risks import Danger, Risk, find_dangers

__all__ = ["OWN_SCREEN", "VIRTUAL", "Danger", "Decision", "Policy", "Risk", "Rule", "find_dangers"]

Rule = Literal["allow", "confirm", "refuse"]

# defaults for the user's own screen
OWN_SCREEN: Mapping[Risk, Rule] = {
    "terminal": "confirm",
    "irreversible": "confirm",
    "unsaved": "confirm",
    "password": "confirm",
    "secret": "confirm",
    "launch": "allow",
    "outside": "refuse",
    "provider": "confirm",
}

# defaults for a virtual desktop, where nothing of the user's can be lost
VIRTUAL: Mapping[Risk, Rule] = {**dict.fromkeys(OWN_SCREEN, "allow"), "outside": "refuse", "provider": "confirm"}

HARMLESS = (Wait, Done, Fail, CallUser, SaveToBuffer, *LOOKS)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about an action; `reason` is empty for one that is allowed."""

    rule: Rule
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides about actions."""

    rules: Mapping[Risk, Rule] = field(default_factory=lambda: OWN_SCREEN)  # what to do about each risk
    # names of the applications that may be used, as windows show them; empty for all
    allowed_apps: frozenset[str] = frozenset()
    confirm_all: bool = False  # whether the person is asked before every action that touches anything, risky or not

    def decide(self, action: Action, observation: Observation, checks: Sequence[str] = ()) -> Decision:
        """Return the strictest rule among those for the action's risks.

        Args:
            action: The action.
            observation: The screen that it was chosen on.
            checks: What the model's provider wants a person to confirm.
        """
        dangers = (
            *find_dangers(action, observation, self.allowed_apps),
            *(Danger("provider", f"the model's provider asks for a look at it: {check}") for check in checks),
        )
        for rule in ("refuse", "confirm"):
            reasons = [danger.reason for danger in dangers if self.rules.get(danger.risk, "confirm") == rule]
            if reasons:
                return Decision(rule, "; ".join(reasons))
        if self.confirm_all and not isinstance(action, HARMLESS):
            return Decision("confirm", "every action is to be confirmed")
        return Decision("allow")

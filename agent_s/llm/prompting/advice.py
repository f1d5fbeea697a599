"""Advice about kinds of applications, from `advice.yaml`, which is included if it applies to the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from aci.observation.observation import Observation
from aci.safety import risk_words
from intents.tables import read_table


@dataclass(frozen=True, slots=True)
class Advice:
    """One entry of the file."""

    topic: str
    says: str
    roles: Sequence[str] = ()  # AT-SPI roles of an element or of what contains one
    applications: risk_words.Kind | Literal[""] = ""  # name of a list of applications in aci/safety/risk_words.yaml
    title: str = ""  # pattern of a dialog's title, case-insensitive

    def bears_on(self, seen: Observation, roles: frozenset[str]) -> bool:
        """Return whether the advice applies to a screen.

        Args:
            seen: The screen.
            roles: The roles on it, including those of containers.
        """
        front = seen.active_window
        return (
            not roles.isdisjoint(self.roles)
            or (front is not None and self._lists(front.app))
            or (bool(self.title) and any(one.modal and self._matches(one.title) for one in seen.windows))
        )

    def _lists(self, app: str) -> bool:
        return bool(self.applications) and risk_words.pattern(self.applications).search(app) is not None

    def _matches(self, title: str) -> bool:
        return re.search(self.title, title.strip(), re.IGNORECASE) is not None


def advice_for(seen: Observation) -> tuple[Advice, ...]:
    """Return the advice that applies to a screen."""
    own = {element.role for element in seen.elements}
    roles = own | {part.partition(":")[0] for element in seen.elements for part in element.path}
    return tuple(advice for advice in load_advice() if advice.bears_on(seen, frozenset(roles)))


@cache
def load_advice() -> tuple[Advice, ...]:
    """Read the packaged file."""
    return tuple(Advice(**entry) for entry in read_table("agent_s.llm.prompting", "advice.yaml", typed=True))

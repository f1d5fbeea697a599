"""The protocol between an agent and a desktop, and the result of an action."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel, ConfigDict

from aci.acting.actions import Action
from aci.observation.observation import Observation


class ActionResult(BaseModel):
    """What came of one primitive.

    Attributes:
        ok: Whether it was carried out; says nothing about whether it had the effect that was hoped for.
        error: Why it was not carried out, for the Worker to read; None when `ok`.
        settled_after_s: Seconds from the input until the screen was quiet.
        note: How it was done where that matters, such as "typed by paste, read back exactly" or the user's answer.
    """

    model_config = ConfigDict(frozen=True)

    ok: bool
    error: str | None = None
    settled_after_s: float = 0.0
    note: str = ""


class Desktop(Protocol):
    """Anything with a screen to look at and an input to act with."""

    def observe(self) -> Observation:
        """Look at the screen.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """
        ...

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """
        ...

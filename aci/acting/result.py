"""The result of an action."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ActionResult(BaseModel):
    """The result of one primitive.

    Attributes:
        ok: Whether it was carried out; says nothing about whether it had the intended effect.
        error: Why it was not carried out, for the Worker to read; None when `ok`.
        settled_after_s: Seconds from the input until the screen was quiet.
        note: How it was done where that matters, such as "typed by paste, read back exactly" or the user's answer.
    """

    model_config = ConfigDict(frozen=True)

    ok: bool
    error: str | None = None
    settled_after_s: float = 0.0
    note: str = ""

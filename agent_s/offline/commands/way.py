"""A goal with the way to it: the way is what is done."""

from __future__ import annotations

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.click import Click
from agent_s.offline.commands.press import Press
from intents.text import Phrase


def read(
    goal: Phrase, by: Command | None = None, before: Command | None = None, clicks: bool = False
) -> Command | None:
    """Return the way, behind "by" or before "to"; a purpose follows keys, or a click where it reads as a command."""
    if before is not None:
        return before if isinstance(before, Press | (Click if clicks else Press)) else None
    return by

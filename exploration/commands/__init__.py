"""Commands of `agent-s` that explore, registered as entry points (`agent_s.commands` in pyproject.toml)."""

from __future__ import annotations

from agent_s.terminal.lazy import Entry

EXPLORE = Entry("exploration.commands.explore", "explore", "Explore applications and learn what they can do.")

"""Errors of the exploration.

```
ExplorationError
├── ApplicationUnusable  an application cannot be started, or shows nothing that can be explored
└── LedgerError          the record of an exploration cannot be read or written, or is that of another one
```

That an action did not work is a value, and never an exception.
"""

from __future__ import annotations

from agent_s.errors import AgentError


class ExplorationError(AgentError):
    """Base of every error that this package raises."""

    exit_status = 1


class ApplicationUnusable(ExplorationError):
    """An application cannot be explored; the message says why and names the mend."""


class LedgerError(ExplorationError):
    """The record of an exploration cannot be read or written; the message names the file and the mend."""

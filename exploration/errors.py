"""Errors of the exploration.

```
ExplorationError
├── ApplicationUnusable  an application cannot be started, or shows nothing to explore
└── LedgerError          the record of a search cannot be read or written, or belongs to another search
```

An action that fails is a value, never an exception.
"""

from __future__ import annotations

from agent_s.errors import AgentError


class ExplorationError(AgentError):
    """Base of all errors of this package."""

    exit_status = 1


class ApplicationUnusable(ExplorationError):
    """An application cannot be explored; the message says why and suggests a fix."""


class LedgerError(ExplorationError):
    """The record of a search cannot be read or written; the message names the file and suggests a fix."""

"""Errors of the agent.

```
AgentError
├── SettingsError          a setting is unknown, has the wrong type or contradicts another
├── ModelError             a model gave no usable answer
│   ├── ModelUnavailable   it cannot be reached, or refuses the key
│   ├── ModelRefused       it declines, or a filter of its provider stopped it
│   ├── ResponseCutOff     its answer, or what it was sent, is longer than allowed
│   └── MalformedResponse  its answer breaks the response type, even after a retry
│       └── EmptyResponse  its answer is empty, even after a retry
├── PlanError              a plan is empty, has a cycle, or names an unknown dependency
│   └── PlanTried          the same plan has already failed
├── SearchError            the configured search engine did not answer
├── LimitReached           a budget of the run is used up
└── TrajectoryError        a run's files are missing, damaged, or of a newer version
```

How a task ends (done, failed, infeasible, ...) is a value, `agent_s.records.Outcome`, and never an exception. `Stopped`
is not an error, and so stands outside the tree.
"""

from __future__ import annotations

import shlex
import sys
from typing import ClassVar


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package into the running environment, including one of pipx."""
    return f"{shlex.quote(sys.executable)} -m pip install 'agent-s[{extra}]'"


class Stopped(BaseException):
    """A person asked the run to stop; becomes the outcome `stopped`."""


class AgentError(Exception):
    """Base of every error that this package, and the jobs that run agents, raise."""

    exit_status: ClassVar[int] = 3  # exit status of a command that ends with this error (see `agent_s.terminal.exits`)


class SettingsError(AgentError):
    """A setting is unknown, has the wrong type or contradicts another; the message suggests a fix."""

    exit_status = 2


class ModelError(AgentError):
    """A model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or refuses the key."""


class MalformedResponse(ModelError):
    """The model's answer breaks the response type, even after a retry."""


class ModelRefused(ModelError):
    """The model declines, or a filter of its provider stopped it; the message says which."""


class ResponseCutOff(ModelError):
    """The answer or the conversation is longer than allowed; the message names the setting."""


class EmptyResponse(MalformedResponse):
    """The model's answer is empty, even after a retry."""


class PlanError(AgentError):
    """A plan is empty, has a cycle, or names an unknown dependency."""


class PlanTried(PlanError):
    """The same plan was carried out before and failed."""


class SearchError(AgentError):
    """The configured search engine did not answer."""


class LimitReached(AgentError):
    """A budget of the run is used up; the message names it and its setting."""


class TrajectoryError(AgentError):
    """A run's files are missing, damaged, or of a newer version."""

    exit_status = 1

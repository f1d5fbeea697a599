"""Errors of the agent.

```
AgentError
├── SettingsError          a setting is unknown, has the wrong type or contradicts another
├── ModelError             a model gave no usable answer
│   ├── ModelUnavailable   it cannot be reached, or refuses the key
│   ├── ModelRefused       it declines, or a filter of its provider stopped it
│   ├── ResponseCutOff     its answer, or what it was sent, is longer than allowed
│   └── MalformedResponse  its answer breaks the response type, also after it was told why
│       └── EmptyResponse  it answers with nothing
├── PlanError              a plan is empty, has a cycle, or names a dependency that is not there
│   └── PlanTried          it was carried out before, and failed
├── SearchError            a search engine that was configured did not answer
├── LimitReached           a budget of the run is used up
└── TrajectoryError        a run's files are missing, damaged, or of a newer version
```

How a task ends (done, failed, infeasible, ...) is a value, `agent_s.records.Outcome`, and never an exception.
"""

from __future__ import annotations

from typing import ClassVar


class AgentError(Exception):
    """Base of every error that this package, and the jobs that run agents, raise.

    Attributes:
        exit_status: Exit status of a command that ends with this error (see `agent_s.terminal.exits`).
    """

    exit_status: ClassVar[int] = 3


class SettingsError(AgentError):
    """A setting is unknown, has the wrong type or contradicts another; the message suggests a fix."""

    exit_status = 2


class ModelError(AgentError):
    """A model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or refuses the key."""


class MalformedResponse(ModelError):
    """The model's answer breaks the response type, also after it was told why."""


class ModelRefused(ModelError):
    """The model declines, or a filter of its provider stopped it; the message says which."""


class ResponseCutOff(ModelError):
    """The answer, or what the model was sent, is longer than allowed; the message names the setting."""


class EmptyResponse(MalformedResponse):
    """The model answers with nothing, also after it was told so."""


class PlanError(AgentError):
    """A plan is empty, has a cycle, or names a dependency that is not there."""


class PlanTried(PlanError):
    """A plan is one that was carried out before, and failed."""


class SearchError(AgentError):
    """A search engine that was configured did not answer."""


class LimitReached(AgentError):
    """A budget of the run is used up; the message names it and its setting."""


class TrajectoryError(AgentError):
    """A run's files are missing, damaged, or of a newer version."""

    exit_status = 1

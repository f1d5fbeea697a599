"""Errors of the agent.

```
AgentError
├── SettingsError          a setting is unknown, has the wrong type or contradicts another
├── ModelError             a model gave no usable answer
│   ├── ModelUnavailable   it cannot be reached, or refuses the key
│   └── MalformedResponse  its answer breaks the response type, also after it was told why
├── PlanError              a plan is empty, has a cycle, or names a dependency that is not there
├── SearchError            a search engine that was configured did not answer
├── LimitReached           a budget of the run is used up
└── TrajectoryError        a run's files are missing, damaged, or of a newer version
```

How a task ends (done, failed, infeasible, ...) is a value, `agent_s.records.Outcome`, and never an exception.
"""

from __future__ import annotations


class AgentError(Exception):
    """Base of every error that this package raises."""


class SettingsError(AgentError):
    """A setting is unknown, has the wrong type or contradicts another; the message names the mend."""


class ModelError(AgentError):
    """A model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or refuses the key."""


class MalformedResponse(ModelError):
    """The model's answer breaks the response type, also after it was told why."""


class PlanError(AgentError):
    """A plan is empty, has a cycle, or names a dependency that is not there."""


class SearchError(AgentError):
    """A search engine that was configured did not answer."""


class LimitReached(AgentError):
    """A budget of the run is used up; the message names it and its setting."""


class TrajectoryError(AgentError):
    """A run's files are missing, damaged, or of a newer version."""

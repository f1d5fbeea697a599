"""Errors of the evaluation.

```
EvaluationError
├── TaskFileError        a task file cannot be read, or says something that is not understood
├── PreparationFailed    the state that a task starts from could not be made
└── CheckFailed          the state of the applications could not be read, so nothing can be said of the task
```

That a task was not done is a value, `agent_s.records.Verdict`, and never an exception.
"""

from __future__ import annotations


class EvaluationError(Exception):
    """Base of every error that this package raises."""


class TaskFileError(EvaluationError):
    """A task file cannot be read or understood; the message names the file, the key and the near name."""


class PreparationFailed(EvaluationError):
    """The state that a task starts from could not be made; the message names the step."""


class CheckFailed(EvaluationError):
    """The state of the applications could not be read; the message says what and why."""

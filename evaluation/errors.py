"""Errors of the evaluation.

```
EvaluationError
├── TaskFileError        a task file cannot be read, or says something that is not understood
├── PreparationFailed    the state that a task starts from could not be made
├── CheckFailed          the state of the applications could not be read, so nothing can be said of the task
├── PagesMissing         the pages of MiniWoB++ are not installed, or there is none of that name
├── BrowserLost          the browser of an episode does not answer any more
├── WorkerLost           a worker process ended or fell silent while it worked
└── ResultsError         the file of results cannot be read or written, or is that of another evaluation
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


class PagesMissing(EvaluationError):
    """The pages of MiniWoB++ are not installed, or there is none of that name; the message names the mend."""


class BrowserLost(EvaluationError):
    """The browser of an episode does not answer any more, or has lost its page."""


class WorkerLost(EvaluationError):
    """A worker process ended or fell silent while it worked; the message has its last words."""


class ResultsError(EvaluationError):
    """The file of results cannot be read or written, or is that of another evaluation; the message names the mend."""

"""Exceptions of the evaluation package.

```
EvaluationError
├── TaskFileError        a task file cannot be read or understood
├── PreparationFailed    the initial state of a task cannot be set up
├── NotAllowed           a task file runs commands without permission
├── Unavailable          a task needs something that this machine lacks, such as an account
├── CheckFailed          the state of the applications cannot be read, so the task cannot be judged
├── PagesMissing         the pages of MiniWoB++ are not installed, or a page does not exist
├── BrowserLost          the browser of an episode no longer answers
├── ClusterError         the desktops of a Ray cluster cannot be used
├── WorkerLost           a worker process ended or stopped answering
└── ResultsError         the results file cannot be read or written, or belongs to another evaluation
```

A failed task is a value, `agent_s.records.Verdict`, never an exception.
"""

from __future__ import annotations

from agent_s.errors import AgentError


class EvaluationError(AgentError):
    """Base class of all exceptions of this package."""

    exit_status = 1


class TaskFileError(EvaluationError):
    """A task file cannot be read or understood; the message names the file, the key and the nearest valid name."""

    exit_status = 2


class PreparationFailed(EvaluationError):
    """The initial state of a task cannot be set up; the message names the step."""


class NotAllowed(EvaluationError):
    """A task file runs commands without permission; the message says how to grant it."""


class Unavailable(EvaluationError):
    """A task needs something that this machine lacks, such as an account; the message names it."""


class CheckFailed(EvaluationError):
    """The state of the applications cannot be read; the message says what and why."""


class PagesMissing(EvaluationError):
    """The pages of MiniWoB++ are not installed, or a page does not exist; the message suggests a fix."""

    exit_status = 3


class BrowserLost(EvaluationError):
    """The browser of an episode no longer answers, or has lost its page."""


class ClusterError(EvaluationError):
    """The desktops of a Ray cluster cannot be used; the message suggests a fix."""

    exit_status = 3


class WorkerLost(EvaluationError):
    """A worker process ended or stopped answering; the message contains the end of its error output."""


class ResultsError(EvaluationError):
    """The results file cannot be read or written, or belongs to another evaluation; the message suggests a fix."""

"""Exit statuses, and the errors that lead to them.

0 what was asked is done · 1 it is not done · 2 it was asked in the wrong way · 3 the machine lacks what it takes ·
130 it was stopped with Ctrl-C (143: by SIGTERM, 129: by SIGHUP)
"""

from __future__ import annotations

import signal

import click

DONE = 0
NOT_DONE = 1
USAGE = 2
ENVIRONMENT = 3


def stopped_by(number: int) -> int:
    """Return the exit status of a program that a signal stopped, as shells count it."""
    return 128 + number


INTERRUPTED = stopped_by(signal.SIGINT)


class EnvironmentProblem(click.ClickException):
    """The machine lacks something; the message names the mend."""

    exit_code = ENVIRONMENT


class NotDone(click.ClickException):
    """What was asked could not be done."""

    exit_code = NOT_DONE


def as_click_error(error: Exception) -> click.ClickException | None:
    """Return how an error of the packages below is told to a person; None where it is a bug."""
    from aci.errors import AciError
    from agent_s.errors import AgentError, SettingsError, TrajectoryError
    from evaluation.errors import EvaluationError, PagesMissing, TaskFileError
    from exploration.errors import ExplorationError
    from memory_store.errors import InvalidExperience, MemoryStoreError, TransferError, UnknownExperience

    message = str(error)
    match error:
        case SettingsError() | TaskFileError():
            return click.UsageError(message)
        case TrajectoryError() | UnknownExperience() | TransferError() | InvalidExperience():
            return NotDone(message)
        case PagesMissing() | AgentError() | AciError() | MemoryStoreError():
            return EnvironmentProblem(message)
        case EvaluationError() | ExplorationError():
            return NotDone(message)
    return None

"""Exit statuses, and the errors that produce them.

0 done · 1 not done · 2 wrong usage · 3 a requirement is missing or does not work ·
130 stopped with Ctrl-C (143: by SIGTERM, 129: by SIGHUP)
"""

from __future__ import annotations

import signal

import click

DONE = 0
NOT_DONE = 1
USAGE = 2
ENVIRONMENT = 3


def stopped_by(number: int) -> int:
    """Return the exit status of a program that was stopped by a signal, by the convention of shells."""
    return 128 + number


def is_signal(status: int) -> bool:
    """Return whether an exit status means that a signal stopped the program."""
    return status > stopped_by(0)


INTERRUPTED = stopped_by(signal.SIGINT)


class EnvironmentProblem(click.ClickException):
    """A requirement is missing or does not work; the message suggests a fix."""

    exit_code = ENVIRONMENT


class NotDone(click.ClickException):
    """The command could not do what was requested."""

    exit_code = NOT_DONE


_BY_STATUS: dict[int, type[click.ClickException]] = {
    USAGE: click.UsageError,
    NOT_DONE: NotDone,
    ENVIRONMENT: EnvironmentProblem,
}


def as_click_error(error: Exception) -> click.ClickException | None:
    """Convert an expected error of the lower packages to one that click shows; return None for a bug."""
    from aci.errors import AciError
    from agent_s.errors import AgentError
    from agent_s.terminal.output import sentence
    from memory_store.errors import InvalidExperience, MemoryStoreError, TransferError, UnknownExperience

    match error:
        case click.ClickException():
            return error
        case AgentError():
            return _BY_STATUS[error.exit_status](sentence(str(error)))
        case UnknownExperience() | TransferError() | InvalidExperience():
            return NotDone(sentence(str(error)))
        case AciError() | MemoryStoreError():
            return EnvironmentProblem(sentence(str(error)))
    return None

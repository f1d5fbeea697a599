"""Retries after transient errors: rate limits, overload, lost connections.

The SDKs' own retries are disabled: one of them sleeps for as long as a server requests, even for a month; both compare
a server's time with this machine's clock; and neither reports how often it tried.
"""

from __future__ import annotations

import email.utils
import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from agent_s.background import POLL_S, Abandoned, Pending
from agent_s.errors import ModelUnavailable

FIRST_WAIT_S = 0.5
MAX_BACKOFF_S = 20.0
MAX_WAIT_S = 60.0  # if a server asks for a longer wait, the request fails
STOPPED = "Stopped while waiting for the provider."

logger = logging.getLogger(__name__)

T = TypeVar("T")


class TransientError(ModelUnavailable):
    """An error that a retry may fix.

    Args:
        message: What went wrong.
        retry_after_s: The wait that the server asks for, or None.
        max_tries: Maximum number of tries for this error, or None for the general maximum.
    """

    def __init__(self, message: str, retry_after_s: float | None = None, max_tries: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.max_tries = max_tries


@dataclass(frozen=True, slots=True)
class Retrying:
    """Retries with exponential backoff, or after the wait that the server asks for."""

    retries: int = 4  # maximum number of retries
    sleep: Callable[[float], None] | None = None  # waits, s; None for a wait that ends early if the run is stopped
    # returns a number in [0, 1), so that several agents do not retry at the same moment
    jitter: Callable[[], float] = random.random

    def __call__(
        self,
        attempt: Callable[[], T],
        cancel: Callable[[], None] = lambda: None,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> T:
        """Return the result of the first successful attempt.

        Args:
            attempt: Makes one attempt; called in a thread of its own, so that it can be abandoned.
            cancel: Cancels an abandoned attempt.
            asked_to_stop: Returns whether the run has been stopped.

        Raises:
            ModelUnavailable: Every attempt failed, the server asks for too long a wait, or the run was stopped.
        """
        tries = 0
        while True:
            try:
                return Pending(attempt, "model-call").result(abandon=asked_to_stop)
            except TransientError as error:
                tries += 1
                wait_s = self._wait_s(error, tries)
                if wait_s > MAX_WAIT_S:
                    raise ModelUnavailable(f"{error} It asks to retry in {_duration(wait_s)}.") from error
                if tries > self.retries or (error.max_tries is not None and tries >= error.max_tries):
                    raise ModelUnavailable(f"{error} Tried {tries} times." if tries > 1 else str(error)) from error
                logger.info("%s Trying again in %.1f s.", error, wait_s)
                _sleep(wait_s, asked_to_stop) if self.sleep is None else self.sleep(wait_s)
            except Abandoned:
                cancel()
                raise ModelUnavailable(STOPPED) from None
            except KeyboardInterrupt:
                cancel()
                raise

    def _wait_s(self, error: TransientError, tries: int) -> float:
        if error.retry_after_s is not None:
            return error.retry_after_s
        backoff_s: float = min(FIRST_WAIT_S * 2 ** (tries - 1), MAX_BACKOFF_S)
        return backoff_s * (1 - 0.25 * self.jitter())


def _sleep(seconds: float, asked_to_stop: Callable[[], bool]) -> None:
    """Sleep in short intervals and poll, since a signal handler that requests the stop must not take a lock."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0:
        if asked_to_stop():
            raise ModelUnavailable(STOPPED)
        time.sleep(min(left_s, POLL_S))


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait that a server asks for, s, or None (RFC 9110, section 10.2.3).

    A date is compared with the server's own clock if the response has one, since this machine's clock may be wrong.

    Args:
        headers: Headers of the response; names in lower case or case-insensitive.
        now: This machine's time, UTC, for answers without a date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    moment = _time(value)
    if moment is None:
        return None
    reference = _time(headers.get("date")) or now or datetime.now(UTC)
    return max(0.0, (moment - reference).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _time(text: str | None) -> datetime | None:
    try:
        moment = email.utils.parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"

"""Trying again what may work the next time: rate limits, overload, lost connections.

The SDKs' own retries are switched off: one of them sleeps for as long as a server says, be it a month, both take a
server's time of day for this machine's, and neither can be told from outside how often it tried.
"""

from __future__ import annotations

import email.utils
import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from agent_s.background import LOOKS_UP_S, Abandoned, Pending
from agent_s.errors import ModelUnavailable

FIRST_WAIT_S = 0.5
LONGEST_BACKOFF_S = 20.0
LONGEST_WAIT_S = 60.0
"""A server that asks for more is not waited for."""
STOPPED = "Stopped while waiting for the provider."

log = logging.getLogger(__name__)

T = TypeVar("T")


class PassingFault(ModelUnavailable):
    """A fault that may be gone the next time.

    Args:
        message: What went wrong.
        retry_after_s: How long the server asks to wait, or None where it does not say.
        most_tries: Tries that make sense for this fault, or None for as many as are allowed.
    """

    def __init__(self, message: str, retry_after_s: float | None = None, most_tries: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.most_tries = most_tries


class Retrying:
    """Tries again, waiting longer each time or as long as the server asks.

    Args:
        retries: How often after the first try.
        sleep: Waits some seconds; None for a wait that ends early when the run is to stop.
        jitter: A number in [0, 1), so that many agents do not come back at the same moment.

    Attributes:
        asked_to_stop: Tells whether waiting is of no use any more.
    """

    def __init__(
        self,
        retries: int = 4,
        sleep: Callable[[float], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._retries = retries
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self._sleep = sleep or self._wait
        self._jitter = jitter

    def __call__(self, attempt: Callable[[], T], cut: Callable[[], None] = lambda: None) -> T:
        """Return what the first try returns that meets no passing fault.

        Args:
            attempt: Tries; in a thread of its own, so that it can be left alone when the run is to stop.
            cut: Ends a try that nobody waits for any more.

        Raises:
            ModelUnavailable: Every try met one, the server asks for too long a wait, or the run is to stop.
        """
        tries = 0
        while True:
            try:
                return self._once(attempt, cut)
            except PassingFault as fault:
                tries += 1
                wait_s = self._wait_s(fault, tries)
                if wait_s > LONGEST_WAIT_S:
                    raise ModelUnavailable(f"{fault} It asks to come back in {_spell(wait_s)}.") from fault
                if tries > self._retries or (fault.most_tries is not None and tries >= fault.most_tries):
                    raise ModelUnavailable(f"{fault} Tried {tries} times." if tries > 1 else str(fault)) from fault
                log.info("%s Trying again in %.1f s.", fault, wait_s)
                self._sleep(wait_s)

    def _once(self, attempt: Callable[[], T], cut: Callable[[], None]) -> T:
        try:
            return Pending(attempt, "model-call").result(of_no_use=self.asked_to_stop)
        except Abandoned:
            cut()
            raise ModelUnavailable(STOPPED) from None
        except KeyboardInterrupt:
            cut()
            raise

    def _wait(self, seconds: float) -> None:
        """Wait, in short pieces, since a signal handler may ask for the stop and must not touch a lock."""
        until = time.monotonic() + seconds
        while (left_s := until - time.monotonic()) > 0:
            if self.asked_to_stop():
                raise ModelUnavailable(STOPPED)
            time.sleep(min(left_s, LOOKS_UP_S))

    def _wait_s(self, fault: PassingFault, tries: int) -> float:
        if fault.retry_after_s is not None:
            return fault.retry_after_s
        backoff_s: float = min(FIRST_WAIT_S * 2 ** (tries - 1), LONGEST_BACKOFF_S)
        return backoff_s * (1 - 0.25 * self._jitter())


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return how long a server asks to wait, or None where it does not say (RFC 9110, section 10.2.3).

    A time of day is compared with the server's own clock where it tells it, since this machine's may be wrong.

    Args:
        headers: Of the response; names in lower case or case-insensitive.
        now: This machine's time, UTC; only used where the server does not tell its own.
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


def _spell(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"

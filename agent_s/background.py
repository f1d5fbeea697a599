"""Calls that run in a background thread and whose result can be abandoned."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

POLL_S = 0.05

T = TypeVar("T")


class Abandoned(Exception):
    """The caller stopped waiting; the result of the call is dropped."""


class Pending(Generic[T]):
    """A call that runs in a daemon thread."""

    def __init__(self, call: Callable[[], T], name: str = "background") -> None:
        self._call = call
        self._finished = threading.Event()
        self._value: T
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def result(self, limit_s: float | None = None, abandon: Callable[[], bool] = lambda: False) -> T:
        """Wait for the call, and return or raise its result.

        Args:
            limit_s: Longest wait, s; None for no limit.
            abandon: Returns whether to stop waiting. It is polled, so that a signal handler can change its answer
                without taking a lock.

        Raises:
            TimeoutError: The call did not finish within the limit.
            Abandoned: `abandon` returned True.
        """
        deadline = None if limit_s is None else time.monotonic() + limit_s
        while not self._finished.is_set():
            if abandon():
                raise Abandoned
            left_s = POLL_S if deadline is None else min(POLL_S, deadline - time.monotonic())
            if left_s <= 0:
                raise TimeoutError
            self._finished.wait(left_s)
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
            self._error = error
        finally:
            self._finished.set()

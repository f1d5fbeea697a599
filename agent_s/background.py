"""Calls that may take long, in threads of their own, so that whoever waits for them can stop waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

LOOKS_UP_S = 0.05
"""How often a wait looks whether it is still of use."""

T = TypeVar("T")


class Abandoned(Exception):
    """The wait for a call was given up; what it returns or raises later is dropped."""


class Pending(Generic[T]):
    """A call that runs in a thread of its own.

    The thread keeps no program from ending.

    Args:
        call: What runs.
        name: Of the thread.
    """

    def __init__(self, call: Callable[[], T], name: str = "background") -> None:
        self._call = call
        self._over = threading.Event()
        self._value: T
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def result(self, limit_s: float | None = None, of_no_use: Callable[[], bool] = lambda: False) -> T:
        """Wait and return what the call returns, or raise what it raises.

        Args:
            limit_s: Longest wait, s; None for as long as it takes.
            of_no_use: Tells whether waiting is of no use any more; asked again and again, so that a signal handler can
                change its answer without touching a lock.

        Raises:
            TimeoutError: The limit has passed.
            Abandoned: Waiting is of no use any more.
        """
        until = None if limit_s is None else time.monotonic() + limit_s
        while not self._over.is_set():
            if of_no_use():
                raise Abandoned
            left_s = LOOKS_UP_S if until is None else min(LOOKS_UP_S, until - time.monotonic())
            if left_s <= 0:
                raise TimeoutError
            self._over.wait(left_s)
        if self._error is not None:
            raise self._error
        return self._value

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            self._error = error
        finally:
            self._over.set()

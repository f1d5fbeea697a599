"""Stopping at once: a flag that whoever acts looks at before each key, click and wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aci.errors import Halted

STOP_KEY = "ctrl+shift+escape"  # reachable with one hand, and harmless on all desktops


@dataclass(frozen=True, slots=True)
class StopBy:
    """How a person stops everything from the screen itself.

    Attributes:
        key: Keys that are pressed together, such as "ctrl+shift+escape"; None for no stop key.
        corner: Whether pushing the mouse pointer into a corner of the screen stops, too.
    """

    key: str | None = STOP_KEY
    corner: bool = True


class Halt:
    """A call to stop that any thread may make; it holds until it is lifted."""

    def __init__(self) -> None:
        self._called = threading.Event()
        self._reason = ""
        self._lock = threading.Lock()
        self._listeners: list[Callable[[str], None]] = []

    @property
    def reason(self) -> str:
        """Why to stop; empty while nobody called for it."""
        return self._reason if self._called.is_set() else ""

    def call(self, reason: str) -> None:
        """Stop everything at once; later calls change nothing until it is lifted.

        Args:
            reason: What happened, as a clause, such as "the stop key was pressed".
        """
        with self._lock:
            if self._called.is_set():
                return
            self._reason = reason
            self._called.set()
            for listener in self._listeners:
                listener(reason)

    def lift(self) -> None:
        """Allow acting again, at the beginning of a new run."""
        self._called.clear()

    def check(self) -> None:
        """Go on only if nobody called for a stop.

        Raises:
            Halted: Somebody did.
        """
        if self._called.is_set():
            raise Halted(f"Stopped: {self._reason}.")

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond a call to stop.

        Raises:
            Halted: Somebody called for a stop before the time was over.
        """
        self._called.wait(seconds)
        self.check()

    @contextmanager
    def telling(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Have a function called, from another thread, at the moment of a call to stop.

        Args:
            listener: Gets the reason; must return at once.
        """
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)

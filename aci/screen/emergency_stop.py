"""The emergency stop: a flag that is checked before each key, click and wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aci.errors import Halted

STOP_KEY = "ctrl+shift+escape"  # reachable with one hand, and harmless on all desktops


@dataclass(frozen=True, slots=True)
class StopBy:
    """How the user stops everything from the screen itself."""

    key: str | None = STOP_KEY  # keys that are pressed together, such as "ctrl+shift+escape"; None for no stop key
    corner: bool = True  # whether pushing the mouse pointer into a corner of the screen stops, too


class Halt:
    """A stop request that any thread may make; it holds until it is lifted."""

    def __init__(self) -> None:
        self._called = threading.Event()
        self._reason = ""
        self._lock = threading.Lock()
        self._listeners: list[Callable[[str], None]] = []

    @property
    def reason(self) -> str:
        """Why to stop; "" without a request."""
        return self._reason if self._called.is_set() else ""

    def call(self, reason: str) -> None:
        """Stop everything at once; later calls have no effect until it is lifted.

        `reason` is a clause, such as "the stop key was pressed".
        """
        with self._lock:
            if self._called.is_set():
                return
            self._reason = reason
            self._called.set()
            for listener in self._listeners:
                listener(reason)

    def lift(self) -> None:
        """Allow actions again, at the beginning of a new run."""
        self._called.clear()

    def check(self) -> None:
        """Raise `Halted` if a stop was requested."""
        if self._called.is_set():
            raise Halted(f"Stopped: {self._reason}.")

    def pause(self, seconds: float) -> None:
        """Sleep; raise `Halted` at once if a stop is requested."""
        self._called.wait(seconds)
        self.check()

    @contextmanager
    def notifying(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Call a function with the reason of a stop request, from another thread; it must return at once."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)

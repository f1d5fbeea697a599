"""Ctrl-C: the first one ends the run in order, the second one ends the program at once, yet cleans up.

The handler raises KeyboardInterrupt only while the run is working, so that an event which was already made is not
lost; the run turns that into its outcome "stopped". Anywhere else it leaves a note for the run to stop.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Self, TypeVar

from agent_s.cli.exits import stopped_by

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Handles the signals that end a program, within a `with` block; use it around everything that needs cleaning up.

    Args:
        notice: Tells the person what happens now; never called by the handler itself, which may have come in the
            middle of a write to the terminal.

    Attributes:
        caught: The first signal that came, or None.
    """

    def __init__(self, notice: Callable[[str], None]) -> None:
        self.caught: int | None = None
        self._notice = notice
        self._count = 0
        self._told = False
        self._working = False
        self._stop: Callable[[], None] | None = None
        self._previous: dict[int, object] = {}

    def __enter__(self) -> Self:
        """Take over the signals."""
        self._previous = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    @property
    def exit_status(self) -> int | None:
        """The exit status that the caught signal asks for; None where none came."""
        return None if self.caught is None else stopped_by(self.caught)

    def watch(self, items: Iterator[T], stop: Callable[[], None]) -> Iterator[T]:
        """Pass on what a run yields; a first signal makes it end in order.

        Args:
            items: Turns KeyboardInterrupt into its own orderly end.
            stop: Asks the run to end at its next boundary.
        """
        self._stop = stop
        if self.caught is not None:
            stop()
        try:
            while True:
                try:
                    item = self._next(items)
                except StopIteration:
                    return
                self._tell_once()
                yield item
        finally:
            self._stop = None

    def _next(self, items: Iterator[T]) -> T:
        self._working = True
        try:
            return next(items)
        finally:
            self._working = False

    def _tell_once(self) -> None:
        if self.caught is not None and not self._told:
            self._told = True
            self._notice("Stopping ... (once more to end at once)")

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 2:
            os._exit(stopped_by(number))  # stuck while cleaning up; `agent-s doctor` removes what is left
        if self._count == 2:
            raise KeyboardInterrupt
        self.caught = number
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()
        if self._working:
            raise KeyboardInterrupt

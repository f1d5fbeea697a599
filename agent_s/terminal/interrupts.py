"""Ctrl-C: the first one ends the run in order, the second one ends the program at once, yet cleans up.

The run is asked to stop at its next boundary. Where none comes within `PATIENCE_S`, as in a long action or a model
call, KeyboardInterrupt is raised inside of the run, which makes it its outcome "stopped". It is never raised while an
event is shown or recorded, so that none is lost.

Ctrl-Z pauses a run at its next boundary instead of the program, whose keys and model calls would be left hanging.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self, TypeVar

from agent_s.terminal.exits import stopped_by

T = TypeVar("T")

PATIENCE_S = 0.2
"""Seconds for which a run that was asked to stop is left alone."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def noting_ctrl_c() -> Iterator[list[int]]:
    """Let Ctrl-C do what it does, and note that it came, for where the KeyboardInterrupt is lost on its way."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    # Threads may not, and programs that were started in the background have Ctrl-C ignored.
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield came
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
        self._main = threading.get_ident()
        self._count = 0
        self._told = False
        self._pause_untold = False
        self._working = False
        self._nudging = False
        self._nudge: threading.Timer | None = None
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
        self._stop = None
        self._leave_alone()
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal.getsignal` gave

    @property
    def exit_status(self) -> int | None:
        """The exit status that the caught signal asks for; None where none came."""
        return None if self.caught is None else stopped_by(self.caught)

    def watch(
        self, items: Iterator[T], stop: Callable[[], None], pause: Callable[[], None] | None = None
    ) -> Iterator[T]:
        """Pass on what a run yields; a first signal makes it end in order.

        Args:
            items: Turns KeyboardInterrupt into its own orderly end.
            stop: Asks the run to end at its next boundary.
            pause: Asks the run to leave the screen to the person at its next boundary; None leaves Ctrl-Z as it is.
        """
        before = signal.signal(signal.SIGTSTP, lambda number, frame: self._pausing(pause)) if pause else None
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
            if pause is not None:
                signal.signal(signal.SIGTSTP, before)
            self._stop = None
            self._leave_alone()

    def call(self) -> None:
        """Do what Ctrl-C does while a run is on; for other threads, which cannot interrupt the main one otherwise."""
        if self._stop is not None:
            signal.pthread_kill(self._main, signal.SIGINT)

    def _next(self, items: Iterator[T]) -> T:
        self._working = True
        try:
            return next(items)
        finally:
            self._working = False

    def _pausing(self, pause: Callable[[], None]) -> None:
        self._pause_untold = True
        pause()

    def _tell_once(self) -> None:
        if self._pause_untold:
            self._pause_untold = False
            self._notice("Pausing after what is being done now ...")
        if self.caught is not None and not self._told:
            self._told = True
            self._notice("Stopping ... (once more to end at once)")

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._nudging:
            self._nudging = False
            self._break_off()
            return
        self._count += 1
        if self._count > 2:
            os._exit(stopped_by(number))  # stuck while cleaning up; `agent-s doctor` removes what is left
        if self._count == 2:
            raise KeyboardInterrupt
        self.caught = number
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()
        self._nudge_later()

    def _break_off(self) -> None:
        """End what the run is doing; while an event is shown, try again later."""
        if self._working:
            raise KeyboardInterrupt
        if self._stop is not None:
            self._nudge_later()

    def _nudge_later(self) -> None:
        main = threading.get_ident()

        def nudge() -> None:
            # A true signal, since only that wakes the main thread from a system call.
            self._nudging = True
            signal.pthread_kill(main, signal.SIGINT)

        self._nudge = threading.Timer(PATIENCE_S, nudge)
        self._nudge.daemon = True
        self._nudge.start()

    def _leave_alone(self) -> None:
        while (nudge := self._nudge) is not None:  # one that comes just now may start another
            self._nudge = None
            nudge.cancel()
            nudge.join()

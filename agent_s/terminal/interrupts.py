"""Signal handling: the first Ctrl-C stops a run gracefully, the second one exits at once, but still cleans up.

The run is asked to stop at its next step boundary. If it does not reach one within `PATIENCE_S`, as in a long action or
a model call, KeyboardInterrupt is raised inside the run, which turns it into the outcome "stopped". It is never raised
while an event is shown or recorded, so that no event is lost.

Libraries may convert a KeyboardInterrupt to an error of their own, as pydantic does while it builds a model. Therefore
any error after a signal is treated as the interrupt. Python drops one that is raised within a finalizer or callback.
Therefore it is raised again after each `AGAIN_S` in which the run shows no event.

Ctrl-Z pauses the run at its next step boundary. It does not suspend the program, which would leave keys pressed and
model calls hanging.
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

PATIENCE_S = 0.2  # time a run has to stop at a boundary before it is interrupted, s
AGAIN_S = 10.0  # time without an event after which a run that was interrupted is interrupted again, s

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal ended the program, whatever error it surfaced as.

    Attributes:
        exit_status: Exit status of the program.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = stopped_by(number)


_ENDINGS = (Interrupted, SystemExit, GeneratorExit)


@contextmanager
def convert_interrupts() -> Iterator[None]:
    """Convert any error that follows Ctrl-C within the block to `Interrupted`."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        signal.default_int_handler(number, frame)

    # Only the main thread may handle signals, and shells start background programs with Ctrl-C ignored.
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    except BaseException as error:
        if caught and not isinstance(error, (KeyboardInterrupt, *_ENDINGS)):
            raise Interrupted(caught[0]) from error
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Interrupts:
    """Context manager that handles terminating signals around everything that needs cleanup.

    After a signal, an error that leaves the block is raised as `Interrupted`.

    Args:
        notice: Callback that shows the person a message. The signal handler never calls it, since it may run in the
            middle of a write to the terminal.
    """

    def __init__(self, notice: Callable[[str], None]) -> None:
        self.caught: int | None = None  # the first signal, or None
        self._notice = notice
        self._main = threading.get_ident()
        self._count = 0
        self._announced = False
        self._pausing = False
        self._working = False
        self._nudging = False
        self._nudge: threading.Timer | None = None
        self._interrupted = self._moved = False  # whether the run was interrupted, and has shown an event since
        self._stop: Callable[[], None] | None = None
        self._previous: dict[int, object] = {}

    def __enter__(self) -> Self:
        """Install the signal handlers."""
        self._previous = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the previous signal handlers.

        Raises:
            Interrupted: The block ended with an error after a signal.
        """
        self._stop = None
        self._cancel_nudge()
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # a value from `signal.getsignal`
        if self.caught is not None and error is not None and not isinstance(error, _ENDINGS):
            raise Interrupted(self.caught) from error

    @property
    def exit_status(self) -> int | None:
        """Exit status for the signal that was caught; None without one."""
        return None if self.caught is None else stopped_by(self.caught)

    def forget(self) -> None:
        """Reset the caught signal, so that the program continues as before."""
        self.caught, self._count = None, 0

    def watch(
        self, items: Iterator[T], stop: Callable[[], None], pause: Callable[[], None] | None = None
    ) -> Iterator[T]:
        """Yield the items of a run; the first signal makes the run stop gracefully.

        Args:
            items: The items; the iterator must handle KeyboardInterrupt by ending gracefully.
            stop: Callback that asks the run to stop at its next step boundary.
            pause: Callback that asks the run to hand the screen to the person at its next step boundary; None to leave
                Ctrl-Z unhandled.
        """

        def pause_later(_number: int, _frame: FrameType | None) -> None:
            self._pausing = True
            if pause is not None:
                pause()

        before = signal.signal(signal.SIGTSTP, pause_later) if pause else None
        self._stop = stop
        self._interrupted = self._moved = False
        if self.caught is not None:
            stop()
            self._nudge_later(PATIENCE_S)
        try:
            while True:
                self._working = True
                try:
                    item = next(items)
                except StopIteration:
                    return
                finally:
                    self._working = False
                self._moved = True
                if self._pausing:
                    self._pausing = False
                    self._notice("Pausing after the current action ...")
                if self.caught is not None and not self._announced:
                    self._announced = True
                    pressed = self.caught == signal.SIGINT
                    self._notice(f"Stopping ...{' (press Ctrl-C again to stop at once)' if pressed else ''}")
                yield item
        finally:
            if pause is not None:
                signal.signal(signal.SIGTSTP, before)
            self._stop = None
            self._cancel_nudge()

    def call(self) -> None:
        """Act like Ctrl-C during a run; callable from any thread."""
        if self._stop is not None:
            signal.pthread_kill(self._main, signal.SIGINT)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._nudging:
            self._nudging = False
            waits = self._working and not (self._interrupted and self._moved)
            if self._stop is not None:
                self._nudge_later(AGAIN_S if self._interrupted or waits else PATIENCE_S)
            self._interrupted, self._moved = self._interrupted or waits, False
            if waits:
                raise KeyboardInterrupt
            return
        self._count += 1
        if self._count > 2:
            os._exit(stopped_by(number))  # stuck in cleanup; its desktops end by themselves
        if self._count == 2:
            raise KeyboardInterrupt
        self.caught = number
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()
        self._nudge_later(PATIENCE_S)

    def _nudge_later(self, seconds: float) -> None:
        main = threading.get_ident()

        def nudge() -> None:
            # Only a real signal wakes the main thread from a system call.
            self._nudging = True
            signal.pthread_kill(main, signal.SIGINT)

        self._nudge = threading.Timer(seconds, nudge)
        self._nudge.daemon = True
        self._nudge.start()

    def _cancel_nudge(self) -> None:
        while (nudge := self._nudge) is not None:  # a timer that fires now may start another
            self._nudge = None
            nudge.cancel()
            nudge.join()

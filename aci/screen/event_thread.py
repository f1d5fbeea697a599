"""A thread for the events of a connection to an X display."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from aci.errors import ConnectionLost

Result = TypeVar("Result")


def connection_lost(error: Exception) -> ConnectionLost:
    """Return the error to raise for one that a connection to a display ended with."""
    return ConnectionLost(f"The X display went away ({error}). Start it again, or use a virtual desktop (`--virtual`).")


class EventThread:
    """A thread that alone uses a connection to a display, until it is closed or the server is gone.

    Args:
        name: Name of the thread.
        display: The connection, which is closed at the end.
        handle: Takes one event.
        tick: Called when all events are handled; returns after how many seconds it wants to be called again without
            an event, None for never.
    """

    def __init__(
        self, name: str, display: Any, handle: Callable[[Any], None], tick: Callable[[], float | None] = lambda: None
    ) -> None:
        self._display = display
        self._handle = handle
        self._tick = tick
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._queueing = threading.Lock()
        self._lost: Exception | None = None
        self._wake_reading, self._wake_writing = os.pipe()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def do(self, job: Callable[[], Result]) -> Result:
        """Have the thread call a function between two events, and return what it returns.

        Raises:
            ConnectionLost: The display is gone.
        """
        from Xlib.error import ConnectionClosedError

        future: Future[Result] = Future()
        try:
            with self._queueing:
                if self._lost is not None:
                    raise self._lost
                self._jobs.put((job, future))
            self._wake()
            return future.result()
        except (ConnectionClosedError, OSError) as error:
            raise connection_lost(error) from error

    def handle_arrived(self) -> None:
        """Handle the events of everything that the server has done so far; called by jobs."""
        self._display.sync()
        self._handle_pending()

    def close(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self._jobs.put(None)
            self._wake()
            self._thread.join()
        os.close(self._wake_reading)
        os.close(self._wake_writing)

    def _wake(self) -> None:
        os.write(self._wake_writing, b".")

    def _run(self) -> None:
        from Xlib.error import ConnectionClosedError

        try:
            while self._continue():
                pass
            self._display.close()
        except Exception as error:
            with self._queueing:
                self._lost = error
            while not self._jobs.empty():  # nobody may wait for ever
                if (item := self._jobs.get()) is not None:
                    item[1].set_exception(error)
            if not isinstance(error, ConnectionClosedError | OSError):  # which other connections report
                raise

    def _continue(self) -> bool:
        """Handle events, then do a job if there is one; return whether to go on."""
        from Xlib.error import ConnectionClosedError

        self._handle_pending()
        limit_s = self._tick()
        if self._display.pending_events():
            return True
        readable, _, _ = select.select([self._display.fileno(), self._wake_reading], [], [], limit_s)
        if self._wake_reading not in readable:
            return True
        os.read(self._wake_reading, 1)
        if (item := self._jobs.get()) is None:
            return False
        job, future = item
        try:
            future.set_result(job())
        except Exception as error:  # the caller gets it, whatever it is
            future.set_exception(error)
            if isinstance(error, ConnectionClosedError | OSError):
                raise
        return True

    def _handle_pending(self) -> None:
        while self._display.pending_events():
            self._handle(self._display.next_event())

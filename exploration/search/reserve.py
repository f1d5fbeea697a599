"""A private desktop with another one in reserve, so that a fresh start takes no time.

While one desktop is used, the application is started on the other one. A reset swaps the two. Applications that start
quickly are not worth the processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from aci.acting.actions import Action
from aci.acting.settle import Settles
from aci.applications.launching import Process
from aci.desktop.desktop import ActionResult
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.observation import Observation
from exploration.search.navigator import new_desktop
from exploration.search.starting import add_samples

SLOW_S = 2.0  # an application whose window takes longer is started in advance


class ReserveDesktop:
    """A private desktop (`exploration.search.starting.PrivateDesktop`) of which a second one is kept ready.

    ```python
    with ReserveDesktop() as desktop:
        desktop.launch(["localc"])
        desktop.reset()
        desktop.launch(["localc"])  # it runs already
    ```

    Args:
        make: Makes a desktop, which is not started yet.
        clock: Monotonic clock, s.
    """

    def __init__(
        self, make: Callable[[], VirtualDesktop] = new_desktop, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._current, self._other = make(), make()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exploration-reserve")
        self._argv: tuple[str, ...] = ()  # what is started in advance; nothing if it starts quickly
        self._reserve: Future[Process] | None = None  # the program on the other desktop, once it is ready
        self._launched: Process | None = None  # started in advance, and not asked for yet

    def __enter__(self) -> Self:
        self._current.start()
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as stops:
            stops.callback(self._current.stop)
            stops.callback(self._other.stop)
            self._worker.shutdown(cancel_futures=True)

    @property
    def home(self) -> Path:
        """HOME of the applications; another one after each reset."""
        return self._current.home

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment of the applications."""
        return self._current.environment

    def observe(self, *, check: bool = True) -> Observation:
        """See `aci.desktop.desktop.Desktop.observe`."""
        return self._current.observe(check=check)

    def glimpse(self) -> Observation:
        """See `aci.desktop.x11.X11Desktop.glimpse`."""
        return self._current.glimpse()

    def resume(self, earlier: Observation) -> None:
        """See `aci.desktop.x11.X11Desktop.resume`."""
        self._current.resume(earlier)

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """See `aci.desktop.desktop.Desktop.perform`."""
        return self._current.perform(action, settle)

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program, or return the one that was started in advance; see `aci.desktop.x11.X11Desktop.launch`."""
        ready, self._launched = self._launched, None
        if ready is not None and (tuple(argv) != self._argv or cwd is not None or ready.returncode):
            self._current.reset()  # something else runs there, or it has crashed
            ready = None
        if ready is not None:
            return ready
        began = self._clock()
        process = self._current.launch(argv, cwd, wait_for_window, timeout_s)
        if cwd is None and wait_for_window and self._clock() - began >= SLOW_S and tuple(argv) != self._argv:
            self._prepare(tuple(argv))
        return process

    def reset(self) -> None:
        """Restore the initial state: a fresh home, and no applications but the one that is launched next.

        Raises:
            StartFailed: The desktop could not be started again.
        """
        reserve, self._reserve, self._launched = self._reserve, None, None
        try:
            launched = reserve.result() if reserve is not None else None
        except AciError:  # what is wrong shows when it is done again
            launched = None
        if launched is None:
            self._current.reset()
            return
        self._current, self._other = self._other, self._current
        self._launched = launched
        self._prepare(self._argv)

    def _prepare(self, argv: tuple[str, ...]) -> None:
        self._argv = argv
        self._reserve = self._worker.submit(_started, self._other, argv)


def _started(desktop: VirtualDesktop, argv: tuple[str, ...]) -> Process:
    """Start a program on a desktop as it is after a reset."""
    desktop.stop()
    desktop.start()
    add_samples(desktop.home, argv)
    return desktop.launch(argv)

"""Start of applications, and waiting for their windows."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from aci.applications.catalog import Catalog, prepare, program_name, toolkit_environment
from aci.errors import LaunchFailed
from aci.observation.snapshot import Window
from aci.processes import read_stat
from aci.screen.screen import Screen

_POLL_S = 0.02
_AFTER_EXIT_S = 8.0  # a program that exits with 0 may have handed over to a running instance
_FOCUS_LIMIT_S = 0.5
_LAST_WORDS = 600
_GRACE_S = 2.0  # for a program that was asked to end
_ROOT = re.compile(r"\broot\b", re.IGNORECASE)
# signals that end a program after a fault, and are not sent to close it
_CRASHES = frozenset(
    {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP}
)


class Process:
    """A program that was started on a desktop."""

    def __init__(self, argv: Sequence[str], popen: subprocess.Popen[bytes], screen: Screen, output: IO[bytes]) -> None:
        self.argv = tuple(argv)  # its program and arguments, with those added for accessibility
        self.pid = popen.pid  # its process id, which is also that of its session
        self._popen = popen
        self._screen = screen
        self._output = output

    @property
    def running(self) -> bool:
        """Whether the program itself has not ended yet."""
        return self._popen.poll() is None

    @property
    def returncode(self) -> int | None:
        """Exit status; negative for the signal that ended it; None while it runs."""
        return self._popen.poll()

    @property
    def crash(self) -> str | None:
        """Name of the signal of the crash that ended it, such as "SIGSEGV"; None where it did not crash."""
        status = self.returncode
        return signal.Signals(-status).name if status is not None and -status in _CRASHES else None

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows that the program and the processes it started have open, minimized ones too."""
        return tuple(window for window in self._screen.managed_windows() if self.owns(window))

    @property
    def window_titles(self) -> tuple[str, ...]:
        """Titles of `windows`."""
        return tuple(window.title for window in self.windows)

    @property
    def last_words(self) -> str:
        """The end of its output and error output."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - _LAST_WORDS))
        return self._output.read().decode("utf-8", errors="replace").strip()

    def owns(self, window: Window) -> bool:
        """Return whether a window belongs to the program's session, or to a process that the program has started.

        Some programs, such as Octave, start the process that shows their window in a session of its own.
        """
        pid = window.pid
        while pid and (stat := read_stat(pid)) is not None:
            if self.pid in (pid, stat.session):
                return True
            pid = stat.parent
        return False

    def wait(self, limit_s: float) -> int | None:
        """Wait until the program ends; return its exit status, or None after the limit."""
        try:
            return self._popen.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> int:
        """Ask the program to end, kill it after a while, and return its exit status."""
        self._popen.terminate()
        status = self.wait(_GRACE_S)
        if status is None:
            self._popen.kill()
            status = self._popen.wait()
        return status


NO_MANAGER = (
    "The display has no window manager, so windows cannot be found. Start one, such as openbox, or use a virtual "
    "desktop (`--virtual`)."
)


class Launcher:
    """Starts applications in one desktop's environment; `private_home` is None on the user's own screen."""

    def __init__(
        self,
        screen: Screen,
        environment: Mapping[str, str],
        catalog: Callable[[], Catalog],
        private_home: Path | None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._screen = screen
        self._environment = dict(environment)
        self._catalog = catalog
        self._private_home = private_home
        self._pause = pause
        self._started: list[Process] = []
        self._crashed: list[Process] = []
        self._pids: set[int] = set()

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program; see `aci.desktop.x11.X11Desktop.launch`."""
        self._check_program(argv)
        if wait_for_window and not self._screen.has_manager():
            raise LaunchFailed(f"{argv[0]} was not started. {NO_MANAGER}")
        before = {window.id for window in self._screen.managed_windows()}
        active_before = self._screen.active_window()
        process = self._start(argv, cwd)
        if wait_for_window:
            self._await_window(process, before, active_before, timeout_s)
        return process

    @property
    def started(self) -> tuple[Process, ...]:
        """Running programs that were started here, oldest first."""
        self.reap()
        return tuple(self._started)

    def reap(self) -> None:
        """Collect the exit status of ended programs, so that no zombie remains."""
        ended = [process for process in self._started if not process.running]
        self._started = [process for process in self._started if process not in ended]
        self._crashed += [process for process in ended if process.crash]

    def take_crashed(self) -> list[Process]:
        """Return the programs that crashed since the last call."""
        self.reap()
        crashed, self._crashed = self._crashed, []
        return crashed

    def has_launched(self, pid: int) -> bool:
        """Return whether a process, which may have ended, was started here."""
        return pid in self._pids

    def forget(self, process: Process) -> None:
        """Forget a program that has ended, and that the caller reports."""
        self._started = [other for other in self._started if other is not process]
        self._crashed = [other for other in self._crashed if other is not process]

    def check(self, process: Process) -> None:
        """Raise an error where a program crashed while it was starting.

        Raises:
            LaunchFailed: It crashed.
        """
        if process.crash:
            raise self._ended_badly(process)

    def wait(self, limit_s: float = 1.0) -> None:
        """Collect the exit status of all programs, once they were asked to end."""
        for process in self._started:
            process.wait(limit_s)
        self.reap()

    def _check_program(self, argv: Sequence[str]) -> None:
        if isinstance(argv, str) or not argv:
            raise LaunchFailed("launch takes a list of program and arguments, such as ['mousepad', 'notes.txt'].")
        if shutil.which(argv[0], path=self._environment.get("PATH")) is None:
            near = self._catalog().near(program_name(argv))
            raise LaunchFailed(f"There is no program {argv[0]!r}. {near}".strip())

    def _start(self, argv: Sequence[str], cwd: Path | None) -> Process:
        prepared = prepare(argv, self._private_home, root=os.geteuid() == 0)
        folder = cwd or Path(self._environment.get("HOME", "/"))
        program = shutil.which(prepared.argv[0], path=self._environment.get("PATH"))
        output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the handle
        try:
            popen = subprocess.Popen(
                prepared.argv,
                executable=program,
                env={**toolkit_environment(), **self._environment, **prepared.environment},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            raise LaunchFailed(f"{argv[0]} could not be started: {error}") from error
        process = Process(prepared.argv, popen, self._screen, output)
        self.reap()
        self._started.append(process)
        self._pids.add(process.pid)
        return process

    def _await_window(self, process: Process, before: set[int], active_before: int | None, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        ended_at: float | None = None
        while True:
            new = [window for window in self._screen.managed_windows() if window.id not in before]
            shown = next((window for window in new if process.owns(window)), None)
            if shown is not None:
                if not shown.active:
                    # Window managers withhold the focus when there was input shortly before.
                    self._screen.activate(shown.id, limit_s=_FOCUS_LIMIT_S)
                return
            status = process.returncode
            if status is not None:
                ended_at = ended_at or time.monotonic()
                if status != 0:
                    raise self._ended_badly(process)
                if new or self._came_to_front(process, active_before):
                    return  # It handed over to an instance that was already running.
                if time.monotonic() > ended_at + _AFTER_EXIT_S:
                    raise LaunchFailed(f"{process.argv[0]} ended without showing a window.{_said(process)}")
            if time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    process.terminate()
                raise LaunchFailed(f"{process.argv[0]} showed no window within {timeout_s:g} s.{_said(process)}")
            self._pause(_POLL_S)

    def _ended_badly(self, process: Process) -> LaunchFailed:
        """Return the error for a program that has ended, and forget the program, which is reported by that."""
        self.forget(process)
        why = f"{process.argv[0]} ended with status {process.returncode}.{_said(process)}"
        if os.geteuid() == 0 and _ROOT.search(process.last_words):
            why += " It may refuse to run as root: run agent-s as an ordinary user."
        return LaunchFailed(why)

    def _came_to_front(self, process: Process, active_before: int | None) -> bool:
        active = self._screen.active_window()
        if active is None or active == active_before:
            return False
        name = program_name(process.argv).casefold()
        window = next((window for window in self._screen.managed_windows() if window.id == active), None)
        return window is not None and name in window.app.casefold()


def _said(process: Process) -> str:
    words = process.last_words
    return f" Its last words: {words}" if words else ""

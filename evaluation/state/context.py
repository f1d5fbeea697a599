"""The context of a task, shared by its steps, getters and check: desktop, folder, server and values."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aci.observation.observation import Observation, Window
from evaluation.errors import EvaluationError
from evaluation.state.reading import excerpt
from evaluation.state.server import FormServer

COMMAND_LIMIT_S = 30.0
OSWORLD_HOME = "/home/user"
"""Home of the user in OSWorld's virtual machine, as its task files write it."""

_HOME_IN_ARGUMENT = re.compile(rf"^~(?=/|$)|(?<![\w.~/-]){OSWORLD_HOME}(?![\w.-])")


class TaskDesktop(Protocol):
    """The desktop as a task uses it."""

    @property
    def home(self) -> Path:
        """Home folder of the applications."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the applications."""
        ...

    def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> Any:
        """Start an application, and wait for its window if asked to."""
        ...

    def observe(self) -> Observation:
        """Look at the screen."""
        ...


class WindowManager(Protocol):
    """The windows of a desktop as a task uses them; `aci.screen.screen.Screen` is one."""

    def managed_windows(self) -> tuple[Window, ...]:
        """Return the windows, oldest first."""
        ...

    def activate(self, window_id: int) -> bool:
        """Bring a window to the front; return whether it came."""
        ...

    def close_window(self, window_id: int) -> None:
        """Ask an application to close a window."""
        ...


@dataclass
class TaskContext:
    """The context of one task while it runs.

    Attributes:
        desktop: Where the applications run.
        windows: Their windows.
        folder: Folder of the task file and its fixtures.
        server: The server of the task, or None.
        values: Values of `{name}` in the texts of the task.
        resources: Closed when the task's session ends.
    """

    desktop: TaskDesktop
    windows: WindowManager
    folder: Path
    server: FormServer | None = None
    values: dict[str, str] = field(default_factory=dict)
    resources: ExitStack = field(default_factory=ExitStack)

    def start_server(self, folder: Path, values: Mapping[str, str]) -> FormServer:
        """Serve a folder until the session ends.

        Args:
            folder: The folder.
            values: Values of `{name}` in its pages.

        Raises:
            EvaluationError: The task already has a server, or no port is free.
        """
        if self.server is not None:
            raise EvaluationError("a task has at most one server")
        try:
            self.server = self.resources.enter_context(FormServer(folder, values))
        except OSError as error:
            raise EvaluationError(f"no server could be started: {error}") from error
        return self.server

    def path(self, text: str) -> Path:
        """Return the path on the desktop; `~` and OSWorld's `/home/user` are its home."""
        for home in ("~", OSWORLD_HOME):
            if text == home or text.startswith(home + "/"):
                return self.desktop.home / text[len(home) + 1 :]
        return Path(text)

    def shown(self, path: Path) -> str:
        """Return a path with `~` for the home of the desktop."""
        return f"~/{path.relative_to(self.desktop.home)}" if path.is_relative_to(self.desktop.home) else str(path)

    def argv(self, command: Sequence[str]) -> list[str]:
        """Return a command with the desktop's home in place of `~` and `/home/user`."""
        home = str(self.desktop.home)
        return [_HOME_IN_ARGUMENT.sub(lambda _: home, part) for part in command]

    def run(self, command: Sequence[str], limit_s: float = COMMAND_LIMIT_S) -> subprocess.CompletedProcess[str]:
        """Run a command on the desktop to its end, never through a shell.

        Args:
            command: Program and arguments.
            limit_s: Time limit, s.

        Raises:
            EvaluationError: There is no such program, or it took too long.
        """
        argv = self.argv(command)
        try:
            return subprocess.run(
                argv,
                cwd=self.desktop.home,
                env=dict(self.desktop.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise EvaluationError(f"there is no program {argv[0]!r}") from error
        except OSError as error:
            raise EvaluationError(f"{argv[0]!r} cannot be run: {error}") from error
        except subprocess.TimeoutExpired as error:
            raise EvaluationError(f"{argv[0]!r} did not end within {limit_s:g} s") from error

    def output(self, command: Sequence[str]) -> str:
        """Return the standard output of a command that must succeed.

        Raises:
            EvaluationError: It cannot be run, or its status is not 0.
        """
        ended = self.run(command)
        if ended.returncode != 0:
            problem = excerpt(ended.stderr.strip())
            raise EvaluationError(f"{command[0]!r} ended with status {ended.returncode}: {problem}")
        return ended.stdout


def substituted(value: Any, values: Mapping[str, str]) -> Any:
    """Return a JSON value with `{name}` replaced in all its texts, for the names in `values` only."""
    if isinstance(value, str):
        for name, text in values.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, Mapping):
        return {key: substituted(inner, values) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [substituted(inner, values) for inner in value]
    return value

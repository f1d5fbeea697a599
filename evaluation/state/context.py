"""The context of a task, shared by its steps, getters and check: desktop, folder, server, values and rights."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from aci.acting.actions import Action
from aci.acting.result import ActionResult
from aci.observation.observation import Observation, Window
from agent_s.records import Record
from evaluation.errors import EvaluationError, NotAllowed
from evaluation.state.downloads import Downloads
from evaluation.state.machine import OSWORLD_HOME, replaced_home, replacement
from evaluation.state.reading import excerpt
from evaluation.state.server import FormServer

COMMAND_LIMIT_S = 120.0


class TaskDesktop(Protocol):
    """The desktop as a task uses it."""

    @property
    def home(self) -> Path:
        """Home folder of the applications."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen, px."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the applications."""

    def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> Any:
        """Start an application, and wait for its window if asked to."""

    def observe(self) -> Observation:
        """Look at the screen."""

    def perform(self, action: Action) -> ActionResult:
        """Carry out an action."""


class WindowManager(Protocol):
    """The windows of a desktop as a task uses them; `aci.screen.screen.Screen` is one."""

    def managed_windows(self) -> tuple[Window, ...]:
        """Return the windows, oldest first."""

    def activate(self, window_id: int) -> bool:
        """Bring a window to the front; return whether it came."""

    def close_window(self, window_id: int) -> None:
        """Ask an application to close a window."""


@dataclass
class TaskContext:
    """The context of one task while it runs."""

    desktop: TaskDesktop  # where the applications run
    windows: WindowManager  # their windows
    folder: Path  # folder of the task file and its fixtures
    server: FormServer | None = None  # the server of the task, or None
    values: dict[str, str] = field(default_factory=dict)  # values of `{name}` in the texts of the task
    downloads: Downloads = field(default_factory=lambda: Downloads(None))  # the files that the task downloads
    commands: bool = False  # whether the commands of the task file may run; see `command`
    # what the agent did, as OSWorld's `computer_13`, its space for actions; None if it was not recorded
    actions: list[dict[str, Any] | str] | None = None
    resources: ExitStack = field(default_factory=ExitStack)  # closed when the task's session ends

    @property
    def home(self) -> str:
        """The desktop's home as a text."""
        return str(self.desktop.home)

    @cached_property
    def cache(self) -> Path:
        """Folder for outputs of commands and copies of downloads, which is removed when the session ends."""
        return Path(self.resources.enter_context(tempfile.TemporaryDirectory(prefix="agent-s-task-")))

    def cached(self, name: str) -> Path:
        """Return the path of a name in the cache, which must not lead out of it.

        Raises:
            EvaluationError: It does.
        """
        path = (self.cache / name).resolve()
        if not path.is_relative_to(self.cache.resolve()) or path == self.cache.resolve():
            raise EvaluationError(f"{name!r} does not name a file in the cache")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def start_server(self, folder: Path, values: Mapping[str, str]) -> FormServer:
        """Serve a folder until the session ends, with `values` in place of `{name}` in its pages.

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
        """Return a command for this desktop: its home for OSWorld's, and the programs that it has (`machine.yaml`)."""
        home = str(self.desktop.home)
        return replacement([replaced_home(part, home) for part in command], self.desktop.environment.get("PATH"))

    def command(self, command: Sequence[str] | str, shell: bool = False) -> list[str]:
        """Return a command of the task file as program and arguments; a line for the shell is given to `sh -c`.

        Args:
            command: Program and arguments, or a text.
            shell: Whether a text is a line for the shell; otherwise it is split like one, and no shell sees it.

        Raises:
            NotAllowed: Nobody has allowed the commands of this file.
        """
        self.permit(command if isinstance(command, str) else " ".join(command))
        if isinstance(command, str):
            line = replaced_home(command, str(self.desktop.home))
            command = ["/bin/sh", "-c", line] if shell else split(line)
        elif shell:  # as the shell does: the first is the line, the others are its arguments
            command = ["/bin/sh", "-c", replaced_home(command[0], str(self.desktop.home)), *command[1:]]
        return self.argv(command)

    def permit(self, text: str) -> None:
        """Refuse a command or script of the task file unless the user has allowed them.

        Raises:
            NotAllowed: Nobody has.
        """
        if not self.commands:
            raise NotAllowed(
                f"the task file runs {excerpt(text)}: add --allow-commands to allow the commands of these files"
            )

    def run(self, argv: Sequence[str], limit_s: float = COMMAND_LIMIT_S) -> subprocess.CompletedProcess[str]:
        """Run a program on the desktop to its end, never through a shell.

        Args:
            argv: Program and arguments, as `argv` or `command` returns them.
            limit_s: Time limit, s.

        Raises:
            EvaluationError: There is no such program, or it took too long.
        """
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

    def output(self, argv: Sequence[str]) -> str:
        """Return the standard output of a program that must succeed.

        Raises:
            EvaluationError: It cannot be run, or its status is not 0.
        """
        ended = self.run(argv)
        if ended.returncode != 0:
            problem = excerpt(ended.stderr.strip())
            raise EvaluationError(f"{argv[0]!r} ended with status {ended.returncode}: {problem}")
        return ended.stdout


def split(line: str) -> list[str]:
    """Return the program and arguments of a line, without a shell's substitutions.

    Raises:
        EvaluationError: A quotation mark is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        raise EvaluationError(f"{excerpt(line)} is not a command: {error}") from error


def substituted(value: Any, values: Mapping[str, str], home: str | None = None) -> Any:
    """Return a JSON value with the values of names in all its texts.

    Args:
        value: The value.
        values: What `{name}` stands for; other names stay.
        home: What OSWorld's `/home/user` stands for.
    """
    if isinstance(value, str):
        for name, text in values.items():
            value = value.replace("{" + name + "}", text)
        return value if home is None else replaced_home(value, home)
    if isinstance(value, Mapping):
        return {key: substituted(inner, values, home) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [substituted(inner, values, home) for inner in value]
    return value


class Rights(Record):
    """What tasks may do."""

    # whether commands of task files may run on the private desktop; those of the bundled sets always may
    commands: bool = False
    files: Path | None = None  # folder of the files that tasks download; None if there is none
    online: bool = False  # whether missing files are downloaded into it

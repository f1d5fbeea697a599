"""Steps set up the initial state of a task (`config`), or finish it before the check (`evaluator.postconfig`).

A step is a function of the context whose keyword-only parameters are its keys in a task file, listed in a table
`STEPS`. Types and parameters are OSWorld's, but for `serve`, which is ours.
"""

from __future__ import annotations

import logging
import mimetypes
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from aci.observation.observation import Window
from aci.processes import start_ticks
from aci.waiting import Clock
from evaluation.errors import PreparationFailed
from evaluation.state.context import TaskContext
from evaluation.state.machine import machine
from evaluation.state.parameters import Command, Parameters, Truthy, Unused, by_name
from evaluation.state.reading import excerpt

logger = logging.getLogger(__name__)

WINDOW_LIMIT_S = 15.0  # time a window may take to open, close, or come to the front, s
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAX_REPEATS = 60  # how often a command is repeated until it has the wanted output, once a second
_POLL_S = 0.02
_CODE_LETTERS = "ACDEFHJKLMNPQRTUVWXY"
_CODE_DIGITS = "0123456789"

Perform = Callable[..., None]
Address = Annotated[str, Field(pattern=r"^[^-\s]")]
WindowName = Annotated[str, Field(min_length=1)]


class FileToCopy(Parameters):
    """A fixture next to the task file, and its path on the desktop."""

    local_path: str
    path: str


class FileToDownload(Parameters):
    """An address, and the path of its file on the desktop."""

    url: str
    path: str


class Until(Parameters):
    """The output of a command, any of which is enough to continue."""

    returncode: int | None = None
    stdout: str | None = None
    stderr: str | None = None

    def holds(self, ended: subprocess.CompletedProcess[str]) -> bool:
        """Return whether a command has ended as wanted."""
        return ended.returncode == self.returncode or any(
            wanted is not None and wanted in found
            for wanted, found in ((self.stdout, ended.stdout), (self.stderr, ended.stderr))
        )


class Verification(Parameters):
    """What must hold after a command: a window whose title has this part, or another command that succeeds."""

    window_exists: str | None = None
    command_success: str | None = None


def launch(context: TaskContext, *, command: Command, shell: Truthy = False) -> None:
    """Start an application and wait for its window; a line for the shell is started without waiting."""
    argv = context.command(command, bool(shell))
    program = Path(argv[0]).name
    if program not in machine().unneeded:
        windowless = bool(shell) or program in machine().windowless
        context.desktop.launch(argv, wait_for_window=not windowless)


def execute(
    context: TaskContext,
    *,
    command: Command,
    shell: Truthy = False,
    stdout: str = "",
    stderr: str = "",
    until: Until | None = None,
) -> None:
    """Run a command to its end; as in OSWorld, its status does not count.

    Args:
        context: The task.
        command: Program and arguments, or a text.
        shell: Whether a text is a line for the shell.
        stdout: Name for its output, which the getter `cache_file` reads.
        stderr: The same for its error output.
        until: Output until which the command is repeated.
    """
    argv = context.command(command, bool(shell))
    for _ in range(MAX_REPEATS):
        ended = context.run(argv)
        if until is None or until.holds(ended):
            break
        time.sleep(1)
    else:
        raise PreparationFailed(f"{argv[0]!r} did not end as wanted in {MAX_REPEATS} tries")
    if ended.returncode != 0 and until is None:
        logger.warning("%s ended with status %d: %s", argv[0], ended.returncode, excerpt(ended.stderr.strip()))
    for name, text in ((stdout, ended.stdout), (stderr, ended.stderr)):
        if name:
            context.cached(name).write_text(text, encoding="utf-8")


def execute_with_verification(
    context: TaskContext,
    *,
    command: Command,
    shell: Truthy = False,
    verification: Verification | None = None,
    max_wait_time: float = 10,
    check_interval: float = 1,
) -> None:
    """Run a command, and wait until what it should bring about is there."""
    context.run(context.command(command, bool(shell)))
    if verification is not None:
        await_verified(context, verification, max_wait_time, check_interval)


def await_verified(context: TaskContext, verification: Verification, limit_s: float, interval_s: float) -> None:
    """Wait until what a command should bring about is there.

    Raises:
        PreparationFailed: It is not there in time.
    """
    title, line = verification.window_exists, verification.command_success

    def is_there() -> bool:
        shown = title is None or any(title in window.title for window in context.windows.managed_windows())
        return shown and (line is None or context.run(context.command(line, shell=True)).returncode == 0)

    if not Clock().until(is_there, limit_s, interval_s):
        raise PreparationFailed(f"{title or line!r} did not happen within {limit_s:g} s")


def download(context: TaskContext, *, files: Annotated[tuple[FileToDownload, ...], Field(min_length=1)]) -> None:
    """Copy files of the network into the desktop's home, from the folder of downloads."""
    for file in files:
        copy_into_home(context, context.downloads.get(file.url), file.path)


def chrome_open_tabs(
    context: TaskContext,
    *,
    urls_to_open: Annotated[tuple[Address, ...], Field(min_length=1)],
    wait_until: Unused = None,
) -> None:
    """Open pages in the browser, a tab each, in the one that runs where there is one; they may still be loading."""
    path = context.desktop.environment.get("PATH")
    browser = next((name for name in BROWSERS if shutil.which(name, path=path)), BROWSERS[0])
    names = ("chromium", "chrome")
    runs = any(name in window.app.casefold() for window in context.windows.managed_windows() for name in names)
    # A running browser shows no new window for the pages.
    addresses = [address if "://" in address else f"http://{address}" for address in urls_to_open]
    context.desktop.launch([browser, *addresses], wait_for_window=not runs)


def open_file(context: TaskContext, *, path: str) -> None:
    """Open a file with the application that is registered for its kind, and wait for its window."""
    from aci.applications.catalog import installed_applications

    file = context.path(path)
    if not file.exists():
        raise PreparationFailed(f"there is no file {context.shown(file)} to open")
    kind = "inode/directory" if file.is_dir() else mimetypes.guess_type(file.name)[0] or "text/plain"
    registered = re.findall(r"\S+(?=\.desktop\b)", context.run(["gio", "mime", kind]).stdout)
    installed = {
        application.id: application for application in installed_applications(context.desktop.environment).applications
    }
    handler = next((installed[entry] for entry in registered if entry in installed), None)
    if handler is None:
        raise PreparationFailed(f"no application is registered for {kind}")
    context.desktop.launch([*handler.argv, str(file)])


def sleep(context: TaskContext, *, seconds: Annotated[float, Field(ge=0, le=60)]) -> None:
    """Wait, for task files that say so."""
    time.sleep(seconds)


def activate_window(
    context: TaskContext, *, window_name: WindowName, strict: bool = False, by_class: bool = False
) -> None:
    """Bring a window to the front, once it is there.

    Args:
        context: The task.
        window_name: Its title, or a part of it; case does not count.
        strict: Whether the title must be exactly this.
        by_class: Whether it is the name of the application instead, such as `Mail.thunderbird`.
    """
    found: list[Window] = []

    def is_there() -> bool:
        shown = context.windows.managed_windows()
        found[:] = [window for window in shown if _fits(window, window_name, strict, by_class)]
        return bool(found)

    if not _within_limit(is_there):
        titles = ", ".join(repr(window.title) for window in context.windows.managed_windows())
        raise PreparationFailed(
            f"no window {window_name!r} came within {WINDOW_LIMIT_S:g} s; those that are open: {titles or 'none'}"
        )
    if not context.windows.activate(found[-1].id):
        raise PreparationFailed(f"the window {found[-1].title!r} did not come to the front")


def split_screen(context: TaskContext, *, window_name1: WindowName, window_name2: WindowName) -> None:
    """Bring two windows to the front, the first last; they are not tiled."""
    for name in (window_name2, window_name1):
        activate_window(context, window_name=name)


def close_window(
    context: TaskContext,
    *,
    window_name: WindowName,
    strict: bool = False,
    by_class: bool = False,
    until_exit: bool = False,
) -> None:
    """Ask windows to close, newest first, until none of that title is left; nothing to do where there is none.

    Args:
        context: The task.
        window_name: Their title, or a part of it; case does not count.
        strict: Whether the title must be exactly this.
        by_class: Whether it is the name of the application instead.
        until_exit: Whether to close all windows of their processes, dialogs too, and to wait until those have ended,
            so that what they write at the end is there. OSWorld's tasks sleep instead.
    """
    pids: set[int] = set()
    asked: set[int] = set()

    def are_gone() -> bool:
        shown = context.windows.managed_windows()
        named = {window.id for window in shown if _fits(window, window_name, strict, by_class)}
        if until_exit:
            pids.update(window.pid for window in shown if window.id in named and window.pid is not None)
        left = [window for window in shown if window.id in named or window.pid in pids]
        # One at a time: a window may not close while a dialog in front of it is open.
        if left and left[-1].id not in asked:
            asked.add(left[-1].id)
            context.windows.close_window(left[-1].id)
        return not left

    if not _within_limit(are_gone):
        raise PreparationFailed(f"a window {window_name!r} did not close within {WINDOW_LIMIT_S:g} s")
    if not _within_limit(lambda: all(start_ticks(pid) is None for pid in pids)):
        raise PreparationFailed(f"the application of {window_name!r} did not end after its window closed")


def upload_file(context: TaskContext, *, files: Annotated[tuple[FileToCopy, ...], Field(min_length=1)]) -> None:
    """Copy fixtures into the desktop's home."""
    for file in files:
        copy_into_home(context, context.folder / file.local_path, file.path)


def copy_into_home(context: TaskContext, source: Path, path: str) -> None:
    """Copy a file to a path on the desktop.

    Raises:
        PreparationFailed: The path is not in its home, or the file cannot be copied.
    """
    target = context.path(path)
    if not target.resolve().is_relative_to(context.desktop.home.resolve()):
        raise PreparationFailed(f"{path} is not in the desktop's home")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        raise PreparationFailed(f"cannot copy {source} to {path}: {error.strerror or error}") from error


def serve(
    context: TaskContext, *, folder: str, codes: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z_]*$")], ...] = ()
) -> None:
    """Serve a folder on a loopback port until the session ends; `{server}` is its address, `{port}` the port alone.

    Chromium finds the server under any name that ends in `.localhost`, so that it can be several sites.

    Args:
        context: The task.
        folder: Folder next to the task file.
        codes: Names of random codes such as "KQT-4821"; `{name}` stands for one in the served pages and in the rest of
            the task, so that it cannot be known beforehand.
    """
    served = context.folder / folder
    if not served.is_dir():
        raise PreparationFailed(f"there is no folder {served} to serve")
    values = {name: random_code() for name in codes}
    server = context.start_server(served, values)
    context.values.update(values, server=server.address, port=server.address.rpartition(":")[2])


def random_code() -> str:
    """Return a code such as "KQT-4821", of letters and digits that cannot be confused."""
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(3))
    return f"{letters}-{''.join(secrets.choice(_CODE_DIGITS) for _ in range(4))}"


def change_wallpaper(context: TaskContext, *, path: str) -> None:
    """Set the picture behind the windows, as GNOME keeps it."""
    picture = context.path(path)
    if not picture.is_file():
        raise PreparationFailed(f"there is no file {context.shown(picture)}")
    context.output(["gsettings", "set", "org.gnome.desktop.background", "picture-uri", picture.as_uri()])


def _fits(window: Window, name: str, strict: bool, by_class: bool) -> bool:
    if by_class:  # WM_CLASS is INSTANCE.CLASS; a window here knows the name of its application
        return window.app.casefold() in [part.casefold() for part in (name, *name.split("."))]
    return window.title == name if strict else name.casefold() in window.title.casefold()


def _within_limit(holds: Callable[[], bool]) -> bool:
    return Clock().until(holds, WINDOW_LIMIT_S, _POLL_S)


STEPS: dict[str, Perform] = {
    **by_name(
        launch,
        execute,
        execute_with_verification,
        download,
        chrome_open_tabs,
        sleep,
        activate_window,
        split_screen,
        close_window,
        upload_file,
        change_wallpaper,
        serve,
    ),
    "command": execute,
    "open": open_file,
}

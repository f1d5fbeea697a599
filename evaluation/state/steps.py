"""Steps set up the initial state of a task (`config`), or finish it before the check (`evaluator.postconfig`).

Types and parameters are OSWorld's, but for `serve`, which is ours. Commands are lists of program and arguments.
"""

from __future__ import annotations

import mimetypes
import re
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import Field

from aci.desktop.processes import start_ticks
from evaluation.errors import PreparationFailed
from evaluation.state.context import TaskContext
from evaluation.state.getters import Command, FilePath, Parameters, excerpt

if TYPE_CHECKING:
    from aci.observation.observation import Window

WINDOW_LIMIT_S = 15.0
"""Time a window may take to open, close, or come to the front, s."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_POLL_S = 0.02
_CODE_LETTERS = "ACDEFHJKLMNPQRTUVWXY"
_CODE_DIGITS = "0123456789"

P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, slots=True)
class StepKind(Generic[P]):
    """A type of step: its parameters and its function."""

    parameters: type[P]
    perform: Callable[[P, TaskContext], None]


class OpenTabs(Parameters):
    """Addresses of pages to open in the browser."""

    urls_to_open: Annotated[
        tuple[Annotated[str, Field(pattern=r"^(?:https?://|file://|\{)")], ...], Field(min_length=1)
    ]


class Sleep(Parameters):
    """Seconds to wait."""

    seconds: Annotated[float, Field(ge=0, le=60)]


class NamedWindow(Parameters):
    """A window by its title.

    Attributes:
        window_name: Its title, or a part of it; capitals do not count.
        strict: Whether the title must be exactly this.
    """

    window_name: Annotated[str, Field(min_length=1)]
    strict: bool = False

    def fits(self, title: str) -> bool:
        """Return whether a window of that title is meant."""
        return title == self.window_name if self.strict else self.window_name.casefold() in title.casefold()


class CloseWindow(NamedWindow):
    """Windows to close.

    Attributes:
        until_exit: Whether to close all windows of their processes, dialogs too, and to wait until those have ended,
            so that what they write at the end is there. OSWorld's tasks sleep instead.
    """

    until_exit: bool = False


class FileToCopy(Parameters):
    """A fixture next to the task file, and its path on the desktop."""

    local_path: str
    path: str


class UploadFile(Parameters):
    """Fixtures to copy to the desktop's home."""

    files: Annotated[tuple[FileToCopy, ...], Field(min_length=1)]


class Serve(Parameters):
    """A folder to serve on a loopback port; `{server}` then stands for its address, and `{port}` for the port alone.

    Chromium finds the server under any name that ends in `.localhost`, so that it can be several sites.

    Attributes:
        folder: Folder next to the task file.
        codes: Names of random codes such as "KQT-4821"; `{name}` stands for one in the served pages and in the rest of
            the task, so that it cannot be known beforehand.
    """

    folder: str
    codes: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z_]*$")], ...] = ()


def launch(parameters: Command, context: TaskContext) -> None:
    """Start an application and wait for its window."""
    context.desktop.launch(context.argv(parameters.command))


def execute(parameters: Command, context: TaskContext) -> None:
    """Run a command to its end; a status other than 0 is an error."""
    ended = context.run(parameters.command)
    if ended.returncode != 0:
        raise PreparationFailed(
            f"{parameters.command[0]!r} ended with status {ended.returncode}: {excerpt(ended.stderr.strip())}"
        )


def chrome_open_tabs(parameters: OpenTabs, context: TaskContext) -> None:
    """Open pages in the browser, a tab each, in the one that runs where there is one; they may still be loading."""
    path = context.desktop.environment.get("PATH")
    browser = next((name for name in BROWSERS if shutil.which(name, path=path)), BROWSERS[0])
    names = ("chromium", "chrome")
    runs = any(name in window.app.casefold() for window in context.windows.managed_windows() for name in names)
    # One that runs is handed the pages, and shows no new window for them.
    context.desktop.launch([browser, *parameters.urls_to_open], wait_for_window=not runs)


def open_file(parameters: FilePath, context: TaskContext) -> None:
    """Open a file with the application that is registered for its kind, and wait for its window."""
    from aci.applications.catalog import installed_applications

    path = context.path(parameters.path)
    if not path.exists():
        raise PreparationFailed(f"there is no file {context.shown(path)} to open")
    kind = "inode/directory" if path.is_dir() else mimetypes.guess_type(path.name)[0] or "text/plain"
    registered = re.findall(r"\S+(?=\.desktop\b)", context.run(["gio", "mime", kind]).stdout)
    installed = {
        application.id: application for application in installed_applications(context.desktop.environment).applications
    }
    handler = next((installed[entry] for entry in registered if entry in installed), None)
    if handler is None:
        raise PreparationFailed(f"no application is registered for {kind}")
    context.desktop.launch([*handler.argv, str(path)])


def sleep(parameters: Sleep, context: TaskContext) -> None:
    """Wait, for task files that say so."""
    time.sleep(parameters.seconds)


def activate_window(parameters: NamedWindow, context: TaskContext) -> None:
    """Bring a window to the front, once it is there."""
    found: list[Window] = []

    def is_there() -> bool:
        found[:] = [window for window in context.windows.managed_windows() if parameters.fits(window.title)]
        return bool(found)

    if not _within_limit(is_there):
        raise PreparationFailed(f"no window {parameters.window_name!r} came within {WINDOW_LIMIT_S:g} s")
    if not context.windows.activate(found[-1].id):
        raise PreparationFailed(f"the window {found[-1].title!r} did not come to the front")


def close_window(parameters: CloseWindow, context: TaskContext) -> None:
    """Ask windows to close, newest first, until none of that title is left; nothing to do where there is none."""
    pids: set[int] = set()
    asked: set[int] = set()

    def are_gone() -> bool:
        shown = context.windows.managed_windows()
        if parameters.until_exit:
            pids.update(window.pid for window in shown if parameters.fits(window.title) and window.pid is not None)
        left = [window for window in shown if parameters.fits(window.title) or window.pid in pids]
        # One at a time: a window may not close while a dialog in front of it is open.
        if left and left[-1].id not in asked:
            asked.add(left[-1].id)
            context.windows.close_window(left[-1].id)
        return not left

    if not _within_limit(are_gone):
        raise PreparationFailed(f"a window {parameters.window_name!r} did not close within {WINDOW_LIMIT_S:g} s")
    if not _within_limit(lambda: all(start_ticks(pid) is None for pid in pids)):
        raise PreparationFailed(f"the application of {parameters.window_name!r} did not end after its window closed")


def upload_file(parameters: UploadFile, context: TaskContext) -> None:
    """Copy fixtures into the desktop's home."""
    for file in parameters.files:
        target = context.path(file.path)
        if not target.resolve().is_relative_to(context.desktop.home.resolve()):
            raise PreparationFailed(f"{file.path} is not in the desktop's home")
        source = context.folder / file.local_path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        except OSError as error:
            raise PreparationFailed(f"cannot copy {source} to {file.path}: {error.strerror or error}") from error


def serve(parameters: Serve, context: TaskContext) -> None:
    """Serve a folder beside the task file until the task's session ends."""
    folder = context.folder / parameters.folder
    if not folder.is_dir():
        raise PreparationFailed(f"there is no folder {folder} to serve")
    codes = {name: random_code() for name in parameters.codes}
    server = context.start_server(folder, codes)
    context.values.update(codes, server=server.address, port=server.address.rpartition(":")[2])


def random_code() -> str:
    """Return a code such as "KQT-4821", of letters and digits that cannot be confused."""
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(3))
    return f"{letters}-{''.join(secrets.choice(_CODE_DIGITS) for _ in range(4))}"


def _within_limit(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WINDOW_LIMIT_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


STEPS: dict[str, StepKind[Any]] = {
    "launch": StepKind(Command, launch),
    "execute": StepKind(Command, execute),
    "command": StepKind(Command, execute),
    "chrome_open_tabs": StepKind(OpenTabs, chrome_open_tabs),
    "open": StepKind(FilePath, open_file),
    "sleep": StepKind(Sleep, sleep),
    "activate_window": StepKind(NamedWindow, activate_window),
    "close_window": StepKind(CloseWindow, close_window),
    "upload_file": StepKind(UploadFile, upload_file),
    "serve": StepKind(Serve, serve),
}

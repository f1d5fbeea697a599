"""Getters read one thing of the applications' state; a task file names them as the type of `result` and `expected`.

The names are OSWorld's where it has an equivalent. A thing that is not there, such as a file that nobody saved, is a
`Reading` without a value; a thing that cannot be read is an error and never counts as a failed task.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evaluation.errors import CheckFailed
from evaluation.osworld.context import TaskContext

MAX_EXCERPT = 300
MAX_TEXT_BYTES = 10_000_000


class Parameters(BaseModel):
    """What all parameters share: immutable, and no key that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


P = TypeVar("P", bound=Parameters)
Argv = Annotated[tuple[str, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a getter found.

    Attributes:
        value: What metrics judge; None where the thing is not there.
        evidence: What was found and where, in words for a report.
    """

    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class Getter(Generic[P]):
    """A getter: the keys that its specification has besides `type`, and the function that reads."""

    parameters: type[P]
    read: Callable[[P, TaskContext], Reading]


GETTERS: dict[str, Getter[Any]] = {}
"""Getter by the name that task files use."""


def getter(
    name: str, parameters: type[P]
) -> Callable[[Callable[[P, TaskContext], Reading]], Callable[[P, TaskContext], Reading]]:
    """Enter a function into `GETTERS`."""

    def enter(read: Callable[[P, TaskContext], Reading]) -> Callable[[P, TaskContext], Reading]:
        GETTERS[name] = Getter(parameters, read)
        return read

    return enter


def with_key(rules: Any) -> Any:
    """Return rules as an object, a bare list under the key `rules`."""
    return {"rules": rules} if isinstance(rules, list) else rules


class FileOnDesktop(Parameters):
    """A file of the desktop; `dest` is accepted as in OSWorld and not needed, since nothing is copied."""

    path: str
    dest: str | None = None


class FixtureFile(Parameters):
    """A file beside the task file."""

    path: str


class Command(Parameters):
    """A command as a list of program and arguments; a shell line is refused."""

    command: Argv


class Rules(Parameters):
    """What a metric expects, written into the task file; a bare list stands for the key `rules`."""

    rules: Annotated[dict[str, Any], BeforeValidator(with_key)]


class Nothing(Parameters):
    """No keys besides `type`."""


@getter("vm_file", FileOnDesktop)
def vm_file(parameters: FileOnDesktop, context: TaskContext) -> Reading:
    """Path of a file of the desktop, for metrics that read it themselves."""
    path = context.path(parameters.path)
    return Reading(path, f"{context.shown(path)} exists") if path.is_file() else _absent(path, context)


@getter("vm_file_text", FileOnDesktop)
def vm_file_text(parameters: FileOnDesktop, context: TaskContext) -> Reading:
    """Text of a file of the desktop, without the line ends that editors put behind the last line."""
    path = context.path(parameters.path)
    if not path.is_file():
        return _absent(path, context)
    text = read_text(path).rstrip("\r\n")
    return Reading(text, f"{context.shown(path)}: {excerpt(text)}")


@getter("local_file", FixtureFile)
def local_file(parameters: FixtureFile, context: TaskContext) -> Reading:
    """Path of a fixture beside the task file."""
    path = context.folder / parameters.path
    if not path.is_file():
        raise CheckFailed(f"the fixture {parameters.path} is missing beside the task file")
    return Reading(path, f"fixture {parameters.path}")


@getter("vm_command_line", Command)
def vm_command_line(parameters: Command, context: TaskContext) -> Reading:
    """Standard output of a command that runs among the desktop's applications."""
    ended = context.run(parameters.command)
    if ended.returncode != 0:
        raise CheckFailed(
            f"{parameters.command[0]!r} ended with status {ended.returncode}: {excerpt(ended.stderr.strip())}"
        )
    return Reading(ended.stdout, f"{' '.join(parameters.command)}: {excerpt(ended.stdout)}")


@getter("server_submissions", Nothing)
def server_submissions(parameters: Nothing, context: TaskContext) -> Reading:
    """Forms that the task's server received: a list of `{"path": ..., "fields": {...}}`, oldest first."""
    if context.server is None:
        raise CheckFailed("the task has no server: add a `serve` step to its config")
    received = [asdict(submission) for submission in context.server.submissions]
    if not received:
        return Reading(None, "the server received no form")
    return Reading(received, f"the server received {json.dumps(received, ensure_ascii=False)}")


@getter("active_window_title", Nothing)
def active_window_title(parameters: Nothing, context: TaskContext) -> Reading:
    """Title of the window that has the keyboard."""
    window = context.desktop.observe().active_window
    return Reading(None, "no window is active") if window is None else Reading(window.title, f"window {window.title!r}")


@getter("rule", Rules)
def rule(parameters: Rules, context: TaskContext) -> Reading:
    """The expectation that is written into the task file."""
    return Reading(parameters.rules, "")


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        CheckFailed: It cannot be read, or is too large to be what an application saved in a task.
    """
    try:
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise CheckFailed(f"{path.name} has more than {MAX_TEXT_BYTES} bytes")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CheckFailed(f"{path.name} cannot be read: {error.strerror or error}") from error


def excerpt(text: str) -> str:
    """Return a text in quotes, cut where it is long."""
    return repr(text if len(text) <= MAX_EXCERPT else text[:MAX_EXCERPT] + "…")


def _absent(path: Path, context: TaskContext) -> Reading:
    return Reading(None, f"{context.shown(path)} does not exist")

"""Getters read one part of the applications' state; task files name them as the type of `result` and `expected`.

Names are OSWorld's where it has an equivalent. Something absent, such as a file that was never saved, is a `Reading`
without a value; something that cannot be read is an error and never counts as a failed task.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext

MAX_EXCERPT = 300
MAX_TEXT_BYTES = 10_000_000


class Parameters(BaseModel):
    """Base of all parts of a task file: immutable, without undeclared keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, content: Any) -> Any:
        refuse_unknown_keys(content, cls.model_fields)
        return content


def refuse_unknown_keys(content: Any, known: Collection[str]) -> None:
    """Raise a validation error that lists the valid keys, unlike that of `extra="forbid"`."""
    for key in content if isinstance(content, dict) else ():
        if key not in known:
            raise PydanticCustomError("unknown_key", "unknown key {key}", {"key": str(key), "known": list(known)})


def new_model(name: str, *bases: type[Parameters], **fields: Any) -> Any:
    """Return the class of a model whose fields come from a table, each a pair of type and default."""
    create: Any = create_model
    return create(name, __base__=bases or (Parameters,), **fields)


P = TypeVar("P", bound=Parameters)
Argv = Annotated[tuple[str, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a getter found.

    Attributes:
        value: What metrics judge; None if it is absent.
        evidence: What was found and where, for a report.
    """

    value: Any
    evidence: str


@dataclass(frozen=True, slots=True)
class Getter(Generic[P]):
    """A getter: the keys it takes besides `type`, and the function that reads."""

    parameters: type[P]
    read: Callable[[P, TaskContext], Reading]


def with_key(rules: Any) -> Any:
    """Return rules as an object, a bare list under the key `rules`."""
    return {"rules": rules} if isinstance(rules, list) else rules


class FileOnDesktop(Parameters):
    """A file of the desktop; `dest` is accepted as in OSWorld and not needed, since nothing is copied."""

    path: str
    dest: str | None = None


class FilePath(Parameters):
    """Path of a file or folder."""

    path: str


class Command(Parameters):
    """A command as a list of program and arguments; a shell line is refused."""

    command: Argv


class Rules(Parameters):
    """What a metric expects, written into the task file; a bare list stands for the key `rules`."""

    rules: Annotated[dict[str, Any], BeforeValidator(with_key)]


class Nothing(Parameters):
    """No keys besides `type`."""


def vm_file(parameters: FileOnDesktop, context: TaskContext) -> Reading:
    """Path of a file of the desktop, for metrics that read it themselves."""
    path = context.path(parameters.path)
    return Reading(path, f"{context.shown(path)} exists") if path.is_file() else _absent(path, context)


def vm_file_text(parameters: FileOnDesktop, context: TaskContext) -> Reading:
    """Text of a file of the desktop, without the line ends that editors put behind the last line."""
    path = context.path(parameters.path)
    if not path.is_file():
        return _absent(path, context)
    text = read_text(path).rstrip("\r\n")
    return Reading(text, f"{context.shown(path)}: {excerpt(text)}")


def local_file(parameters: FilePath, context: TaskContext) -> Reading:
    """Path of a fixture beside the task file."""
    path = context.folder / parameters.path
    if not path.is_file():
        raise CheckFailed(f"the fixture {parameters.path} is missing beside the task file")
    return Reading(path, f"fixture {parameters.path}")


def vm_command_line(parameters: Command, context: TaskContext) -> Reading:
    """Standard output of a command that runs among the desktop's applications."""
    ended = context.run(parameters.command)
    if ended.returncode != 0:
        raise CheckFailed(
            f"{parameters.command[0]!r} ended with status {ended.returncode}: {excerpt(ended.stderr.strip())}"
        )
    return Reading(ended.stdout, f"{' '.join(parameters.command)}: {excerpt(ended.stdout)}")


def server_submissions(parameters: Nothing, context: TaskContext) -> Reading:
    """Forms that the task's server received: a list of `{"path": ..., "fields": {...}}`, oldest first."""
    if context.server is None:
        raise CheckFailed("the task has no server: add a `serve` step to its config")
    received = [asdict(submission) for submission in context.server.submissions]
    if not received:
        return Reading(None, "the server received no form")
    return Reading(received, f"the server received {json.dumps(received, ensure_ascii=False)}")


def active_window_title(parameters: Nothing, context: TaskContext) -> Reading:
    """Title of the window that has the keyboard."""
    window = context.desktop.observe().active_window
    return Reading(None, "no window is active") if window is None else Reading(window.title, f"window {window.title!r}")


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


GETTERS: dict[str, Getter[Any]] = {
    "vm_file": Getter(FileOnDesktop, vm_file),
    "vm_file_text": Getter(FileOnDesktop, vm_file_text),
    "local_file": Getter(FilePath, local_file),
    "vm_command_line": Getter(Command, vm_command_line),
    "server_submissions": Getter(Nothing, server_submissions),
    "active_window_title": Getter(Nothing, active_window_title),
    "rule": Getter(Rules, rule),
}

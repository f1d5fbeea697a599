"""Getters read one part of the applications' state; task files name them as the type of `result` and `expected`.

A getter is a function of the context whose keyword-only parameters are its keys in a task file, listed in a table
`GETTERS`. Names are OSWorld's where it has an equivalent. Something absent, such as a file that was never saved, is a
`Reading` without a value; something that cannot be read is an error and never counts as a failed task.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from evaluation.state.parameters import Argv, Unused, by_name
from evaluation.state.reading import Reading, excerpt, read_text

Getter = Callable[..., Reading]


def file_reading(path: Path, context: TaskContext) -> Reading:
    """Return the path of a file as a reading, without a value if there is no such file."""
    shown = context.shown(path)
    return Reading(path, f"{shown} exists") if path.is_file() else Reading(None, f"{shown} does not exist")


def vm_file(context: TaskContext, *, path: str, dest: Unused = None) -> Reading:
    """Path of a file of the desktop, for metrics that read it themselves."""
    return file_reading(context.path(path), context)


def vm_file_text(context: TaskContext, *, path: str, dest: Unused = None) -> Reading:
    """Text of a file of the desktop, without the line ends that editors put behind the last line."""
    found = file_reading(context.path(path), context)
    if found.value is None:
        return found
    text = read_text(found.value).rstrip("\r\n")
    return Reading(text, f"{context.shown(found.value)}: {excerpt(text)}")


def local_file(context: TaskContext, *, path: str) -> Reading:
    """Path of a fixture next to the task file."""
    fixture = context.folder / path
    if not fixture.is_file():
        raise CheckFailed(f"the fixture {path} is missing next to the task file")
    return Reading(fixture, f"fixture {path}")


def vm_command_line(context: TaskContext, *, command: Argv) -> Reading:
    """Standard output of a command that runs among the desktop's applications."""
    output = context.output(command)
    return Reading(output, f"{' '.join(command)}: {excerpt(output)}")


def server_submissions(context: TaskContext) -> Reading:
    """Forms that the task's server received: a list of `{"path": ..., "fields": {...}}`, oldest first."""
    if context.server is None:
        raise CheckFailed("the task has no server: add a `serve` step to its config")
    received = [asdict(submission) for submission in context.server.submissions]
    if not received:
        return Reading(None, "the server received no form")
    return Reading(received, f"the server received {json.dumps(received, ensure_ascii=False)}")


def active_window_title(context: TaskContext) -> Reading:
    """Title of the window that has the keyboard."""
    window = context.desktop.observe().active_window
    return Reading(None, "no window is active") if window is None else Reading(window.title, f"window {window.title!r}")


GETTERS: dict[str, Getter] = by_name(
    vm_file, vm_file_text, local_file, vm_command_line, server_submissions, active_window_title
)

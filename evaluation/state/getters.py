"""Getters read one part of the applications' state; task files name them as the type of `result` and `expected`.

A getter is a public function of the context whose keyword-only parameters are its keys in a task file. Names are
OSWorld's where it has an equivalent. Something absent, such as a file that was never saved, is a `Reading` without a
value; something that cannot be read is an error and never counts as a failed task.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext
from evaluation.state.downloads import digest
from evaluation.state.parameters import Command, Truthy, Unused, public_functions
from evaluation.state.reading import Reading, excerpt, read_text

Getter = Callable[..., Reading]


def file_reading(path: Path, context: TaskContext) -> Reading:
    """Return the path of a file as a reading, without a value if there is no such file."""
    shown = context.shown(path)
    return Reading(path, f"{shown} exists") if path.is_file() else Reading(None, f"{shown} does not exist")


Paths = str | Annotated[tuple[str, ...], Field(min_length=1)]
Indices = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]


def vm_file(
    context: TaskContext,
    *,
    path: Paths,
    dest: Unused = None,
    multi: bool = False,
    gives: Indices = (0,),
    time_suffix: bool = False,
    time_format: str = "%Y_%m_%d",
) -> Reading:
    """Path of a file of the desktop, for metrics that read it themselves; a list of paths where several are given.

    Args:
        context: The task.
        path: The file, or several with `multi`.
        dest: Unused.
        multi: Whether there are several; those that are not given to the metric may be read beside the first.
        gives: Which of several the metric is given.
        time_suffix: Whether the name ends with the time, before its extension.
        time_format: Format of that time, as in `strftime`.
    """
    paths = [context.path(one) for one in _given(path, gives)]
    if time_suffix:
        now = datetime.now().astimezone().strftime(time_format)
        paths = [one.with_name(f"{one.stem}{now}{one.suffix}") for one in paths]
    return _several([file_reading(one, context) for one in paths])


def cloud_file(
    context: TaskContext, *, path: Paths, dest: Paths, multi: bool = False, gives: Indices = (0,)
) -> Reading:
    """Path of a downloaded file under the name `dest`; several as for `vm_file`."""
    found = [copy_of_download(context, one, name) for one, name in zip(_listed(path), _listed(dest), strict=True)]
    return _several([Reading(one, one.name) for one in _given(found, gives)])


def copy_of_download(context: TaskContext, address: str, name: str) -> Path:
    """Return a downloaded file under its name in the cache of the task."""
    copy = context.cached(name)
    if not copy.exists():
        shutil.copyfile(context.downloads.get(address), copy)
    return copy


def cache_file(context: TaskContext, *, path: str) -> Reading:
    """Path of a file that a step wrote, such as the output of a command (`stdout` of `execute`)."""
    file = context.cached(path)
    if not file.is_file():
        raise CheckFailed(f"no step of the task wrote {path}")
    return Reading(file, path)


def vm_dir(context: TaskContext, *, path: str) -> Reading:
    """Path of a folder of the desktop."""
    folder = context.path(path)
    found = folder.is_dir()
    return Reading(folder if found else None, f"{context.shown(folder)} {'exists' if found else 'does not exist'}")


def vm_dir_file_hashes(context: TaskContext, *, path: str) -> Reading:
    """SHA-256 of each file of a folder, not of its subfolders, sorted."""
    found = vm_dir(context, path=path)
    if found.value is None:
        return found
    hashes = sorted(digest(file) for file in found.value.iterdir() if file.is_file())
    return Reading(hashes, f"{len(hashes)} files in {context.shown(found.value)}")


def file_unzipped(context: TaskContext, *, path: str, dest: str) -> Reading:
    """Path of the folder with the content of a zip archive, of the desktop or the network."""
    remote = path.startswith(("http://", "https://"))
    archive = copy_of_download(context, path, dest) if remote else context.path(path)
    if not archive.is_file():
        return Reading(None, f"{context.shown(archive)} does not exist")
    folder = context.cached(f"{dest}.unzipped")
    try:
        with zipfile.ZipFile(archive) as content:
            content.extractall(folder)
    except (zipfile.BadZipFile, OSError) as error:
        return Reading(None, f"{archive.name} is not a zip archive: {error}")
    return Reading(folder, archive.name)


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str | Path) else list(value)


def _given(value: Any, gives: Sequence[int]) -> list[Any]:
    listed = _listed(value)
    return listed if len(listed) == 1 else [one for number, one in enumerate(listed) if number in gives]


def _several(readings: Sequence[Reading]) -> Reading:
    """Return one reading as it is, and several as one whose value is a list, absent if one of them is."""
    if len(readings) == 1:
        return readings[0]
    values = [reading.value for reading in readings]
    evidence = ", ".join(reading.evidence for reading in readings)
    return Reading(None if None in values else values, evidence)


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


def vm_command_line(context: TaskContext, *, command: Command, shell: Truthy = False) -> Reading:
    """Standard output of a command among the desktop's applications; its status does not count."""
    output = context.run(context.command(command, bool(shell))).stdout
    return Reading(output, f"{command if isinstance(command, str) else ' '.join(command)}: {excerpt(output)}")


def vm_command_error(context: TaskContext, *, command: Command, shell: Truthy = False) -> Reading:
    """Standard error of a command, likewise."""
    output = context.run(context.command(command, bool(shell))).stderr
    return Reading(output, f"{command if isinstance(command, str) else ' '.join(command)}: {excerpt(output)}")


def vm_screen_size(context: TaskContext) -> Reading:
    """Width and height of the screen, px."""
    width, height = context.desktop.size
    return Reading({"width": width, "height": height}, f"the screen has {width} x {height} px")


def vm_window_size(context: TaskContext, *, app_class_name: str) -> Reading:
    """Width and height of the first window of an application, px."""
    for window in context.windows.managed_windows():
        if app_class_name.casefold() in window.app.casefold():
            size = {"width": window.rect.width, "height": window.rect.height}
            return Reading(size, f"the window has {window.rect.width} x {window.rect.height} px")
    return Reading(None, f"there is no window of {app_class_name}")


def vm_terminal_output(context: TaskContext) -> Reading:
    """Text of the terminal that has the keyboard."""
    observation = context.desktop.observe()
    active = observation.active_window
    found = [
        element.text
        for element in observation.elements
        if element.role == "terminal" and element.text and active is not None and element.window_id == active.id
    ]
    return Reading(found[0].rstrip(), excerpt(found[0])) if found else Reading(None, "no terminal is in front")


def step_actions(context: TaskContext) -> Reading:
    """What the agent did, as actions of OSWorld's space `computer_13`."""
    if context.actions is None:
        raise CheckFailed("the actions of this run were not recorded")
    return Reading(context.actions, f"{len(context.actions)} actions")


def rule(context: TaskContext, *, rules: Any) -> Reading:
    """The rules themselves, for task files that have them where a state belongs."""
    return Reading(rules, "rules")


def time_diff_range(context: TaskContext, *, diff_range_in_minutes: str | int) -> Reading:
    """A number of minutes."""
    return Reading(int(diff_range_in_minutes), f"{diff_range_in_minutes} minutes")


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


def getters_in(module: str) -> dict[str, Getter]:
    """Return the getters of a module by name: its public functions of a context that return a `Reading`."""
    return {getter.__name__: getter for getter in public_functions(module, Reading, ("context",))}

"""What a task file needs beyond a private desktop, and whether it is here."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluation.osworld.task import Step, TaskFile
from evaluation.state.context import Rights
from evaluation.state.downloads import Downloads
from evaluation.state.machine import machine, replacement

Kind = Literal[
    "account", "machine image", "root", "program", "commands", "download", "live web site", "recorded actions"
]
_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
_HERE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|[\w.-]+\.localhost)\b")
_DOWNLOADING = ("download", "cloud_file", "file_unzipped", "mail_attachments")
_OF_PAGES = ("chrome_", "active_", "target_", "open_tabs_", "url_")
"""How the names of steps and getters begin that are about open pages."""
_COMMANDS = ("launch", "execute", "command", "execute_with_verification", "vm_command_line", "vm_command_error")


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a task needs."""

    kind: Kind  # what kind of thing
    what: str  # which one
    met: bool  # whether it is here


def needs_of(task: TaskFile, rights: Rights) -> list[Need]:
    """Return what a task needs, each once, in the order of the file.

    Args:
        task: The task.
        rights: What it may do; its folder of files has the downloads.
    """
    downloads = Downloads(rights.files)
    found: dict[tuple[str, str], Need] = {}
    for need in _needs(task, rights, downloads):
        found.setdefault((need.kind, need.what), need)
    return list(found.values())


def _needs(task: TaskFile, rights: Rights, downloads: Downloads) -> Iterator[Need]:
    known = machine()
    if task.spec_snapshot is not None:
        yield Need("machine image", f"the snapshot {task.spec_snapshot}", False)
    for application in task.related_apps:
        program = known.applications.get(application)
        if program is not None and shutil.which(replacement([program])[0]) is None:
            yield Need("program", program, False)
    judges_pages = any(check.result.type.startswith(_OF_PAGES) for check in task.evaluator.checks)
    for name, parameters in _parts(task):
        written = parameters.model_dump(exclude_unset=True)
        if (absent := (known.absent_steps | known.absent_getters).get(name)) is not None:
            yield Need("account" if "account" in absent else "machine image", absent, False)
            continue
        texts = list(_texts(written))
        addresses = [address for text in texts for address in _ADDRESS.findall(text)]
        if name == "step_actions":
            yield Need("recorded actions", "actions of the space computer_13", False)
        if name in _DOWNLOADING:
            yield from (Need("download", address, rights.online or downloads.has(address)) for address in addresses)
        elif name in known.web or name.startswith(_OF_PAGES) or (name == "rule" and judges_pages):
            yield from _sites(addresses, written)
        if name in _COMMANDS:
            yield from _of_command(written, task, rights)


def _parts(task: TaskFile) -> Iterator[tuple[str, Any]]:
    """Yield the names and parameters of all steps and getters."""
    steps: tuple[Step, ...] = (*task.config, *task.evaluator.postconfig)
    yield from ((step.type, step.parameters) for step in steps)
    for check in task.evaluator.checks:
        yield from ((one.type, one) for one in (check.result, check.expected) if one is not None)


def _sites(addresses: list[str], written: Mapping[str, Any]) -> Iterator[Need]:
    services = machine().services
    for address in addresses:
        host = re.sub(r"^https?://([^/?#]+).*", r"\1", address)
        if host in services:
            yield Need("machine image", services[host], False)
        elif not _HERE.match(address) and host != "www.":
            yield Need("live web site", host, False)
    for address in written.get("urls_to_open", ()):
        if "://" not in address and address not in services:
            yield Need("live web site", address.partition("/")[0], False)


def _of_command(written: Mapping[str, Any], task: TaskFile, rights: Rights) -> Iterator[Need]:
    command, known = written["command"], machine()
    words = _words(command)
    programs = [Path(word).name for word in words]
    if words and programs[0] in known.unneeded:
        return
    yield Need("commands", "--allow-commands", rights.commands or task.bundled)
    for program in programs:
        if program in known.root:
            yield Need("root", program, False)
        elif program in known.image and shutil.which(program) is None:
            yield Need("machine image", program, False)
    if any("CLIENT_PASSWORD" in text for text in words):
        yield Need("root", "the password of the machine's user", False)
    first = words[0] if words else ""
    is_plain = re.fullmatch(r"[\w./+-]+", first) is not None and not first.startswith(("./", "/home/", "~"))
    is_listed = Path(first).name in (*known.root, *known.image, "cd", "export", "echo", "if", "for", "source")
    if is_plain and not is_listed:
        program = replacement([first])[0]
        if shutil.which(program) is None:
            yield Need("program", Path(first).name, False)


def _words(command: Any) -> list[str]:
    """Return the words of a command; of a line for the shell, those that a shell would see."""
    if not isinstance(command, str):
        words = list(command)
        inner = words[-1] if len(words) == 3 and words[1] == "-c" and Path(words[0]).name in ("sh", "bash") else None
        return [words[0], *_words(inner)] if inner is not None else words
    try:
        return shlex.split(command, comments=False)
    except ValueError:
        return command.split()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in ("script", "xpathObject", "jsObjects", "goto_prefix"):
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)

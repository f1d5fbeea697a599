"""Runs `agent-s` as a user would: as a process of its own, with its own home folder."""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from aci.acting.actions import PRIMITIVES
from aci.desktop.folders import common_folder
from aci.processes import MARK
from agent_s.cli.app import run_app

AGENT_S = [sys.executable, "-m", "agent_s"]
LIMIT_S = 500.0
"""Longest time for a command, on a busy machine."""


class User:
    """A user with a home folder and a folder for temporary files.

    Attributes:
        home: HOME, which holds memory and runs.
        tmp: TMPDIR; its path is short because it holds sockets.
    """

    def __init__(self, home: Path, tmp: Path) -> None:
        self.home = home
        self.tmp = tmp

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of this user, who has no screen."""
        unwanted = ("XDG_", "DISPLAY", "DBUS_", "COLUMNS", "TERM")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        root = str(Path(__file__).parents[2])
        return {**kept, "HOME": str(self.home), "TMPDIR": str(self.tmp), "PYTHONPATH": root, "TERM": "xterm", **more}

    def agent_s(
        self, *words: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command and wait until it ends."""
        return subprocess.run(
            [*AGENT_S, *words],
            env=self.environment(**(env or {})),
            stdin=options.pop("stdin", subprocess.DEVNULL if "input" not in options else None),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            **options,
        )

    def call(self, *words: str, input: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command that needs neither a desktop nor signals in this process, which saves the start of another."""
        output, errors = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment(), clear=True),
            mock.patch.object(sys, "stdin", io.StringIO(input)),
            redirect_stdout(output),
            redirect_stderr(errors),
        ):
            status = run_app(words)
        return subprocess.CompletedProcess(words, status, output.getvalue(), errors.getvalue())

    def start(
        self, *words: str, env: Mapping[str, str] | None = None, program: Sequence[str] = AGENT_S
    ) -> subprocess.Popen[str]:
        """Start a command in a session of its own, as a terminal does."""
        return subprocess.Popen(
            [*program, *words],
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    @property
    def runs(self) -> Path:
        """Folder of recorded runs."""
        return self.home / ".local/share/agent-s/runs"

    @property
    def memory(self) -> Path:
        """File of the memory."""
        return self.home / ".local/share/agent-s/memory.sqlite"

    def desktops(self) -> list[Path]:
        """Return the folders of this user's virtual desktops."""
        folder = common_folder(self.tmp)
        return sorted(folder.iterdir()) if folder.is_dir() else []


@contextmanager
def new_user(home: Path) -> Iterator[User]:
    """Provide a user, and clean up the virtual desktops that a failed test leaves behind."""
    from aci.desktop.cleanup import find_abandoned, remove_abandoned

    home.mkdir(exist_ok=True)
    tmp = Path(tempfile.mkdtemp(prefix="e2e-"))
    try:
        yield User(home, tmp)
    finally:
        remove_abandoned(find_abandoned(tmp))
        shutil.rmtree(tmp, ignore_errors=True)


def processes_of(desktops: Sequence[Path]) -> list[int]:
    """Return the ids of the processes that belong to these desktops."""
    marks = [f"{MARK}={folder.name.removeprefix('desktop-')}".encode() for folder in desktops]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(mark in environment for mark in marks):
            found.append(int(folder.name))
    return found


def recording(path: Path, instruction: str, *subtasks: Sequence[Mapping[str, object]], summaries: bool = True) -> str:
    """Write the recorded answers of a model that performs these actions, and return the name of that model.

    Args:
        path: The file.
        instruction: The task.
        subtasks: The actions of each subtask, without the `done` at its end.
        summaries: Whether to record the answers after the last subtask, too.
    """
    lines: list[tuple[str, dict[str, object]]] = []
    names = [{"name": f"part {number}", "info": ""} for number, _ in enumerate(subtasks, start=1)]
    edges = [[one["name"], other["name"]] for one, other in itertools.pairwise(names)]
    lines.append(("plan", {"nodes": names, "edges": edges}))
    for actions in subtasks:
        for action in (*actions, {"action": "done"}):
            assert action["action"] in PRIMITIVES
            lines.append(("act", {"next_action": f"to {action['action']}", "action": action}))
            if action["action"] == "fail":
                break
    if summaries:
        lines.append(("verify", {"verified": None, "reason": "a recording cannot judge"}))
        lines.append(("summarize", {"summaries": ["all was done"]}))
    records = [{"kind": kind, "instruction": instruction, "output": output} for kind, output in lines]
    path.write_text("".join(json.dumps(record) + "\n" for record in [{"schema_version": 1}, *records]))
    return f"recorded:{path}"

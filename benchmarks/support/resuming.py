"""An exploration that is killed again and again, and what it found in the end."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from aci.desktop.cleanup import find_abandoned, remove_abandoned
from aci.desktop.folders import common_folder
from exploration.job.scope import read_scope
from exploration.report.summary import summarize
from memory_store import MemoryStore, SkillExperience

TASKS = 2
SHORTEST_S = 1.0
"""Time from the start of a command to its kill, at least."""
ENDING_S = 30.0
"""How long what a killed command leaves may take to end by itself, s."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an exploration ended with, as far as it has to be the same each time."""

    skills: frozenset[tuple[str, str]]
    boundaries: frozenset[str]
    remembered: frozenset[str]
    tasks: frozenset[tuple[str, bool]]

    def difference(self, other: Found) -> list[str]:
        """Return what one of the two has and the other has not, as texts."""
        mine, others = (
            {f"{field.name}: {one}" for field in fields(each) for one in getattr(each, field.name)}
            for each in (self, other)
        )
        return sorted(mine ^ others)


class Explorer:
    """Somebody who explores an application with the command line, and kills it.

    Args:
        folder: Gets the exploration and its memory.
        tmp: Gets the desktops; with a short path, since sockets lie in it.
        name: What the application is called.
        depth: Longest path of the search, which bounds it instead of time.
        seconds: Time after which an undisturbed exploration is given up, s.
    """

    def __init__(self, folder: Path, tmp: Path, name: str, depth: int, seconds: float) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._out, self._home, self._tmp = folder / "out", folder / "home", tmp
        self._home.mkdir(parents=True)
        self._seconds = seconds
        self._command = [
            *(sys.executable, "-m", "agent_s", "explore", name, "--model", "offline", "--tasks", str(TASKS)),
            *("--depth", str(depth), "--search", f"{seconds:g}", "--out", str(self._out), "--quiet"),
        ]

    def run(self) -> float:
        """Explore undisturbed, or to the end what was killed before; return how long it took, s."""
        began = time.monotonic()
        with self._start() as process:
            try:
                process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGTERM)
                raise
        return time.monotonic() - began

    def killed(self, kills: int, took_s: float, chance: random.Random) -> int:
        """Explore and kill it so many times, at moments spread over the time it takes; return how often it was."""
        for number in range(kills):
            with self._start() as process:
                try:
                    process.wait(chance.uniform(SHORTEST_S, max(2 * SHORTEST_S, 2 * took_s / kills)))
                except subprocess.TimeoutExpired:
                    self._kill(process.pid, chance.choice(("the command", "its workers", "all")))
                else:
                    return number
        return kills

    def found(self) -> Found:
        """Return what it ended with."""
        scope = read_scope(self._out)
        assert scope is not None
        (summary,) = summarize(self._out, scope.applications)
        with MemoryStore.open(self._home / ".local/share/agent-s/memory.sqlite") as memory:
            skills = [one for one in memory.list_experiences(kind="skill") if isinstance(one, SkillExperience)]
        return Found(
            skills=frozenset((skill.key, skill.name) for skill in (*summary.skills, *summary.composites)),
            boundaries=frozenset(boundary.key for boundary in summary.boundaries),
            remembered=frozenset(skill.name for skill in skills if skill.provenance.state == "active"),
            tasks=frozenset(
                (row.task.instruction, row.result is not None and row.result.outcome == "success")
                for row in summary.tasks
            ),
        )

    def leftovers(self) -> int:
        """Count the desktops that are there after a while, and after what `agent-s doctor` removes."""
        deadline = time.monotonic() + ENDING_S
        while (left := self._desktops()) and time.monotonic() < deadline:
            remove_abandoned(find_abandoned(self._tmp))
            time.sleep(0.2)
        return len(left)

    def _desktops(self) -> list[Path]:
        folder = common_folder(self._tmp)
        return list(folder.iterdir()) if folder.is_dir() else []

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "HOME": str(self._home), "TMPDIR": str(self._tmp)}
        environment = {name: value for name, value in environment.items() if not name.startswith("XDG_")}
        return subprocess.Popen(self._command, env=environment, stdout=subprocess.DEVNULL)

    def _kill(self, pid: int, whom: str) -> None:
        """Kill a command, its workers first (and seen to be missed) or at the same moment, or them not at all."""
        if whom != "the command":
            for worker in _children(pid):
                _kill_if_there(worker)
        if whom == "its workers":
            time.sleep(SHORTEST_S)
        _kill_if_there(pid)


def _children(pid: int) -> list[int]:
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def _kill_if_there(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)

"""Runs the programs of `benchmarks/fixtures` that report what they show."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aci.applications.launching import Process
from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.figures import NotMeasured
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr

_ROOT = Path(__file__).parents[3]
_SWING = _ROOT / "benchmarks/fixtures/swing"
PYTHON = ("env", f"PYTHONPATH={_ROOT}", str(SYSTEM_PYTHON), "-m")
_LIMIT_S = 20.0


class Program:
    """A program that is asked to change its window and to report it (`benchmarks.fixtures.windows.shown.Steps`).

    Attributes:
        desktop: Where it runs.
    """

    def __init__(self, desktop: VirtualDesktop, process: Process, folder: Path) -> None:
        self.desktop = desktop
        self._process, self._folder, self._asked = process, folder, -1

    def report(self, limit_s: float = _LIMIT_S) -> dict[str, Any]:
        """Return what it shows.

        Raises:
            NotMeasured: It does not report within `limit_s`, or has ended.
        """
        return self._ask("as it is", limit_s)

    def change(self, limit_s: float = _LIMIT_S) -> dict[str, Any]:
        """Have something changed, except for the first time, and return what is shown then; see `report`."""
        return self._ask("", limit_s)

    def _ask(self, how: str, limit_s: float) -> dict[str, Any]:
        self._asked += 1
        (self._folder / "ask.new").write_text(f"{self._asked} {how}".strip())
        (self._folder / "ask.new").rename(self._folder / "ask")
        report = self._folder / f"report-{self._asked}.json"
        wait_until(lambda: report.exists() or not self._process.running, limit_s)
        if not report.exists():
            state = "still runs" if self._process.running else "has ended"
            raise NotMeasured(f"the program did not report {self._asked} and {state}: {self._process.last_words}")
        shown: dict[str, Any] = json.loads(report.read_text())
        return shown


@contextmanager
def program(command: Sequence[str], seed: int, size: tuple[int, int]) -> Iterator[Program]:
    """Run a program on a desktop of its own.

    Args:
        command: The command, or the name of a class of `benchmarks/fixtures/swing`; a folder and the seed follow.
        seed: Seed of what it shows.
        size: Width and height of the desktop, px.
    """
    with (
        desktop_without_ocr(size) as desktop,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as classes,
    ):
        if len(command) == 1:
            subprocess.run(["javac", "-d", classes, *_SWING.glob("*.java")], check=True)
            command = ("java", "-cp", classes, *command)
        process = desktop.launch([*command, folder, str(seed)])
        yield Program(desktop, process, Path(folder))

"""Runs the programs of `benchmarks/fixtures` that report what they show."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.figures import NotMeasured
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr

_ROOT = Path(__file__).parents[3]
_SWING = _ROOT / "benchmarks/fixtures/swing"
PYTHON = ("env", f"PYTHONPATH={_ROOT}", str(SYSTEM_PYTHON), "-m")
_LIMIT_S = 20.0


@contextmanager
def program(command: Sequence[str], seed: int, size: tuple[int, int]) -> Iterator[tuple[VirtualDesktop, Path]]:
    """Run a program; yield its desktop, and the folder in which it is asked.

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
        desktop.launch([*command, folder, str(seed)])
        yield desktop, Path(folder)


def ask(folder: Path, text: str, limit_s: float = _LIMIT_S) -> dict[str, Any]:
    """Ask the program for a report (`benchmarks.fixtures.windows.shown.Steps`), and return it.

    Raises:
        NotMeasured: There is none within `limit_s`.
    """
    (folder / "ask.new").write_text(text)
    (folder / "ask.new").rename(folder / "ask")
    report = folder / f"report-{text.split()[0]}.json"
    if not wait_until(report.exists, limit_s):
        raise NotMeasured(f"the window did not report {text}")
    shown: dict[str, Any] = json.loads(report.read_text())
    return shown

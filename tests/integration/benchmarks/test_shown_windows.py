"""What windows of GTK, Qt and Swing show is seen while they change, and nothing else is."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.truth.windows import TOOLKITS, act, look

pytestmark = pytest.mark.desktop

STEPS = 4
# commands that fail where a toolkit is missing
NEEDS = {
    "GTK 3": (SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '3.0')"),
    "GTK 4": (SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '4.0')"),
    "Qt 5": (SYSTEM_PYTHON, "-c", "import PyQt5"),
    "Qt 6": (SYSTEM_PYTHON, "-c", "import PyQt6"),
    "Swing": ("javac", "-version"),
}


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_what_a_window_shows_is_seen_after_each_change(toolkit: str) -> None:
    if shutil.which(NEEDS[toolkit][0]) is None or subprocess.run(NEEDS[toolkit], capture_output=True).returncode:
        pytest.skip(f"{toolkit} is not installed: make setup-toolkits")
    whole, quickly = look(toolkit, seed=1, steps=STEPS)
    assert whole.parts > 100
    assert (whole.unseen, quickly.unseen, whole.phantoms) == ([], [], [])
    assert act(toolkit, seed=1, steps=STEPS).unseen == []

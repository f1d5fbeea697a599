"""What windows of GTK and Qt show is seen while they change, and nothing else is."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.truth.windows import TOOLKITS, act, look

pytestmark = pytest.mark.desktop

STEPS = 4
IMPORTS = {
    "GTK 3": "import gi; gi.require_version('Gtk', '3.0')",
    "GTK 4": "import gi; gi.require_version('Gtk', '4.0')",
    "Qt 5": "import PyQt5",
    "Qt 6": "import PyQt6",
}


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_what_a_window_shows_is_seen_after_each_change(toolkit: str) -> None:
    importing = [SYSTEM_PYTHON, "-c", IMPORTS[toolkit]]
    if not SYSTEM_PYTHON.exists() or subprocess.run(importing, capture_output=True).returncode:
        pytest.skip(f"the system's Python has no {toolkit}")
    whole, quickly = look(toolkit, seed=1, steps=STEPS)
    assert whole.parts > 100
    assert (whole.unseen, quickly.unseen, whole.phantoms) == ([], [], [])
    assert act(toolkit, seed=1, steps=STEPS).unseen == []

"""Skips tests whose toolkit is missing."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from benchmarks.support.reference import SYSTEM_PYTHON

# commands that fail where a toolkit is missing
NEEDS = {
    "GTK 3": (SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '3.0')"),
    "GTK 4": (SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '4.0')"),
    "Qt 5": (SYSTEM_PYTHON, "-c", "import PyQt5"),
    "Qt 6": (SYSTEM_PYTHON, "-c", "import PyQt6"),
    "Swing": ("javac", "-version"),
    "UNO": (SYSTEM_PYTHON, "-c", "import uno"),
}


def needs(toolkit: str) -> None:
    """Skip the test unless a toolkit is installed."""
    if shutil.which(NEEDS[toolkit][0]) is None or subprocess.run(NEEDS[toolkit], capture_output=True).returncode:
        pytest.skip(f"{toolkit} is not installed: make setup-toolkits")

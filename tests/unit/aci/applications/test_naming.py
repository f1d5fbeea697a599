"""What the application of a window is called whose class names none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.applications.catalog import Application, Catalog
from aci.applications.naming import WindowNames

CATALOG = Catalog(
    [
        Application("freeplane", "Freeplane", ("freeplane",)),
        Application("org.example.Office", "Office", ("/usr/bin/office", "--calc"), window_class="Calculations"),
        Application("vim", "Vim", ("xterm", "-e", "vim"), in_terminal=True),
    ]
)


def called(window_class: str, *argv: str) -> str:
    """Return the name for a window of a process that runs this and has no parents."""
    return WindowNames(lambda: CATALOG, lambda pid: argv if pid < 0 else ()).of(window_class, -1)


@pytest.mark.parametrize(
    ("window_class", "argv", "name"),
    [
        ("Mousepad", ("/usr/bin/mousepad", "notes.txt"), "Mousepad"),
        ("Calculations", ("/opt/suite/program.bin",), "Calculations"),
        ("Main", ("/usr/bin/office", "--calc"), "office"),
        ("Tk", ("/usr/bin/python3", "/usr/bin/freeplane"), "freeplane"),
        ("Tk", ("/usr/bin/python3", "/home/somebody/tool.py"), "Tk"),
        ("Tk", (), "Tk"),
        ("Python3", ("/usr/bin/python3", "/usr/bin/freeplane", "map.mm"), "freeplane"),
        ("Python3", ("/usr/bin/python3", "/home/somebody/tool.py"), "Python3"),
        ("Mousepad", ("/usr/bin/mousepad", "freeplane"), "Mousepad"),
        ("Gimp-2.10", ("gimp-2.10",), "Gimp"),
        ("Vi", ("/usr/bin/vim",), "Vi"),
        ("FreeplaneMain", ("/usr/bin/java", "-classpath", "/a/b.jar:/a/freeplane.jar", "FreeplaneMain"), "freeplane"),
        ("Calculations", ("java", "-jar", "/a/freeplane.jar"), "Calculations"),
        ("Unknown", ("java", "-jar", "/a/unknown.jar"), "Unknown"),
    ],
)
def test_windows_are_called_by_their_class_or_by_an_installed_program(
    window_class: str, argv: tuple[str, ...], name: str
) -> None:
    assert called(window_class, *argv) == name


@pytest.fixture
def started_by_script(tmp_path: Path) -> Iterator[int]:
    """Yield the id of a process that a script called "freeplane" started and waits for."""
    script = tmp_path / "freeplane"
    child = "import os, time; print(os.getpid(), flush=True); time.sleep(30)"
    script.write_text(f"#!/bin/sh\n{sys.executable} -c '{child}' &\nwait\n", encoding="utf-8")
    script.chmod(0o700)
    with subprocess.Popen([str(script)], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        try:
            yield pid
        finally:
            os.kill(pid, signal.SIGTERM)  # which ends the script as well


def test_a_window_is_called_by_the_script_that_started_its_process(started_by_script: int) -> None:
    names = WindowNames(lambda: CATALOG)
    assert names.of("BundleThread", started_by_script) == "freeplane"


def test_a_parent_that_is_no_script_gives_no_name(started_by_script: int) -> None:
    shells = Catalog([Application("sh", "Shell", ("sh",))])
    assert WindowNames(lambda: shells).of("BundleThread", started_by_script) == "BundleThread"

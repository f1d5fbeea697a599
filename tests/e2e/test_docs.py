"""Runs every code block of the README and of docs/: Python as it stands, and each `$ agent-s` line of a console."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (agent-s .*?)(?:  # exits (\d))?$", re.MULTILINE)


def blocks(language: str) -> list[pytest.ParameterSet]:
    return [
        pytest.param(found.group(2), id=f"{page.name}:{page.read_text()[: found.start()].count(chr(10)) + 1}")
        for page in PAGES
        for found in BLOCK.finditer(page.read_text())
        if found.group(1) == language
    ]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user without data of this program and without a screen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_") and name != "DISPLAY"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path}


@pytest.mark.desktop
@pytest.mark.slow
@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks_run(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.desktop
@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("console"))
def test_console_blocks_run(block: str, tmp_path: Path) -> None:
    for command, status in COMMAND.findall(block):
        argv = shlex.split(command, comments=True)
        done = subprocess.run(argv, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == int(status or 0), f"{command}\n{done.stdout}\n{done.stderr}"


def test_every_page_is_linked_and_every_link_has_a_target() -> None:
    targets = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    }
    assert [str(target) for target in targets if not target.exists()] == []
    assert [page.name for page in PAGES[1:] if page not in targets] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]]
    assert [page for page in pages if f": {page}\n" not in navigation] == []

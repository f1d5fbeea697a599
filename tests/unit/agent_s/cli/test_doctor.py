from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_s.cli import doctor_checks
from agent_s.cli.app import run_app
from agent_s.cli.doctor_checks import Finding
from agent_s.terminal.exits import DONE, ENVIRONMENT, USAGE


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something that is missing until the command that installs it has run."""
    path = tmp_path / "the tool"

    def look(settings: object) -> Iterator[Finding]:
        if path.exists():
            yield Finding("the tool", "ok", "does its work")
        else:
            yield Finding("the tool", "missing", "not installed", "touch it", ("touch", str(path)))

    monkeypatch.setattr(doctor_checks, "run_checks", look)
    return path


@pytest.mark.parametrize(("answer", "status"), [("y\n", DONE), ("\n", DONE), ("n\n", ENVIRONMENT)])
def test_fix_installs_what_is_missing_after_asking(
    tool: Path, answer: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    assert run_app(["doctor", "--fix"]) == status
    assert f"touch '{tool}'" in capsys.readouterr().out
    assert tool.exists() is (status == DONE)


def test_nothing_is_installed_unasked(tool: Path) -> None:
    assert run_app(["doctor"]) == ENVIRONMENT
    assert run_app(["doctor", "--fix", "--json"]) == USAGE
    assert not tool.exists()

"""Wrong usage of `agent-s explore`."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.cli.app import run_app


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with everything but applications, somebody's home, and no desktop that would start."""
    monkeypatch.setattr("evaluation.commands.eval_run.refuse_missing_programs", lambda: None)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "nobodys")
    monkeypatch.setattr("exploration.job.exploration_job.Exploration.run", lambda self: pytest.fail("it began"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--search", "-1"], "x>=0"),
        (["--search", "nan"], "not a finite number"),
        (["--dollars", "inf"], "not a finite number"),
        (["--out", ""], "give a folder"),
        (["--tasks", "many"], "--tasks"),
        (["--depth", "0"], "--depth"),
        ([""], "No application fits ''"),
        (["no-such-thing"], "No application fits 'no-such-thing'"),
        ([], "No installed application can be explored"),
        (["sh", "--model", "openai:unheard-of", "--dollars", "1"], "price of openai:unheard-of is unknown"),
    ],
)
def test_wrong_usage_is_reported_before_anything_starts(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["explore", *words]) == 2
    assert problem in capsys.readouterr().err


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo.jpg").touch()
    assert run_app(["explore", "sh", "--out", str(tmp_path)]) == 1
    assert "holds no exploration, but other files" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo.jpg"]

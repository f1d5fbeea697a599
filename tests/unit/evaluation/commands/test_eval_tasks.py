from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_s.cli.app import run_app
from evaluation.commands.eval_tasks import SETS, find_tasks
from evaluation.osworld.task import load_tasks


@pytest.mark.parametrize("name", SETS)
def test_bundled_set_is_found_by_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_tasks(find_tasks(name))
    (tmp_path / name).mkdir()
    assert find_tasks(name) == Path(name)


def test_error_names_the_missing_folder_and_lists_the_bundled_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "tasks", "everyay"]) == 2
    assert "no folder or bundled set 'everyay'. Bundled sets: demo, everyday" in capsys.readouterr().err


def test_unknown_metric_is_an_error_that_suggests_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = {"func": "exact_mach", "result": {"type": "vm_file_text", "path": "~/a.txt"}}
    (tmp_path / "tasks").mkdir()
    task = {"id": "task", "instruction": "Write a.txt.", "evaluator": evaluator}
    (tmp_path / "tasks" / "task.json").write_text(json.dumps(task))

    arguments = [
        "eval",
        "tasks",
        str(tmp_path / "tasks"),
        "--model",
        "offline",
        "--out",
        str(tmp_path / "out"),
        "--quiet",
    ]
    assert run_app(arguments) == 1
    assert "unknown metric 'exact_mach'; did you mean 'exact_match'?" in capsys.readouterr().out

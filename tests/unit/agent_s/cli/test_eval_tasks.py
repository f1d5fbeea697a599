from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.cli.app import run_app
from agent_s.cli.eval_tasks import SETS, find_tasks
from evaluation.task import load_tasks


@pytest.mark.parametrize("name", SETS)
def test_a_set_that_comes_with_the_program_is_found_by_its_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_tasks(find_tasks(name))
    (tmp_path / name).mkdir()
    assert find_tasks(name) == Path(name)


def test_a_folder_that_is_not_there_is_named_with_the_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "tasks", "everyay"]) == 2
    assert "no folder 'everyay', and no set of that name; sets: demo, everyday" in capsys.readouterr().err

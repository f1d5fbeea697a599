"""Results in OSWorld's layout."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_s.cli.app import run_app
from agent_s.trajectory.recorder import Recorder
from evaluation.harness.results import Header, Result, ResultsFile
from tests.unit.agent_s.a_run import events_of_a_run


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    settings = {"observation": "marks"}
    kept = ResultsFile(
        folder,
        Header(
            benchmark="tasks", model="anthropic:some/model", settings=settings, version="1", started=datetime.now(UTC)
        ),
    )
    recorder = Recorder(folder / "runs/one")
    for event in events_of_a_run():
        recorder(event)
    recorder.close()
    common: dict[str, Any] = {"status": "done", "labels": {"application": "writer"}}
    kept.add(Result(task="right", outcome="success", score=1.0, trajectory="runs/one", **common))
    kept.add(Result(task="half/../right", outcome="failure", score=0.5, **common))
    kept.add(Result(task="broken", outcome="error", reason="the browser is gone", **common))
    return folder


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "traj.jsonl").read_text().splitlines()]


def test_each_task_has_its_folder_steps_screens_and_score(results: Path, tmp_path: Path) -> None:
    assert run_app(["eval", "export", str(results), "--out", str(tmp_path / "out")]) == 0
    writer = tmp_path / "out/agent_s/som/anthropic_some_model/writer"
    assert sorted(path.name for path in writer.iterdir()) == ["broken", "half_.._right", "right"]

    steps = lines(writer / "right")
    assert [step["step_num"] for step in steps] == list(range(1, len(steps) + 1))
    assert steps[0]["action"] == {"action": "click", "element_id": 7}
    assert (steps[-1]["action"], steps[-1]["done"], steps[-1]["info"]) == ("DONE", True, {"done": True})
    assert (writer / "right/step_0.png").exists()
    assert all((writer / "right" / step["screenshot_file"]).exists() for step in steps if step["screenshot_file"])
    assert (writer / "right/result.txt").read_text() == "1.0\n"
    assert (writer / "half_.._right/result.txt").read_text() == "0.5\n"


def test_a_task_that_could_not_be_judged_has_a_reason_and_no_score(results: Path, tmp_path: Path) -> None:
    run_app(["eval", "export", str(results), "--out", str(tmp_path / "out")])
    broken = tmp_path / "out/agent_s/som/anthropic_some_model/writer/broken"
    assert lines(broken) == [{"Error": "the browser is gone"}]
    assert not (broken / "result.txt").exists()


def test_recorded_runs_are_written_as_atif(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "export", str(results), "--format", "atif", "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == 1
    assert (tmp_path / "out/one/trajectory.json").exists()

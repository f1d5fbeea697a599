"""`agent-s eval errors` reads evaluations, ablations, folders of runs and single runs."""

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


def record(folder: Path, **of_run: Any) -> None:
    """Record a made-up run, in which one of two subtasks and the first step fail."""
    recorder = Recorder(folder)
    for event in events_of_a_run(**of_run):
        recorder(event)
    recorder.close()


def evaluation(folder: Path, *results: Result) -> None:
    started = datetime(2026, 3, 14, tzinfo=UTC)
    kept = ResultsFile(folder, Header(benchmark="tasks", model="m", settings={}, version="1", started=started))
    for result in results:
        kept.add(result)


def result(task: str, outcome: str, trajectory: str = "", application: str = "gimp") -> Result:
    fields = {"task": task, "outcome": outcome, "status": "done", "trajectory": trajectory}
    return Result.model_validate({**fields, "labels": {"application": application}})


def analysed(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    assert run_app(["eval", "errors", str(folder), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_failed_runs_of_an_evaluation_are_grouped_by_application(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "runs" / "a", verified=None)
    record(tmp_path / "runs" / "b", verified=None, status="out_of_budget")
    evaluation(
        tmp_path,
        result("a", "failure", "runs/a"),
        result("b", "failure", "runs/b", "vlc"),
        result("c", "success"),
        result("d", "failure"),
    )

    found = analysed(tmp_path, capsys)

    assert set(found["rates"]) == {"gimp", "vlc", "all"}
    assert found["rates"]["all"] == {
        "failed_runs": 2, "planning": 0.0, "grounding": 0.0, "execution": 1.0, "undecided": 0.0, "subtask_failure": 0.5,
    }  # fmt: skip
    first, second = found["runs"]
    refused = {"kind": "execution", "sign": "refused", "steps": [1], "subtask": "type Save", "by": "rule", "reason": ""}
    assert (first["run"], first["subtasks"], first["failed_subtasks"], first["errors"]) == ("a", 2, 1, [refused])
    assert [error["sign"] for error in second["errors"]] == ["refused", "budget"]
    assert found["left_out"] == {"d": "it was not recorded"}


def test_rows_of_an_ablation_are_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for row in ("agent-s", "without-web"):
        record(tmp_path / row / "runs" / "a", verified=False)
        evaluation(tmp_path / row, result("a", "failure", "runs/a"))

    assert run_app(["eval", "errors", str(tmp_path)]) == 0

    shown = capsys.readouterr().out
    assert "agent-s" in shown and "without-web" in shown
    assert "2 failed runs" in shown


def test_of_recorded_runs_those_count_whose_check_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", run_id="a" * 12, verified=False)
    record(tmp_path / "b", run_id="b" * 12, verified=True)
    record(tmp_path / "c", run_id="c" * 12, verified=None)
    record(tmp_path / "d", run_id="d" * 12, verified=None, status="failed")
    record(tmp_path / "e", run_id="e" * 12, verified=False, status="stopped")

    assert {run["run"] for run in analysed(tmp_path, capsys)["runs"]} == {"a" * 12, "d" * 12}
    assert [run["run"] for run in analysed(tmp_path / "a", capsys)["runs"]] == ["a" * 12]


def test_a_model_is_asked_only_if_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "a", verified=False)

    assert analysed(tmp_path, capsys)["model"] is None
    assert analysed(tmp_path, capsys, "--model", "offline")["problem"] == ""
    assert run_app(["eval", "errors", str(tmp_path), "--model", "nothing:here"]) != 0
    assert "There is no model 'nothing:here'" in capsys.readouterr().err


def test_a_folder_without_runs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["eval", "errors", str(tmp_path)]) != 0
    assert "no recorded runs" in capsys.readouterr().err

"""A run as ATIF: its steps, and that Harbor's own models accept it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_s.cli.app import run_app
from agent_s.errors import TrajectoryError
from agent_s.events import Observed
from agent_s.runs.reading import Trajectory, read_trajectory
from agent_s.trajectory.atif import to_atif, write_atif
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.a_run import events_of_a_run


@pytest.fixture
def run(tmp_path: Path) -> Trajectory:
    recorder = Recorder(tmp_path / "run")
    for event in events_of_a_run():
        recorder(event)
    recorder.close()
    return read_trajectory(tmp_path / "run")


def test_a_run_becomes_the_task_its_primitives_and_its_end(run: Trajectory) -> None:
    content = to_atif(run)
    steps = content["steps"]
    assert content["schema_version"] == "ATIF-v1.8"
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    assert [step["source"] for step in steps] == ["user", *["agent"] * (len(steps) - 1)]
    calls = [step["tool_calls"][0] for step in steps[1:-1]]
    assert {"function_name": "click", "arguments": {"element_id": 7}}.items() <= calls[0].items()
    assert content["final_metrics"]["total_steps"] == len(steps)
    assert content["extra"]["status"] == "done" and steps[-1]["message"].startswith("done")


@pytest.mark.parametrize("name", ["../secret.png", "screens/../../secret.png"])
def test_a_picture_outside_of_the_run_is_neither_read_nor_written(run: Trajectory, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.png").write_bytes(b"private")
    events = tuple(
        event.model_copy(update={"screenshot": name}) if isinstance(event, Observed) else event for event in run.events
    )
    with pytest.raises(TrajectoryError, match="outside"):
        write_atif(replace(run, events=events), tmp_path / "out" / "atif")
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_steps_without_a_model_have_no_metrics(run: Trajectory) -> None:
    for step in to_atif(run)["steps"]:
        assert step.get("llm_call_count", 0) > 0 or not step.keys() & {"metrics", "reasoning_content"}


def test_pictures_lie_beside_the_file(run: Trajectory, tmp_path: Path) -> None:
    file = write_atif(run, tmp_path / "atif")
    results = [
        step["observation"]["results"][0] for step in json.loads(file.read_text())["steps"] if "observation" in step
    ]
    pictures = [part["source"]["path"] for result in results for part in result["content"] if part["type"] == "image"]
    assert pictures and all((file.parent / path).read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_a_record_that_is_cut_off_is_noted(run: Trajectory) -> None:
    cut = Trajectory(run.folder, run.version, run.events[:-1], "The record ends before the run did.")
    assert to_atif(cut)["notes"] == "The record ends before the run did."
    with pytest.raises(TrajectoryError, match="no beginning"):
        to_atif(Trajectory(run.folder, run.version, ()))


def test_harbors_own_models_accept_it(run: Trajectory) -> None:
    models = pytest.importorskip("harbor.models.trajectories", reason="pip install harbor (needs Python 3.12)")
    assert models.Trajectory.model_validate(to_atif(run)).steps


def test_a_run_is_exported_from_the_command_line(run: Trajectory, tmp_path: Path) -> None:
    assert run_app(["runs", "export", str(run.folder), "--out", str(tmp_path / "out")]) == 0
    assert json.loads((tmp_path / "out/trajectory.json").read_text())["session_id"]

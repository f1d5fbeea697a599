"""`agent-s demo`: tasks on real applications are verified, then replayed without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_s.events import ModelCalled, ReplayStarted
from agent_s.runs.reading import read_trajectory
from agent_s.settings import configs_folder
from evaluation.osworld.task import load_tasks
from tests.e2e.command_line import User

pytestmark = pytest.mark.desktop


@pytest.mark.slow
def test_a_task_is_verified_and_then_replayed_without_the_model(user: User) -> None:
    done = user.agent_s("demo", "--only", "1", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout)
    first, again = summary["tasks"]
    assert summary["ok"] is True
    assert (first["status"], first["verified"], first["replayed"]) == ("done", True, False)
    assert first["model_calls"] > 0
    assert (again["status"], again["verified"], again["replayed"], again["model_calls"]) == ("done", True, True, 0)

    events = read_trajectory(Path(again["trajectory"])).events
    assert not [event for event in events if isinstance(event, ModelCalled)]
    assert [event for event in events if isinstance(event, ReplayStarted)]
    page = Path(summary["report"]).read_text()
    for row in (first, again):
        assert Path(row["report"]).is_file()
        assert str(Path(row["report"]).relative_to(Path(summary["report"]).parent)) in page
    assert not user.memory.exists(), "the demo must not touch the user's own memory"
    assert user.desktops() == []


@pytest.mark.slow
def test_a_task_that_fails_makes_the_demo_fail(user: User) -> None:
    done = user.agent_s("demo", "--only", "1", "--json", "-c", "limits.max_steps=1")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["ok"] is False
    assert summary["tasks"][0]["status"] == "out_of_budget"


@pytest.mark.slow
def test_all_tasks_are_verified(user: User) -> None:
    done = user.agent_s("demo", "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    table = done.stdout.partition("Model calls")[2]
    for task in load_tasks(configs_folder() / "demo"):
        assert f"✓ {task.id}" in table
    assert "✗" not in table
    assert "there is no button 'Frobnicate'" in done.stdout, "the infeasible task ends with the reason"
    memory = Path(done.stdout.rpartition("Memory: ")[2].strip())
    assert memory.is_file()
    assert "Report: " in done.stdout
    assert memory.parent.parent == user.runs


@pytest.mark.slow
def test_a_task_that_copies_text_from_the_screen_is_reported_as_not_replayable(user: User) -> None:
    done = user.agent_s("demo", "--only", "5", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "copy-confirmation-code is not replayed" in done.stdout + done.stderr
    assert "✗" not in done.stdout

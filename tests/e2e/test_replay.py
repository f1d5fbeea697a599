"""`agent-s runs replay` and `agent-s run --replay-only`: a verified run is repeated without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command_line import User

pytestmark = pytest.mark.desktop

TASK = "Open Mousepad, type 'apples and pears', and save it as fruit.txt in the Documents folder."


@pytest.mark.slow
def test_a_run_is_replayed_with_other_values_and_without_a_model(user: User) -> None:
    learned = user.agent_s("run", TASK, "--virtual", "--model", "offline", "--json", "--quiet")
    assert learned.returncode == 0, learned.stderr

    done = user.agent_s(
        *("runs", "replay", "last", "--json", "--quiet"),
        *("--set", "apples and pears=nuts", "--set", "fruit.txt=shelf.txt"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["status"], report["verified"], report["replayed"], report["model"]) == ("done", True, True, "none")
    assert report["usage"]["model_calls"] == 0
    (file,) = report["files"]
    assert (Path(file).name, Path(file).read_text()) == ("shelf.txt", "nuts")
    assert user.desktops() == []


@pytest.mark.slow
def test_replay_only_fails_with_the_reason_when_nothing_in_memory_matches(user: User) -> None:
    done = user.agent_s("run", TASK, "--virtual", "--replay-only", "--quiet")
    assert done.returncode == 1
    assert "Memory holds nothing verified that matches this task" in done.stdout
    again = user.agent_s("runs", "replay", "last", "--set", "fruit.txt=shelf.txt")
    assert again.returncode == 2 and "ended as failed, so it cannot be replayed" in again.stderr

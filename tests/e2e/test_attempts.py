"""`--attempts`: several runs on private desktops, of which one counts and may be replayed on one's own screen."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from agent_s.runs.reading import read_trajectory
from memory_store import HashingEmbedder, MemoryStore
from tests.e2e.command_line import User, recording

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

WRITE = [
    {"action": "switch_applications", "app_code": "mousepad"},
    {"action": "type", "text": "hello"},
    {"action": "wait", "time": 1},
]


def test_attempts_leave_the_own_screen_alone_until_the_best_is_replayed(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Write hello", WRITE)
    with VirtualDesktop() as own:
        options = ("--display", own.display, "--model", model, "-c", "reflection.enabled=false")
        around = {"DISPLAY": own.display, "DBUS_SESSION_BUS_ADDRESS": own.environment["DBUS_SESSION_BUS_ADDRESS"]}
        done = user.agent_s("run", "Write hello", "--attempts", "2", *options, env=around)

        assert done.returncode == 0, done.stdout + done.stderr
        assert own.observe().windows == ()
        assert re.search(r"Attempt [12], chosen by rule: ", done.stdout), done.stdout
        assert re.search(r"\n\d+ model calls in all", done.stdout), done.stdout
        with MemoryStore.open(user.memory, HashingEmbedder()) as memory:
            [story] = memory.list_experiences("narrative")
        assert story.provenance.times_seen == 1  # memory is as if only the chosen attempt had been made
        assert story.provenance.run_id in done.stdout.partition("To replay")[2]
        [command] = re.findall(r"To replay the attempt there: agent-s (.+)", done.stdout)
        replayed = user.agent_s(*shlex.split(command), env=around)

        assert replayed.returncode == 0, replayed.stdout + replayed.stderr
        assert "hello" in own.observe().to_text()
    assert user.desktops() == []


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("run", "--display", ":987", "--attempts", "2", "Write hello"), ":987"),
        (("run", "--virtual", "--model", "http://127.0.0.1:9/v1#m", "--attempts", "2", "Write hello"), "reached"),
        (("eval", "tasks", "everyday", "--model", "http://127.0.0.1:9/v1#m", "--attempts", "2"), "reached"),
    ],
)
def test_nothing_is_attempted_for_a_screen_or_with_a_model_that_is_not_there(
    user: User, command: tuple[str, ...], reason: str
) -> None:
    done = user.agent_s(*command, "-c", "provider.retries=0")

    assert done.returncode == 3, done.stdout + done.stderr
    assert reason in done.stderr
    assert "side by side" not in done.stderr + done.stdout and "episodes" not in done.stderr


def test_evaluation_with_attempts_has_one_result_for_each_task_and_hides_verdicts_from_the_choice(
    user: User, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    chosen = ("--only", "thunar-rename-folder", "--model", "offline", "--attempts", "2")
    done = user.agent_s("eval", "tasks", "everyday", *chosen, "--out", str(out), "--json")

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["episodes"] == 1
    assert "2 attempts at each task: 2 episodes; model offline, on 2 desktops." in done.stderr
    _, line = (out / "results.jsonl").read_text().splitlines()
    attempts = [json.loads(text) for text in (out / "attempts" / "results.jsonl").read_text().splitlines()[1:]]
    result = json.loads(line)
    assert sorted(attempt["seed"] for attempt in attempts) == [1, 2]
    assert result["labels"]["attempt"] in "12"
    assert result["seed"] is None
    run = read_trajectory(out / result["trajectory"])
    assert "state check" not in "".join(event.model_dump_json() for event in run.events)
    again = user.agent_s("eval", "tasks", "everyday", *chosen, "--out", str(out), "--json")
    assert json.loads(again.stdout)["episodes"] == 1
    assert len((out / "results.jsonl").read_text().splitlines()) == 2

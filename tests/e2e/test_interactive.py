"""`agent-s` without a command: tasks from a prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command_line import User

pytestmark = pytest.mark.desktop


def test_tasks_run_one_after_another_on_the_same_desktop(user: User) -> None:
    tasks = "Open the text editor and type 'one'.\n\nCheck that 'one' is shown.\nquit\nOpen the calculator.\n"
    done = user.agent_s("--model", "offline", "--virtual", "-c", "limits.max_steps=30", input=tasks)
    assert done.returncode == 0, done.stderr
    runs = json.loads(user.call("runs", "list", "--json").stdout)
    assert sorted((run["instruction"], run["status"]) for run in runs) == [
        ("Check that 'one' is shown.", "done"),
        ("Open the text editor and type 'one'.", "done"),
    ]
    assert user.desktops() == []


@pytest.mark.slow
def test_an_invalid_task_is_reported_and_the_next_one_runs(user: User) -> None:
    done = user.agent_s(input="x" * 30_000 + "\nWait 0 seconds\n")
    assert done.returncode == 0
    assert "TASK" in done.stdout
    assert [run["status"] for run in json.loads(user.call("runs", "list", "--json").stdout)] == ["done"]


def test_the_prompt_explains_itself_and_is_not_taken_for_a_task(user: User) -> None:
    lines = "?\nHELP!\nhlep\nmemory\ndetails\nWait 0 seconds\nstatus\ndetails\nmemory\nreset\n"
    done = user.agent_s("--model", "offline", "--virtual", input=lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("restore the desktop") == 2
    assert "Did you mean 'help'?" in done.stdout + done.stderr
    assert "Nothing has been learned yet." in done.stdout
    assert "No run has been recorded yet." in done.stdout
    assert "Tasks: 1, 1 done" in done.stdout
    assert "Report: " in done.stdout
    assert "The desktop is restored" in done.stdout + done.stderr
    assert [run["instruction"] for run in json.loads(user.call("runs", "list", "--json").stdout)] == ["Wait 0 seconds"]


def test_what_a_task_saves_on_a_virtual_desktop_is_kept(user: User) -> None:
    (user.home / "given").mkdir()
    (user.home / "given" / "list.txt").write_text("milk")
    task = "Open the text editor, type 'one' and save it as one.txt in the Documents folder."
    done = user.agent_s("--model", "offline", "--virtual", "--files", str(user.home / "given"), input=f"{task}\nquit\n")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(user.call("runs", "list", "--json").stdout)
    assert [path.name for path in (Path(run["folder"]) / "files").rglob("*.txt")] == ["one.txt"]

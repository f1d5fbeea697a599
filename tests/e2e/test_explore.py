"""`agent-s explore` as a person types it: tasks shown, a kill in the middle, Ctrl-C, and names that mean nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.command_line import User, processes_of

pytestmark = pytest.mark.desktop


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return
    raise AssertionError(f"the process ended without {words!r}: {''.join(seen)}")


def wait_for_the_end_of(user: User, limit_s: float = 60.0) -> None:
    """Wait until the workers of a killed exploration have stopped their desktops."""
    deadline = time.monotonic() + limit_s
    while user.desktops() and time.monotonic() < deadline:
        time.sleep(0.1)


def test_a_dry_run_shows_the_tasks_and_learns_nothing(user: User) -> None:
    told = user.agent_s("explore", "mousepad", "no such thing", "--dry-run", "--tasks", "4", "--json")
    assert told.returncode == 1, told.stderr  # one of the two names means nothing
    answer = json.loads(told.stdout)
    assert "There are:" in answer["skipped"]["no such thing"]
    (mousepad,) = answer["applications"].values()
    assert mousepad["offers"] > 30
    assert [task["difficulty"] for task in mousepad["tasks"]] == sorted(
        task["difficulty"] for task in mousepad["tasks"]
    )
    assert len(mousepad["tasks"]) == 4
    assert not user.memory.exists()
    assert user.desktops() == []


@pytest.mark.slow
def test_killed_it_goes_on_where_it_was(user: User, tmp_path: Path) -> None:
    out = tmp_path / "exploration"
    process = user.start("explore", "mousepad", "--tasks", "3", "--search", "0", "--out", str(out))
    try:
        read_until(process, "2/4 ✓")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    wait_for_the_end_of(user)
    assert user.desktops() == []
    before = (out / "results.jsonl").read_text().splitlines()
    told = user.agent_s("explore", "--out", str(out), "--json")
    assert told.returncode == 0, told.stderr
    (mousepad,) = json.loads(told.stdout)["applications"].values()
    assert (mousepad["tasks_tried"], mousepad["tasks_verified"]) == (3, 3)
    lines = (out / "results.jsonl").read_text().splitlines()
    assert lines[: len(before)] == before
    assert len({json.loads(line)["task"] for line in lines[1:]}) == len(lines) - 1 == 4
    learned = json.loads(user.agent_s("memory", "list", "--json").stdout)
    kinds = {experience["id"][0] for experience in learned}
    assert {"n", "e"} <= kinds
    page = (out / "report.html").read_text()
    assert "://" not in page
    assert "3 <span" in page


def test_ctrl_c_ends_it_at_once_and_says_how_to_go_on(user: User, tmp_path: Path) -> None:
    out = tmp_path / "exploration"
    process = user.start("explore", "mousepad", "--tasks", "0", "--search", "60", "--out", str(out))
    read_until(process, "1/2 ✓")
    os.killpg(process.pid, signal.SIGINT)
    desktops = user.desktops()
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130
    assert f"Continue with: agent-s explore --out {out}" in said
    assert "Report:" in said
    assert user.desktops() == []
    assert processes_of(desktops) == []


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("nothing-like-this",), 2, "No application fits 'nothing-like-this'"),
        (("xterm",), 1, "terminal"),
        (("mousepad", "--out", "{file}"), 1, "file"),
    ],
)
def test_what_cannot_be_done_is_told_with_its_mend(
    user: User, tmp_path: Path, words: tuple[str, ...], status: int, told: str
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = user.agent_s("explore", *(word.format(file=file) for word in words))
    assert done.returncode == status, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    assert "Traceback" not in done.stderr

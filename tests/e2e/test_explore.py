"""`agent-s explore` as a process: dry runs, resuming after a kill, Ctrl-C, and invalid arguments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.command_line import LIMIT_S, User, processes_of

pytestmark = pytest.mark.desktop


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return
    raise AssertionError(f"the process ended without {words!r}: {''.join(seen)}")


def wait_until_desktops_are_gone(user: User, limit_s: float = 300.0) -> None:
    """Wait until the workers of a killed exploration have stopped their desktops."""
    deadline = time.monotonic() + limit_s
    while user.desktops() and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.mark.slow
def test_a_dry_run_shows_the_tasks_and_learns_nothing(user: User) -> None:
    done = user.agent_s("explore", "mousepad", "no such thing", "--dry-run", "--tasks", "4", "--json")
    assert done.returncode == 1, done.stderr  # one of the two names is unknown
    answer = json.loads(done.stdout)
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
def test_a_killed_exploration_resumes_where_it_was(user: User, tmp_path: Path) -> None:
    out = tmp_path / "exploration"
    process = user.start("explore", "mousepad", "--tasks", "3", "--search", "0", "--out", str(out))
    try:
        read_until(process, "2/4 ✓")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    wait_until_desktops_are_gone(user)
    assert user.desktops() == []
    before = (out / "results.jsonl").read_text().splitlines()
    done = user.agent_s("explore", "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    (mousepad,) = json.loads(done.stdout)["applications"].values()
    assert (mousepad["tasks_tried"], mousepad["tasks_verified"]) == (3, 3)
    lines = (out / "results.jsonl").read_text().splitlines()
    assert lines[: len(before)] == before
    assert len({json.loads(line)["task"] for line in lines[1:]}) == len(lines) - 1 == 4
    learned = json.loads(user.call("memory", "list", "--json").stdout)
    kinds = {experience["id"][0] for experience in learned}
    assert {"n", "e"} <= kinds
    page = (out / "report.html").read_text()
    assert "://" not in page
    assert "3 <span" in page


@pytest.mark.slow
def test_ctrl_c_ends_an_exploration_and_shows_how_to_continue(user: User, tmp_path: Path) -> None:
    out = tmp_path / "exploration"
    process = user.start("explore", "mousepad", "--tasks", "0", "--search", "60", "--out", str(out))
    read_until(process, "1/2 ✓")
    os.killpg(process.pid, signal.SIGINT)
    desktops = user.desktops()
    output = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 130
    assert f"Continue with: agent-s explore --out {out}" in output
    assert "Report:" in output
    assert user.desktops() == []
    assert processes_of(desktops) == []


def workers_of(process: int) -> list[int]:
    """Return the ids of the workers of an exploration."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return [int(number) for thread in threads for number in (thread / "children").read_text().split()]


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_two_desktops_share_a_search(user: User, tmp_path: Path, killed: bool) -> None:
    out = tmp_path / "exploration"
    bounds = ("--tasks", "0", "--search", "600", "--depth", "1")
    process = user.start("explore", "mousepad", *bounds, "--desktops", "2", "--out", str(out))
    ledger = out / "applications" / "org.xfce.mousepad" / "ledger.jsonl"
    try:
        if killed:
            deadline = time.monotonic() + LIMIT_S
            while time.monotonic() < deadline and not (
                ledger.exists() and ledger.read_bytes().count(b'"kind": "attempted"') > 2
            ):
                time.sleep(0.1)
            os.killpg(workers_of(process.pid)[-1], signal.SIGKILL)
        output = process.communicate(timeout=LIMIT_S)[0]
    finally:
        process.kill()
    assert process.returncode == 0, output
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    searches = {line["seed"]: line for line in lines if line.get("task", "").startswith("search")}
    assert {line["outcome"] for line in searches.values()} == {"success"}
    assert {line["labels"]["complete"] for line in searches.values()} == {"true"}
    assert searches.keys() == {None, 2}
    events = [json.loads(line) for line in ledger.read_text().splitlines()[1:]]
    tried = [event["attempt"]["key"] for event in events if event["kind"] == "attempted"]
    assert len(tried) == len(set(tried)) > 5
    assert user.desktops() == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("nothing-like-this",), 2, "No application matches 'nothing-like-this'"),
        (("xterm",), 1, "terminal"),
        (("mousepad", "--out", "{file}"), 1, "file"),
    ],
)
def test_invalid_arguments_are_errors_without_a_traceback(
    user: User, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = user.agent_s("explore", *(argument.format(file=file) for argument in arguments))
    assert done.returncode == status, done.stdout + done.stderr
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr

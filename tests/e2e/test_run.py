"""`agent-s run` on real desktops: its output, files, exit statuses and errors."""

from __future__ import annotations

import json
import resource
import sqlite3
import stat
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from agent_s.runs.listing import list_runs
from agent_s.runs.reading import read_trajectory
from tests.e2e.command_line import User, recording

pytestmark = pytest.mark.desktop

SAVE = [
    {"action": "switch_applications", "app_code": "mousepad"},
    {"action": "type", "text": "é 中 hello"},
    {"action": "hotkey", "keys": ["ctrl", "s"]},
    {"action": "hotkey", "keys": ["ctrl", "a"]},
    {"action": "type", "text": "draft.txt"},
    {"action": "hotkey", "keys": ["alt", "s"]},
    {"action": "wait", "time": 2},
]
PLAIN = ("-c", "memory.enabled=false", "-c", "reflection.enabled=false")


def test_a_task_produces_its_file_report_and_experience(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Save it", SAVE)
    done = user.agent_s("run", "Save it", "--virtual", "--model", model, "--json", "-c", "reflection.enabled=false")

    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (outcome["status"], outcome["verified"], outcome["task"]) == ("done", None, "Save it")
    assert outcome["usage"]["steps"] == 7
    (file,) = outcome["files"]
    assert Path(file).read_text() == "é 中 hello"
    assert 'type "draft.txt"' in done.stderr
    assert Path(outcome["report"]).is_file()

    run = Path(outcome["run"])
    assert run.parent == user.runs
    assert read_trajectory(run).problem == ""
    for folder in (user.runs.parent, user.runs, run):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert user.desktops() == []

    shown = user.call("runs", "show", "last")
    assert shown.returncode == 0
    assert '1. switch to "mousepad"' in shown.stdout
    learned = json.loads(user.call("memory", "list", "--json").stdout)
    assert sorted(experience["kind"] for experience in learned) == ["episodic", "narrative"]


def test_progress_and_outcome_are_on_standard_output(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [{"action": "wait", "time": 0}])
    done = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--record", str(tmp_path / "here"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"Model {model}, on a virtual desktop, since DISPLAY is not set."
    assert lines[1:4] == ["Task: Wait", "Plan: 1 subtask", "[1/1] part 1"]
    assert f"Report: {tmp_path / 'here/report.html'}" == lines[-1]
    assert len(read_trajectory(tmp_path / "here").events) > 5

    again = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--record", str(tmp_path / "here"))
    assert again.returncode == 2
    assert "already holds a run" in again.stderr


def test_quiet_prints_only_the_outcome(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [{"action": "wait", "time": 0}])
    done = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--quiet")
    assert done.stdout.splitlines()[0] == "Done, not verified."
    assert done.stderr == ""


def test_a_failed_task_is_status_1_with_the_reason(user: User, tmp_path: Path) -> None:
    give_up = [{"action": "fail", "reason": "there is no button 'Frobnicate'"}]
    model = recording(tmp_path / "model", "Frobnicate", give_up)
    done = user.agent_s("run", "Frobnicate", "--model", model, *PLAIN, "-c", "limits.max_replans=0")
    assert done.returncode == 1
    assert "Failed. There is no button 'Frobnicate'" in done.stdout


def test_a_missing_application_is_reported(user: User, tmp_path: Path) -> None:
    actions = [
        {"action": "switch_applications", "app_code": "frobnicator"},
        {"action": "fail", "reason": "it does not start"},
    ]
    model = recording(tmp_path / "model", "Open it", actions)
    done = user.agent_s("run", "Open it", "--model", model, *PLAIN, "-c", "limits.max_replans=0")
    assert done.returncode == 1
    assert "✗" in done.stdout
    assert "frobnicator" in done.stdout.partition("✗")[2]


@pytest.mark.slow
def test_an_application_without_a_window_is_reported(user: User, tmp_path: Path) -> None:
    program = tmp_path / "bin/windowless"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 100\n")
    program.chmod(0o755)
    actions = [
        {"action": "switch_applications", "app_code": "windowless"},
        {"action": "fail", "reason": "it shows no window"},
    ]
    model = recording(tmp_path / "model", "Open it", actions)
    path = f"{program.parent}:{user.environment()['PATH']}"
    done = user.agent_s("run", "Open it", "--model", model, *PLAIN, "-c", "limits.max_replans=0", env={"PATH": path})
    assert done.returncode == 1
    assert "window" in done.stdout.partition("✗")[2].splitlines()[0]
    assert user.desktops() == []


def test_a_virtual_desktop_begins_with_files(user: User, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "list.txt").write_text("Milk")
    model = recording(tmp_path / "model", "Wait", [])
    given = ("--files", str(tmp_path / "given"))
    done = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--display", ":4711", *given)
    assert done.returncode == 2
    assert "--virtual" in done.stderr
    wait = ("run", "Wait 0 seconds", "--virtual", "--model", "offline", "--json")
    done = user.agent_s(*wait, *given)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == []
    done = user.agent_s(*wait, "--files", str(tmp_path / "none"))
    assert done.returncode == 2


def test_an_unreachable_screen_is_status_3(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [])
    done = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--display", ":4711")
    assert done.returncode == 3
    assert ":4711" in done.stderr
    assert "--virtual" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_screen_that_display_names_is_used(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Open", [{"action": "switch_applications", "app_code": "mousepad"}])
    with VirtualDesktop(size=(800, 600)) as desktop:
        own = {"DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        done = user.agent_s("run", "Open", "--model", model, *PLAIN, "-c", "policy.confirm=never", env=own)
        titles = [window.title for window in desktop.observe().windows]
        name = desktop.display
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"on your screen {name}" in done.stdout
    assert any("Mousepad" in title for title in titles)


def test_a_damaged_memory_is_status_3_and_left_unchanged(user: User, tmp_path: Path) -> None:
    user.memory.parent.mkdir(parents=True)
    user.memory.write_bytes(b"this is no database" * 100)
    done = user.agent_s("run", "Wait", "--model", recording(tmp_path / "model", "Wait", []))
    assert done.returncode == 3
    assert "damaged" in done.stderr
    assert str(user.memory) in done.stderr
    assert user.memory.read_bytes() == b"this is no database" * 100
    assert user.desktops() == []


@pytest.mark.slow
def test_a_busy_memory_is_status_3(user: User, tmp_path: Path) -> None:
    assert user.agent_s("memory", "stats").returncode == 0
    holder = sqlite3.connect(user.memory, isolation_level=None)
    holder.execute("PRAGMA journal_mode=DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = user.agent_s("run", "Wait", "--model", recording(tmp_path / "model", "Wait", []))
    finally:
        holder.close()
    assert done.returncode == 3
    assert "another p" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_ends_the_recording_but_not_the_run(user: User, tmp_path: Path) -> None:
    texts = [letter * 100_000 for letter in "abcde"]
    model = recording(tmp_path / "model", "Keep", [{"action": "save_to_buffer", "text": text} for text in texts])

    def no_large_files() -> None:  # the screen itself is a file of 320 x 240 x 4 bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))

    small = ("-c", "desktop.width=320", "-c", "desktop.height=240")
    done = user.agent_s("run", "Keep", "--model", model, *PLAIN, *small, preexec_fn=no_large_files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("no longer recorded") == 1
    assert '5. save "eee' in done.stdout
    (run,) = list_runs(user.runs)
    assert "ends before" in run.problem


def test_an_unwritable_folder_prevents_the_recording_but_not_the_run(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [{"action": "wait", "time": 0}])
    (tmp_path / "file").write_text("")
    done = user.agent_s("run", "Wait", "--model", model, *PLAIN, "--record", str(tmp_path / "file/run"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "continues without a recording" in done.stdout
    assert "Report:" not in done.stdout


def test_events_are_lines_of_json_from_the_start_to_the_outcome(user: User) -> None:
    done = user.agent_s("run", "--virtual", "--model", "offline", "--events", "Wait 0 seconds")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_ended"
    assert "action_performed" in kinds
    assert events[-1]["outcome"]["status"] == "done"
    assert user.agent_s("run", "--virtual", "--json", "--events", "Wait 0 seconds").returncode == 2

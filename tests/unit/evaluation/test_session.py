from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluation.errors import PreparationFailed
from evaluation.osworld.runner import TaskSession
from evaluation.osworld.task import load_task
from evaluation.state.context import Rights
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows

SERVE = {"type": "serve", "parameters": {"folder": "pages", "codes": ["code"]}}


def session(folder: Path, home: Path, config: list[Any], instruction: str = "x") -> TaskSession:
    (folder / "pages").mkdir(exist_ok=True)
    (folder / "pages/a.html").write_text("{code}")
    path = folder / "task.json"
    task = {"id": "t", "instruction": instruction, "config": config, "evaluator": {"func": "infeasible"}}
    path.write_text(json.dumps(task))
    return TaskSession(load_task(path), FakeDesktop(home), FakeWindows(), Rights(commands=True))


def test_instruction_contains_the_values_from_preparation(folder: Path, home: Path) -> None:
    launch = {"type": "launch", "parameters": {"command": ["mousepad", "{server}/a.html"]}}

    with session(folder, home, [SERVE, launch], "Open {server}/a.html") as running:
        task = running.prepare()

        server = running.context.values["server"]
        assert (task.id, task.instruction) == ("t", f"Open {server}/a.html")
        assert isinstance(running.context.desktop, FakeDesktop)
        assert running.context.desktop.launched == [["mousepad", f"{server}/a.html"]]
        assert httpx.get(f"{server}/a.html").text == running.context.values["code"]


def test_server_stops_with_the_session_even_if_a_step_fails(folder: Path, home: Path) -> None:
    broken = {"type": "launch", "parameters": {"command": ["gimp"]}}

    with (
        pytest.raises(PreparationFailed, match="There is no program 'gimp'"),
        session(folder, home, [SERVE, broken]) as running,
    ):
        running.prepare()

    with pytest.raises(httpx.ConnectError):
        httpx.get(running.context.values["server"])


def test_commands_of_a_file_run_only_if_they_are_allowed(folder: Path, home: Path) -> None:
    touch = {"type": "execute", "parameters": {"command": "touch made", "shell": True}}
    task = session(folder, home, [touch]).task

    with (
        pytest.raises(PreparationFailed, match="--allow-commands"),
        TaskSession(task, FakeDesktop(home), FakeWindows()) as refused,
    ):
        refused.prepare()
    assert not (home / "made").exists()
    with TaskSession(task, FakeDesktop(home), FakeWindows(), Rights(commands=True)) as allowed:
        allowed.prepare()
    assert (home / "made").exists()


def test_osworlds_home_and_screen_are_those_of_the_desktop(folder: Path, home: Path) -> None:
    width = {"type": "execute", "parameters": {"command": ["touch", "/home/user/{SCREEN_WIDTH}_{SCREEN_HEIGHT_HALF}"]}}

    with session(folder, home, [width], "Open /home/user/Desktop.") as running:
        task = running.prepare()

    assert task.instruction == f"Open {home}/Desktop."
    assert (home / "1280_400").is_file()

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from evaluation.errors import PreparationFailed
from evaluation.osworld.runner import TaskSession
from evaluation.osworld.task import load_task
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows

SERVE = {"type": "serve", "parameters": {"folder": "pages", "codes": ["code"]}}


def session(folder: Path, home: Path, config: list[Any], instruction: str = "x") -> TaskSession:
    (folder / "pages").mkdir(exist_ok=True)
    (folder / "pages/a.html").write_text("{code}")
    path = folder / "task.json"
    task = {"id": "t", "instruction": instruction, "config": config, "evaluator": {"func": "infeasible"}}
    path.write_text(json.dumps(task))
    return TaskSession(load_task(path), FakeDesktop(home), FakeWindows())


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

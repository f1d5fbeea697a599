"""The agent in Inspect and in Harbor, as far as that works without containers; their packages are optional."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.agent_s.a_run import events_of_a_run

TASKS: dict[str, dict[str, Any]] = {
    "cannot-be-done": {"instruction": "Click 'No such button'.", "evaluator": {"func": "infeasible"}},
    "not-done": {
        "instruction": "Wait 0 seconds.",
        "evaluator": {
            "func": "exact_match",
            "result": {"type": "vm_file_text", "path": "~/none.txt"},
            "expected": {"type": "rule", "rules": {"expected": "x"}},
        },
    },
}


@pytest.mark.desktop
@pytest.mark.slow
def test_inspect_runs_task_files_and_gives_their_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="pip install inspect-ai")
    from evaluation.adapters.inspect_task import desktop_tasks

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, content in TASKS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"id": name, **content}))
    [log] = inspect_ai.eval(
        desktop_tasks(folder=str(tmp_path)), model="mockllm/model", log_dir=str(tmp_path / "logs"), display="none"
    )
    assert log.status == "success", log.error
    scores = {str(sample.id): sample.scores["state_check"] for sample in log.samples}
    assert {name: score.value for name, score in scores.items()} == {"cannot-be-done": 1.0, "not-done": 0.0}
    assert scores["not-done"].metadata["seconds"] > 0


class LocalEnvironment:
    """Stands for a container of Harbor: it runs commands here, in a folder, and has a program `agent-s`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[str] = []

    async def exec(self, command: str, env: dict[str, str] | None = None) -> SimpleNamespace:
        self.commands.append(command)
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", command], env={**(env or {}), "PATH": path}, capture_output=True, text=True
        )
        return SimpleNamespace(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)

    async def download_dir(self, source: str, target: Path) -> None:
        copytree(self.folder / "run", target)


def test_harbor_gets_the_outcome_the_effort_and_the_trajectory(tmp_path: Path) -> None:
    pytest.importorskip("harbor.agents.base", reason="pip install harbor (needs Python 3.12)")
    from harbor.models.agent.context import AgentContext

    from agent_s.trajectory.recorder import Recorder
    from evaluation.adapters.harbor_agent import AgentSOnDesktop

    recorder = Recorder(tmp_path / "run")
    for event in events_of_a_run():
        recorder(event)
    recorder.close()
    usage = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 4, "dollars": 0.5}
    outcome = {"status": "done", "verified": None, "reason": "", "run_id": "1", "usage": usage}
    program = tmp_path / "agent-s"
    program.write_text(f"#!{sys.executable}\nprint('''{json.dumps(outcome)}''')\n")
    program.chmod(0o755)

    environment, context = LocalEnvironment(tmp_path), AgentContext()
    agent = AgentSOnDesktop(tmp_path / "logs", model_name="offline")
    asyncio.run(agent.setup(environment))  # type: ignore[arg-type]
    asyncio.run(agent.run("Write 'it''s'; rm -rf $HOME", environment, context))  # type: ignore[arg-type]

    assert (context.n_input_tokens, context.n_output_tokens, context.n_cache_tokens, context.cost_usd) == (
        10,
        2,
        4,
        0.5,
    )
    assert context.metadata is not None and context.metadata["status"] == "done"
    assert json.loads((tmp_path / "logs/trajectory.json").read_text())["schema_version"] == "ATIF-v1.8"
    assert "'Write '\"'\"'it'\"'\"''\"'\"'s'\"'\"'; rm -rf $HOME'" in environment.commands[-1]

"""`agent-s eval tasks` and `agent-s eval report`: a named task set on real applications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command_line import User

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


def test_tasks_are_run_on_two_desktops_and_reported_by_level_and_domain(user: User, tmp_path: Path) -> None:
    out, chosen = str(tmp_path / "out"), ("--only", "thunar-rename-folder", "--only", "infeasible-plot")
    done = user.agent_s("eval", "tasks", "everyday", *chosen, "--model", "offline", "--desktops", "2", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr

    reported = user.agent_s("eval", "report", out, "--html", str(tmp_path / "page.html"), "--json")
    [run] = json.loads(reported.stdout)["runs"]
    assert (run["episodes"], run["errors"]) == (2, 0)
    assert run["matrix"]["L2"].keys() == {"Study", "Work", "all"}
    assert run["matrix"]["all"]["all"]["episodes"] == 2
    assert "L2 planning" in (tmp_path / "page.html").read_text()
    assert user.desktops() == []


def test_conformance_checks_a_task_with_its_own_solution(user: User, tmp_path: Path) -> None:
    arguments = ("everyday", "--only", "terminal-archive", "--conformance", "--json", "--out", str(tmp_path / "out"))
    done = user.agent_s("eval", "tasks", *arguments)

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["tasks"]["terminal-archive"]["success_rate"] == 1.0
    assert user.desktops() == []

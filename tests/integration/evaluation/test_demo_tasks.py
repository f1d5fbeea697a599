"""The demo tasks on real applications: untouched they score 0, done by a scripted user they score 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import pytest

from aci import VirtualDesktop
from agent_s.settings import Settings, configs_folder
from evaluation.harness.results import Job
from evaluation.osworld.bench import ConformanceBench
from evaluation.osworld.runner import TaskSession
from evaluation.osworld.task import TaskFile, load_tasks
from evaluation.state.context import Rights
from tests.integration.evaluation.scripted_user import ScriptedUser

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

TASKS = {task.id: task for task in load_tasks(configs_folder() / "demo")}


@contextmanager
def prepared(task: TaskFile) -> Iterator[tuple[TaskSession, ScriptedUser]]:
    with VirtualDesktop() as desktop, TaskSession.on(task, desktop) as session:
        assert "{" not in session.prepare().instruction
        yield session, ScriptedUser(desktop)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_conforms(name: str, tmp_path: Path) -> None:
    result = ConformanceBench(Settings(), tmp_path, configs_folder() / "demo").run(Job(task=name))

    assert (result.outcome, result.reason) == ("success", "")


def test_task_with_a_wrong_solution_does_not_conform(tmp_path: Path) -> None:
    copytree(configs_folder() / "demo", tmp_path / "demo")
    (tmp_path / "demo" / "solutions" / "1_mousepad_draft.json").write_text("[]")

    result = ConformanceBench(Settings(), tmp_path, tmp_path / "demo", rights=Rights(commands=True)).run(
        Job(task="mousepad-draft")
    )

    assert result.outcome == "failure"
    assert "the solution does not score 1: ~/Documents/draft.txt does not exist" in result.reason


def test_infeasible_demo_task_is_right_only_when_the_agent_gives_up() -> None:
    with prepared(TASKS["infeasible-button"]) as (session, user):
        assert "Frobnicate" not in user.desktop.observe().to_text()
        assert session.state_check("done").verified is False
        assert session.state_check("failed").verified is True


def test_wrong_form_scores_0_and_the_reason_names_the_field() -> None:
    with prepared(TASKS["chromium-form"]) as (session, user):
        user.fill("entry", "Name", "Ada")
        user.click("push button", "Register")
        user.find("heading", "Registration received")
        verdict = session.state_check("done")

    assert verdict.verified is False
    assert "fields.name should be eq 'Ada Lovelace'" in verdict.reason
    assert '"name": "Ada"' in verdict.evidence[0]


def test_open_dialog_does_not_prevent_the_check() -> None:
    with prepared(TASKS["libreoffice-autosave"]) as (session, user):
        user.click("menu", "Tools")
        user.click("menu item", "Options...")
        user.window("Options")
        verdict = session.state_check("out_of_budget")

    assert verdict.verified is False, verdict.reason


def test_codes_of_two_runs_differ() -> None:
    task = TASKS["copy-confirmation-code"]
    with prepared(task) as (first, user):
        shown = user.find("entry", "Confirmation code").text
        assert shown == first.context.values["confirmation_code"]
    with prepared(task) as (second, user):
        assert user.find("entry", "Confirmation code").text == second.context.values["confirmation_code"] != shown

"""What the set `everyday` must be; that its tasks conform is tested on real applications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_s.settings import configs_folder
from evaluation.osworld.solutions import load_solution
from evaluation.osworld.task import TaskFile, load_task, load_tasks
from evaluation.report.comparison import LEVELS

TASKS = load_tasks(configs_folder() / "everyday")


def test_everyday_set_covers_applications_levels_and_domains() -> None:
    infeasible = [task for task in TASKS if task.evaluator.infeasible]
    assert len(TASKS) >= 40
    assert len(infeasible) == 5
    assert len({app for task in TASKS for app in task.related_apps}) >= 8
    assert {task.level for task in TASKS} == set(LEVELS)
    assert len({task.domain for task in TASKS}) == 6
    assert len([task for task in TASKS if task.labels["application"] == "multi_apps"]) >= 5
    examples = {str(task.source).partition(" (")[0] for task in TASKS if task.source}
    assert examples == {"Agent S", "OSCAR"}


@pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])
def test_task_has_labels_a_solution_and_its_fixtures(task: TaskFile) -> None:
    assert task.path.stem == task.id
    assert task.labels.keys() == {"application", "level", "domain"}
    assert task.evaluator.infeasible != (task.folder / "solutions" / task.path.name).is_file()
    if not task.evaluator.infeasible:
        assert load_solution(task.path)
    for step in task.config:
        parameters = step.parameters.model_dump()
        named = [file["local_path"] for file in parameters.get("files", [])]
        named += [parameters["folder"]] if step.type == "serve" else []
        assert all((task.folder / path).exists() for path in named)


def test_application_label_is_multi_apps_for_several_applications(tmp_path: Path) -> None:
    task = {"id": "task", "instruction": "Do it.", "evaluator": {"func": "infeasible"}}
    for apps, label in ((["thunar"], "thunar"), (["thunar", "xterm"], "multi_apps"), ([], None)):
        (tmp_path / "task.json").write_text(json.dumps({**task, "related_apps": apps}))
        assert load_task(tmp_path / "task.json").labels.get("application") == label

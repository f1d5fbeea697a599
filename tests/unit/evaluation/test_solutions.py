from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.errors import TaskFileError
from evaluation.solutions import ClickStep, TypeStep, load_solution


def a_solution(folder: Path, steps: object) -> Path:
    (folder / "solutions").mkdir()
    (folder / "solutions" / "task.json").write_text(json.dumps(steps))
    return folder / "task.json"


def test_steps_are_read_by_what_they_do(tmp_path: Path) -> None:
    click = {"do": "click", "role": "push button", "name": "Save", "window": "Save As"}
    type_ = {"do": "type", "text": "a", "into": {"role": "entry"}}

    steps = load_solution(a_solution(tmp_path, [click, type_]))

    assert [type(step) for step in steps] == [ClickStep, TypeStep]
    assert steps[0].model_dump(exclude={"nth", "times"}) == click


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"do": "clik", "role": "x"}], "clik"),
        ([{"do": "click", "role": "x", "nam": "y"}], "nam"),
        ({"do": "click"}, r"array|list"),
        ([{"do": "hotkey", "keys": []}], "keys"),
    ],
)
def test_a_step_that_is_not_understood_is_named(tmp_path: Path, steps: object, told: str) -> None:
    with pytest.raises(TaskFileError, match=told):
        load_solution(a_solution(tmp_path, steps))


def test_a_task_without_a_solution_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match=r"solutions/task\.json: there is no scripted solution"):
        load_solution(tmp_path / "task.json")

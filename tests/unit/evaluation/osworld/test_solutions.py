from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aci.acting.actions import Action, Click, DragAndDrop, Scroll
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from evaluation.errors import EvaluationError, TaskFileError
from evaluation.osworld.solutions import ClickStep, SolutionPlayer, TypeStep, load_solution

ON = {"role": "push button", "name": "Apply"}


def a_solution(folder: Path, steps: object) -> Path:
    (folder / "solutions").mkdir()
    (folder / "solutions" / "task.json").write_text(json.dumps(steps))
    return folder / "task.json"


def test_steps_of_a_solution_are_read_by_their_kind(tmp_path: Path) -> None:
    click = {"do": "click", "role": "push button", "name": "Save", "window": "Save As"}
    type_ = {"do": "type", "text": "a", "into": {"role": "entry"}}

    steps = load_solution(a_solution(tmp_path, [click, type_]))

    assert [type(step) for step in steps] == [ClickStep, TypeStep]
    assert steps[0].model_dump(exclude={"nth", "times", "button", "hold"}) == click


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"do": "clik", "role": "x"}], "clik"),
        ([{"do": "click", "role": "x", "nam": "y"}], "nam"),
        ({"do": "click"}, r"array|list"),
        ([{"do": "hotkey", "keys": []}], "keys"),
    ],
)
def test_error_names_the_invalid_step_of_a_solution(tmp_path: Path, steps: object, told: str) -> None:
    with pytest.raises(TaskFileError, match=told):
        load_solution(a_solution(tmp_path, steps))


def test_error_names_the_missing_solution(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match=r"solutions/task\.json: there is no scripted solution"):
        load_solution(tmp_path / "task.json")


class Screen:
    """A desktop whose windows and home are as the test says, and which keeps what is done on it."""

    def __init__(self, home: Path, *titles: str) -> None:
        self.home = home
        self.titles = list(titles)
        self.done: list[Action] = []

    def observe(self) -> Observation:
        windows = tuple(
            Window(id=number, title=title, app="app", rect=Rect(0, 0, 100, 100), pid=1)
            for number, title in enumerate(self.titles)
        )
        element = Element(7, "push button", "Apply", Rect(0, 0, 9, 9), Point(4, 4), window_id=0, app="app")
        return Observation(screenshot=np.zeros((1, 1, 3), np.uint8), elements=(element,), windows=windows)

    def perform(self, action: Action) -> ActionResult:
        self.done.append(action)
        return ActionResult(ok=True)


def play(screen: Screen, *steps: object, clock: Callable[[], float] = time.monotonic) -> None:
    (screen.home / "solutions").mkdir()
    (screen.home / "solutions" / "task.json").write_text(json.dumps(steps))
    SolutionPlayer(screen, clock).play(load_solution(screen.home / "task.json"))  # type: ignore[arg-type]


def test_solution_clicks_drags_and_scrolls_with_its_options(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "Notes")
    click = {"do": "click", "role": "push button", "name": "Apply", "button": "right", "hold": ["ctrl"]}
    play(screen, click, {"do": "drag", **ON, "onto": ON}, {"do": "scroll", **ON, "clicks": -3})
    assert screen.done == [
        Click(element_id=7, button_type="right", hold_keys=("ctrl",)),
        DragAndDrop(drag_from_id=7, drop_on_id=7),
        Scroll(element_id=7, clicks=-3),
    ]


def test_file_step_waits_until_the_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    moments = iter(range(9))

    def clock() -> float:
        moment = next(moments)
        if moment == 3:
            (tmp_path / "a.txt").write_text("newer")
        return float(moment)

    play(Screen(tmp_path), {"do": "file", "path": "~/a.txt"}, clock=clock)
    assert next(moments) > 4  # it was looked at once more, to see that it changes no more


def test_error_names_the_missing_file_or_the_window_that_stays(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "1").mkdir()
    with pytest.raises(EvaluationError, match=r"step 1 .*: the file a\.txt was not written"):
        play(Screen(tmp_path), {"do": "file", "path": "~/a.txt"}, clock=itertools.count(0, 8).__next__)
    with pytest.raises(EvaluationError, match=r"the window 'Save' did not go"):
        screen = Screen(tmp_path / "1", "Save As")
        play(screen, {"do": "window", "title": "Save", "gone": True}, clock=itertools.count(0, 8).__next__)

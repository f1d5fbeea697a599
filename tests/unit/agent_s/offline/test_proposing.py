"""Tasks that the offline model makes of what an application offers."""

from __future__ import annotations

from typing import cast

from aci.observation.observation import Observation
from agent_s.llm.protocol import (
    Affordance,
    CheckableTask,
    ModelRequest,
    PlanContext,
    ProposalContext,
    ProposalResponse,
)
from agent_s.offline import OfflineModel
from agent_s.offline.planning import make_plan
from agent_s.records import Task
from tests.unit.agent_s.fakes import button, screen

OFFERED = (
    Affordance("menu item", "Save As...", ("File",)),
    Affordance("menu item", "Select All", ("Edit",)),
    Affordance("check menu item", "Ruler", ("View",), on=False),
    Affordance("check menu item", "Grid", ("View",), on=True),
    Affordance("menu item", "Frobnicate", ("Tools", "More")),
    Affordance("menu item", "Skins", ("Main menu",)),
    Affordance("push button", "Spin"),
)


def proposed(observation: Observation | None, known: tuple[str, ...] = (), wanted: int = 50) -> list[CheckableTask]:
    context = ProposalContext(
        Task(instruction="Explore Notes"), "Notes", wanted, observation=observation, affordances=OFFERED, known=known
    )
    response = cast(ProposalResponse, OfflineModel().complete(ModelRequest(context)).output)
    return [task for task in response.tasks if isinstance(task, CheckableTask)]


def test_common_tasks_are_the_commands_that_many_applications_have() -> None:
    assert [task.instruction for task in proposed(None)] == [
        "In Notes, choose 'File' > 'Save As...'.",
        "In Notes, choose 'Edit' > 'Select All'.",
    ]


def test_tasks_for_the_screen_use_everything_else() -> None:
    tasks = {task.instruction: task for task in proposed(screen())}
    assert tasks["In Notes, turn on 'View' > 'Ruler'."].uses == ("View > Ruler",)
    assert "In Notes, turn off 'View' > 'Grid'." in tasks
    assert "In Notes, press the button 'Spin'." in tasks
    assert tasks["In Notes, choose 'Tools' > 'More' > 'Frobnicate'."].difficulty == 3
    assert not any("Select All'." in text and "then" not in text for text in tasks)


def test_a_name_that_ends_in_menu_is_clicked() -> None:
    assert "In Notes, click 'Main menu', then click 'Skins'." in {task.instruction for task in proposed(screen())}


def test_an_editor_gets_tasks_that_type_and_save() -> None:
    field = button(1, "", role="text")
    page = screen(type(field)(**{**_values(field), "states": frozenset({"editable", "multi_line"})}))
    saved = [task for task in proposed(page) if task.file]
    assert [(task.file, task.shows) for task in saved] == [("meeting.txt", "Meeting at ten")]


def test_every_task_is_one_that_the_offline_model_understands() -> None:
    for task in [*proposed(None), *proposed(screen())]:
        plan = make_plan(PlanContext(Task(instruction=task.instruction), screen()))
        assert plan.nodes, task.instruction
        assert not plan.not_understood


def test_known_tasks_are_not_proposed_and_the_number_is_limited() -> None:
    first = proposed(screen(), wanted=3)
    assert len(first) == 3
    again = proposed(screen(), known=tuple(task.instruction for task in first))
    assert not {task.instruction for task in first} & {task.instruction for task in again}


def _values(element: object) -> dict[str, object]:
    return {name: getattr(element, name) for name in element.__slots__}  # type: ignore[attr-defined]

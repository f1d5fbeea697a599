from __future__ import annotations

import pytest

from aci.acting.actions import Action, Click, Done, Type
from aci.observation.observation import Observation
from agent_s import AgentS, Task
from agent_s.errors import TrajectoryError
from agent_s.events import ActionChosen, ActionPerformed, Event, Planned, RunEnded, RunStarted, SubtaskEnded
from agent_s.llm.protocol import ActContext, ActResponse, PlannedNode, PlanResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.unfinished import INTERRUPTED, UnfinishedRun, read_unfinished
from agent_s.records import Plan, Subtask
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

TASK = Task(instruction="Press OK, then type a name")
START = screen(button(1, "OK"), button(2, "Name", role="entry"))


def moving(action: Action, seen: Observation) -> Observation:
    return screen(button(len(seen.elements) + 7, "new"), *seen.elements)


def script() -> ScriptedModel:
    return ScriptedModel(
        {
            "plan": [
                PlanResponse(
                    nodes=tuple(PlannedNode(name=name) for name in ("press", "type", "look")),
                    criteria=("named",),
                    constraints=("do not close",),
                )
            ],
            "act": [
                ActResponse(action=Click(element_id=1)),
                ActResponse(action=Done()),
                ActResponse(next_action="type the name", action=Type(text="Ada", element_id=2)),
                ActResponse(action=Type(text="Lovelace", element_id=2)),
            ],
        }
    )


def recorded(until: type[Event], count: int) -> list[Event]:
    """Events of a run that was killed when the last of so many events of a kind had been written."""
    events: list[Event] = []
    for event in AgentS(model=script(), desktop=FakeDesktop(START, moving)).stream(TASK):
        events.append(event)
        if sum(isinstance(item, until) for item in events) == count:
            return events
    raise AssertionError("the run ended before")


def resumed(unfinished: UnfinishedRun, model: ScriptedModel) -> tuple[list[Event], FakeDesktop]:
    desktop = FakeDesktop(START, moving)
    return list(AgentS(model=model, desktop=desktop).resume(unfinished)), desktop


def test_a_resumed_run_does_only_the_remaining_subtasks() -> None:
    unfinished = read_unfinished(recorded(ActionPerformed, 2))
    model = ScriptedModel(
        {"act": [ActResponse(action=Type(text="!", element_id=2)), *[ActResponse(action=Done())] * 2]}
    )
    events, desktop = resumed(unfinished, model)
    assert desktop.performed == [Type(text="!", element_id=2)]
    kinds = [request.kind for request in model.requests]
    assert "plan" not in kinds
    first = next(request.context for request in model.requests if isinstance(request.context, ActContext))
    assert first.subtask.name == "type"
    assert first.constraints == ("do not close",)
    assert [(step.response.next_action, step.result.ok) for step in first.steps] == [("type the name", True)]
    started = events[0]
    assert isinstance(started, RunStarted) and started.resumes == unfinished.run_id
    ended = [event.subtask.name for event in events if isinstance(event, SubtaskEnded)]
    assert ended == ["type", "look"]


def test_a_subtask_that_a_later_plan_repeats_does_not_count_as_done() -> None:
    again = Plan(subtasks=(Subtask(name="press"), Subtask(name="look")))
    unfinished = read_unfinished([*recorded(SubtaskEnded, 1), Planned(plan=again, replan=1, reason="it is undone")])
    assert [subtask.name for subtask, _ in unfinished.done] == ["press"]
    assert unfinished.remaining_plan is not None and unfinished.remaining_plan.subtasks == again.subtasks


def test_the_result_of_an_interrupted_action_is_unknown() -> None:
    unfinished = read_unfinished(recorded(ActionChosen, 2))
    assert [step.result.error for step in unfinished.steps] == [INTERRUPTED]


def test_a_run_killed_between_subtasks_resumes_with_the_next() -> None:
    unfinished = read_unfinished(recorded(SubtaskEnded, 1))
    assert unfinished.current is None and unfinished.remaining_plan is not None
    assert [subtask.name for subtask in unfinished.remaining_plan.subtasks] == ["type", "look"]


def test_a_run_killed_before_planning_is_planned_when_resumed() -> None:
    unfinished = read_unfinished(recorded(RunStarted, 1))
    assert unfinished.remaining_plan is None
    model = ScriptedModel({"act": [ActResponse(action=Done())]})
    events, _ = resumed(unfinished, model)
    assert any(isinstance(event, Planned) for event in events)
    assert [request.kind for request in model.requests][:2] == ["plan", "act"]


def test_a_resumed_run_can_be_resumed_again() -> None:
    unfinished = read_unfinished(recorded(SubtaskEnded, 1))
    model = ScriptedModel({"act": [ActResponse(action=Done())]})
    desktop = FakeDesktop(START, moving)
    events: list[Event] = []
    for event in AgentS(model=model, desktop=desktop).resume(unfinished):
        events.append(event)
        if isinstance(event, SubtaskEnded):
            break
    again = read_unfinished(events)
    assert again.aims.constraints == ("do not close",)
    assert again.remaining_plan is not None and [subtask.name for subtask in again.remaining_plan.subtasks] == ["look"]


def test_a_finished_run_is_not_resumed() -> None:
    model = ScriptedModel({"act": [ActResponse(action=Done())]})
    events = list(AgentS(model=model, desktop=FakeDesktop(START)).stream(TASK))
    assert isinstance(events[-1], RunEnded) and events[-1].outcome.status == "done"
    with pytest.raises(TrajectoryError, match="nothing to resume"):
        read_unfinished(events)


def test_a_recording_without_the_start_of_the_run_is_refused() -> None:
    with pytest.raises(TrajectoryError, match="lacks the start"):
        read_unfinished([])

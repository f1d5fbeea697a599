from __future__ import annotations

from dataclasses import replace

import pytest

from aci.acting.actions import Action, Click, Done, Scroll, Wait
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActResponse, PlannedNode, PlanResponse, ReflectContext
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.loop.stall_detection import find_failure, find_trouble
from agent_s.records import Step, Task
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

NOW = screen(button(1, "now"))


def steps(*actions: Action, ok: bool = True) -> list[Step]:
    """Steps after each of which the screen looked different."""
    result = ActionResult(ok=ok, error=None if ok else "covered")
    return [
        Step(number, seen(number), ActResponse(action=action), result).followed_by(seen(number + 1))
        for number, action in enumerate(actions)
    ]


def seen(number: int) -> Observation:
    return screen(button(number, f"at {number}"))


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ((Click(element_id=1),) * 3, "3 times in a row"),
        ((Click(element_id=1), Click(element_id=2)) * 2, "undo each other"),
        ((Click(element_id=1),) * 2, ""),
        ((Scroll(element_id=1, clicks=-5),) * 3, ""),
        ((Click(element_id=1), Click(element_id=2), Click(element_id=1)), ""),
        ((), ""),
    ],
)
def test_repetition_is_trouble(actions: tuple[Action, ...], said: str) -> None:
    trouble = find_trouble(steps(*actions))
    assert said in trouble if said else trouble == ""


def test_a_refusal_is_trouble_only_if_it_follows_another_failure() -> None:
    assert find_trouble(steps(Click(element_id=1), ok=False)) == ""
    assert "the last action was refused: covered" in find_trouble(steps(*[Click(element_id=1)] * 2, ok=False))


def test_an_explained_failure_is_not_trouble_the_first_time() -> None:
    fixed = replace(button(1, "Fixed"), states=frozenset({"disabled"}))
    still = screen(fixed)
    explained = Step(0, still, ActResponse(action=Click(element_id=1)), ActionResult(ok=True)).followed_by(still)
    assert "disabled" in find_failure(explained)
    assert find_trouble([explained]) == ""
    assert "disabled" in find_trouble([explained, explained])


def test_an_unchanged_screen_is_trouble_unless_nothing_but_waiting_was_done() -> None:
    unchanged = [Step(0, NOW, ActResponse(action=Click(element_id=1)), ActionResult(ok=True)).followed_by(NOW)]
    waited = [Step(0, NOW, ActResponse(action=Wait(time=1)), ActionResult(ok=True)).followed_by(NOW)]
    assert "the last action had no effect" in find_trouble(unchanged)
    assert find_trouble(waited) == ""


def test_the_reflector_sees_the_steps_of_earlier_subtasks() -> None:
    plan = PlanResponse(nodes=(PlannedNode(name="first"), PlannedNode(name="second")))
    actions = (Click(element_id=1), Done()) * 2
    model = ScriptedModel({"plan": [plan], "act": [ActResponse(action=action) for action in actions]})
    AgentS(model=model, desktop=FakeDesktop(NOW)).run(Task(instruction="Do it"))
    contexts = [one.context for one in model.requests if isinstance(one.context, ReflectContext)]
    assert [[(subtask.name, len(taken)) for subtask, taken in one.done] for one in contexts] == [[], [("first", 1)]]


def test_reflection_also_happens_every_configured_number_of_steps() -> None:
    walk = steps(*(Click(element_id=number) for number in range(4)))
    assert find_trouble(walk, every=2) == "4 steps have been taken"
    assert find_trouble(walk, every=3) == ""

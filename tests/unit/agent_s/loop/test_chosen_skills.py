"""Plans that use skills in memory: one call of the model, then replay, and the Worker where the screen differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aci.acting.actions import Click, Done, Type
from aci.observation.observation import Observation
from agent_s import AgentS, Options, Task
from agent_s.events import Event, Planned, SubtaskEnded
from agent_s.llm.conversation import Text
from agent_s.llm.no_model import NoModel
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import Model, ModelRequest, PlanContext, PlannedNode, PlanResponse, Response
from agent_s.llm.scripted import ScriptedModel
from memory_store import HashingEmbedder, MemoryStore, NarrativeExperience, Provenance
from tests.unit.agent_s.fakes import FakeDesktop, screen
from tests.unit.agent_s.loop.test_agent import act, of, outcome, passes
from tests.unit.agent_s.replay.test_player import BOX, FIELD, FORM, SEND, form, learn

TASK = "Put Grace down for the newsletter, off it goes"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        yield store


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)


@pytest.fixture
def skills(memory: MemoryStore, tmp_path: Path) -> dict[str, str]:
    """Ids of three skills of the form by their names, as verified replays leave them."""
    return {
        name: skill(memory, tmp_path, name, action, start)
        for name, action, start in (
            ("type 'Ada' into Name", Type(text="Ada", element_id=1), FORM),
            ("turn on Newsletter", Click(element_id=2), FORM),
            ("send the form", Click(element_id=3), screen(replace(FIELD, text="Ada"), BOX, SEND)),
        )
    }


def skill(memory: MemoryStore, folder: Path, name: str, action: Type | Click, start: Observation) -> str:
    with MemoryStore.open(folder / "scratch.sqlite", embedder=HashingEmbedder()) as scratch:
        learn(scratch, (action,), name, start)
        (candidate,) = scratch.list_experiences("skill", limit=1)
    source = Provenance(run_id="explore", app="editor", platform="linux/x11")
    stored = memory.add_skill(name=name, steps=candidate.steps, provenance=source)  # type: ignore[attr-defined]
    memory.record_uses([stored.id], True, checked_by="a fresh desktop", clean_start=True)
    return stored.id


def choosing(skills: dict[str, str], *chosen: tuple[str, str, tuple[str, ...]]) -> Callable[[ModelRequest], Response]:
    """Return a planner that names subtasks and chooses skills by their names; an empty name is a plain subtask."""

    def plan(request: ModelRequest) -> Response:
        assert isinstance(request.context, PlanContext)
        offered = [offer.id for offer in request.context.skills]
        return PlanResponse(
            nodes=tuple(
                PlannedNode(name=name, skill=offered.index(skills[one]) + 1 if one else None, values=values)
                for name, one, values in chosen
            )
        )

    return plan


ALL = (
    ("Enter who it is", "type 'Ada' into Name", ("Grace",)),
    ("Tick the box", "turn on Newsletter", ()),
    ("Let it go", "send the form", ()),
)


def run(
    memory: MemoryStore, model: Model, start: Observation = FORM, task: str = TASK, **more: object
) -> tuple[list[Event], FakeDesktop]:
    desktop = FakeDesktop(start, form)
    agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options.model_validate(more))
    events = list(agent.stream(Task(instruction=task), passes))
    return events, desktop


def test_a_plan_of_skills_costs_one_model_call(memory: MemoryStore, skills: dict[str, str]) -> None:
    model = ScriptedModel({"plan": [choosing(skills, *ALL)]})
    events, desktop = run(memory, model, summaries=False)
    ended = outcome(events)
    assert (ended.status, ended.replayed) == ("done", True)
    assert [request.kind for request in model.requests] == ["plan"]
    assert desktop.performed == [Type(text="Grace", element_id=1), Click(element_id=2), Click(element_id=3)]


def test_the_evaluator_judges_a_fully_replayed_task_planned_by_the_model(
    memory: MemoryStore, skills: dict[str, str]
) -> None:
    model = ScriptedModel({"plan": [choosing(skills, *ALL)]})
    agent = AgentS(model=model, desktop=FakeDesktop(FORM, form), memory=memory, summaries=False)
    agent.run(Task(instruction=TASK))
    assert [request.kind for request in model.requests] == ["plan", "verify"]


def test_skills_are_offered_with_the_values_that_they_take(memory: MemoryStore, skills: dict[str, str]) -> None:
    model = ScriptedModel({"plan": [choosing(skills, *ALL)]})
    run(memory, model)
    context = model.requests[0].context
    assert isinstance(context, PlanContext)
    assert {offer.id: offer.parameters for offer in context.skills} == {
        skills["type 'Ada' into Name"]: ("Ada",),
        skills["turn on Newsletter"]: (),
        skills["send the form"]: (),
    }
    (prompt, *_) = Renderer(b"secret").render(context).messages[0].parts
    assert isinstance(prompt, Text) and "type 'Ada' into Name: in editor Values: [\"Ada\"]" in prompt.text


def test_skills_and_subtasks_may_be_mixed(memory: MemoryStore, skills: dict[str, str]) -> None:
    plan = choosing(skills, ALL[0], ("Tick the box", "", ()), ALL[2])
    model = ScriptedModel({"plan": [plan], "act": [act(Click(element_id=2)), act(Done())]})
    events, desktop = run(memory, model, summaries=False)
    assert outcome(events).status == "done"
    assert [ended.replayed for ended in of(SubtaskEnded, events)] == [True, False, True]
    assert desktop.performed == [Type(text="Grace", element_id=1), Click(element_id=2), Click(element_id=3)]


def test_the_worker_takes_over_when_the_screen_differs(memory: MemoryStore, skills: dict[str, str]) -> None:
    renamed = screen(FIELD, replace(BOX, name="Weekly letter"), SEND)
    model = ScriptedModel({"plan": [choosing(skills, *ALL)], "act": [act(Click(element_id=2)), act(Done())]})
    events, desktop = run(memory, model, renamed, summaries=False)
    assert outcome(events).status == "done"
    assert [ended.replayed for ended in of(SubtaskEnded, events)] == [True, False, True]
    assert desktop.performed == [Type(text="Grace", element_id=1), Click(element_id=2), Click(element_id=3)]
    (story,) = memory.list_experiences("narrative")
    assert isinstance(story, NarrativeExperience)
    assert [bool(part.skill) for part in story.plan] == [True, False, True]  # what the Worker did is no skill's doing


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (PlannedNode(name="Tick the box", skill=9), "uses skill 9; there are 3 skills"),
        (PlannedNode(name="Tick the box", skill=1, values=("a", "b")), "gives 2 values"),
    ],
)
def test_a_plan_with_an_unknown_skill_or_value_is_sent_back(
    memory: MemoryStore, skills: dict[str, str], node: PlannedNode, problem: str
) -> None:
    model = ScriptedModel({"plan": [PlanResponse(nodes=(node,)), choosing(skills, *ALL)]})
    events, _ = run(memory, model, summaries=False)
    again = model.requests[1].context
    assert isinstance(again, PlanContext) and problem in again.problem
    assert outcome(events).status == "done"


def test_a_task_done_by_skills_is_replayed_without_a_model(memory: MemoryStore, skills: dict[str, str]) -> None:
    run(memory, ScriptedModel({"plan": [choosing(skills, *ALL)]}), summaries=False)
    events, desktop = run(memory, NoModel(), replay="only")
    assert (outcome(events).status, outcome(events).replayed) == ("done", True)
    assert of(Planned, events)[0].plan.source == "memory"
    assert desktop.performed == [Type(text="Grace", element_id=1), Click(element_id=2), Click(element_id=3)]


def test_a_task_done_by_skills_is_replayed_with_other_values(memory: MemoryStore, skills: dict[str, str]) -> None:
    first, other = ("Put 'Grace' down for the newsletter", "Put 'Alan Turing' down for the newsletter")
    run(memory, ScriptedModel({"plan": [choosing(skills, *ALL)]}), task=first, summaries=False)
    events, desktop = run(memory, NoModel(), task=other, replay="only")
    assert outcome(events).status == "done"
    assert desktop.performed[0] == Type(text="Alan Turing", element_id=1)


def test_a_withdrawn_skill_is_not_offered(memory: MemoryStore, skills: dict[str, str]) -> None:
    memory.quarantine(skills["send the form"], "it sends too much")
    model = ScriptedModel({"act": [act(Done())]})
    run(memory, model, summaries=False)
    context = model.requests[0].context
    assert isinstance(context, PlanContext)
    assert skills["send the form"] not in [offer.id for offer in context.skills]


def test_without_replay_no_skill_is_offered(memory: MemoryStore, skills: dict[str, str]) -> None:
    model = ScriptedModel({"act": [act(Done())]})
    run(memory, model, replay=False, summaries=False)
    context = model.requests[0].context
    assert isinstance(context, PlanContext) and not context.skills

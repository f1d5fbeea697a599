"""What runs write to memory, when it is given to the model, and how skills are proven."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.acting.actions import Action, Click, Done, Fail, Scroll
from aci.observation.observation import Observation
from agent_s import Limits, Task
from agent_s.errors import ModelUnavailable
from agent_s.events import Event, ExperienceStored, Planned, ReplayStarted, ReplayStopped, Troubled
from agent_s.llm.protocol import ActContext, PlanContext, SummariesResponse, SummarizeContext
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.records import Status, Verdict
from agent_s.trajectory.experience_origin import find_origin
from agent_s.trajectory.recorder import Recorder
from memory_store import EpisodicExperience, HashingEmbedder, MemoryStore, NarrativeExperience, SkillExperience
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.unit.agent_s.loop.test_agent import OK, TASK, act, of, opens_dialog, outcome, passes, plan, run


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        yield store


def learn(memory: MemoryStore, check: object = passes) -> list[Event]:
    model = ScriptedModel({"plan": [plan("press OK")], "act": [act(Click(element_id=1)), act(Done())]})
    return run(FakeDesktop(screen(OK), opens_dialog), model, memory, check=check)


def do_again(memory: MemoryStore, check: object = passes) -> list[Event]:
    return run(FakeDesktop(screen(OK), opens_dialog), ScriptedModel({}), memory, check=check)


def test_new_experience_goes_to_the_separate_store_and_uses_are_counted_in_memory(
    memory: MemoryStore, tmp_path: Path
) -> None:
    learn(memory)
    before = [one.id for one in memory.list_experiences()]
    answers = {"plan": [plan("press OK")], "act": [act(Click(element_id=1)), act(Done())]}
    with MemoryStore.open(tmp_path / "learned.sqlite", HashingEmbedder()) as learned:
        run(FakeDesktop(screen(OK), opens_dialog), ScriptedModel({}), memory, learned=learned, check=passes)
        assert learned.list_experiences() == []  # it only replayed
        desktop, model = FakeDesktop(screen(OK), opens_dialog), ScriptedModel(answers)
        run(desktop, model, memory, learned=learned, check=passes, replay=False)
        assert {one.kind for one in learned.list_experiences()} == {"narrative", "episodic", "skill"}
    assert [one.id for one in memory.list_experiences()] == before
    assert [skill.provenance.times_used for skill in skills(memory)] == [1]


def skills(memory: MemoryStore) -> list[SkillExperience]:
    return [one for one in memory.list_experiences("skill") if isinstance(one, SkillExperience)]


def test_experience_is_marked_as_coming_from_a_screen(memory: MemoryStore) -> None:
    learn(memory)
    learned = memory.list_experiences()
    assert {one.kind for one in learned} == {"narrative", "episodic", "skill"}
    assert all(one.provenance.from_screen for one in learned)


def test_only_a_verified_subtask_becomes_a_candidate_skill(memory: MemoryStore) -> None:
    learn(memory, check=None)
    assert skills(memory) == []
    events = learn(memory)
    (skill,) = skills(memory)
    assert (skill.name, skill.provenance.state, skill.provenance.verified) == ("press OK", "candidate", None)
    assert skill.steps[0]["action"] == {**Click(element_id=1).model_dump(mode="json")}
    assert [event.memory for event in of(ExperienceStored, events)] == ["episodic", "narrative", "skill"]


def test_a_candidate_becomes_active_when_its_replay_is_checked(memory: MemoryStore) -> None:
    learn(memory)
    assert outcome(do_again(memory)).replayed
    (skill,) = skills(memory)
    assert (skill.provenance.state, skill.provenance.verified_by) == ("active", "state check")
    assert (skill.provenance.times_used, skill.provenance.times_worked) == (1, 1)


def test_the_models_own_judgement_does_not_prove_a_skill(memory: MemoryStore) -> None:
    learn(memory)
    assert outcome(do_again(memory, check=None)).replayed
    assert [skill.provenance.state for skill in skills(memory)] == ["candidate"]


def other_task(memory: MemoryStore, desktop: FakeDesktop, model: ScriptedModel) -> list[Event]:
    agent = AgentS(model=model, desktop=desktop, memory=memory)
    return list(agent.stream(Task(instruction="Confirm everything, then stop"), passes))


def test_an_active_skill_is_replayed_in_another_task(memory: MemoryStore) -> None:
    learn(memory)
    candidate = ScriptedModel({"plan": [plan("press OK")], "act": [act(Done())]})
    begun = of(ReplayStarted, other_task(memory, FakeDesktop(screen(OK), opens_dialog), candidate))
    assert not [event for event in begun if event.experience_id.startswith("s-")]
    do_again(memory)
    desktop = FakeDesktop(screen(OK), opens_dialog)
    model = ScriptedModel({"plan": [plan("press OK", "rest")], "act": [act(Done())]})
    memory.forget([one.id for one in memory.list_experiences("narrative")])
    events = other_task(memory, desktop, model)
    assert outcome(events).status == "done"
    assert [event.experience_id for event in of(ReplayStarted, events)] == [skills(memory)[0].id]
    assert desktop.performed == [Click(element_id=1)]
    assert skills(memory)[0].provenance.times_worked >= 2


def test_a_skill_that_fails_twice_is_withdrawn(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)
    learn(memory)
    do_again(memory)
    for number in range(2):
        answers = {"plan": [plan("press OK")], "act": [act(Fail(reason="not there"))]}
        # Without the button, and in the same application.
        task = Task(instruction=f"Try number {number}")
        agent = AgentS(model=ScriptedModel(answers), desktop=FakeDesktop(screen()), memory=memory)
        assert of(ReplayStopped, list(agent.stream(task, passes)))
    assert [skill.provenance.state for skill in skills(memory)] == ["quarantined"]


def test_experience_can_be_withheld_until_the_first_attempt_has_failed(memory: MemoryStore) -> None:
    learn(memory, check=None)
    model = ScriptedModel(
        {"plan": [plan("press OK"), plan("press OK once more")], "act": [act(Fail(reason="no")), act(Done())]}
    )
    run(FakeDesktop(screen(OK)), model, memory, check=passes, give_memory="after_failure", replay=False)
    contexts = [request.context for request in model.requests]
    plans = [context for context in contexts if isinstance(context, PlanContext)]
    acts = [context for context in contexts if isinstance(context, ActContext)]
    assert [bool(context.experiences) for context in plans] == [False, True]
    assert [bool(context.experiences) for context in acts] == [False, True]


def test_experience_is_given_at_once_by_default(memory: MemoryStore) -> None:
    learn(memory, check=None)
    model = ScriptedModel({"plan": [plan("press OK")], "act": [act(Done())]})
    run(FakeDesktop(screen(OK)), model, memory, check=passes, replay=False)
    contexts = [request.context for request in model.requests if isinstance(request.context, PlanContext | ActContext)]
    assert [bool(context.experiences) for context in contexts] == [True, True]


def drafts(memory: MemoryStore) -> list[str]:
    return [one.id[0] for one in memory.list_experiences(draft=True)]


def summaries(memory: MemoryStore) -> dict[str, str]:
    return {one.id[0]: one.summary for one in memory.list_experiences() if not isinstance(one, SkillExperience)}


def grows(action: Action, seen: Observation) -> Observation:
    return screen(*seen.elements, button(len(seen.elements) + 1, f"row {len(seen.elements)}"))


LONG = [*[act(Click(element_id=1))] * 2, act(Scroll(element_id=1, clicks=-3)), act(Click(element_id=1)),
        act(Scroll(element_id=1, clicks=3)), act(Done())]  # fmt: skip
WRITTEN = SummariesResponse(summaries=("How it was pressed.", "How it went."))


def test_drafts_are_summarized_in_one_call_after_the_outcome_is_known(memory: MemoryStore) -> None:
    model = ScriptedModel({"plan": [plan("press OK")], "act": LONG, "summarize": [WRITTEN]})
    events = run(FakeDesktop(screen(OK), grows), model, memory, check=passes)
    assert summaries(memory) == {"e": "How it was pressed.", "n": "How it went."}
    assert drafts(memory) == []
    kinds = [event.kind for event in events]
    assert kinds[kinds.index("concluded") :] == ["concluded", "model_called", "run_ended"]
    context = model.requests[-1].context
    assert isinstance(context, SummarizeContext)
    subtask, task = context.drafts
    assert (subtask.subtask, task.subtask) == ("press OK", "")
    assert "do scroll: scroll" in subtask.text and "row 2" in subtask.text
    assert task.text.startswith("Ended as done, a check confirms it") and "press OK:" in task.text
    assert context.observation is not None


def test_a_trivial_subtask_is_its_own_summary(memory: MemoryStore) -> None:
    model = ScriptedModel({"plan": [plan("press OK")], "act": [act(Click(element_id=1)), act(Done())]})
    run(FakeDesktop(screen(OK), opens_dialog), model, memory, check=passes)
    assert [request.kind for request in model.requests] == ["plan", "act", "act"]
    assert drafts(memory) == []
    assert 'do click: click push button "OK"' in summaries(memory)["e"]


def test_a_later_run_summarizes_the_drafts_of_a_killed_run(memory: MemoryStore) -> None:
    model = ScriptedModel({"plan": [plan("press OK")], "act": LONG})
    for event in AgentS(model=model, desktop=FakeDesktop(screen(OK), grows), memory=memory).stream(TASK, passes):
        if event.kind == "concluded":
            break
    assert sorted(drafts(memory)) == ["e", "n"]
    assert "scroll" in summaries(memory)["e"]
    later = ScriptedModel({"plan": [plan("wait")], "act": [act(Done())], "summarize": [WRITTEN]})
    agent = AgentS(model=later, desktop=FakeDesktop(screen(OK)), memory=memory)
    list(agent.stream(Task(instruction="Something else entirely"), passes))
    assert drafts(memory) == []
    assert "How it was pressed." in summaries(memory).values()


@pytest.mark.parametrize("answer", [SummariesResponse(summaries=("only one",)), ModelUnavailable("away")])
def test_drafts_stay_if_the_summaries_are_unusable(memory: MemoryStore, answer: Answer) -> None:
    model = ScriptedModel({"plan": [plan("press OK")], "act": LONG, "summarize": [answer]})
    events = run(FakeDesktop(screen(OK), grows), model, memory, check=passes)
    assert outcome(events).status == "done"
    assert "could not be summarized" in of(Troubled, events)[0].problem
    assert sorted(drafts(memory)) == ["e", "n"]


def test_summaries_can_be_switched_off(memory: MemoryStore) -> None:
    model = ScriptedModel({"plan": [plan("press OK")], "act": LONG})
    run(FakeDesktop(screen(OK), grows), model, memory, check=passes, summaries=False)
    assert "summarize" not in [request.kind for request in model.requests]
    assert drafts(memory) == []


def test_a_run_out_of_budget_stores_how_far_it_came(memory: MemoryStore) -> None:
    model = ScriptedModel({"plan": [plan("press OK", "press it again")], "act": [*LONG, *LONG]})
    ended = outcome(run(FakeDesktop(screen(OK), grows), model, memory, limits=Limits(max_steps=7)))
    assert ended.status == "out_of_budget"
    (story,) = [one for one in memory.list_experiences() if isinstance(one, NarrativeExperience)]
    assert not story.success and story.provenance.outcome == "out_of_budget"


def test_an_experience_links_to_the_screenshots_of_its_run_until_the_run_is_deleted(
    memory: MemoryStore, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "one"
    recorder = Recorder(folder)
    model = ScriptedModel(
        {"plan": [plan("wait", "press OK")], "act": [act(Done()), act(Click(element_id=1)), act(Done())]}
    )
    agent = AgentS(model=model, desktop=FakeDesktop(screen(OK), opens_dialog), memory=memory)
    for event in agent.stream(Task(instruction="Press the OK button"), passes):
        recorder(event)
    recorder.close()
    (episode,) = [one for one in memory.list_experiences() if isinstance(one, EpisodicExperience)]
    origin = find_origin(tmp_path / "runs", episode)
    assert origin.problem == ""
    assert [path.parent for path in origin.screenshots] == [folder / "screens"]
    assert origin.trajectory is not None
    assert of(Planned, list(origin.trajectory.events)) == []
    shutil.rmtree(folder)
    gone = find_origin(tmp_path / "runs", episode)
    assert gone.trajectory is None
    assert "deleted" in gone.problem


@pytest.mark.parametrize("learn_checks", [True, False])
def test_the_verdict_of_an_evaluation_can_be_excluded_from_memory(memory: MemoryStore, learn_checks: bool) -> None:
    def fails(status: Status) -> Verdict:
        return Verdict(verified=False, reason="the file is not there", by="state check")

    model = ScriptedModel({"plan": [plan("press OK")], "act": [act(Click(element_id=1)), act(Done())]})
    agent = AgentS(model=model, desktop=FakeDesktop(screen(OK), opens_dialog), memory=memory, learn_checks=learn_checks)
    events = list(agent.stream(Task(instruction="Press OK, then stop"), fails, blind=True))
    assert (outcome(events).status, outcome(events).verified) == ("failed", False)
    (narrative,) = memory.list_experiences("narrative")
    assert (narrative.provenance.outcome, narrative.provenance.verified) == (
        ("failed", False) if learn_checks else ("done", None)
    )
    told = [narrative.model_dump_json(), *(str(request.context) for request in model.requests)]
    assert learn_checks or "the file is not there" not in " ".join(told)

"""The loop, with a scripted model, a desktop made of values and a real memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, TypeVar

import pytest

from aci.acting.actions import Action, CallUser, Click, Done, Fail, SaveToBuffer, Scroll, Type
from aci.desktop.desktop import ActionResult
from aci.errors import ConnectionLost
from aci.observation.geometry import Rect
from aci.observation.observation import Observation, Window
from aci.safety.policy import Policy
from aci.screen.emergency_stop import Halt
from agent_s import AgentS, Limits, Options, Outcome, Task
from agent_s.errors import ModelRefused, ModelUnavailable
from agent_s.events import (
    ActionPerformed,
    Event,
    KnowledgeGathered,
    ModelCalled,
    Observed,
    Planned,
    Reflected,
    ReplayStopped,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    Troubled,
)
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    Citation,
    Judgement,
    ModelRequest,
    ModelResponse,
    PlanContext,
    PlannedNode,
    PlanResponse,
    QueryContext,
    QueryResponse,
    VerifyContext,
    VerifyResponse,
    WebResult,
)
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Status, Usage, Verdict
from agent_s.safety.confirmation import Consent
from agent_s.search import Meter, WebSearch
from memory_store import MemoryStore, StoreFull
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen

E = TypeVar("E", bound=Event)
TASK = Task(instruction="Press the OK button")
OK = button(1, "OK")
DIALOG = Window(id=9, title="Dialog", app="editor", rect=Rect(0, 0, 9, 9))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        yield store


def act(action: Action) -> ActResponse:
    return ActResponse(next_action=f"do {action.action}", action=action)


def plan(*names: str) -> PlanResponse:
    return PlanResponse(nodes=tuple(PlannedNode(name=name) for name in names))


def of(kind: type[E], events: list[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def outcome(events: list[Event]) -> Outcome:
    assert isinstance(events[-1], RunEnded)
    return events[-1].outcome


def opens_dialog(action: Action, seen: Observation) -> Observation:
    return screen(*seen.elements, windows=(DIALOG, EDITOR))


def passes(status: Status) -> Verdict:
    return Verdict(verified=status == "done", by="state check", evidence=("looked",))


def full_disk(*_: object, **__: object) -> None:
    raise StoreFull("the disk is full")


def run(desktop: FakeDesktop, model: ScriptedModel, memory: MemoryStore | None = None, **more: object) -> list[Event]:
    check = more.pop("check", None)
    options = Options.model_validate({name: more.pop(name) for name in Options.model_fields if name in more})
    agent = AgentS(model=model, desktop=desktop, memory=memory, options=options, **more)  # type: ignore[arg-type]
    return list(agent.stream(TASK, check))  # type: ignore[arg-type]


def test_keyword_options_override_the_options_object() -> None:
    agent = AgentS(
        model=ScriptedModel({}),
        desktop=FakeDesktop([screen(OK)]),
        options=Options(planner="flat", learn=False),
        limits=Limits(max_steps=3),
        learn=True,
    )
    assert agent.options == Options(planner="flat", limits=Limits(max_steps=3), learn=True)
    with pytest.raises(ValueError, match="planer"):
        AgentS(model=ScriptedModel({}), desktop=FakeDesktop([screen(OK)]), planer="flat")


def test_a_task_is_planned_carried_out_and_verified() -> None:
    desktop = FakeDesktop(screen(OK), opens_dialog)
    model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
    events = run(desktop, model, check=passes)
    ended = outcome(events)
    assert (ended.status, ended.verified, ended.usage.steps) == ("done", True, 1)
    assert desktop.performed == [Click(element_id=1)]
    assert ended.usage.model_calls == 3
    assert [request.kind for request in model.requests] == ["plan", "act", "act"]


def test_subtasks_are_worked_on_in_topological_order() -> None:
    answer = PlanResponse(nodes=(PlannedNode(name="second"), PlannedNode(name="first")), edges=(("first", "second"),))
    events = run(FakeDesktop(screen(OK)), ScriptedModel({"plan": [answer], "act": [act(Done()), act(Done())]}))
    assert [event.subtask.name for event in of(SubtaskEnded, events)] == ["first", "second"]


def test_a_plan_with_a_cycle_is_sent_back_once() -> None:
    cycle = PlanResponse(nodes=plan("a", "b").nodes, edges=(("a", "b"), ("b", "a")))
    model = ScriptedModel({"plan": [cycle, plan("a")], "act": [act(Done())]})
    events = run(FakeDesktop(screen(OK)), model)
    assert outcome(events).status == "done"
    second = [request.context for request in model.requests if request.kind == "plan"][1]
    assert isinstance(second, PlanContext) and "cycle" in second.problem


def test_a_second_plan_with_a_cycle_fails_the_task() -> None:
    cycle = PlanResponse(nodes=plan("a", "b").nodes, edges=(("a", "b"), ("b", "a")))
    ended = outcome(run(FakeDesktop(screen(OK)), ScriptedModel({"plan": [cycle, cycle]})))
    assert ended.status == "failed" and "cycle" in ended.reason


def test_a_failed_subtask_is_replanned_with_the_remaining_ones() -> None:
    model = ScriptedModel(
        {
            "plan": [plan("a", "b", "c"), plan("b another way", "c")],
            "act": [act(Done()), act(Fail(reason="no such menu")), act(Done()), act(Done())],
        }
    )
    events = run(FakeDesktop(screen(OK)), model)
    context = [request.context for request in model.requests if request.kind == "plan"][1]
    assert isinstance(context, PlanContext) and context.failed is not None
    assert context.failed.reason == "no such menu"
    assert [subtask.name for subtask in context.done] == ["a"]
    assert [subtask.name for subtask in context.left] == ["c"]
    assert outcome(events).status == "done"
    assert [event.replan for event in of(Planned, events)] == [0, 1]


def test_the_evaluator_sees_the_steps_of_a_failed_subtask() -> None:
    fails = [act(Click(element_id=OK.id)), act(Fail(reason="no such menu"))]
    model = ScriptedModel({"plan": [plan("a"), plan("b")], "act": [*fails, act(Done())]})
    run(FakeDesktop(screen(OK)), model)
    context = next(request.context for request in model.requests if isinstance(request.context, VerifyContext))
    assert [(subtask.name, len(steps)) for subtask, steps in context.done] == [("a (not finished)", 1), ("b", 0)]


def test_a_repeated_plan_is_refused() -> None:
    model = ScriptedModel({"plan": [plan("a")] * 3, "act": [act(Fail(reason="not there"))]})
    ended = outcome(run(FakeDesktop(screen(OK)), model))
    assert (ended.status, ended.reason, ended.verified) == ("failed", "not there", False)
    plans = [request.context for request in model.requests if isinstance(request.context, PlanContext)]
    assert len(plans) == 3
    assert "carried out before and failed" in plans[2].problem


def test_every_earlier_plan_is_refused() -> None:
    plans = [plan("a", "b"), plan("b another way"), plan("b"), plan("b a third way")]
    gives_up = act(Fail(reason="not there"))
    model = ScriptedModel({"plan": plans, "act": [act(Done()), gives_up, gives_up, act(Done())]})
    events = run(FakeDesktop(screen(OK)), model)
    assert outcome(events).status == "done"
    assert [event.plan.subtasks[0].name for event in of(Planned, events)] == ["a", "b another way", "b a third way"]


def test_a_plan_that_a_check_refuted_is_refused() -> None:
    model = ScriptedModel({"plan": [plan("a")] * 3, "act": [act(Done())]})
    ended = outcome(run(FakeDesktop(screen(OK)), model, check=lambda status: Verdict(verified=False, reason="empty")))
    assert (ended.status, ended.reason) == ("failed", "not verified: empty")


def test_a_planner_that_gives_up_ends_the_task_with_its_reason() -> None:
    gives_up = PlanResponse(gives_up="I do not understand 'frobnicate'")
    ended = outcome(run(FakeDesktop(screen(OK)), ScriptedModel({"plan": [gives_up]})))
    assert (ended.status, ended.reason, ended.usage.steps) == ("failed", "I do not understand 'frobnicate'", 0)


def test_replanning_is_bounded() -> None:
    model = ScriptedModel({"plan": [plan(name) for name in "abcdef"], "act": [act(Fail(reason="no"))] * 6})
    events = run(FakeDesktop(screen(OK)), model, limits=Limits(max_replans=2))
    assert outcome(events).status == "failed"
    assert len(of(Planned, events)) == 3


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(max_steps=3), "limits.max_steps"),
        (Limits(max_model_calls=4), "limits.max_model_calls"),
        (Limits(max_seconds=1e-9), "limits.max_seconds"),
    ],
)
def test_a_used_up_budget_ends_the_run_and_is_named(limits: Limits, named: str) -> None:
    model = ScriptedModel({"act": [act(Click(element_id=1))] * 50})
    ended = outcome(run(FakeDesktop(screen(OK), opens_dialog), model, limits=limits))
    assert ended.status == "out_of_budget" and named in ended.reason and ended.verified is None


def test_a_subtask_that_never_ends_fails() -> None:
    model = ScriptedModel({"act": [act(Click(element_id=1))] * 50})
    events = run(FakeDesktop(screen(OK)), model, limits=Limits(max_subtask_steps=4, max_replans=0))
    assert outcome(events).status == "failed" and "limits.max_subtask_steps" in outcome(events).reason


def test_the_reflector_gives_feedback_when_nothing_changes() -> None:
    model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
    events = run(FakeDesktop(screen(OK)), model)
    assert [event.trouble for event in of(Reflected, events)] == [
        "the last action had no effect: nothing changed on the screen"
    ]


def test_the_worker_sees_the_error_of_a_refused_action() -> None:
    def refuse(action: Action, seen: Observation) -> ActionResult:
        return ActionResult(ok=False, error="there is no element 99")

    model = ScriptedModel({"act": [act(Click(element_id=99)), act(Fail(reason="gave up"))]})
    run(FakeDesktop(screen(OK), refuse), model, limits=Limits(max_replans=0))
    context = model.requests[-1].context
    assert isinstance(context, ActContext)
    assert context.steps[-1].result.error == "there is no element 99"


def test_a_refuted_done_is_a_failure() -> None:
    def contradicts(status: Status) -> Verdict:
        return Verdict(verified=False, reason="the file is empty", by="state check")

    model = ScriptedModel({"act": [act(Done())]})
    ended = outcome(run(FakeDesktop(screen(OK)), model, check=contradicts, limits=Limits(max_replans=0)))
    assert (ended.status, ended.verified) == ("failed", False)
    assert "the file is empty" in ended.reason


def test_a_refuted_done_goes_back_to_planning_with_the_reason() -> None:
    verdicts = [Verdict(verified=False, reason="the file is empty"), Verdict(verified=True)]
    model = ScriptedModel({"plan": [plan("write"), plan("write again")], "act": [act(Done()), act(Done())]})
    ended = outcome(run(FakeDesktop(screen(OK)), model, check=lambda status: verdicts.pop(0)))
    assert (ended.status, ended.verified) == ("done", True)
    again = next(request.context for request in reversed(model.requests) if request.kind == "plan")
    assert isinstance(again, PlanContext) and again.failed is not None
    assert again.failed.reason == "not verified: the file is empty"


def test_the_agent_does_not_see_the_result_of_a_blind_check() -> None:
    model = ScriptedModel({"act": [act(Done())]})
    agent = AgentS(model=model, desktop=FakeDesktop(screen(OK)))
    ended = agent.run(TASK, lambda status: Verdict(verified=False, reason="the file is empty"), blind=True)
    assert (ended.status, ended.verified) == ("failed", False)
    assert [request.kind for request in model.requests] == ["plan", "act"]


AIMS = QueryResponse(query="How to press OK", criteria=("OK is pressed",), constraints=("do not cancel",))


class NoPages(WebSearch):
    def search(self, query: str) -> tuple[WebResult, ...]:
        return ()


def test_criteria_and_constraints_reach_every_role() -> None:
    model = ScriptedModel({"query": [AIMS], "act": [act(Click(element_id=1)), act(Done())]})
    run(FakeDesktop(screen(OK)), model, search=NoPages())
    contexts = {request.kind: request.context for request in model.requests}
    assert getattr(contexts["plan"], "constraints", None) == ("do not cancel",)
    assert getattr(contexts["plan"], "wants_aims", None) is False
    assert getattr(contexts["act"], "constraints", None) == ("do not cancel",)
    assert getattr(contexts["reflect"], "constraints", None) == ("do not cancel",)
    assert getattr(contexts["verify"], "points", None) == ("OK is pressed", "do not cancel")


def test_without_a_web_search_criteria_and_constraints_come_with_the_plan() -> None:
    answer = plan("a").model_copy(update={"criteria": AIMS.criteria, "constraints": AIMS.constraints})
    model = ScriptedModel({"plan": [answer, plan("b")], "act": [act(Fail(reason="no")), act(Done())]})
    events = run(FakeDesktop(screen(OK)), model)
    assert [request.kind for request in model.requests] == ["plan", "act", "plan", "act", "verify"]
    contexts = [request.context for request in model.requests]
    assert [context.wants_aims for context in contexts if isinstance(context, PlanContext)] == [True, False]
    assert getattr(contexts[2], "constraints", None) == ("do not cancel",)
    assert getattr(contexts[3], "constraints", None) == ("do not cancel",)
    assert getattr(contexts[4], "points", None) == ("OK is pressed", "do not cancel")
    assert of(Planned, events)[0].plan.aims.criteria == AIMS.criteria


def test_without_criteria_the_instruction_is_judged() -> None:
    query = QueryResponse(query="How to press OK", constraints=("do not cancel",))
    model = ScriptedModel({"query": [query], "act": [act(Done())]})
    run(FakeDesktop(screen(OK)), model, search=NoPages())
    assert getattr(model.requests[-1].context, "points", None) == (TASK.instruction, "do not cancel")


def test_the_evaluator_may_look_closer_but_not_act() -> None:
    looks = [
        VerifyResponse(look=action, verified=None) for action in (Click(element_id=1), Scroll(element_id=1, clicks=-3))
    ]
    says = Judgement(point=1, met=True, citations=(Citation(of="element", number=7, quote="checked"),))
    model = ScriptedModel(
        {"act": [act(Done())], "verify": [*looks, VerifyResponse(judgements=(says,), verified=True, reason="seen")]}
    )
    box = replace(button(7, "OK", role="check box"), states=frozenset({"checkable", "checked"}))
    desktop = FakeDesktop(screen(OK, box))
    ended = outcome(run(desktop, model))
    assert (ended.status, ended.verified) == ("done", True)
    assert desktop.performed == [Scroll(element_id=1, clicks=-3)]
    last = model.requests[[request.kind for request in model.requests].index("verify") + 2].context
    assert isinstance(last, VerifyContext)
    assert [step.result.ok for step in last.looked] == [False, True]


def test_a_file_that_the_criteria_name_is_probed_before_the_evaluator_is_called(tmp_path: Path) -> None:
    class AtHome(FakeDesktop):
        @property
        def home(self) -> Path:
            return tmp_path

    (tmp_path / "plan.txt").write_text("call Ada")
    answer = plan("a").model_copy(update={"criteria": ("The file plan.txt contains 'call Ada'",)})
    says = Judgement(point=1, met=True, citations=(Citation(of="probe", number=1),))
    judged = VerifyResponse(judgements=(says,), verified=True)
    model = ScriptedModel({"plan": [answer], "act": [act(Done())], "verify": [judged]})
    ended = outcome(run(AtHome(screen(OK)), model))
    assert (ended.status, ended.verified) == ("done", True)
    assert [request.kind for request in model.requests].count("verify") == 1


def test_a_claim_without_evidence_is_sent_back_once_and_then_left_undecided() -> None:
    unfounded = Judgement(point=1, met=True, citations=(Citation(of="element", number=77, quote="OK"),))
    claims = VerifyResponse(judgements=(unfounded,), verified=True)
    model = ScriptedModel({"act": [act(Done())], "verify": [claims, claims]})
    ended = outcome(run(FakeDesktop(screen(OK)), model))
    assert (ended.status, ended.verified) == ("done", None)
    judged = [request.context for request in model.requests if isinstance(request.context, VerifyContext)]
    assert [context.problem for context in judged] == ["", "point 1: element 77 is not on the screen"]


def test_a_strict_evaluator_fails_undecided_tasks() -> None:
    cannot_tell = VerifyResponse(verified=None, reason="it cannot be seen")
    for evaluator, status in ((True, "done"), ("strict", "failed")):
        model = ScriptedModel({"act": [act(Done())], "verify": [cannot_tell]})
        ended = outcome(run(FakeDesktop(screen(OK)), model, evaluator=evaluator, limits=Limits(max_replans=0)))
        assert (ended.status, ended.verified) == (status, None)


def test_the_evaluator_may_look_closer_only_max_looks_times() -> None:
    look = VerifyResponse(look=Scroll(element_id=1, clicks=-3), verified=None)
    model = ScriptedModel({"act": [act(Done())], "verify": [look] * 3})
    desktop = FakeDesktop(screen(OK))
    ended = outcome(run(desktop, model, limits=Limits(max_looks=2)))
    assert (ended.status, ended.verified) == ("done", None)
    assert len(desktop.performed) == 2


def test_a_part_of_the_budget_is_reserved_for_verification() -> None:
    clicks = [act(Click(element_id=number % 3)) for number in range(20)]
    desktop = FakeDesktop(screen(OK), lambda action, seen: screen(button(len(desktop.performed), "OK")))
    limits = Limits(max_steps=12, max_subtask_steps=50, max_looks=3)
    ended = outcome(run(desktop, ScriptedModel({"act": clicks}), limits=limits, reflect=False))
    assert ended.status == "out_of_budget"
    assert len(desktop.performed) == 9
    assert ended.reason.startswith("9 of 12 steps are used up (limits.max_steps); the last 3 are kept for ")
    assert "limits.max_looks" in ended.reason
    calls = Limits(max_model_calls=12, max_subtask_steps=50, max_looks=1)
    desktop = FakeDesktop(screen(OK), lambda action, seen: screen(button(len(desktop.performed), "OK")))
    ended = outcome(run(desktop, ScriptedModel({"act": clicks}), limits=calls, reflect=False))
    assert ended.reason.startswith("10 of 12 model calls are used up (limits.max_model_calls); the last 2 are kept")


def test_a_small_budget_has_no_reserve() -> None:
    clicks = [act(Click(element_id=1))] * 5
    ended = outcome(run(FakeDesktop(screen(OK)), ScriptedModel({"act": clicks}), limits=Limits(max_steps=3)))
    assert ended.reason == "3 steps are used up (limits.max_steps)"


def test_an_impossible_task_ends_as_infeasible() -> None:
    model = ScriptedModel({"plan": [PlanResponse(gives_up="there is no such application", infeasible=True)]})
    ended = outcome(run(FakeDesktop(screen(OK)), model))
    assert (ended.status, ended.verified, ended.reason) == ("infeasible", None, "there is no such application")


def test_a_flat_planner_passes_the_task_to_the_worker_unchanged() -> None:
    model = ScriptedModel({"act": [act(Done())]})
    events = run(FakeDesktop(screen(OK)), model, planner="flat", check=passes)
    assert [request.kind for request in model.requests] == ["act"]
    assert [subtask.info for subtask in of(Planned, events)[0].plan.subtasks] == [TASK.instruction]


def test_the_only_subtask_of_a_flat_plan_may_take_all_steps_of_the_task() -> None:
    desktop = FakeDesktop(screen(OK), lambda action, seen: screen(button(len(desktop.performed) + 1, "OK")))
    clicks = [act(Click(element_id=number)) for number in range(1, 30)]
    limits = Limits(max_steps=30, max_subtask_steps=5, max_looks=0)
    ended = outcome(run(desktop, ScriptedModel({"act": [*clicks, act(Done())]}), planner="flat", limits=limits))
    assert (ended.status, ended.usage.steps) == ("done", 29)


def test_a_flat_plan_sends_a_refuted_task_back_to_the_worker() -> None:
    verdicts = iter([Verdict(verified=False, reason="the file is empty"), Verdict(verified=True)])
    model = ScriptedModel({"act": [act(Done()), act(Done())]})
    ended = outcome(run(FakeDesktop(screen(OK)), model, planner="flat", check=lambda status: next(verdicts)))
    assert (ended.status, ended.verified) == ("done", True)
    assert [request.kind for request in model.requests] == ["act", "act"]
    context = model.requests[1].context
    assert isinstance(context, ActContext) and "the file is empty" in context.subtask.info
    assert TASK.instruction in context.subtask.info


def test_a_subtask_that_goes_in_circles_is_replanned() -> None:
    model = ScriptedModel({"plan": [plan("a"), plan("b")], "act": [act(Click(element_id=1))] * 6 + [act(Done())]})
    events = run(FakeDesktop(screen(OK)), model, check=passes)
    assert outcome(events).status == "done"
    assert of(SubtaskEnded, events)[0].reason == "6 tries in a row had no effect"


def test_searches_count_against_the_budgets_and_usage_of_the_run() -> None:
    class Paid(WebSearch):
        def set_meter(self, meter: Meter) -> None:
            self.by = meter

        def search(self, query: str) -> tuple[WebResult, ...]:
            self.by.check()
            self.by.charge(Usage(input_tokens=1000, output_tokens=50, dollars=0.25), 1.5)
            return ()

    model = ScriptedModel({"query": [QueryResponse(query="How to")], "act": [act(Done())]})
    events = run(FakeDesktop(screen(OK)), model, search=Paid(), check=passes)
    ended = outcome(events)
    assert (ended.status, ended.usage.input_tokens, ended.usage.output_tokens) == ("done", 1000, 50)
    searches = [event.usage for event in of(ModelCalled, events) if event.call == "search"]
    assert [(usage.input_tokens, usage.dollars) for usage in searches] == [(1000, 0.25)]
    again = ScriptedModel({"query": [QueryResponse(query="How to")]})
    ended = outcome(run(FakeDesktop(screen(OK)), again, search=Paid(), limits=Limits(max_tokens=1000)))
    assert (ended.status, ended.reason) == ("out_of_budget", "1000 tokens are used up (limits.max_tokens)")


def test_an_unusable_answer_counts_against_the_budgets_and_usage_of_the_run() -> None:
    class Refusing(ScriptedModel):
        def complete(self, request: ModelRequest) -> ModelResponse:
            request.on_usage(Usage(input_tokens=1000, output_tokens=50, dollars=0.25))
            raise ModelRefused("no")

    events = run(FakeDesktop(screen(OK)), Refusing({}))
    ended = outcome(events)
    assert (ended.status, ended.usage.model_calls, ended.usage.tokens, ended.usage.dollars) == ("error", 1, 1050, 0.25)
    assert [call.usage.tokens for call in of(ModelCalled, events)] == [1050]


def test_the_web_is_searched_again_when_a_subtask_fails() -> None:
    class Engine(WebSearch):
        queries: ClassVar[list[str]] = []

        def search(self, query: str) -> tuple[WebResult, ...]:
            self.queries.append(query)
            return (WebResult("Page", "http://localhost/", query),)

    model = ScriptedModel(
        {
            "query": [QueryResponse(query="first"), QueryResponse(query="second")],
            "plan": [plan("a"), plan("b"), plan("c")],
            "act": [act(Done()), act(Fail(reason="no")), act(Done())],
        }
    )
    verdicts = iter([Verdict(verified=False, reason="half of it is missing"), Verdict(verified=True)])
    run(FakeDesktop(screen(OK)), model, search=Engine(), check=lambda status: next(verdicts))
    assert Engine.queries == ["first", "second"]
    plans = [request.context for request in model.requests if isinstance(request.context, PlanContext)]
    assert [context.web[0].content for context in plans] == ["first", "first", "second"]
    asked = [request.context for request in model.requests if isinstance(request.context, QueryContext)]
    assert [context.trouble for context in asked] == ["", "b: no"]


def test_the_web_is_not_searched_when_the_person_refused_an_action() -> None:
    declined = FakeDesktop(
        screen(OK), lambda action, seen: ActionResult(ok=False, error="not confirmed", refusal="not_confirmed")
    )
    model = ScriptedModel(
        {
            "query": [QueryResponse(query="first")],
            "plan": [plan("a"), plan("b")],
            "act": [act(Click(element_id=1)), act(Fail(reason="the person said no")), act(Done())],
        }
    )
    run(declined, model, search=NoPages(), check=passes)
    assert [request.kind for request in model.requests].count("query") == 1


def test_without_a_check_the_model_judges() -> None:
    answer = VerifyResponse(verified=True, reason="the label says so", evidence=("label 'Saved'",))
    ended = outcome(run(FakeDesktop(screen(OK)), ScriptedModel({"act": [act(Done())], "verify": [answer]})))
    assert (ended.status, ended.verified) == ("done", True)


def test_an_unreachable_model_is_an_error_outcome() -> None:
    model = ScriptedModel({"act": [ModelUnavailable("no answer from the server")]})
    ended = outcome(run(FakeDesktop(screen(OK)), model))
    assert (ended.status, ended.reason) == ("error", "no answer from the server")


def test_a_lost_desktop_is_an_error_outcome() -> None:
    def lose(action: Action, seen: Observation) -> Observation:
        raise ConnectionLost("the display is gone")

    desktop = FakeDesktop(screen(OK), lose)
    ended = outcome(run(desktop, ScriptedModel({"act": [act(Click(element_id=1))]})))
    assert ended.status == "error" and desktop.released


def test_ctrl_c_stops_the_run_and_releases_the_keys() -> None:
    def interrupt(action: Action, seen: Observation) -> Observation:
        raise KeyboardInterrupt

    desktop = FakeDesktop(screen(OK), interrupt)
    ended = outcome(run(desktop, ScriptedModel({"act": [act(Click(element_id=1))]})))
    assert ended.status == "stopped" and desktop.released


def test_stop_from_another_thread_ends_the_run() -> None:
    agent: AgentS

    def stop(action: Action, seen: Observation) -> Observation:
        thread = threading.Thread(target=agent.stop)
        thread.start()
        thread.join()
        return seen

    agent = AgentS(model=ScriptedModel({"act": [act(Click(element_id=1))] * 9}), desktop=FakeDesktop(screen(OK), stop))
    ended = agent.run(TASK)
    assert (ended.status, ended.usage.steps) == ("stopped", 1)


def test_the_emergency_stop_ends_one_run_only() -> None:
    halt = Halt()

    def stopped(action: Action, seen: Observation) -> Observation:
        halt.call("the stop key was pressed")
        halt.check()
        return seen

    desktop = FakeDesktop(screen(OK), stopped, halt)
    agent = AgentS(model=ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]}), desktop=desktop)
    ended = agent.run(TASK)
    assert (ended.status, ended.usage.steps) == ("stopped", 1)
    assert "the stop key was pressed" in ended.reason
    assert desktop.released
    assert agent.run(TASK).status == "done"


def test_closing_the_stream_releases_the_keys() -> None:
    desktop = FakeDesktop(screen(OK))
    stream = AgentS(model=ScriptedModel({"act": [act(Click(element_id=1))] * 9}), desktop=desktop).stream(TASK)
    for event in stream:
        if isinstance(event, ActionPerformed):
            break
    stream.close()  # type: ignore[attr-defined]
    assert desktop.released


def test_a_question_goes_to_the_person_and_its_answer_to_the_worker() -> None:
    model = ScriptedModel({"act": [act(CallUser(question="Which file?")), act(Done())]})
    run(FakeDesktop(screen(OK)), model, ask=lambda question: f"the one for {question}")
    context = [request.context for request in model.requests if request.kind == "act"][-1]
    assert isinstance(context, ActContext)
    assert context.steps[-1].result.answer == "the one for Which file?"


def test_time_spent_waiting_for_a_person_is_not_counted() -> None:
    now = [0.0]

    def slowly(question: object) -> str:
        now[0] += 3600
        return "yes"

    delete = button(1, "Delete")
    model = ScriptedModel({"act": [act(CallUser(question="Which file?")), act(Click(element_id=1)), act(Done())]})
    agent = AgentS(
        model=model,
        desktop=FakeDesktop(screen(delete), opens_dialog),
        policy=Policy(),
        ask=slowly,
        confirm=lambda consent: bool(slowly(consent)),
        options=Options(limits=Limits(max_seconds=60)),
        clock=lambda: now[0],
    )
    assert agent.run(TASK).status == "done"
    assert now[0] == 7200


def test_a_question_with_nobody_to_ask_is_an_error_result() -> None:
    model = ScriptedModel({"act": [act(CallUser(question="Which?")), act(Done())]})
    performed = of(ActionPerformed, run(FakeDesktop(screen(OK)), model))
    assert performed[0].result.ok is False


def test_a_risky_action_needs_the_consent_of_the_person() -> None:
    delete = button(1, "Delete")
    asked: list[Consent] = []

    def declines(consent: Consent) -> bool:
        asked.append(consent)
        return False

    for confirm in (None, declines):
        desktop = FakeDesktop(screen(delete))
        model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
        events = run(desktop, model, policy=Policy(), confirm=confirm)
        assert desktop.performed == []
        assert "not confirmed" in (of(ActionPerformed, events)[0].result.error or "")
    assert str(asked[0]).startswith("click push button \"Delete\", in the window 'Editor': ")
    desktop = FakeDesktop(screen(delete), opens_dialog)
    model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
    run(desktop, model, policy=Policy(), confirm=lambda consent: True)
    assert desktop.performed == [Click(element_id=1)]


class TestMemory:
    """What a run writes, and what later runs make of it."""

    def learn(self, memory: MemoryStore, *actions: Action, check: object = passes) -> list[Event]:
        model = ScriptedModel({"act": [*map(act, actions), act(Done())]})
        return run(FakeDesktop(screen(OK), opens_dialog), model, memory, check=check)

    def test_a_verified_task_runs_again_without_a_model(self, memory: MemoryStore) -> None:
        self.learn(memory, Click(element_id=1))
        moved = button(7, "OK")
        desktop = FakeDesktop(screen(button(3, "Cancel"), moved), opens_dialog)
        events = run(desktop, ScriptedModel({}), memory, check=passes)
        ended = outcome(events)
        assert (ended.status, ended.verified, ended.replayed, ended.usage.model_calls) == ("done", True, True, 0)
        assert desktop.performed == [Click(element_id=7)]

    def test_an_unverified_task_is_not_replayed(self, memory: MemoryStore) -> None:
        self.learn(memory, Click(element_id=1), check=None)
        model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
        ended = outcome(run(FakeDesktop(screen(OK), opens_dialog), model, memory))
        assert not ended.replayed and ended.usage.model_calls > 0

    def test_a_remembered_plan_that_fails_gets_constraints_before_replanning(self, memory: MemoryStore) -> None:
        self.learn(memory, Click(element_id=1))
        another = plan("another way").model_copy(update={"constraints": AIMS.constraints})
        model = ScriptedModel({"plan": [another], "act": [act(Fail()), act(Done())]})
        run(FakeDesktop(screen(button(7, "Cancel"))), model, memory)
        contexts = [request.context for request in model.requests if isinstance(request.context, ActContext)]
        assert [context.constraints for context in contexts] == [(), ("do not cancel",)]

    def test_replay_can_be_switched_off(self, memory: MemoryStore) -> None:
        self.learn(memory, Click(element_id=1))
        model = ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]})
        assert not outcome(run(FakeDesktop(screen(OK)), model, memory, replay=False)).replayed

    def test_the_worker_takes_over_at_a_mismatch(self, memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)
        self.learn(memory, Click(element_id=1))
        desktop = FakeDesktop(screen(button(4, "Fine")), opens_dialog)
        model = ScriptedModel({"act": [act(Click(element_id=4)), act(Done())]})
        events = run(desktop, model, memory, check=passes)
        assert "no push button 'OK'" in of(ReplayStopped, events)[0].reason
        assert Click(element_id=4) in desktop.performed
        assert outcome(events).status == "done" and not outcome(events).replayed

    def test_a_memory_that_cannot_count_a_failed_replay_does_not_end_the_run(
        self, memory: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)
        self.learn(memory, Click(element_id=1))
        desktop = FakeDesktop(screen(button(4, "Fine")), opens_dialog)
        model = ScriptedModel({"act": [act(Click(element_id=4)), act(Done())]})
        monkeypatch.setattr(memory, "record_uses", full_disk)
        events = run(desktop, model, memory, check=passes)
        assert Click(element_id=4) in desktop.performed
        assert outcome(events).status == "done" and outcome(events).verified
        assert "disk is full" in of(Troubled, events)[0].problem

    def test_a_step_without_its_effect_stops_the_replay(
        self, memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)
        self.learn(memory, Click(element_id=1))
        model = ScriptedModel({"act": [act(Fail(reason="nothing opens"))], "plan": [plan("again")]})
        events = run(FakeDesktop(screen(OK)), model, memory, limits=Limits(max_replans=0), check=passes)
        assert "should have opened" in of(ReplayStopped, events)[0].reason

    def test_texts_read_from_the_screen_are_never_replayed(self, memory: MemoryStore) -> None:
        self.learn(memory, SaveToBuffer(text="QX-17"), Type(text="QX-17"))
        model = ScriptedModel({"act": [act(Done())]})
        ended = outcome(run(FakeDesktop(screen(OK)), model, memory, check=passes))
        assert not ended.replayed
        assert [request.kind for request in model.requests] == ["act"]

    def test_failures_are_stored_as_narratives_only(self, memory: MemoryStore) -> None:
        run(
            FakeDesktop(screen(OK)),
            ScriptedModel({"act": [act(Fail(reason="no"))]}),
            memory,
            limits=Limits(max_replans=0),
        )
        stats = memory.stats()
        assert (stats.narrative, stats.episodic) == (1, 0)

    def test_a_similar_task_gets_the_experience_before_planning(self, memory: MemoryStore) -> None:
        self.learn(memory, Click(element_id=1))
        model = ScriptedModel({"act": [act(Done())]})
        agent = AgentS(model=model, desktop=FakeDesktop(screen(OK)), memory=memory)
        events = list(agent.stream(Task(instruction="Press the OK button twice")))
        assert of(KnowledgeGathered, events)[0].narratives
        context = model.requests[0].context
        assert isinstance(context, PlanContext)
        assert [experience.instruction for experience in context.experiences] == ["Press the OK button"]
        assert [request.kind for request in model.requests[:2]] == ["plan", "act"]

    def test_unwritable_memory_does_not_change_the_outcome(
        self, memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from memory_store import StoreFull

        def full(**_: object) -> None:
            raise StoreFull("the disk is full; free some space")

        monkeypatch.setattr(memory, "add_narrative", full)
        monkeypatch.setattr(memory, "add_episodic", full)
        events = self.learn(memory, Click(element_id=1))
        assert outcome(events).status == "done"
        assert len(of(Troubled, events)) == 2

    def test_a_stopped_run_keeps_its_finished_subtasks(self, memory: MemoryStore) -> None:
        model = ScriptedModel(
            {"plan": [plan("a", "b")], "act": [act(Click(element_id=1)), act(Done()), act(Click(element_id=1))]}
        )
        clicks = 0

        def second_click_is_interrupted(action: Action, seen: Observation) -> Observation:
            nonlocal clicks
            clicks += 1
            if clicks == 2:
                raise KeyboardInterrupt
            return opens_dialog(action, seen)

        ended = outcome(run(FakeDesktop(screen(OK), second_click_is_interrupted), model, memory))
        assert ended.status == "stopped"
        assert memory.stats().episodic == 1


def test_the_screen_is_observed_again_after_a_person_took_over() -> None:
    agent: AgentS
    desktop = FakeDesktop(screen(OK))
    now = [0.0]

    def chosen_meanwhile(request: ModelRequest) -> ActResponse:
        agent.pause()  # while the model thinks
        return act(Click(element_id=1))

    def take_over() -> None:
        assert desktop.released
        desktop.screen = screen(OK, windows=(DIALOG, EDITOR))
        now[0] += 3600

    model = ScriptedModel({"act": [chosen_meanwhile, act(Click(element_id=1)), act(Done())]})
    agent = AgentS(model=model, desktop=desktop, take_over=take_over, clock=lambda: now[0])
    assert agent.run(TASK).status == "done"  # their hour is not counted
    assert desktop.performed == [Click(element_id=1)]  # what was chosen before is not done
    after = [request.context for request in model.requests if isinstance(request.context, ActContext)][1]
    assert DIALOG in after.observation.windows
    assert "the person took over" in (after.steps[0].result.error or "")


def test_pause_has_no_effect_without_a_person() -> None:
    agent: AgentS

    def pauses(action: Action, seen: Observation) -> Observation:
        agent.pause()
        return seen

    agent = AgentS(
        model=ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]}), desktop=FakeDesktop(screen(OK), pauses)
    )
    assert agent.run(TASK).status == "done"


def test_earlier_tasks_go_to_the_planner_but_not_to_the_worker() -> None:
    model = ScriptedModel({"act": [act(Done())]})
    task = Task(instruction="Now save it", follows=("Type hello (done)",))
    AgentS(model=model, desktop=FakeDesktop(screen(OK))).run(task)
    renderer = Renderer(b"test", max_pictures=0)
    told = {request.kind: str(renderer.render(request.context).messages) for request in model.requests}
    assert [kind for kind, text in told.items() if "Type hello (done)" in text] == ["plan"]
    model = ScriptedModel({"act": [act(Done())]})
    AgentS(model=model, desktop=FakeDesktop(screen(OK)), options=Options(planner="flat")).run(task)
    told = {request.kind: str(renderer.render(request.context).messages) for request in model.requests}
    assert "Type hello (done)" in told["act"], "without a planner it is the worker's to know"


def test_a_person_is_never_asked_for_passwords() -> None:
    model = ScriptedModel({"act": [act(CallUser(question="What is your password?")), act(Done())]})
    performed = of(ActionPerformed, run(FakeDesktop(screen(OK)), model, ask=lambda question: "k7"))
    assert "{{secret:NAME}}" in (performed[0].result.error or "")


@pytest.mark.parametrize(
    ("named", "advice"), [("{{secret:MAIL}}", "set AGENT_S_SECRET_MAIL"), ("{{secret: MAIL}}", "{{secret:NAME}}")]
)
def test_a_task_whose_secret_cannot_be_typed_is_refused_before_anything_is_done(named: str, advice: str) -> None:
    model, desktop = ScriptedModel({}), FakeDesktop(screen(OK))
    agent = AgentS(model=model, desktop=desktop, secret={"OTHER": "k7k7k7"}.get)
    ended = agent.run(Task(instruction=f"Log in with {named}"))
    assert (ended.status, ended.usage.model_calls, desktop.performed) == ("error", 0, [])
    assert advice in ended.reason


def test_a_run_begins_with_an_empty_text_buffer() -> None:
    desktop = FakeDesktop(screen(OK))
    events = run(desktop, ScriptedModel({"act": [act(Done())]}))
    assert isinstance(events[0], RunStarted)
    assert desktop.cleared == 1


def test_the_screen_is_observed_before_each_decision() -> None:
    desktop = FakeDesktop(screen(OK), opens_dialog)
    events = run(desktop, ScriptedModel({"act": [act(Click(element_id=1)), act(Done())]}))
    shown = [len(event.observation.windows) for event in of(Observed, events) if event.observation is not None]
    assert shown == [1, 2]
    first = next(position for position, event in enumerate(events) if isinstance(event, Observed))
    assert first < next(position for position, event in enumerate(events) if isinstance(event, Planned))

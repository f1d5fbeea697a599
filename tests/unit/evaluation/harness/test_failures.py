"""Rules find the errors of a failed run in its typed events, with the steps that show them."""

from __future__ import annotations

from typing import Any

import pytest

from aci.acting.actions import Action, Click, Done, Fail, Hotkey, SwitchApplications, Type, Wait
from aci.acting.result import ActionResult, Effect, Refusal, Remark
from aci.input.read_back import Delivery
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    EffectSeen,
    Event,
    ModelCalled,
    Planned,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
)
from agent_s.records import Limits, Outcome, Plan, Status, Subtask, Task
from agent_s.trajectory.timeline import build_timeline
from evaluation.harness.failures import FailureSigns, find_errors

WORKED = ActionResult(ok=True, effect=Effect(kind="expected"))
FUTILE = ActionResult(ok=True, effect=Effect(kind="none"))
TAB, SAVE = Hotkey(keys=("Tab",)), Click(element_id=3)


def refused(refusal: Refusal | None = None) -> ActionResult:
    return ActionResult(ok=False, error="no", refusal=refusal)


def remarked(remark: Remark) -> ActionResult:
    return ActionResult(ok=True, effect=Effect(kind="other", remark=remark))


def a_start(**limits: int) -> Event:
    return RunStarted(run_id="r", task=Task(instruction="Save it"), model="m", limits=Limits(**limits))


def a_subtask(
    *steps: tuple[Action, ActionResult], ok: bool | None = False, name: str = "save", first: int = 1, **ended: Any
) -> list[Event]:
    """Return the events of a subtask; one that was cut off if `ok` is None."""
    subtask = Subtask(name=name)
    events: list[Event] = [SubtaskStarted(subtask=subtask, index=1, total=1)]
    for number, (action, result) in enumerate(steps, start=first):
        events.append(ActionChosen(step=number, action=action, target="push button 'Save'"))
        events.append(ActionPerformed(step=number, action=action, result=ActionResult(ok=result.ok)))
        events.append(EffectSeen(step=number, result=result))
    if ok is not None:
        events.append(SubtaskEnded(subtask=subtask, ok=ok, **{"steps": len(steps), **ended}))
    return events


def found_in(events: list[Event], status: Status = "failed") -> list[tuple[str, str, tuple[int, ...]]]:
    timeline = build_timeline(events)
    return [(one.kind, one.sign, one.steps) for one in find_errors(timeline, Outcome(status=status, verified=False))]


@pytest.mark.parametrize(
    ("action", "result", "kind", "sign"),
    [
        (SAVE, refused("unknown_id"), "grounding", "unknown_id"),
        (SAVE, refused("covered"), "grounding", "covered"),
        (Type(text="a", element_id=3), refused("partly_typed"), "grounding", "partly_typed"),
        (SAVE, FUTILE, "grounding", "no_effect"),
        (Type(text="a", element_id=3), remarked("focus_elsewhere"), "grounding", "focus_elsewhere"),
        (SAVE, remarked("disabled"), "execution", "disabled"),
        (SwitchApplications(app_code="nosuch"), refused("not_started"), "execution", "not_started"),
        (SAVE, refused(), "execution", "refused"),
        (
            Type(text="a", element_id=3),
            ActionResult(ok=True, delivery=Delivery(state="different")),
            "grounding",
            "text_elsewhere",
        ),
    ],
)
def test_the_result_of_a_step_decides_its_error(action: Action, result: ActionResult, kind: str, sign: str) -> None:
    assert found_in(a_subtask((TAB, WORKED), (action, result), (Fail(), WORKED))) == [(kind, sign, (2,))]


@pytest.mark.parametrize(
    ("action", "result"),
    [
        (SAVE, WORKED),
        (SAVE, refused("stale")),  # the screen changed meanwhile
        (SAVE, refused("not_confirmed")),  # a person said no
        (SAVE, ActionResult(ok=True, effect=Effect(kind="none", remark="already"))),
        (SAVE, ActionResult(ok=True)),  # an old record without effects
        (TAB, FUTILE),  # no element was aimed at
    ],
)
def test_a_failure_without_a_cause_is_not_an_error(action: Action, result: ActionResult) -> None:
    assert found_in(a_subtask((action, result), (Fail(), WORKED))) == []


def test_a_run_has_several_errors_and_causes_come_first() -> None:
    events = [a_start(), *a_subtask((SAVE, FUTILE), (SAVE, FUTILE), (SAVE, FUTILE), ok=None)]
    assert found_in(events, "out_of_budget") == [
        ("grounding", "no_effect", (1, 2, 3)),
        ("execution", "repeated", (1, 2, 3)),
        ("execution", "budget", ()),
    ]


def test_repetition_counts_only_if_the_action_before_did_nothing() -> None:
    assert found_in(a_subtask(*[(TAB, WORKED)] * 4)) == []
    assert found_in(a_subtask((TAB, FUTILE), (Hotkey(keys=("Return",)), FUTILE))) == []
    assert found_in(a_subtask((Wait(time=1), FUTILE), (Wait(time=1), FUTILE))) == []
    assert found_in(a_subtask((TAB, FUTILE), (TAB, FUTILE), first=5)) == [("execution", "repeated", (5, 6))]


def test_two_actions_in_turn_are_a_circle_although_each_works() -> None:
    turns: list[tuple[Action, ActionResult]] = [(TAB, WORKED), (SAVE, WORKED)] * 2
    assert found_in(a_subtask(*turns)) == [("execution", "circle", (4,))]


def test_a_plan_that_repeats_what_failed_is_a_planning_error() -> None:
    plan = Plan(subtasks=(Subtask(name="save"),))
    first, again = a_subtask((TAB, WORKED)), a_subtask((TAB, WORKED), first=2)
    events = [a_start(max_replans=2), Planned(plan=plan), *first, Planned(plan=plan, replan=1), *again]
    assert found_in(events) == [("planning", "planned_again", ())]
    other = a_subtask((TAB, WORKED), first=2, name="export")
    assert found_in([a_start(max_replans=2), Planned(plan=plan), *first, Planned(plan=plan, replan=1), *other]) == []
    assert found_in([a_start(max_replans=1), Planned(plan=plan), *first, Planned(plan=plan, replan=1), *other]) == [
        ("planning", "replans_used_up", ())
    ]


def test_no_plan_and_a_wrong_claim_that_nothing_can_be_done_are_planning_errors() -> None:
    assert found_in([a_start()]) == [("planning", "no_plan", ())]
    assert found_in([a_start(), *a_subtask((SAVE, WORKED))], "infeasible") == [("planning", "taken_for_infeasible", ())]


def test_invalid_answers_and_used_up_subtasks_are_execution_errors() -> None:
    call = ModelCalled(call="act", model="m", seconds=1, error="MalformedResponse: two actions")
    lost = ModelCalled(call="act", model="m", seconds=1, error="ModelUnavailable: no key")
    assert found_in([a_start(), call, lost, *a_subtask((SAVE, WORKED))]) == [("execution", "invalid_answer", ())]
    assert found_in([a_start(max_subtask_steps=1), *a_subtask((SAVE, WORKED))]) == [("execution", "subtask_limit", ())]


@pytest.mark.parametrize(
    ("events", "status", "ended_by_benchmark", "kind"),
    [
        ([], "error", False, "environment"),
        (a_subtask((TAB, WORKED)), "error", True, "environment"),
        ([], "failed", False, "planning"),
        (a_subtask((TAB, WORKED), (Done(), WORKED), ok=True), "done", False, "planning"),
        (a_subtask(ok=False), "failed", False, "grounding"),
        (a_subtask((TAB, WORKED)), "failed", False, "grounding"),
        (a_subtask((TAB, WORKED), ok=None), "failed", True, "grounding"),
        (a_subtask((TAB, refused())), "failed", False, "execution"),
        (a_subtask((TAB, WORKED), ok=None), "out_of_budget", False, "execution"),
        (a_subtask((SAVE, FUTILE), ok=None), "out_of_budget", False, "grounding"),  # the cause of it
    ],
)
def test_the_kind_of_a_failure_is_its_root_cause_or_an_estimate(
    events: list[Event], status: Status, ended_by_benchmark: bool, kind: str
) -> None:
    signs = FailureSigns()
    for event in events:
        signs(event)
    assert signs.kind(Outcome(status=status, verified=False), ended_by_benchmark) == kind

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aci.acting.actions import PRIMITIVES, Click, Done, Type
from agent_s.llm.protocol import ActResponse, PlanResponse, QueryResponse, Response, VerifyResponse
from agent_s.llm.providers.structured import Unreadable, read_response
from agent_s.probes.requests import FileProbe

CLICK = '{"action": {"action": "click", "element_id": 4}}'


@pytest.mark.parametrize(
    "text",
    [
        CLICK,
        f"```json\n{CLICK}\n```",
        f"Here it is: {CLICK} - as the set {{4}} of elements says.",
        f"{CLICK}\n{CLICK}",
        '{"action": "agent.click(4)"}',
        '{"action": "{\\"action\\": \\"click\\", \\"element_id\\": 4}"}',
        '{"action": "click", "element_id": 4}',
        "agent.click(4)",
        "  agent.click(element_id=4)  ",
    ],
)
def test_the_same_primitive_in_many_clothes(text: str) -> None:
    assert read_response(text, ActResponse) == ActResponse(action=Click(element_id=4))


@pytest.mark.parametrize("text", ["a<think>b</think>c", "<reasoning>", "</think>"])
def test_a_text_to_type_may_hold_marks_of_reasoning(text: str) -> None:
    answer = json.dumps({"action": {"action": "type", "text": text}})
    for before in ("", "<think>Maybe {4}.</think>\n<think>Yes.</think>\n"):
        assert read_response(before + answer, ActResponse).action == Type(text=text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("<think>I wonder", "empty"),
        ("I cannot see it.", "no complete JSON object"),
        ('{"action": {"action": "done"}', "not valid JSON"),
        ('{"action": {"action": "done"', "not valid JSON"),
        (f"{CLICK} {CLICK.replace('4', '5')}", "2 JSON objects"),
        ('{"action": {"action": "done", "action": "fail"}}', "given twice"),
        ('{"next_action": "go \\ud83d", "action": {"action": "done"}}', "half a character"),
        ('{"action": {"action": "wait", "time": NaN}}', "NaN is not a number"),
        ('{"action": {"action": "wait", "time": 1e999}}', "finite"),
        ('{"action": {"action": "click", "element_id": ' + "9" * 5000 + "}}", "number in it is too long"),
        ('{"action": {"action": "click", "element_id": -1}}', "greater than or equal to 0"),
        ('{"action": "agent.click(__import__(\'os\'))"}', "plain literals"),
        ("agent.click(1); agent.click(2)", "Not a primitive"),
        ('{"action": [{"action": "done"}, {"action": "done"}]}', "action"),
        ('{"action": {"action": "done"}, "later": "more"}', "Extra inputs"),
        ("[" * 100_000 + '{"a": ' * 3, "not valid JSON"),
    ],
)
def test_what_is_not_an_answer_says_why(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_response(text, ActResponse)


def test_a_half_object_never_yields_the_one_inside_it() -> None:
    """A cut-off plan must not be taken for the last of its parts."""
    with pytest.raises(Unreadable):
        read_response('{"previous_action_check": "x", "action": {"action": "done"}, "next', ActResponse)


def test_a_plan_keeps_its_order_and_edges() -> None:
    plan = read_response('{"nodes": [{"name": "b"}, {"name": "a"}], "edges": [["b", "a"]]}', PlanResponse)
    assert isinstance(plan, PlanResponse)
    assert [node.name for node in plan.nodes] == ["b", "a"]
    assert plan.edges == (("b", "a"),)


def test_null_is_a_verdict_of_its_own() -> None:
    assert read_response('{"verified": null}', VerifyResponse) == VerifyResponse(verified=None)


def test_evidence_that_nobody_could_look_up_is_dropped() -> None:
    answer = read_response(
        '{"verified": true, "judgements": [{"point": 1, "met": true, "citations": []}], "evidence": ["I saw it"]}',
        VerifyResponse,
    )
    assert isinstance(answer, VerifyResponse)
    assert len(answer.judgements) == 1 and answer.evidence == ()


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    for response_type in (ActResponse, QueryResponse):
        try:
            assert isinstance(read_response(text, response_type), Response)
        except Unreadable as problem:
            assert str(problem)


def test_fields_of_other_kinds_that_say_nothing_are_dropped() -> None:
    """In one flat object for all kinds, models fill in nulls and defaults."""
    fields = {name: None for kind in PRIMITIVES.values() for name in kind.model_fields}
    given = {**fields, "action": "click", "element_id": 4, "overwrite": False, "text": "", "keys": []}
    assert read_response(json.dumps({"action": given}), ActResponse) == ActResponse(action=Click(element_id=4))
    typed = {**fields, "action": "type", "text": "a", "num_clicks": 1, "button_type": "left"}
    assert read_response(json.dumps({"action": typed}), ActResponse) == ActResponse(action=Type(text="a"))
    probe = {"probe": "file", "path": "~/a.txt", "text": None, "exact": False, "cell": "", "url": None}
    verdict = read_response(json.dumps({"verified": None, "look": None, "probes": [probe]}), VerifyResponse)
    assert verdict == VerifyResponse(verified=None, probes=(FileProbe(path="~/a.txt"),))


def test_a_field_of_another_kind_that_says_something_is_refused() -> None:
    with pytest.raises(Unreadable, match="text"):
        read_response('{"action": {"action": "click", "element_id": 4, "text": "hello"}}', ActResponse)


def test_an_answer_with_every_field_given_is_read() -> None:
    """Strict schemas make a model write fields that it would leave out."""
    full: dict[str, Any] = {"previous_action_check": "", "observation_analysis": "", "next_action": ""}
    text = str({**full, "action": {"action": "done"}}).replace("'", '"')
    assert read_response(text, ActResponse) == ActResponse(action=Done())

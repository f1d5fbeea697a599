"""The choice among attempts: a judgement counts only with citations that hold, otherwise a rule decides."""

from __future__ import annotations

import pytest

from agent_s.errors import ModelError
from agent_s.llm.protocol import Attempt, CitedFact, CompareContext, CompareResponse
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.records import Status, Task
from agent_s.roles.comparer import Choice, choose

TASK = Task(instruction="Type hello and save it")


def attempt(*facts: str, status: Status = "done", verified: bool | None = None, steps: int = 2) -> Attempt:
    return Attempt(facts=("click entry", *facts), status=status, verified=verified, steps=steps)


ATTEMPTS = {
    1: attempt('text entry: nothing became "hell"', steps=2),
    2: attempt('text entry: nothing became "hello"', steps=4),
    3: attempt("the run was cut off", status="error", steps=1),
}


def judged(answer: Answer, attempts: dict[int, Attempt] = ATTEMPTS) -> Choice:
    return choose(ScriptedModel({"compare": [answer]}), TASK, attempts)


def chooses(best: int | None, *citations: tuple[int, int, str]) -> CompareResponse:
    cited = tuple(CitedFact(attempt=one, fact=fact, quote=quote) for one, fact, quote in citations)
    return CompareResponse(best=best, citations=cited, reason="it typed all of it")


def test_choice_counts_with_a_valid_citation_and_drops_the_invalid_ones() -> None:
    choice = judged(chooses(2, (2, 2, 'became  "HELLO"'), (2, 7, "saved"), (1, 2, "goodbye")))

    assert (choice.number, choice.by, choice.reason) == (2, "model", "it typed all of it")
    assert [citation.quote for citation in choice.citations] == ['became  "HELLO"']


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (chooses(None), "undecided"),
        (chooses(4, (2, 2, "hello")), "does not exist"),
        (chooses(2), "cites no fact"),
        (chooses(2, (2, 2, "")), "cites no fact"),
        (chooses(2, (2, 2, "goodbye")), "cites no fact"),
        (chooses(2, (1, 2, "hell")), "cites no fact"),
        (chooses(2, (2, 1, "click entry")), "holds for all"),
        (ModelError("the key is not valid"), "the key is not valid"),
    ],
)
def test_judgement_without_valid_citations_falls_back_to_the_rule(answer: Answer, why: str) -> None:
    choice = judged(answer)

    assert (choice.number, choice.by) == (1, "rule")
    assert why in choice.reason


def test_rule_prefers_the_verified_attempt_then_done_then_one_with_an_end_then_fewest_steps() -> None:
    undecided = chooses(None)

    verified = {1: attempt("a", steps=1), 2: attempt("b", verified=True, steps=9)}
    done = {1: attempt("a", status="failed", steps=1), 2: attempt("b", steps=9)}
    ended = {1: attempt("a", status="error", steps=0), 2: attempt("b", status="failed", steps=9)}
    short = {1: attempt("a", steps=9), 2: attempt("b", steps=1)}

    assert [judged(undecided, one).number for one in (verified, done, ended, short)] == [2, 2, 2, 2]


def test_identical_attempts_cost_no_call() -> None:
    model = ScriptedModel({})

    assert choose(model, TASK, {2: attempt(), 5: attempt()}).number == 2
    assert model.requests == []


def test_judge_gets_the_facts_of_all_attempts_in_one_request() -> None:
    model = ScriptedModel({"compare": [chooses(2, (2, 2, "hello"))]})

    choose(model, TASK, ATTEMPTS)

    (request,) = model.requests
    assert isinstance(request.context, CompareContext)
    assert dict(request.context.attempts) == ATTEMPTS

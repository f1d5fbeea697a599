"""Evidence that says a point in other words (a second call reads it, and it alone), and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent_s.errors import MalformedResponse
from agent_s.llm.protocol import (
    Citation,
    Draft,
    Judgement,
    ModelRequest,
    Response,
    SummariesResponse,
    SummarizeContext,
    SupportContext,
    SupportJudgement,
    SupportResponse,
    VerifyContext,
    VerifyResponse,
)
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Task, Verdict
from agent_s.roles.evaluator import Evaluator
from tests.unit.agent_s.fakes import button, screen

BOOKED = screen(
    button(1, "Your table for Ada Lovelace is booked", "heading"),
    replace(button(3, "Remarks", "entry"), text="Ada Lovelace"),
)
CONFIRMED = "The reservation for Ada Lovelace is confirmed"


class Asked:
    """A judge that cites one element for each point, and a reader of evidence with the answers given."""

    def __init__(self, points: Sequence[tuple[str, int]], *read: SupportResponse) -> None:
        self.points = points
        self.read = iter(read)
        self.contexts: list[SupportContext] = []
        self.problems: list[str] = []

    def verdict(self) -> Verdict:
        model = ScriptedModel({"verify": [self.judge] * 2, "support": [self.support] * 2})
        context = VerifyContext(
            Task(instruction="Book a table"), BOOKED, points=tuple(point for point, _ in self.points)
        )
        judged = Evaluator(model).judge(context)
        assert isinstance(judged, Verdict)
        return judged

    def judge(self, request: ModelRequest) -> Response:
        assert isinstance(request.context, VerifyContext)
        self.problems.append(request.context.problem)
        judgements = [
            Judgement(
                point=number,
                met=True,
                citations=(Citation(of="element", number=cited, quote="Ada Lovelace"),),
            )
            for number, (_, cited) in enumerate(self.points, start=1)
        ]
        return VerifyResponse(judgements=tuple(judgements), verified=True)

    def support(self, request: ModelRequest) -> Response:
        assert isinstance(request.context, SupportContext)
        self.contexts.append(request.context)
        return next(self.read)


def read(supported: bool | None, reason: str = "") -> SupportResponse:
    return SupportResponse(judgements=(SupportJudgement(number=1, supported=supported, reason=reason),))


def test_evidence_in_other_words_counts_if_the_model_confirms_it() -> None:
    asked = Asked([("A table for Ada Lovelace is booked", 1), (CONFIRMED, 1)], read(True))
    assert asked.verdict().verified is True
    [context] = asked.contexts
    assert [claim.point for claim in context.claims] == [CONFIRMED]
    assert "Your table for Ada Lovelace is booked" in context.claims[0].evidence[0]
    assert asked.problems == [""]


@pytest.mark.parametrize("answer", [read(False, "it is a wish"), read(None, "it is a wish"), SupportResponse()])
def test_unconfirmed_evidence_is_sent_back_to_the_evaluator_once(answer: SupportResponse) -> None:
    asked = Asked([(CONFIRMED, 1)], answer, answer)
    verdict = asked.verdict()
    assert verdict.verified is None
    assert len(asked.contexts) == len(asked.problems) == 2
    assert ("it is a wish" in verdict.reason) is bool(answer.judgements)
    assert "'confirmed'" in asked.problems[1]


@pytest.mark.parametrize(
    ("point", "cited"),
    [
        ("The reservation for 'Emmy Noether' is confirmed", 1),
        ("Line numbers are turned on", 1),
        ("The guest is 'Ada Lovelace'", 3),
        ("The reservation for Ada Lovelace is not confirmed", 1),
    ],
    ids=["value", "thing", "field for something else", "contrary"],
)
def test_evidence_that_lacks_a_named_value_is_not_put_to_the_model(point: str, cited: int) -> None:
    asked = Asked([(CONFIRMED, 1), (point, cited)])
    assert asked.verdict().verified is None
    assert asked.contexts == []


def summarized(drafts: int, *summaries: str) -> tuple[str, ...]:
    model = ScriptedModel({"summarize": [SummariesResponse(summaries=summaries)]})
    known = tuple(Draft(f"Write line {number}", "It was typed.") for number in range(drafts))
    return Evaluator(model).summarize(SummarizeContext(Task(instruction="Write"), known))


def test_a_single_summary_may_come_line_by_line() -> None:
    assert summarized(1, "The editor was opened.", "The text was typed.") == (
        "The editor was opened.\nThe text was typed.",
    )


@pytest.mark.parametrize(("drafts", "summaries"), [(1, []), (2, ["one"]), (2, ["one", "two", "three"])])
def test_a_summary_that_belongs_to_no_draft_is_an_error(drafts: int, summaries: list[str]) -> None:
    with pytest.raises(MalformedResponse, match=f"{len(summaries)} summaries for {drafts}"):
        summarized(drafts, *summaries)

"""A model adds the errors of a failed run that rules cannot see; its steps are checked against the record."""

from __future__ import annotations

from pathlib import Path

from agent_s.errors import ModelError
from agent_s.llm.protocol import ErrorsContext, ErrorsResponse, JudgedError
from agent_s.llm.scripted import ScriptedModel
from agent_s.trajectory.timeline import build_timeline
from evaluation.report.error_judge import ErrorJudge
from evaluation.report.errors import FailedRun, RunErrors, find_by_rules, rates_of
from tests.unit.agent_s.a_run import events_of_a_run


def a_failed_run() -> RunErrors:
    """Return a run of four steps in two subtasks, whose first step was refused."""
    timeline = build_timeline(events_of_a_run(verified=False))
    assert timeline.outcome is not None
    return find_by_rules(FailedRun("save", "", Path("run"), timeline, timeline.outcome, "the file is missing"))


def test_a_model_reads_the_record_and_adds_errors_with_their_steps() -> None:
    answer = ErrorsResponse(
        errors=(
            JudgedError(kind="planning", reason="Nothing opens the editor."),
            JudgedError(kind="grounding", steps=(2, 99), reason="It typed into the wrong field."),
            JudgedError(kind="execution", steps=(99,), reason="There is no such step."),
            JudgedError(kind="execution", steps=(1,), reason="The rules know this."),
        )
    )
    model = ScriptedModel({"find_errors": [answer]})

    found = ErrorJudge(model)(a_failed_run())

    assert [(one.by, one.kind, one.steps, one.subtask) for one in found.errors] == [
        ("rule", "execution", (1,), "type Save"),
        ("model", "planning", (), ""),
        ("model", "grounding", (2,), "type Save"),
    ]
    assert rates_of([found]).by_kind == {"planning": 1.0, "grounding": 1.0, "execution": 1.0}
    (request,) = model.requests
    assert isinstance(request.context, ErrorsContext)
    assert request.context.ending == "done; the file is missing"
    assert request.context.known == ("execution: refused, steps 1",)
    assert any(line.startswith("plan 1: type Save: Save; save it: with ctrl+s") for line in request.context.record)
    assert any(line.startswith("1. click") and "is disabled" in line for line in request.context.record)
    assert "subtask failed: failed Save" in request.context.record


def test_after_a_call_that_fails_the_rules_go_on_alone() -> None:
    judge = ErrorJudge(ScriptedModel({"find_errors": [ModelError("The key is not valid."), ErrorsResponse()]}))
    first, second = judge(a_failed_run()), judge(a_failed_run())
    assert [len(one.errors) for one in (first, second)] == [1, 1]
    assert judge.problem == "The key is not valid."

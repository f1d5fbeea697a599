"""The self-evaluator: verifies a task, and turns what was done into experience (paper, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from aci.acting.actions import Action
from agent_s.llm.protocol import (
    Model,
    ModelRequest,
    SubtaskSummaryContext,
    SummaryResponse,
    TaskSummaryContext,
    VerifyContext,
    VerifyResponse,
)
from agent_s.records import Plan, Step, Subtask, Task, Verdict
from agent_s.roles.citations import findings, unfounded, verdict_of


class Evaluator:
    """Judges and summarizes; never touches the screen or memory.

    Args:
        model: Answers the summary and verification calls.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def judge(self, context: VerifyContext) -> Verdict | Action:
        """Judge a task that is said to be done, or name a primitive that shows what is needed to judge it.

        A judgement counts as far as its citations hold (`agent_s.roles.citations`). One by which all is done though
        not all of
        it is shown goes back once, with what is wrong with it.
        """
        answer = cast(VerifyResponse, self._ask(context))
        if context.may_look and answer.look is not None:
            return answer.look
        steps = {step.number: step for _, taken in context.done for step in taken}
        steps |= {step.number: step for step in context.looked}
        found = findings(answer, context.points, context.observation, steps)
        problem = unfounded(answer, found)
        if problem and not context.problem:
            return self.judge(replace(context, problem=problem))
        return verdict_of(answer, found)

    def summarize_subtask(self, task: Task, subtask: Subtask, steps: Sequence[Step]) -> str:
        """Summarize a finished subtask for episodic memory."""
        return cast(SummaryResponse, self._ask(SubtaskSummaryContext(task, subtask, tuple(steps)))).summary

    def summarize_task(self, task: Task, plan: Plan | None, verdict: Verdict, reason: str) -> str:
        """Summarize a task, without concrete actions, for narrative memory."""
        return cast(SummaryResponse, self._ask(TaskSummaryContext(task, plan, verdict, reason))).summary

    def _ask(self, context: VerifyContext | SubtaskSummaryContext | TaskSummaryContext) -> object:
        return self._model.complete(ModelRequest(context)).output

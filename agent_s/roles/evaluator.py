"""The self-evaluator: verifies a task, and summarizes it as experience (paper, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aci.acting.actions import Action
from agent_s.llm.protocol import (
    Model,
    SubtaskSummaryContext,
    SummaryResponse,
    TaskSummaryContext,
    VerifyContext,
    VerifyResponse,
    ask,
)
from agent_s.records import Plan, Step, Subtask, Task, Verdict
from agent_s.roles.citations import check_citations, find_unsupported, make_verdict


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Judges and summarizes; never touches the screen or memory."""

    model: Model  # answers the verification and summary calls

    def judge(self, context: VerifyContext) -> Verdict | Action:
        """Judge a finished task, or return a read-only primitive that shows what is needed to judge it.

        A judgement counts as far as its citations hold (`agent_s.roles.citations`). A claim of success that its
        citations do not support is sent back once, with the reason.
        """
        answer = ask(self.model, context, VerifyResponse)
        if context.may_look and answer.look is not None:
            return answer.look
        steps = {step.number: step for _, taken in context.done for step in taken}
        steps |= {step.number: step for step in context.looked}
        findings = check_citations(answer, context.points, context.observation, steps)
        problem = find_unsupported(answer, findings)
        if problem and not context.problem:
            return self.judge(replace(context, problem=problem))
        return make_verdict(answer, findings)

    def summarize_subtask(self, task: Task, subtask: Subtask, steps: Sequence[Step]) -> str:
        """Summarize a finished subtask for episodic memory."""
        return ask(self.model, SubtaskSummaryContext(task, subtask, tuple(steps)), SummaryResponse).summary

    def summarize_task(self, task: Task, plan: Plan | None, verdict: Verdict, reason: str) -> str:
        """Summarize a task, without concrete actions, for narrative memory."""
        return ask(self.model, TaskSummaryContext(task, plan, verdict, reason), SummaryResponse).summary

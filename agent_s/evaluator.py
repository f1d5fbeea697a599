"""The self-evaluator: verifies a task, and turns what was done into experience (paper, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from aci.observation import Observation
from agent_s.llm.protocol import (
    Model,
    ModelRequest,
    SubtaskSummaryContext,
    SummaryResponse,
    TaskSummaryContext,
    VerifyContext,
    VerifyResponse,
)
from agent_s.records import Plan, StateCheck, Status, Step, Subtask, Task, Verdict


class Evaluator:
    """Judges and summarizes; never touches the screen or memory.

    Args:
        model: Answers the summary and verification calls.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def verify(
        self,
        task: Task,
        observation: Observation,
        done: Sequence[tuple[Subtask, tuple[Step, ...]]],
        status: Status,
        state_check: StateCheck | None,
    ) -> Verdict:
        """Check the end of a task: by the applications' own state where the task brings a check, else by the model.

        A task that the agent itself calls failed is not judged by the model.
        """
        if state_check is not None:
            return state_check(status)
        if status != "done":
            return Verdict(verified=False, reason=f"the agent ended with status {status}", by="status")
        answer = cast(VerifyResponse, self._ask(VerifyContext(task, observation, tuple(done))))
        return Verdict(verified=answer.verified, reason=answer.reason, evidence=answer.evidence, by="model")

    def summarize_subtask(self, task: Task, subtask: Subtask, steps: Sequence[Step]) -> str:
        """Summarize a finished subtask for episodic memory."""
        return cast(SummaryResponse, self._ask(SubtaskSummaryContext(task, subtask, tuple(steps)))).summary

    def summarize_task(self, task: Task, plan: Plan | None, verdict: Verdict, reason: str) -> str:
        """Summarize a task, without concrete actions, for narrative memory."""
        return cast(SummaryResponse, self._ask(TaskSummaryContext(task, plan, verdict, reason))).summary

    def _ask(self, context: VerifyContext | SubtaskSummaryContext | TaskSummaryContext) -> object:
        return self._model.complete(ModelRequest(context)).output

"""The state check of a task: postconfig, getters and metrics, combined as OSWorld does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent_s.records import Status, Verdict
from evaluation.errors import CheckFailed
from evaluation.osworld.tables import GETTERS, METRICS
from evaluation.osworld.task import Check, Rule, Source, TaskFile, perform_step, resolved
from evaluation.state.context import TaskContext
from evaluation.state.metrics import Score
from evaluation.state.parameters import keywords
from evaluation.state.reading import Reading

BY = "state check"
GAVE_UP: tuple[Status, ...] = ("failed", "infeasible")


@dataclass(eq=False)
class StateChecker:
    """Judges a task by the applications' own state; an `agent_s.records.StateCheck`."""

    task: TaskFile
    context: TaskContext  # its desktop and server
    problem: str = field(default="", init=False)  # why the check could not judge; empty if it could
    # the latest score, from 0 to 1 as OSWorld counts; None if the check could not judge
    score: float | None = field(default=None, init=False)

    def __call__(self, status: Status) -> Verdict:
        """Judge; `verified` is None, with the reason, if the state cannot be read."""
        verdict = self._verdict(status)
        if verdict.verified is None:
            self.score = None
        elif verdict.verified or not self.score:
            self.score = 1.0 if verdict.verified else 0.0
        return verdict

    def _verdict(self, status: Status) -> Verdict:
        self.problem, self.score = "", 0.0
        gave_up = status in GAVE_UP
        if self.task.evaluator.infeasible:
            said = "said that it cannot be done" if gave_up else f"ended with status {status!r}"
            return Verdict(
                verified=gave_up, reason=f"the task is infeasible, and the agent {said}", evidence=(status,), by=BY
            )
        if gave_up:
            return Verdict(verified=False, reason="the agent gave up on a task that can be done", by=BY)
        try:
            return self._judge()
        except ModuleNotFoundError as error:
            self.problem = f"the state check needs the Python package {error.name!r}: pip install 'agent-s[eval]'"
        except Exception as error:  # noqa: BLE001 - whatever breaks while judging, the run ends with that as its reason
            self.problem = f"the state check broke: {error or type(error).__name__}"
        return Verdict(verified=None, reason=self.problem, by=BY)

    def _judge(self) -> Verdict:
        for step in self.task.evaluator.postconfig:
            perform_step(step, self.context)
        judged = [self._score(check) for check in self.task.evaluator.checks]
        total = combined([score.value for _, score in judged], self.task.evaluator.conj)
        self.score, done = total, total >= 1.0
        reasons = [score.why for _, score in judged if (score.value >= 1.0) == done]
        partly = f" (score {total:g})" if 0.0 < total < 1.0 else ""
        return Verdict(
            verified=done,
            reason="; ".join(reasons) + partly,
            evidence=tuple(reading.evidence for reading, _ in judged),
            by=BY,
        )

    def _score(self, check: Check) -> tuple[Reading, Score]:
        reading = self._read(check.result)
        if reading.value is None:
            return reading, Score(0.0, reading.evidence)
        options = resolved(check.options, self.context.values, self.context.home)
        return reading, METRICS[check.func].score(reading.value, self._expected(check), options, self.context)

    def _expected(self, check: Check) -> Any:
        if check.expected is None:
            return None
        if isinstance(check.expected, Rule):
            return resolved(check.expected, self.context.values, self.context.home).rules
        value = self._read(check.expected).value
        if value is None:
            raise CheckFailed(f"the expected value of {check.func} is absent: {check.expected}")
        return value

    def _read(self, source: Source) -> Reading:
        parameters = keywords(resolved(source, self.context.values, self.context.home), without=Source.model_fields)
        return GETTERS[source.type](self.context, **parameters)


def combined(scores: list[float], conj: str) -> float:
    """Combine scores as OSWorld does: `and` is their mean unless one is 0, `or` the best."""
    if conj == "or":
        return max(scores)
    return sum(scores) / len(scores) if all(scores) else 0.0

"""Finds errors of failed runs by a language model, in addition to those by rules; one call per run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aci.acting.wording import describe_action, describe_result
from agent_s.errors import LimitReached, ModelError
from agent_s.llm.protocol import ErrorsContext, ErrorsResponse, JudgedError, Model, ask
from agent_s.records import Task
from agent_s.trajectory.timeline import StepEntry, Timeline
from evaluation.harness.failures import ErrorKind, FoundError
from evaluation.report.errors import RunErrors

_LONGEST_LINE = 600


class ErrorJudge:
    """Asks a model for the errors that rules cannot see; stops asking after a call that fails."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.problem = ""  # why the model finds no more; empty while it does

    def __call__(self, found: RunErrors) -> RunErrors:
        """Return a run with the errors that the model finds added.

        Steps that the run does not have are dropped, and so are errors other than those of planning that no step shows.
        """
        started = found.run.timeline.started
        if self.problem or started is None:
            return found
        known = tuple(_in_words(error) for error in found.errors)
        ending = f"{found.run.outcome.status}; {found.run.reason}"
        record = tuple(line[:_LONGEST_LINE] for line in _lines(found.run.timeline))
        context = ErrorsContext(Task(instruction=started.task.instruction), ending, record, known)
        try:
            answer = ask(self._model, context, ErrorsResponse)
        except (ModelError, LimitReached) as error:
            self.problem = str(error)
            return found
        subtasks = {
            step.chosen.step: entry.subtask.name if entry.subtask is not None else ""
            for entry in found.run.timeline.subtasks
            for step in entry.steps
        }
        seen = {(error.kind, step) for error in found.errors for step in error.steps}
        judged = (_shown(error, subtasks) for error in answer.errors)
        added = (one for one in judged if one is not None and _is_new(one, seen))
        return replace(found, errors=(*found.errors, *added))


def _shown(error: JudgedError, subtasks: dict[int, str]) -> FoundError | None:
    steps = tuple(sorted({number for number in error.steps if number in subtasks}))
    if not steps and error.kind != "planning":
        return None
    subtask = subtasks[steps[0]] if steps else ""
    return FoundError(kind=error.kind, sign="judged", steps=steps, subtask=subtask, by="model", reason=error.reason)


def _is_new(error: FoundError, seen: set[tuple[ErrorKind, int]]) -> bool:
    return not error.steps or any((error.kind, step) not in seen for step in error.steps)


def _lines(timeline: Timeline) -> Iterator[str]:
    """Yield the record of a run for a model: its plans, subtasks, and steps with their effects."""
    for planned in timeline.plans:
        name = f"plan {planned.replan + 1}" + (f" (after: {planned.reason})" if planned.reason else "")
        yield f"{name}: " + "; ".join(": ".join(filter(None, (one.name, one.info))) for one in planned.plan.subtasks)
    for entry in timeline.subtasks:
        if entry.subtask is not None:
            yield f"subtask {entry.subtask.name!r}"
        yield from map(_step_line, entry.steps)
        if entry.ended is not None:
            yield f"subtask {'finished' if entry.ended.ok else 'failed'}: {entry.ended.reason}".removesuffix(": ")


def _step_line(step: StepEntry) -> str:
    result = describe_result(step.performed.result) if step.performed is not None else "not performed"
    meant = f" (meant: {step.chosen.next_action})" if step.chosen.next_action else ""
    return f"{step.chosen.step}. {describe_action(step.chosen.action, step.chosen.target)}{meant} -> {result}"


def _in_words(error: FoundError) -> str:
    steps = f", steps {', '.join(map(str, error.steps))}" if error.steps else ""
    return f"{error.kind}: {error.sign}{steps}"

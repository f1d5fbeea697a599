"""Classifies the errors of a failed run with rules on its events (paper, section 4.4).

- planning: an unsuitable plan;
- grounding: an action that missed its target, although the reasoning was right;
- execution: a wrong decision, repetition, or no change of behaviour during a subtask.

A run may have several errors. The rules use the results of actions only: they cannot detect that a plan misunderstands
the task, or that a plausible element is the wrong one. The count is therefore a lower bound; `evaluation.report.errors`
can ask a model for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from aci.acting.actions import Click, DragAndDrop, SelectText, Type, Wait
from aci.acting.result import ActionResult, Refusal, Remark
from agent_s.errors import MalformedResponse
from agent_s.events import Event, ModelCalled, Observed
from agent_s.loop.stall_detection import find_circle
from agent_s.records import Outcome, Record
from agent_s.trajectory.timeline import StepEntry, SubtaskEntry, Timeline, build_timeline
from evaluation.harness.results import FailureKind

ErrorKind = Literal["planning", "grounding", "execution"]

ROOT_FIRST: tuple[ErrorKind, ...] = ("planning", "grounding", "execution")
"""Kinds of errors, causes before effects: the first two often lead to the third (paper, appendix D.2)."""

_KIND_BY_REFUSAL: dict[Refusal, ErrorKind] = {
    **dict.fromkeys(("unknown_id", "off_screen", "no_text", "out_of_sight", "not_selected", "covered"), "grounding"),
    **dict.fromkeys(("not_typed", "partly_typed"), "grounding"),
    **dict.fromkeys(("not_started", "not_in_front", "no_key"), "execution"),
}  # other refusals are due to the policy, the user, or a concurrent change of the screen

_KIND_BY_REMARK: dict[Remark, ErrorKind] = {
    **dict.fromkeys(("not_switched", "focus_elsewhere"), "grounding"),
    **dict.fromkeys(("disabled", "no_window", "alert", "invalid"), "execution"),
}


class FoundError(Record):
    """An error found in a run."""

    kind: ErrorKind  # class of the error
    sign: str  # evidence: a refusal or remark of `aci.acting.result`, or another sign (docs/evaluation.md)
    steps: tuple[int, ...] = ()  # numbers of the steps with the evidence; may be empty
    subtask: str = ""  # name of the subtask; empty for the whole run
    by: Literal["rule", "model"] = "rule"  # source of the finding
    reason: str = ""  # explanation by the model; empty for rules


class FailureSigns:
    """Event listener that collects the evidence for classifying a failure, without screens and prompts."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Handle one event."""
        if isinstance(event, ModelCalled):
            self._events.append(event.model_copy(update={"exchanges": ()}))
        elif not isinstance(event, Observed):
            self._events.append(event)

    def kind(self, outcome: Outcome, ended_by_benchmark: bool = False) -> FailureKind:
        """Return the kind of failure: the root cause among the errors found, or else an estimate.

        Args:
            outcome: How the run ended.
            ended_by_benchmark: Whether the benchmark ended the episode in response to an action.
        """
        if outcome.status == "error":
            return "environment"
        if ended_by_benchmark:
            return "grounding"
        timeline = build_timeline(self._events)
        found = {error.kind for error in find_errors(timeline, outcome)}
        for kind in ROOT_FIRST:
            if kind in found:
                return kind
        if outcome.status == "stopped":
            return "execution"
        last = timeline.current.ended
        return "grounding" if last is not None and not last.ok else "planning"


def find_errors(timeline: Timeline, outcome: Outcome) -> tuple[FoundError, ...]:
    """Return the errors of a failed run that the rules detect.

    Args:
        timeline: The run.
        outcome: How it ended; the verdict of a benchmark may differ from that of the agent in the timeline.
    """
    found = [*_planning_errors(timeline, outcome), *_protocol_errors(timeline)]
    for entry in timeline.subtasks:
        by_sign: dict[tuple[ErrorKind, str], list[int]] = {}
        for kind, sign, numbers in _subtask_errors(entry, timeline):
            by_sign.setdefault((kind, sign), []).extend(numbers)
        name = entry.subtask.name if entry.subtask is not None else ""
        for (kind, sign), numbers in by_sign.items():
            steps = tuple(sorted(set(numbers)))
            found.append(FoundError(kind=kind, sign=sign, steps=steps, subtask=name))
    if outcome.status == "out_of_budget":
        found.append(FoundError(kind="execution", sign="budget"))
    return tuple(sorted(found, key=lambda error: ROOT_FIRST.index(error.kind)))


def _planning_errors(timeline: Timeline, outcome: Outcome) -> Iterator[FoundError]:
    if outcome.status in ("failed", "infeasible") and not timeline.subtasks:
        yield FoundError(kind="planning", sign="no_plan")
    if outcome.status == "infeasible":
        yield FoundError(kind="planning", sign="taken_for_infeasible")
    failed: set[str] = set()
    subtasks = [entry for entry in timeline.subtasks if entry.started is not None]
    for entry in subtasks:
        assert entry.subtask is not None
        if entry.subtask.name in failed:
            yield FoundError(kind="planning", sign="planned_again", subtask=entry.subtask.name)
        if not has_succeeded(entry):
            failed.add(entry.subtask.name)
    replans = max((planned.replan for planned in timeline.plans), default=0)
    limit = timeline.started.limits.max_replans if timeline.started is not None else 0
    if subtasks and 0 < replans >= limit and not has_succeeded(subtasks[-1]):
        yield FoundError(kind="planning", sign="replans_used_up")


def _protocol_errors(timeline: Timeline) -> Iterator[FoundError]:
    """Yield an error for each kind of model call with malformed answers."""
    kinds: dict[str, ErrorKind] = {"plan": "planning", "act": "execution"}
    broken = {call.call for call in timeline.calls if call.error.partition(":")[0] == MalformedResponse.__name__}
    for call in sorted(kinds.keys() & broken):
        yield FoundError(kind=kinds[call], sign="invalid_answer")


def _subtask_errors(entry: SubtaskEntry, timeline: Timeline) -> Iterator[tuple[ErrorKind, str, Sequence[int]]]:
    """Yield the errors of one subtask as (kind, sign, step numbers)."""
    for step in entry.steps:
        if step.performed is not None and (error := _step_error(step, step.performed.result)) is not None:
            yield *error, (step.chosen.step,)
    for before, after in pairwise(entry.steps):
        again = (before.chosen.action, before.chosen.target) == (after.chosen.action, after.chosen.target)
        futile = before.performed is not None and not before.performed.result.worked
        if again and futile and not isinstance(after.chosen.action, Wait):
            yield "execution", "repeated", (before.chosen.step, after.chosen.step)
    actions = [step.chosen.action for step in entry.steps]
    circles = [step.chosen.step for number, step in enumerate(entry.steps, 1) if find_circle(actions[:number])]
    if circles:
        yield "execution", "circle", circles
    ended, limits = entry.ended, timeline.started.limits if timeline.started is not None else None
    if ended is not None and limits is not None and not ended.ok and ended.steps >= limits.max_subtask_steps:
        yield "execution", "subtask_limit", ()


def _step_error(step: StepEntry, result: ActionResult) -> tuple[ErrorKind, str] | None:
    action = step.chosen.action
    if not result.ok:
        if result.refusal is None:
            return "execution", "refused"
        kind = _KIND_BY_REFUSAL.get(result.refusal)
        return None if kind is None else (kind, result.refusal)
    if result.effect is not None and result.effect.remark in _KIND_BY_REMARK:
        return _KIND_BY_REMARK[result.effect.remark], result.effect.remark
    if isinstance(action, Click | DragAndDrop | SelectText) and not result.worked:
        return "grounding", "no_effect"
    named = isinstance(action, Type) and bool(action.targets()) and not action.enter
    if named and result.delivery is not None and result.delivery.state == "different":
        return "grounding", "text_elsewhere"
    return None


def has_succeeded(entry: SubtaskEntry) -> bool:
    """Return whether a subtask completed; an interrupted one did not."""
    return entry.ended is not None and entry.ended.ok

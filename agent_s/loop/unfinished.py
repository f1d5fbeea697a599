"""Reconstruction of an unfinished run from its recording, in order to resume it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.errors import TrajectoryError
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    ActionsDropped,
    EffectSeen,
    Event,
    KnowledgeGathered,
    Planned,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
)
from agent_s.llm.protocol import ActResponse
from agent_s.records import Aims, Plan, Step, Subtask, Task

INTERRUPTED = "the run was interrupted here; whether this was carried out is not known: look before doing it again"


@dataclass(slots=True)
class UnfinishedRun:
    """A run that ended before its task was done."""

    run_id: str
    task: Task
    desktop: str = ""  # "virtual", the name of an X display, or the address of a machine
    query: str = ""  # the Manager's query
    aims: Aims = field(default_factory=Aims)  # what the task requires and forbids
    plan: Plan | None = None  # the latest plan; None if there was none yet
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)  # finished subtasks with their steps
    done_before: int = 0  # how many of them precede the latest plan, which may repeat them
    current: Subtask | None = None  # the subtask in progress, or the last one that failed
    steps: tuple[Step, ...] = ()  # steps of the current subtask, without their screens

    @property
    def remaining_plan(self) -> Plan | None:
        """The unfinished part of the plan; None if there is no plan yet."""
        if self.plan is None:
            return None
        finished = {subtask.name for subtask, _ in self.done[self.done_before :]}
        subtasks = tuple(subtask for subtask in self.plan.subtasks if subtask.name not in finished)
        return self.plan.model_copy(update={"subtasks": subtasks, "edges": ()})


def read_unfinished(events: Iterable[Event]) -> UnfinishedRun:  # noqa: C901 - one case per event
    """Return what a run had planned and done, from its events.

    Raises:
        TrajectoryError: The task is done, or the recording lacks the start of the run.
    """
    run: UnfinishedRun | None = None
    chosen: ActionChosen | None = None
    for event in events:
        if isinstance(event, RunStarted):
            run = UnfinishedRun(event.run_id, event.task, event.desktop)
        if run is None:
            continue
        match event:
            case KnowledgeGathered():
                run.query, run.aims = event.query, event.aims if event.aims != Aims() else run.aims
            case Planned():
                run.plan, run.aims = event.plan, event.plan.aims if event.plan.aims != Aims() else run.aims
                run.done_before = len(run.done)
            case SubtaskStarted():
                run.current, run.steps = event.subtask, ()
            case ActionChosen():
                run.steps += _recorded_step(chosen)
                chosen = event
            case ActionPerformed():
                run.steps, chosen = (*run.steps, *_recorded_step(chosen, event.result)), None
            case ActionsDropped():
                run.steps = tuple(
                    replace(step, dropped=event.dropped) if step.number == event.step else step for step in run.steps
                )
            case EffectSeen():
                run.steps = tuple(
                    replace(step, result=event.result) if step.number == event.step else step for step in run.steps
                )
            case SubtaskEnded(ok=True):
                run.done.append((event.subtask, run.steps))
                run.current, run.steps = None, ()
            case RunEnded() if event.outcome.status == "done":
                raise TrajectoryError(f"The run {run.run_id} is done: there is nothing to resume.")
    if run is None:
        raise TrajectoryError("The recording lacks the start of the run, so there is nothing to resume.")
    run.steps += _recorded_step(chosen)
    return run


def _recorded_step(chosen: ActionChosen | None, result: ActionResult | None = None) -> tuple[Step, ...]:
    """Return the step of a chosen action, or () for None; without a result, the run ended during the action."""
    if chosen is None:
        return ()
    import numpy as np

    response = ActResponse(
        previous_action_check=chosen.previous_action_check,
        observation_analysis=chosen.observation_analysis,
        next_action=chosen.next_action,
        action=chosen.action,
    )
    screen = Observation(np.zeros((1, 1, 3), np.uint8), (), (), notes=("The screen of this step was not kept.",))
    result = result or ActionResult(ok=False, error=INTERRUPTED, refusal="interrupted")
    return (Step(chosen.step, screen, response, result, recalled=True, target=chosen.target),)

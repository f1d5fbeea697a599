"""What is left of a run that ended early, read from its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.errors import TrajectoryError
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
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

NOT_KNOWN = "the run was interrupted here; whether this was carried out is not known: look before doing it again"


@dataclass(slots=True)
class Unfinished:
    """A run that ended before its task was done.

    Attributes:
        run_id: The run.
        task: What was to be done.
        desktop: Where: "virtual", or the name of an X display.
        query: The Manager's question.
        aims: What the task demands and forbids.
        plan: The latest plan; None where there was none yet.
        done: Finished subtasks with their steps.
        current: The subtask that was being worked on, or that failed last.
        steps: What was done of it; the screens that were seen are not kept.
    """

    run_id: str
    task: Task
    desktop: str = ""
    query: str = ""
    aims: Aims = field(default_factory=Aims)
    plan: Plan | None = None
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    current: Subtask | None = None
    steps: tuple[Step, ...] = ()

    @property
    def left(self) -> Plan | None:
        """What of the plan is still to be done; None where all is to be planned yet."""
        if self.plan is None:
            return None
        finished = {subtask.name for subtask, _ in self.done}
        subtasks = tuple(subtask for subtask in self.plan.subtasks if subtask.name not in finished)
        return self.plan.model_copy(update={"subtasks": subtasks, "edges": ()})


def what_is_left(events: Iterable[Event]) -> Unfinished:
    """Read from the events of a run what it had planned and done.

    Raises:
        TrajectoryError: The task is done, or the record does not begin with the run's start.
    """
    reader = _Reader()
    for event in events:
        reader.read(event)
    if reader.run is None:
        raise TrajectoryError("The record does not begin with the run's start, so that there is nothing to go on with.")
    reader.close_step(None)
    reader.run.steps = tuple(reader.steps)
    return reader.run


class _Reader:
    def __init__(self) -> None:
        self.run: Unfinished | None = None
        self.steps: list[Step] = []
        self._chosen: ActionChosen | None = None

    def read(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.run = Unfinished(event.run_id, event.task, event.desktop)
        elif self.run is not None:
            self._go_on(self.run, event)

    def _go_on(self, run: Unfinished, event: Event) -> None:
        match event:
            case KnowledgeGathered():
                run.query, run.aims = event.query, event.aims if event.aims != Aims() else run.aims
            case Planned():
                run.plan = event.plan
            case SubtaskStarted():
                run.current, self.steps = event.subtask, []
            case ActionChosen():
                self.close_step(None)
                self._chosen = event
            case ActionPerformed():
                self.close_step(event.result)
            case SubtaskEnded(ok=True):
                run.done.append((event.subtask, tuple(self.steps)))
                run.current, self.steps = None, []
            case RunEnded() if event.outcome.status == "done":
                raise TrajectoryError(f"The run {run.run_id} is done: there is nothing to go on with.")

    def close_step(self, result: ActionResult | None) -> None:
        """Add the step that was chosen; without a result the run ended while it was carried out."""
        chosen, self._chosen = self._chosen, None
        if chosen is None:
            return
        response = ActResponse(
            previous_action_check=chosen.previous_action_check,
            observation_analysis=chosen.observation_analysis,
            next_action=chosen.next_action,
            action=chosen.action,
        )
        result = result or ActionResult(ok=False, error=NOT_KNOWN)
        self.steps.append(Step(chosen.step, _not_kept(), response, result, recalled=True))


def _not_kept() -> Observation:
    import numpy as np

    return Observation(np.zeros((1, 1, 3), np.uint8), (), (), notes=("What was seen then is not kept.",))

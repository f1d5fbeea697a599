"""Runs tasks: a private desktop, the state that the task starts from, the agent, and the state check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.events import Event
from agent_s.records import Status, Task
from evaluation.errors import EvaluationError
from evaluation.harness.failures import FailureSigns
from evaluation.harness.recording import Recording
from evaluation.harness.results import FailureKind
from evaluation.osworld.check import StateChecker
from evaluation.osworld.context import TaskContext, TaskDesktop, WindowManager, substituted
from evaluation.osworld.task import TaskFile, perform_step
from memory_store import MemoryStoreError

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from agent_s.loop.agent import AgentS
    from agent_s.settings import Settings
    from memory_store import MemoryStore


class Watch(Protocol):
    """Passes on the events of a run, and may end it, as a command line does at Ctrl-C."""

    def __call__(self, items: Iterator[Event], stop: Callable[[], None]) -> Iterator[Event]:
        """Return the same events; `stop` lets the run end as `stopped`."""
        ...


@dataclass(frozen=True, slots=True)
class TaskResult:
    """How one task went; a row of a table.

    Attributes:
        task: The task's id.
        instruction: What the agent was told.
        status: How the run ended; `error` where the task could not be prepared.
        verified: What the state check says; None where nothing could be said.
        reason: Why, in words.
        steps: Primitives performed.
        model_calls: Calls of the model.
        seconds: Wall time of the run, s; starting and preparing the desktop are left out.
        replayed: Whether every subtask came from verified memory.
        run_id: The run; empty where there was none.
        trajectory: Folder of the recorded run, or None where nothing was recorded.
        report: Its HTML page, or None.
        recording_problem: Why the recording or the report is missing or cut short; empty otherwise.
        score: As OSWorld counts, from 0 to 1; None where nothing could be said.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        dollars: Cost; None where the price is not known.
        failure: Kind of failure, estimated; None for a success.
    """

    task: str
    instruction: str
    status: Status
    verified: bool | None
    reason: str = ""
    steps: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    replayed: bool = False
    run_id: str = ""
    trajectory: Path | None = None
    report: Path | None = None
    recording_problem: str = ""
    score: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None
    failure: FailureKind | None = None


class TaskSession:
    """One task on one desktop: owns the task's server, which always stops when the session ends.

    ```python
    with VirtualDesktop() as desktop, TaskSession.on(task, desktop) as session:
        outcome = agent_for(desktop).run(session.prepare(), session.state_check, blind=True)
    ```

    Args:
        task: The task.
        desktop: Where its applications run.
        windows: Their windows.

    Attributes:
        context: What steps, getters and the check share.
        state_check: Judges the task; pass it to the agent.
    """

    def __init__(self, task: TaskFile, desktop: TaskDesktop, windows: WindowManager) -> None:
        self.task = task
        self.context = TaskContext(desktop, windows, task.folder)
        self.state_check = StateChecker(task, self.context)

    @classmethod
    def on(cls, task: TaskFile, desktop: VirtualDesktop) -> Self:
        """Return a session of a task on a virtual desktop that has started."""
        return cls(task, desktop, desktop.x11.screen)

    def __enter__(self) -> Self:
        """Begin; nothing is done yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server, if there is one."""
        self.context.resources.close()

    def prepare(self) -> Task:
        """Do the steps of `config`, and return the task as the agent is told it.

        Raises:
            PreparationFailed: A step could not be done; the message names it.
        """
        for step in self.task.config:
            perform_step(step, self.context)
        return Task(instruction=substituted(self.task.instruction, self.context.values), id=self.task.id)


def run_task(
    task: TaskFile,
    settings: Settings,
    *,
    memory: MemoryStore | None = None,
    ask: Callable[[str], str] | None = None,
    new_agent: Callable[[VirtualDesktop], AgentS] | None = None,
    on_event: Callable[[Event], None] | None = None,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> TaskResult:
    """Run one task on a private desktop of its own, record it, and check it.

    What goes wrong with the desktop, the preparation or the task is the result; a recording that cannot be written
    costs the report only.

    Args:
        task: From `evaluation.osworld.task.load_tasks`.
        settings: Model, limits, memory, size of the desktop, and where runs are recorded.
        memory: A store that is already open; None opens the one that the settings name.
        ask: Puts the agent's questions to the person at the screen.
        new_agent: Builds the agent for a desktop; None builds it as the settings say.
        on_event: Told every event, once it is recorded.
        watch: Passes on the events; for ending a run from outside.
        clock: Seconds that only go forward.
    """
    from agent_s.loop.agent import AgentS

    signs = FailureSigns()
    told = Recording(settings.runs_folder, on_event, clock)
    try:
        with settings.desktop.new_virtual() as desktop, TaskSession.on(task, desktop) as session:
            wanted = session.prepare()
            agent = (
                new_agent(desktop)
                if new_agent is not None
                else AgentS.from_settings(settings, desktop, memory=memory, ask=ask)
            )
            events = agent.stream(wanted, session.state_check, blind=True)
            for event in watch(events, agent.stop) if watch is not None else events:
                signs(event)
                told(event)
            return _row(wanted, told, session.state_check.score, signs)
    except (AciError, EvaluationError, AgentError, MemoryStoreError) as error:
        return TaskResult(task.id, task.instruction, "error", None, reason=str(error), failure="environment")
    finally:
        told.close()


def _row(task: Task, told: Recording, score: float | None, signs: FailureSigns) -> TaskResult:
    if told.outcome is None:
        raise EvaluationError("the run was broken off before it ended")
    outcome, report = told.outcome, told.write_report()
    return TaskResult(
        task=task.id,
        instruction=task.instruction,
        status=outcome.status,
        verified=outcome.verified,
        reason=outcome.reason,
        steps=outcome.usage.steps,
        model_calls=outcome.usage.model_calls,
        seconds=told.seconds,
        replayed=outcome.replayed,
        run_id=outcome.run_id,
        trajectory=told.folder,
        report=report,
        recording_problem=told.problem,
        score=score,
        input_tokens=outcome.usage.input_tokens,
        output_tokens=outcome.usage.output_tokens,
        dollars=outcome.usage.dollars,
        failure=None if outcome.verified else signs.kind(outcome),
    )

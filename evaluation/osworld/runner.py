"""Runs a task: a private desktop, the initial state, the agent, and the state check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.events import Event
from agent_s.records import StateCheck, Status, Task, Verdict
from evaluation.errors import EvaluationError
from evaluation.harness.failures import FailureSigns
from evaluation.harness.recording import Recording
from evaluation.harness.results import Ended, effort_of
from evaluation.osworld.check import StateChecker
from evaluation.osworld.task import TaskFile, perform_step
from evaluation.state.context import TaskContext, TaskDesktop, WindowManager, substituted
from evaluation.state.downloads import Downloads
from evaluation.state.machine import machine_values
from evaluation.state.rights import Rights
from memory_store import MemoryStoreError

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from agent_s.loop.agent import AgentS
    from agent_s.settings import Settings
    from memory_store import MemoryStore


Watch = Callable[[Iterator[Event], Callable[[], None]], Iterator[Event]]
"""Passes on the events of a run, and may end it as `stopped` with its second argument, as Ctrl-C does."""


class TaskResult(Ended):
    """The result of one task."""

    verified: bool | None = None  # the verdict of the state check; None if it could not judge
    replayed: bool = False  # whether every subtask came from verified memory
    trajectory: Path | None = None  # folder of the recorded run, or None
    report: Path | None = None  # its HTML page, or None
    recording_problem: str = ""  # why the recording or the report is missing or incomplete; empty otherwise


class TaskSession:
    """One task on one desktop: owns the task's server, which always stops when the session ends.

    ```python
    with VirtualDesktop() as desktop, TaskSession.on(task, desktop, rights) as session:
        outcome = agent_for(desktop).run(session.prepare(), session.state_check, blind=True)
    ```

    Args:
        task: The task.
        desktop: Where its applications run.
        windows: Their windows.
        rights: What it may do.

    Attributes:
        context: What steps, getters and the check share.
        state_check: Judges the task; pass it to the agent.
    """

    def __init__(
        self, task: TaskFile, desktop: TaskDesktop, windows: WindowManager, rights: Rights | None = None
    ) -> None:
        self.task = task
        rights = rights or Rights()
        self.context = TaskContext(
            desktop,
            windows,
            task.folder,
            values=machine_values(*desktop.size),
            downloads=Downloads(rights.files, rights.online),
            commands=rights.commands or task.bundled,
        )
        self.state_check = StateChecker(task, self.context)

    @classmethod
    def on(cls, task: TaskFile, desktop: VirtualDesktop, rights: Rights | None = None) -> Self:
        """Return a session of a task on a virtual desktop that has started."""
        return cls(task, desktop, desktop.x11.screen, rights)

    def __enter__(self) -> Self:
        """Begin; nothing is done yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server, if there is one."""
        self.context.resources.close()

    def prepare(self) -> Task:
        """Set up the initial state, and return the task of the agent.

        Raises:
            PreparationFailed: A step failed; the message names it.
        """
        for step in self.task.config:
            perform_step(step, self.context)
        instruction = substituted(self.task.instruction, self.context.values, self.context.home)
        return Task(instruction=instruction, id=self.task.id)


def run_task(
    task: TaskFile,
    settings: Settings,
    *,
    rights: Rights | None = None,
    memory: MemoryStore | None = None,
    new_agent: Callable[[VirtualDesktop], AgentS] | None = None,
    on_event: Callable[[Event], None] | None = None,
    watch: Watch | None = None,
    verdict_apart: bool = False,
) -> TaskResult:
    """Run one task on a private desktop of its own, record it, and check it.

    Errors of the desktop, the preparation or the task are the result; if the recording cannot be written, only the
    report is lost.

    Args:
        task: From `evaluation.osworld.task.load_tasks`.
        settings: Model, limits, memory, size of the desktop, and where runs are recorded.
        rights: What the task may do.
        memory: An open store; None opens the one in the settings.
        new_agent: Builds the agent for a desktop; None builds it from the settings.
        on_event: Called with every event once it is recorded.
        watch: Passes on the events, and may stop the run.
        verdict_apart: Whether the verdict of the state check is kept out of the recording, so that nobody who reads
            that knows it.
    """
    from agent_s.loop.agent import AgentS

    signs = FailureSigns()
    recording = Recording(settings.runs_folder, on_event)
    try:
        with settings.desktop.new_virtual() as desktop, TaskSession.on(task, desktop, rights) as session:
            wanted = session.prepare()
            if new_agent is not None:
                agent = new_agent(desktop)
            else:
                agent = AgentS.from_settings(settings, desktop, memory=memory)
            kept = KeptCheck(session.state_check)
            events = agent.stream(wanted, kept if verdict_apart else session.state_check, blind=True)
            for event in watch(events, agent.stop) if watch is not None else events:
                signs(event)
                recording(event)
            return _result(wanted, recording, session.state_check.score, signs, kept.verdict)
    except (AciError, EvaluationError, AgentError, MemoryStoreError) as error:
        return TaskResult(
            task=task.id, instruction=task.instruction, status="error", reason=str(error), failure="environment"
        )
    finally:
        recording.close()


class KeptCheck:
    """Carries out a state check, and keeps its verdict from the run."""

    def __init__(self, check: StateCheck) -> None:
        self.verdict: Verdict | None = None  # the verdict; None before the check
        self._check = check

    def __call__(self, status: Status) -> Verdict:
        """Check, and say nothing of it."""
        self.verdict = self._check(status)
        return Verdict(verified=None, reason="kept apart")


def _result(
    task: Task, recording: Recording, score: float | None, signs: FailureSigns, kept: Verdict | None
) -> TaskResult:
    if recording.outcome is None:
        raise EvaluationError("the run was interrupted")
    outcome, report = recording.outcome, recording.write_report()
    if kept is not None:
        outcome = outcome.model_copy(update={"verified": kept.verified, "reason": outcome.reason or kept.reason})
    return TaskResult(
        task=task.id,
        **outcome.model_dump(include={"status", "verified", "reason", "replayed", "run_id"}),
        **effort_of(outcome.usage),
        instruction=task.instruction,
        seconds=recording.seconds,
        trajectory=recording.folder,
        report=report,
        recording_problem=recording.problem,
        score=score,
        failure=None if outcome.verified else signs.kind(outcome),
    )

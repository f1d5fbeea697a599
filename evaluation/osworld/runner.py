"""Runs a task: a private desktop, the initial state, the agent, and the state check.

The state check combines postconfig, getters and metrics as OSWorld does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aci.errors import AciError
from agent_s.errors import AgentError, install_command
from agent_s.events import Event
from agent_s.records import StateCheck, Status, Task, Verdict
from evaluation.errors import CheckFailed, EvaluationError
from evaluation.harness.failures import FailureSigns
from evaluation.harness.recording import Recording
from evaluation.harness.results import Ended, effort_of
from evaluation.osworld.tables import GETTERS, METRICS
from evaluation.osworld.task import Check, Rule, Source, TaskFile, perform_step, resolved
from evaluation.state.context import Rights, TaskContext, TaskDesktop, WindowManager, substituted
from evaluation.state.downloads import Downloads
from evaluation.state.machine import machine_values
from evaluation.state.metrics import Score
from evaluation.state.parameters import keywords
from evaluation.state.reading import Reading
from memory_store import MemoryStoreError

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from agent_s.loop.agent import AgentS
    from agent_s.settings import Settings
    from memory_store import MemoryStore

Watch = Callable[[Iterator[Event], Callable[[], None]], Iterator[Event]]
"""Passes on the events of a run, and may end it as `stopped` with its second argument, as Ctrl-C does."""
BY = "state check"


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
            self.problem = f"the state check needs the Python package {error.name!r}: {install_command('eval')}"
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

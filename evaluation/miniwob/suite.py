"""Runs MiniWoB++ in one process: a server for the pages, and a desktop that is replaced when it breaks.

An episode sets up its page, lets the agent work on the screen, and is scored by the reward of the page.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.waiting import Clock
from agent_s.errors import AgentError
from agent_s.events import ActionPerformed, Event, RunEnded
from agent_s.loop.agent import AgentS
from agent_s.records import Outcome, StateCheck, Status, Task, Verdict
from agent_s.settings import Settings
from evaluation.errors import BrowserLost, EvaluationError
from evaluation.harness.failures import FailureSigns
from evaluation.harness.recording import Recording
from evaluation.harness.results import RUNS_FOLDER, Job, Result, effort_of, place_in
from evaluation.miniwob.arena import Arena, PageState
from evaluation.miniwob.pages import find_pages
from evaluation.state.server import FormServer

BY = "the page's reward"
LATE_S = 1.0  # time the page has to end the episode after the agent has finished, s
_POLL_S = 0.02


@dataclass(eq=False)
class MiniwobBench:
    """Runs episodes one after another."""

    settings: Settings
    folder: Path  # of the results
    keep_all: bool = False  # whether to keep recordings of successes
    _server: ExitStack = field(default_factory=ExitStack, init=False)
    _address: str = field(default="", init=False)
    _resources: ExitStack = field(default_factory=ExitStack, init=False)
    # the desktop in use with its pages; None before the first episode, and after one that broke
    arena: tuple[VirtualDesktop, Arena] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        """Serve the pages.

        Raises:
            PagesMissing: They are not installed.
        """
        server = FormServer(find_pages().folder, {})
        self._address = self._server.enter_context(server).address
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the desktop and the server."""
        self._break_down()
        self._server.close()

    def run(self, job: Job) -> Result:
        """Run one episode, once more on a fresh desktop if the environment breaks; an error is its result."""
        result = self._try(job)
        return result if result.outcome != "error" else self._try(job)

    def _try(self, job: Job) -> Result:
        try:
            desktop, arena = self.arena or self._set_up()
            desktop.release_all()
            desktop.clear_buffer()
            desktop.x11.screen.clear_clipboard()
            agent = AgentS.from_settings(self.settings, desktop)
            result = run_episode(arena, job, agent, self.folder, keep_all=self.keep_all)
        except (AciError, AgentError, EvaluationError) as error:
            self._break_down()
            return Result.broken(job, str(error))
        if result.outcome == "error":
            self._break_down()
        return result

    def _set_up(self) -> tuple[VirtualDesktop, Arena]:
        desktop = self._resources.enter_context(self.settings.desktop.new_virtual())
        arena = Arena(desktop, self._address)
        self._resources.callback(arena.close)
        self.arena = desktop, arena
        return self.arena

    def _break_down(self) -> None:
        self.arena = None
        self._resources.close()


def run_episode(arena: Arena, job: Job, agent: AgentS, folder: Path, *, keep_all: bool = False) -> Result:
    """Run one episode and judge it.

    Args:
        arena: Shows the page.
        job: Task and seed.
        agent: Works on the arena's desktop.
        folder: Folder of the results; the run is recorded there, and a failed one is kept.
        keep_all: Whether to keep recordings of successes.

    Raises:
        BrowserLost: The page does not load.
    """
    instruction = arena.begin(job.task, job.seed or 0)
    if not instruction:
        raise BrowserLost(f"the page of {job.task} gives no instruction")
    signs, ended_by_page = FailureSigns(), False
    recording = Recording(folder / RUNS_FOLDER, signs)
    last = arena.state()
    try:
        for event in agent.stream(Task(instruction=instruction), _check(arena), blind=True):
            if isinstance(event, ActionPerformed) and not ended_by_page and arena.state().over:
                ended_by_page = True
                agent.stop()
            if isinstance(event, RunEnded):
                last = arena.state()
                event = _judged(event, last)
            recording(event)
    finally:
        recording.close()
    outcome = recording.outcome or Outcome(status="error", verified=None, reason="the run was interrupted")
    error = outcome.status == "error"
    report = None
    if keep_all or not last.success:
        report = recording.write_report()
    else:
        recording.discard()
    return Result(
        task=job.task,
        seed=job.seed,
        outcome="error" if error else "success" if last.success else "failure",
        score=None if error else max(0.0, min(1.0, last.reward)),
        status=outcome.status,
        failure=None if last.success else signs.kind(outcome, last.over),
        reason=outcome.reason,
        instruction=instruction,
        seconds=recording.seconds,
        run_id=outcome.run_id,
        trajectory=place_in(folder, recording.folder),
        report=place_in(folder, report),
        **effort_of(outcome.usage),
    )


def _check(arena: Arena) -> StateCheck:
    """Return a check of the applications' own state for the agent's end of the run."""

    def check(status: Status) -> Verdict:
        Clock().until(lambda: arena.state().over, LATE_S, _POLL_S)
        state = arena.state()
        return Verdict(verified=state.success, reason=state.reason, by=BY)

    return check


def _judged(ended: RunEnded, state: PageState) -> Event:
    """Return the end of a run with the verdict of the page instead of that of the agent."""
    outcome = ended.outcome
    if outcome.status == "error" and not state.over:
        return ended
    status: Status = "done" if state.success else "failed" if state.over else outcome.status
    reason = state.reason if state.over or not outcome.reason else outcome.reason
    judged = {"status": status, "verified": state.success, "reason": reason}
    return ended.model_copy(update={"outcome": outcome.model_copy(update=judged)})

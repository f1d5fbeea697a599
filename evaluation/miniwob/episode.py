"""Runs one episode: sets up the page, lets the agent work on the screen, and scores the reward of the page."""

from __future__ import annotations

from pathlib import Path

from aci.waiting import Clock
from agent_s.events import ActionPerformed, Event, RunEnded
from agent_s.loop.agent import AgentS
from agent_s.records import Outcome, StateCheck, Status, Task, Verdict
from evaluation.errors import BrowserLost
from evaluation.harness.failures import FailureSigns
from evaluation.harness.recording import Recording
from evaluation.harness.results import RUNS_FOLDER, Job, Result, effort_of, place_in
from evaluation.miniwob.arena import Arena, PageState

BY = "the page's reward"
LATE_S = 1.0
"""Time the page has to end the episode after the agent has finished, s."""
_POLL_S = 0.02


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

"""Estimates which part of the agent made a run fail, from its events; used to sort failures, never to score.

- planning: no step was taken, or the agent took an unfinished task for done;
- grounding: the target of an action was not found on the screen, or a wrong one ended the episode;
- execution: an action could not be carried out, or a budget ran out;
- environment: desktop, browser, model or network broke.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_s.events import ActionPerformed, Event, SubtaskEnded
from agent_s.records import Outcome
from evaluation.harness.results import FailureKind

NOT_UNDERSTOOD = "I do not understand"
"""Start of the offline model's reason for an instruction it cannot read."""


class FailureSigns:
    """Collects the signs of why a run fails."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._steps = 0
        self._last_ok = True
        self._gave_up = False
        for event in events:
            self(event)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, ActionPerformed):
            self._steps += 1
            self._last_ok = event.result.ok
        elif isinstance(event, SubtaskEnded):
            self._gave_up = not event.ok

    def kind(self, outcome: Outcome, ended_by_benchmark: bool = False) -> FailureKind:
        """Return the kind of a run that failed.

        Args:
            outcome: How it ended.
            ended_by_benchmark: Whether an action made the benchmark end the episode.
        """
        if outcome.status == "error":
            return "environment"
        if ended_by_benchmark:
            return "grounding"
        if outcome.reason.startswith(NOT_UNDERSTOOD) or (self._steps == 0 and not self._gave_up):
            return "planning"
        if outcome.status in ("out_of_budget", "stopped") or not self._last_ok:
            return "execution"
        return "grounding" if self._gave_up else "planning"

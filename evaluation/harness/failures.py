"""Which part of the agent a failed run points to: an estimate from its events, for sorting failures, not for scores.

- planning: nothing was done about the task, the plan ended without a step, or the agent held an unfinished task to be
  done;
- grounding: what an action was meant for was not found on the screen, or the wrong thing was acted on, so that the
  benchmark ended the episode;
- execution: an action could not be carried out, or a budget was used up on the way;
- environment: desktop, browser, model or network broke.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_s.events import ActionPerformed, Event, SubtaskEnded
from agent_s.records import Outcome
from evaluation.harness.results import FailureKind

NOT_UNDERSTOOD = "I do not understand"
"""How the offline model says that it has no reading for an instruction."""


class FailureSigns:
    """Watches a run for what tells later why it failed."""

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
            ended_by_benchmark: Whether the benchmark ended the episode because of what was done.
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

from __future__ import annotations

import pytest

from aci.acting.actions import Hotkey
from aci.desktop.desktop import ActionResult
from agent_s.events import ActionPerformed, Event, SubtaskEnded
from agent_s.records import Outcome, Status, Subtask
from evaluation.harness.failures import FailureSigns


def a_step(ok: bool = True) -> Event:
    return ActionPerformed(step=1, action=Hotkey(keys=("Tab",)), result=ActionResult(ok=ok))


def an_end(ok: bool) -> Event:
    return SubtaskEnded(subtask=Subtask(name="press"), ok=ok)


@pytest.mark.parametrize(
    ("events", "status", "ended_by_benchmark", "kind"),
    [
        ([], "error", False, "environment"),
        ([a_step()], "error", True, "environment"),
        ([], "failed", False, "planning"),
        ([a_step(), an_end(True)], "failed", False, "planning"),
        ([an_end(False)], "failed", False, "grounding"),
        ([a_step(), an_end(False)], "failed", False, "grounding"),
        ([a_step()], "failed", True, "grounding"),
        ([a_step(ok=False), an_end(False)], "failed", False, "execution"),
        ([a_step()], "out_of_budget", False, "execution"),
    ],
)
def test_kind_of_failure_is_estimated_from_events(
    events: list[Event], status: Status, ended_by_benchmark: bool, kind: str
) -> None:
    assert FailureSigns(events).kind(Outcome(status=status, verified=False), ended_by_benchmark) == kind

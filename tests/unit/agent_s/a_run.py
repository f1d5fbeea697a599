"""A small made-up run, for tests of what reads events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from aci.acting.actions import Click, Done, Fail, Type
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    Event,
    ExperienceStored,
    KnowledgeGathered,
    ModelCalled,
    Observed,
    Planned,
    Reflected,
    ReplayStarted,
    ReplayStopped,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
    Verified,
)
from agent_s.records import Limits, Outcome, Plan, Subtask, Task, Usage, Verdict

START = datetime(2026, 3, 14, 9, 30, 12, tzinfo=UTC)
HOSTILE = "<script>alert('screen')</script>"


def element() -> Element:
    rect = Rect(100, 50, 80, 24)
    return Element(id=7, role="push button", name="Save", rect=rect, point=rect.center, window_id=1, app="Editor")


def observation(shade: int = 40) -> Observation:
    pixels = np.full((160, 320, 3), shade, dtype=np.uint8)
    pixels[50:74, 100:180] = (220, 220, 235)
    return Observation(screenshot=pixels, elements=(element(),), windows=())


def events_of_a_run(
    *, text: str = "Save", run_id: str = "1f0c9a77d2e4", status: str = "done", verified: bool | None = True
) -> list[Event]:
    """Return a run of two subtasks, with a failed step, a reflection, a stopped replay and a trouble.

    Args:
        text: Stands wherever a screen, a model or a person may put any text.
    """
    first, second = Subtask(name=f"type {text}", info=text), Subtask(name="save it", info="with ctrl+s")
    click, type_ = Click(element_id=7), Type(text=text)
    bad = ActionResult(ok=False, error=f"{text} is disabled")
    good = ActionResult(ok=True, settled_after_s=0.21, note=f"note {text}")
    plan = Plan(subtasks=(first, second), edges=((first.name, second.name),), guideline=f"know {text}")
    verdict = Verdict(verified=verified, reason=f"reason {text}", evidence=(f"evidence {text}",), by="state check")
    usage = Usage(steps=4, model_calls=3, seconds={"observe": 0.4, "model": 0.1, "act": 1.9})
    parts: dict[str, Any] = {
        "previous_action_check": f"check {text}",
        "observation_analysis": f"analysis {text}",
        "next_action": f"next {text}",
    }
    outcome = Outcome(status=status, verified=verified, reason=f"reason {text}", usage=usage, run_id=run_id)
    events: list[Event] = [
        RunStarted(
            run_id=run_id, task=Task(instruction=f"Type {text} and save it", id="t1"), model="offline", limits=Limits()
        ),
        Observed(
            observation=observation(40), text=f"7 push button {text}", elements=1, seconds=0.02, notes=(f"note {text}",)
        ),
        ModelCalled(call="query", model="offline", seconds=0.01),
        KnowledgeGathered(query=f"How to save {text}", web=(text,), problems=(text,)),
        ModelCalled(call="plan", model="offline", seconds=0.01),
        Planned(plan=plan, reason=""),
        SubtaskStarted(subtask=first, index=1, total=2),
        ReplayStarted(subtask=first, experience_id="e1", steps=2),
        ActionChosen(step=1, action=click, target=f"push button {text}", replayed=True),
        ActionPerformed(step=1, action=click, result=bad, seconds=0.1),
        ReplayStopped(subtask=first, experience_id="e1", reason=f"no {text}"),
        Observed(observation=observation(60), text="7 push button", elements=1),
        Reflected(trouble=f"trouble {text}", reflection=f"reflection {text}"),
        ModelCalled(call="act", model="offline", seconds=0.01, usage=Usage(input_tokens=10, output_tokens=3)),
        ActionChosen(step=2, action=type_, **parts),
        ActionPerformed(step=2, action=type_, result=good, seconds=0.4),
        Observed(observation=observation(60), text="again", elements=1),
        ActionChosen(step=3, action=Done()),
        ActionPerformed(step=3, action=Done(), result=ActionResult(ok=True)),
        SubtaskEnded(subtask=first, ok=True, steps=3),
        SubtaskStarted(subtask=second, index=2, total=2),
        ActionChosen(step=4, action=Fail(reason=text)),
        ActionPerformed(step=4, action=Fail(reason=text), result=ActionResult(ok=True)),
        SubtaskEnded(subtask=second, ok=False, reason=f"failed {text}", steps=1),
        Verified(verdict=verdict),
        ExperienceStored(memory="episodic", experience_id="e2", summary=f"summary {text}"),
        Troubled(problem=f"problem {text}"),
        RunEnded(outcome=outcome),
    ]
    return [event.model_copy(update={"at": START + timedelta(seconds=0.5 * n)}) for n, event in enumerate(events)]

"""Counting the steps of a run, and telling the loop's own work from the desktop's."""

from __future__ import annotations

import time

from aci.acting.actions import Action, Click, Done
from aci.observation.observation import Observation
from agent_s import AgentS, Options, Task
from agent_s.llm.protocol import ActResponse
from agent_s.llm.scripted import ScriptedModel
from benchmarks.support.pace import Pace, PacedDesktop, PacedModel
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

WORK_S = 0.05


def works(action: Action, seen: Observation) -> Observation:
    until = time.thread_time() + WORK_S
    while time.thread_time() < until:
        pass
    return screen(*seen.elements, button(len(seen.elements) + 1, "new"))


def test_steps_and_calls_are_counted_and_the_desktop_is_not_the_loop() -> None:
    pace = Pace()
    click = ActResponse(action=Click(element_id=1))
    model = ScriptedModel({"act": [click, click, click, ActResponse(action=Done())]})
    desktop = PacedDesktop(FakeDesktop(screen(button(1, "OK")), works), pace)
    assert (
        AgentS(model=PacedModel(model, pace), desktop=desktop, options=Options(reflect=False))
        .run(Task(instruction="x"))
        .usage.steps
        == 3
    )
    assert (pace.primitives, len(pace.outside_s), pace.calls["act"]) == (4, 3, 4)
    assert pace.calls_per_step == 1.0
    assert pace.all_calls_per_step == sum(pace.calls.values()) / 3 == 2
    assert min(pace.outside_s) >= WORK_S > max(pace.loop_s)

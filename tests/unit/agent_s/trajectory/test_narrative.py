"""What a recorded run is told as, to be compared with others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from aci.acting.actions import Action, Click, Done
from aci.observation.observation import Observation
from agent_s import AgentS
from agent_s.llm.protocol import ActResponse, Attempt
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Task
from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.narrative import narrate
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

START = screen(button(1, "Save"))


def saved(action: Action, seen: Observation) -> Observation:
    picture = np.zeros((600, 800, 3), np.uint8)
    picture[320:352, 64:128] = 255
    return replace(screen(button(1, "Save"), button(2, "Saved!", role="label")), screenshot=picture)


def recorded(folder: Path, *answers: ActResponse) -> Attempt:
    agent = AgentS(model=ScriptedModel({"act": answers}), desktop=FakeDesktop(START, saved))
    recorder = Recorder(folder)
    for event in agent.stream(Task(instruction="Save it")):
        recorder(event)
    recorder.close()
    return narrate(read_trajectory(folder))


def test_step_is_described_by_action_difference_and_changed_region(tmp_path: Path) -> None:
    told = recorded(
        tmp_path / "run",
        ActResponse(next_action="I am sure this saves it", action=Click(element_id=1)),
        ActResponse(action=Done()),
    )

    assert told.facts[0].startswith('click push button "Save"; appeared label "Saved!"')
    assert "changed regions 64x32 at 64,320" in told.facts[0]
    assert told.facts[-1] == "the agent ended it as done"
    assert "Saved!" in told.facts[-2]
    assert (told.status, told.verified, told.steps) == ("done", None, 1)
    assert told.last_screen is not None
    assert "I am sure" not in str(told.facts)


def test_step_without_effect_and_refused_step_say_so(tmp_path: Path) -> None:
    told = recorded(
        tmp_path / "run",
        ActResponse(action=Click(element_id=9)),
        ActResponse(action=Click(element_id=1)),
        ActResponse(action=Click(element_id=1)),
        ActResponse(action=Done()),
    )

    assert "no effect" in told.facts[2]

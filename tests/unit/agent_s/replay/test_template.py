"""Learned steps with the values of another task."""

from __future__ import annotations

from aci.acting.actions import SwitchApplications, Type
from agent_s.records import Change, EndState, GroundedStep
from agent_s.replay.template import with_parameters
from intents.alignment import align

OPENED = (Change(kind="opened", what="Untitled", after="open"),)


def test_another_application_need_not_show_what_the_learned_one_showed() -> None:
    learned = GroundedStep(
        action=SwitchApplications(app_code="text editor"), effect=OPENED, end=EndState(title="Untitled")
    )
    values = align("Open the 'text editor'", "Open the 'calculator'")
    assert values
    [step] = with_parameters([learned], values)
    assert step.action == SwitchApplications(app_code="calculator")
    assert (step.effect, step.end.title) == ((), "")


def test_the_same_application_must_show_what_it_showed() -> None:
    steps = [
        GroundedStep(action=SwitchApplications(app_code="text editor"), effect=OPENED),
        GroundedStep(action=Type(text="hello")),
    ]
    values = align("Type 'hello' in the text editor", "Type 'bye' in the text editor")
    assert values
    opened, typed = with_parameters(steps, values)
    assert opened == steps[0]
    assert typed.action == Type(text="bye")

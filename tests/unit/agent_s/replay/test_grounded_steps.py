"""The effect that a step is learned with."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Click
from aci.observation.geometry import Rect
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import with_effect
from tests.unit.agent_s.fakes import button, screen


def test_what_an_open_menu_only_covers_is_no_effect() -> None:
    start = screen(button(1, "Menu"), button(2, "Filters"), button(3, "Seen 3"))
    entries = [replace(button(4, "Preferences"), rect=Rect(0, 0, 300, 300)), button(5, "Seen 4")]
    menu = replace(start, elements=(start.elements[0], *entries))
    opened = with_effect(GroundedStep(action=Click(element_id=1)), Click(element_id=1), start, menu)
    assert opened.names_of("appeared") == ("push button:Preferences", "push button:Seen 4")
    assert opened.names_of("vanished") == ("push button:Seen 3",), "which got another number, and is not covered"

    closed = with_effect(GroundedStep(action=Click(element_id=1)), Click(element_id=1), menu, screen(button(1, "Menu")))
    assert closed.names_of("vanished") == ("push button:Preferences", "push button:Seen 4")

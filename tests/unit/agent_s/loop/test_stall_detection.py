from __future__ import annotations

import pytest

from aci.acting.actions import Action, Click, Hotkey, Scroll, Type, Wait
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActResponse
from agent_s.loop.stall_detection import find_trouble, is_hopeless
from agent_s.records import Step
from tests.unit.agent_s.fakes import button, screen

NOW = screen(button(1, "now"))
UNDO = Hotkey(keys=("ctrl", "z"))
DOWN = Scroll(element_id=1, clicks=-5)


def seen(number: int) -> Observation:
    return screen(button(number, f"at {number}"))


def moving(*actions: Action) -> list[Step]:
    """Steps after each of which the screen looks different."""
    return [
        Step(number, seen(number), ActResponse(action=action), ActionResult(ok=True)).followed_by(seen(number + 1))
        for number, action in enumerate(actions)
    ]


def stuck(*actions: Action) -> list[Step]:
    """Steps that change nothing."""
    return [
        Step(number, NOW, ActResponse(action=action), ActionResult(ok=True)).followed_by(NOW)
        for number, action in enumerate(actions)
    ]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (moving(*(Type(text="a"), UNDO) * 3), "undo each other"),
        (moving(Type(text="a"), UNDO, Type(text="b"), UNDO, Type(text="c"), UNDO), "3 of the last 6 steps were undone"),
        (moving(*[DOWN] * 8), "8 scrolls in a row"),
        (moving(*[DOWN] * 7), ""),
        (moving(UNDO, UNDO), ""),
        (stuck(Click(element_id=1), Click(element_id=2)), "2 tries by the mouse had no effect: take another way"),
        (stuck(Click(element_id=1), Wait(time=1), Click(element_id=2)), "2 tries by the mouse"),
    ],
)
def test_circles_are_trouble(steps: list[Step], said: str) -> None:
    found = find_trouble(steps)
    assert said in found if said else found == ""


def test_tries_by_two_methods_do_not_exhaust_a_method() -> None:
    assert "another way" not in find_trouble(stuck(Click(element_id=1), Hotkey(keys=("ctrl", "s"))))


def test_a_step_with_an_effect_resets_the_count_of_futile_tries() -> None:
    steps = [*stuck(Click(element_id=1)), *moving(Click(element_id=2)), *stuck(Click(element_id=3))]
    assert "another way" not in find_trouble(steps)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (stuck(*(Click(element_id=number) for number in range(6))), "6 tries in a row"),
        (stuck(*(Click(element_id=number) for number in range(5))), ""),
        (moving(*[DOWN] * 16), "16 scrolls"),
        (moving(*(Type(text=str(number)) if number % 2 else UNDO for number in range(12))), "undone again and again"),
        (moving(*(Click(element_id=1), Click(element_id=2)) * 4), "undo each other again and again"),
        (moving(*(Click(element_id=1), Click(element_id=2)) * 3), ""),
        ([], ""),
    ],
)
def test_hopeless_subtasks_are_given_up(steps: list[Step], said: str) -> None:
    found = is_hopeless(steps)
    assert said in found if said else found == ""

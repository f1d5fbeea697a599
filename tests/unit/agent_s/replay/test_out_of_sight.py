"""What is out of sight is looked for with the wheel, which changes nothing else."""

from __future__ import annotations

from collections.abc import Generator

from aci.acting.actions import Action, Scroll
from aci.acting.result import ActionResult
from aci.observation.identity import describe
from aci.observation.observation import Observation
from agent_s.events import Event
from agent_s.llm.protocol import ActResponse
from agent_s.records import Step
from agent_s.replay.out_of_sight import ScrollSearch
from tests.unit.agent_s.fakes import button, screen

SEND = button(9, "Send")


class Hand:
    """Shows one screen after the other as the wheel is turned down; the last one stays."""

    def __init__(self, *screens: Observation) -> None:
        self.screens, self.at = screens, 0
        self.done: list[Action] = []

    def look(self, *, check: bool = True) -> Generator[Event, None, Observation]:
        yield from ()
        return self.screens[self.at]

    def step(
        self, observation: Observation, response: ActResponse, replayed: bool = False, settle: bool = True
    ) -> Generator[Event, None, Step]:
        yield from ()
        action = response.action
        assert isinstance(action, Scroll) and action.clicks is not None
        self.done.append(action)
        self.at = min(max(self.at + (1 if action.clicks < 0 else -1), 0), len(self.screens) - 1)
        return Step(len(self.done), observation, response, ActionResult(ok=True))


def looked_for(hand: Hand) -> tuple[bool, list[Step]]:
    steps: list[Step] = []

    def searching() -> Generator[Event, None, bool]:
        seen = yield from ScrollSearch(hand, describe(SEND, screen(SEND)), steps).search(hand.screens[0])
        return any(one.name == "Send" for one in seen.elements)

    search = searching()
    while True:
        try:
            next(search)
        except StopIteration as ended:
            return bool(ended.value), steps


def test_a_target_further_down_is_found_and_each_scroll_is_a_step() -> None:
    hand = Hand(screen(button(1, "Top")), screen(button(2, "Middle")), screen(button(3, "Bottom"), SEND))
    found, steps = looked_for(hand)
    assert found and len(steps) == len(hand.done) == 3  # twice down, and a little further


def test_controls_that_the_wheel_would_change_are_not_scrolled_over() -> None:
    hand = Hand(screen(button(1, "Colour", "combo box"), button(2, "Volume", "slider")), screen(SEND))
    assert looked_for(hand) == (False, [])


def test_a_missing_target_is_searched_until_nothing_moves() -> None:
    hand = Hand(screen(button(1, "Top")), screen(button(2, "Bottom")))
    found, _ = looked_for(hand)
    assert not found and [one.clicks for one in hand.done if isinstance(one, Scroll)] == [-1, -1, 1, 1]

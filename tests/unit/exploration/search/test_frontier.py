"""The order in which controls are tried."""

from __future__ import annotations

from aci.acting.actions import Click
from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from exploration.search.frontier import Pending, lateness
from exploration.search.records import Control, Offer


def test_the_values_of_one_choice_come_after_other_long_lists() -> None:
    def group(opener: str, size: int) -> list[Pending]:
        description = ElementDescription(role=opener, name="Way")
        way = GroundedStep(action=Click(element_id=1), targets={"element_id": description})
        offers = [
            Offer(control=Control(role="menu item", name=str(n), key=f"menu item:{n}"), step=way) for n in range(size)
        ]
        return [Pending(each.control.key, (way,), each, "") for each in offers]

    encodings, languages, short = group("combo box", 60), group("menu", 20), group("combo box", 3)
    assert sorted([encodings, languages, short], key=lateness) == [short, languages, encodings]

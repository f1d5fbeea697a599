"""The order in which controls are tried."""

from __future__ import annotations

from pathlib import Path

from aci.acting.actions import Click
from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from exploration.search.frontier import START, FirstOffers, Frontier, Pending, lateness
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Attempted, Control, Offer


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


def test_submenus_come_before_other_entries_of_a_menu(tmp_path: Path) -> None:
    def entry(name: str, opens_menu: bool = False) -> Offer:
        step = GroundedStep(action=Click(element_id=1))
        return Offer(control=Control(role="menu item", name=name, key=name), step=step, opens_menu=opens_menu)

    def seen(key: str, depth: int, *offers: Offer) -> Attempt:
        control = Control(role="menu item", name=key, key=key)
        return Attempt(
            key=key, control=control, start="s", end=key, classification="continue", depth=depth, offers=offers
        )

    with Ledger(tmp_path / "ledger.jsonl", "Pad", ("pad",)) as ledger:
        frontier = Frontier(ledger, FirstOffers(ledger, max_depth=5), 5, lambda _: True)
        opened = seen("View", 1, entry("Reload"), entry("Zoom"), entry("Toolbars", opens_menu=True))
        for attempt in (seen(START, 0, entry("View")), opened):
            ledger.write(Attempted(seconds=0.0, attempt=attempt, left=0))
        order = frontier.pending(list)
        names = [next(order).offer.control.name]
        frontier.add(opened, opened.path)
        assert [*names, *(each.offer.control.name for each in order)] == ["View", "Toolbars", "Reload", "Zoom"]

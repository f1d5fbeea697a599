"""The order in which controls are tried."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

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


def test_buttons_that_open_menus_come_before_the_rest_of_the_first_screen(tmp_path: Path) -> None:
    def button(name: str, opens_menu: bool) -> Offer:
        control = Control(role="push button", name=name, key=name)
        return Offer(control=control, step=GroundedStep(action=Click(element_id=1)), opens_menu=opens_menu)

    start = Attempt(
        key=START, control=Control(role="application", name="", key=START), start="", end="s",
        classification="continue", offers=(button("Search", False), button("Main Menu", True)),
    )  # fmt: skip
    with Ledger(tmp_path / "ledger.jsonl", "Pad", ("pad",)) as ledger:
        ledger.write(Attempted(seconds=0.0, attempt=start, left=0))
        order = Frontier(ledger, FirstOffers(ledger, max_depth=5), 5, lambda _: True).pending(list)
        assert [each.offer.control.name for each in order] == ["Main Menu", "Search"]


@pytest.mark.parametrize(("many", "turn"), [(6, 3), (100, 6)])
def test_turns_are_longer_in_a_large_application(tmp_path: Path, many: int, turn: int) -> None:
    def button(name: str) -> Offer:
        control = Control(role="push button", name=name, key=name)
        return Offer(control=control, step=GroundedStep(action=Click(element_id=1)))

    def seen(key: str, *offers: Offer) -> Attempt:
        control = Control(role="menu", name=key, key=key)
        return Attempt(key=key, control=control, start="s", end=key, classification="continue", depth=1, offers=offers)

    with Ledger(tmp_path / "ledger.jsonl", "Pad", ("pad",)) as ledger:
        frontier = Frontier(ledger, FirstOffers(ledger, max_depth=5), 5, lambda _: True)
        menu = Offer(
            control=Control(role="menu", name="View", key="View"), step=GroundedStep(action=Click(element_id=1))
        )
        start = seen(START, menu, *(button(f"of the screen {letters(n)}") for n in range(many)))
        view = seen("View", *(button(f"of the menu {letters(n)}") for n in range(many)))
        for attempt in (start, view):
            ledger.write(Attempted(seconds=0.0, attempt=attempt, left=0))
        order = frontier.pending(list)
        assert next(order).offer.control.name == "View"
        frontier.add(view, view.path)
        names = [each.offer.control.name for each in islice(order, 2 * turn)]
        assert ["screen" in name for name in names] == [False] * turn + [True] * turn


def test_the_named_parts_of_the_first_screen_take_turns(tmp_path: Path) -> None:
    def button(bar: str, name: str) -> Offer:
        control = Control(role="push button", name=name, key=f"{bar} {name}", place=f"tool bar:{bar}")
        return Offer(control=control, step=GroundedStep(action=Click(element_id=1)))

    start = Attempt(
        key=START, control=Control(role="application", name="", key=START), start="", end="s",
        classification="continue", offers=tuple(button(bar, letters(n)) for bar in ("A", "B") for n in range(4)),
    )  # fmt: skip
    with Ledger(tmp_path / "ledger.jsonl", "Pad", ("pad",)) as ledger:
        ledger.write(Attempted(seconds=0.0, attempt=start, left=0))
        order = Frontier(ledger, FirstOffers(ledger, max_depth=5), 5, lambda _: True).pending(list)
        assert "".join(each.offer.control.key[0] for each in order) == "AAABBBAB"


def letters(number: int) -> str:
    """Return a name without a number in it, since names that differ in a number alone are postponed."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))

"""One search of a real application on two desktops."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from exploration.search.dfs import search
from exploration.search.ledger import Ledger
from exploration.search.navigator import new_desktop
from exploration.search.records import Attempted, SearchEnded, SearchEvent, SearchLimits
from exploration.search.starting import PrivateDesktop
from exploration.skills.skill_keeper import SkillKeeper

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mousepad") is None, reason="needs mousepad"),
]

ARGV = ("mousepad", "sample.txt")


def running(desktop: PrivateDesktop, ledger: Ledger) -> Iterator[SearchEvent]:
    limits = SearchLimits(seconds=900, max_depth=1)
    return search(desktop, ledger, SkillKeeper(None, "explore"), limits=limits)


def tried(events: list[SearchEvent]) -> list[str]:
    return [event.attempt.key for event in events if isinstance(event, Attempted)]


def until_tried(search_of_one: Iterator[SearchEvent], number: int) -> list[SearchEvent]:
    events: list[SearchEvent] = []
    while len(tried(events)) < number:
        events.append(next(search_of_one))
    return events


def test_two_desktops_share_a_search_and_one_survives_the_other(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with new_desktop() as one, new_desktop() as other, Ledger(path, "Mousepad", ARGV) as lasting:
        ending = Ledger(path, "Mousepad", ARGV)
        first, second = running(one, ending), running(other, lasting)
        found = until_tried(first, 2)
        offered = [offer.control.key for offer in ending.attempts["start"].offers]
        left_undone = next(key for key in offered if key not in tried(found))
        assert ending.claim(left_undone)
        found += until_tried(second, 2)
        assert left_undone not in tried(found)
        ending.close()  # as the end of its process does
        found += list(second)
    assert len(tried(found)) == len(set(tried(found)))
    assert left_undone in tried(found)
    assert isinstance(found[-1], SearchEnded)
    assert found[-1].complete

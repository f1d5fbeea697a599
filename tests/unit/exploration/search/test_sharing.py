"""One search shared by several desktops, on made-up applications."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

from exploration.search.dfs import search
from exploration.search.frontier import SEPARATOR
from exploration.search.ledger import Ledger
from exploration.search.records import Attempted, SearchEnded, SearchEvent, SearchLimits, SkillVerified
from exploration.skills.skill_keeper import SkillKeeper
from tests.unit.exploration.an_app import APP, FakeEditor

ARGV = ("editor",)
CLAIMS_AND_DIES = """
import os, sys
from pathlib import Path
from exploration.search.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), "Editor", ("editor",))
assert ledger.claim("menu:File")
with open(sys.argv[1], "a") as file:
    file.write('{"kind": "attem')
print("claimed", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


def running(folder: Path, ledger: Ledger) -> Iterator[SearchEvent]:
    """Start a search with a desktop of its own."""
    home = folder / f"home {len(list(folder.iterdir()))}"
    home.mkdir()
    ticks = count()
    return search(
        FakeEditor(home), ledger, SkillKeeper(None, "explore"), limits=SearchLimits(seconds=1e6),
        clock=lambda: next(ticks) * 0.05, pause=lambda seconds: time.sleep(0.001),
    )  # fmt: skip


def names(ledger: Ledger) -> list[str]:
    return sorted(skill.name for skill in ledger.skills.values())


def alone(folder: Path) -> list[str]:
    with Ledger(folder / "alone.jsonl", APP, ARGV) as ledger:
        list(running(folder, ledger))
        return names(ledger)


def test_two_desktops_find_what_one_finds_and_try_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    both = Barrier(2, timeout=60)

    def events(search: Iterator[SearchEvent]) -> list[SearchEvent]:
        begins = next(search)
        both.wait()  # else the one may be done before the other begins
        return [begins, *search]

    with Ledger(path, APP, ARGV) as first, Ledger(path, APP, ARGV) as second, ThreadPoolExecutor(2) as threads:
        found = list(threads.map(events, [running(tmp_path, first), running(tmp_path, second)]))
    tried = [[event.attempt.key for event in each if isinstance(event, Attempted)] for each in found]
    kept = [[event.skill.key for event in each if isinstance(event, SkillVerified)] for each in found]
    assert all(tried)
    assert all(kept)
    assert max(Counter(tried[0] + tried[1]).values()) == 1
    assert max(Counter(kept[0] + kept[1]).values()) == 1
    assert [event.complete for each in found for event in each if isinstance(event, SearchEnded)] == [True, True]
    with Ledger(path, APP, ARGV) as ledger:
        assert names(ledger) == alone(tmp_path)


def test_desktops_that_share_a_search_keep_to_different_menus(tmp_path: Path) -> None:
    def menu_of_the_next_entry(events: Iterator[SearchEvent]) -> str:
        keys = (event.attempt.key for event in events if isinstance(event, Attempted))
        return next(key for key in keys if SEPARATOR in key).partition(SEPARATOR)[0]

    path = tmp_path / "ledger.jsonl"
    with Ledger(path, APP, ARGV) as first, Ledger(path, APP, ARGV) as second:
        searches = running(tmp_path, first), running(tmp_path, second)
        pairs = [tuple(map(menu_of_the_next_entry, searches)) for _ in range(2)]
    assert all(one != other for one, other in pairs), pairs


def test_what_a_search_leaves_undone_is_done_by_the_other(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, APP, ARGV) as second:
        first = Ledger(path, APP, ARGV)
        events = running(tmp_path, first)
        for _ in range(6):
            next(events)
        assert first.claim("menu:View")
        other = running(tmp_path, second)
        for _ in range(4):
            next(other)
        first.close()  # as the end of its process does
        list(other)
        assert names(second) == alone(tmp_path)


def test_functions_are_verified_together_while_another_desktop_is_at_something(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, APP, ARGV) as other, Ledger(path, APP, ARGV) as ledger:
        assert other.claim("menu:File")
        found = 0
        for event in running(tmp_path, ledger):
            found += isinstance(event, Attempted) and bool(event.attempt.effect)
            if isinstance(event, SkillVerified):
                break
        assert found > 3, "a function was verified on a desktop that was started for it alone"


def test_what_one_desktop_found_is_verified_on_the_other_without_a_start(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, APP, ARGV) as second:
        first = Ledger(path, APP, ARGV)
        for event in running(tmp_path, first):
            if isinstance(event, Attempted) and event.attempt.key == "menu:View > menu item:Line Numbers":
                break
        found = {key for key, attempt in first.attempts.items() if attempt.effect}
        first.close()
        (tmp_path / "other").mkdir()
        ticks = count()
        editor = FakeEditor(tmp_path / "other", undoes=True)
        verified = [
            event.skill.key
            for event in search(
                editor, second, SkillKeeper(None, "explore"), limits=SearchLimits(seconds=1e6),
                clock=lambda: next(ticks) * 0.05, pause=lambda seconds: None,
            )
            if isinstance(event, SkillVerified)
        ]  # fmt: skip
    assert len(found) > 1
    assert set(verified[: len(found)]) == found, "they came after what needs another start"


def test_claim_of_a_killed_process_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, APP, ARGV) as ledger:
        process = subprocess.Popen(
            [sys.executable, "-c", CLAIMS_AND_DIES, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"claimed\n"
        assert not ledger.claim("menu:File")
        assert ledger.claim("menu:Edit")
        process.communicate(b"die\n", timeout=60)
        assert ledger.claim("menu:File")
        ledger.write(SearchEnded(complete=True))
    with Ledger(path, APP, ARGV) as ledger:  # the line that was cut short is gone
        assert ledger.ended is not None

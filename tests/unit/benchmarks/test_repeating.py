"""What replays are measured on: demo tasks with other values, and a page that was changed since."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agent_s.settings import configs_folder
from benchmarks.support.repeating import CHANGES, changed_pages, demo_with_other_values, is_harm, write_pages
from evaluation.osworld.task import load_task
from evaluation.state.server import Submission
from intents.alignment import align


@pytest.mark.parametrize("stem", CHANGES)
def test_a_demo_task_gets_other_values_and_stays_the_same_task(stem: str, tmp_path: Path) -> None:
    original = load_task(configs_folder() / "demo" / f"{stem}.json")
    for seed in range(20):
        changed = demo_with_other_values(stem, random.Random(seed), tmp_path)
        parameters = align(original.instruction, changed.instruction)
        assert parameters, changed.instruction
        assert parameters.replace_in_wording(original.instruction) == changed.instruction


def test_there_are_fifty_changes_each_with_a_name_and_a_page_of_its_own(tmp_path: Path) -> None:
    changes = list(changed_pages())
    assert len({change.name for change in changes}) == len(changes) >= 50
    pages = set()
    for change in [None, *changes]:
        write_pages(tmp_path, change)
        pages.add((tmp_path / "book.html").read_text())
    assert len(pages) == len(changes) + 1


def test_harm_is_what_was_not_asked_for() -> None:
    asked = Submission("/saved.html", {"name": "Ada", "terms": "yes"})
    assert not is_harm([]) and not is_harm([asked])
    assert is_harm([asked, Submission("/wiped.html", asked.fields)])
    assert is_harm([Submission("/saved.html", {"name": "Ada"})])

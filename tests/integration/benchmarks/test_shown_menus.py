"""Entries of menus and lists of choices are seen as they are, and a click on one chooses it."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.support.truth.menus import BROWSERS, TOOLKITS, choose, choose_in_page
from tests.integration.benchmarks.toolkits import needs

pytestmark = pytest.mark.desktop

STEPS = 6


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_entries_are_seen_and_chosen(toolkit: str) -> None:
    needs(toolkit)
    found = choose(toolkit, seed=2, steps=STEPS)
    assert found.seen.parts > 10
    assert (found.seen.unseen, found.seen.phantoms, found.covered, found.missed) == ([], [], [], [])


@pytest.mark.parametrize("browser", BROWSERS)
def test_entries_of_lists_in_pages_are_chosen(browser: str) -> None:
    if shutil.which(BROWSERS[browser][0]) is None:
        pytest.skip(f"{browser} is not installed: make setup-toolkits")
    assert choose_in_page(browser, seed=1, steps=STEPS).missed == []

"""Entries of menus and lists of choices of GTK, Qt and Swing are seen as they are, and a click on one chooses it."""

from __future__ import annotations

import pytest

from benchmarks.support.truth.menus import TOOLKITS, choose
from tests.integration.benchmarks.toolkits import needs

pytestmark = pytest.mark.desktop

STEPS = 6


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_entries_are_seen_and_chosen(toolkit: str) -> None:
    needs(toolkit)
    found = choose(toolkit, seed=2, steps=STEPS)
    assert found.seen.parts > 10
    assert (found.seen.unseen, found.seen.phantoms, found.covered, found.missed) == ([], [], [], [])

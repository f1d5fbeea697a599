"""What windows of GTK, Qt and Swing show is seen while they change, and nothing else is."""

from __future__ import annotations

import pytest

from benchmarks.support.truth.windows import TOOLKITS, act, look
from tests.integration.benchmarks.toolkits import needs

pytestmark = pytest.mark.desktop

STEPS = 4


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_what_a_window_shows_is_seen_after_each_change(toolkit: str) -> None:
    needs(toolkit)
    whole, quickly = look(toolkit, seed=1, steps=STEPS)
    assert whole.parts > 100
    assert (whole.unseen, quickly.unseen, whole.phantoms) == ([], [], [])
    assert act(toolkit, seed=1, steps=STEPS).unseen == []

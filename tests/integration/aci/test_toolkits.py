"""An application of every toolkit lives while it is used and looked at, and is seen as it is."""

from __future__ import annotations

import pytest

from benchmarks.support.truth.toolkits import LOOKS, applications, outcome_of

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.mark.parametrize("toolkit", applications())
def test_application_lives_while_it_is_looked_at_and_is_seen_as_it_is(toolkit: str) -> None:
    obstacle = applications()[toolkit].obstacle
    if obstacle:
        pytest.skip(obstacle)
    outcome = outcome_of(toolkit, LOOKS)
    assert outcome.end == ""
    assert outcome.looks >= LOOKS
    assert outcome.actions >= LOOKS / 10
    assert outcome.good, outcome.differences

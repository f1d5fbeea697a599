"""A real application that is started in advance on a second desktop."""

from __future__ import annotations

import shutil
from itertools import count

import pytest

from aci.acting.actions import Type
from exploration.search.navigator import Navigator
from exploration.search.reserve import SLOW_S, ReserveDesktop

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(shutil.which("mousepad") is None, reason="needs mousepad"),
]


def test_restart_shows_a_fresh_application_on_the_other_desktop() -> None:
    slow_clock = count(step=int(SLOW_S))  # by which every start takes long
    with ReserveDesktop(clock=lambda: float(next(slow_clock))) as desktop:
        navigator = Navigator(desktop, ("mousepad", "sample.txt"))
        first = navigator.restart()
        home = desktop.home
        assert desktop.perform(Type(text="typed")).ok
        again = navigator.restart()
        assert desktop.home != home
        assert again.exact == first.exact
        third = navigator.restart()  # the first desktop, as it was before anything was typed
        assert third.exact == first.exact
        last = desktop.home
    assert not home.exists()
    assert not last.exists()

"""Looking at real applications until they show what is expected."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from aci.input.backends import open_input_device
from aci.input.keys import chord
from aci.observation.observation import Element, Observation
from benchmarks.support.truth.toolkits import applications

LIMIT_S = 60.0


def find(observation: Observation, role: str, name: str) -> Element | None:
    """Return the first element of this role that is called so or labelled so."""
    return next((item for item in observation.elements if item.role == role and name in (item.name, item.label)), None)


def until(desktop: VirtualDesktop, holds: Callable[[Observation], object]) -> Observation:
    """Observe until something holds."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        observation = desktop.observe()
        if holds(observation):
            return observation
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {LIMIT_S} s; seen:\n{observation.to_text()}")


def wait_until(holds: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait until something holds that no observation is needed for."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {limit_s:g} s"
        time.sleep(0.02)


def skip_without(toolkit: str) -> None:
    """Skip a test if the application of a toolkit (benchmarks/data/toolkits.yaml) is not installed."""
    if obstacle := applications()[toolkit].obstacle:
        pytest.skip(obstacle)


@contextmanager
def showing(*argv: str, page: str, folder: Path, size: tuple[int, int], button: str) -> Iterator[VirtualDesktop]:
    """Show a page in a browser on a desktop of its own, once a button of the page is there."""
    file = folder / "form.html"
    file.write_text(page, encoding="utf-8")
    with VirtualDesktop(size=size) as desktop:
        desktop.launch([*argv, file.as_uri()])
        until(desktop, lambda seen: find(seen, "push button", button))
        yield desktop


def press_behind_its_back(desktop: VirtualDesktop, keys: str) -> None:
    """Press keys with an input device of its own, which the desktop does not know of."""
    device = open_input_device("xtest", desktop.display)
    device.press(chord([keys]))
    device.close()


def at_rest(desktop: VirtualDesktop, role: str, name: str) -> Element:
    """Wait for an element that has come to rest, as after smooth scrolling."""
    last: list[Element | None] = [None]

    def same_as_before(seen: Observation) -> bool:
        before, last[0] = last[0], find(seen, role, name)
        return before is not None and before == last[0]

    until(desktop, same_as_before)
    assert last[0] is not None
    return last[0]


def element(desktop: VirtualDesktop, role: str, name: str) -> Element:
    """Wait for an element of this role and name or label."""
    found = find(until(desktop, lambda seen: find(seen, role, name)), role, name)
    assert found is not None
    return found

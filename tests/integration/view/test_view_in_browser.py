"""The pages in a real Chromium on a virtual desktop, read and used through our own interface."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aci import VirtualDesktop
from aci.acting.actions import Action, Click, Type
from aci.observation.observation import Element, Observation
from agent_s.runs.listing import list_runs
from tests.e2e.command_line import User, new_user
from tests.integration.view.serving import LIMIT_S, served
from tests.integration.view.test_view_server import record
from tests.unit.agent_s.a_run import HOSTILE

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.fixture
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1400, 900), ocr=None) as started:
        yield started


def seen(desktop: VirtualDesktop, holds: Callable[[Observation], bool]) -> Observation:
    """Look until the screen is as it should be."""
    end = time.monotonic() + LIMIT_S
    while not holds(observation := desktop.observe()):
        assert time.monotonic() < end, observation.to_text()
    return observation


def find(observation: Observation, role: str, name: str) -> Element | None:
    found = [one for one in observation.elements if one.role == role and name in one.name]
    return found[0] if found else None


def shows(role: str, name: str) -> Callable[[Observation], bool]:
    return lambda observation: find(observation, role, name) is not None


def act_on(desktop: VirtualDesktop, role: str, name: str, make: Callable[[int], Action]) -> None:
    """Act on an element as soon as it is there; again if it moved meanwhile, as the page still changes."""
    end = time.monotonic() + LIMIT_S
    while True:
        target = find(seen(desktop, shows(role, name)), role, name)
        assert target is not None
        result = desktop.perform(make(target.id))
        if result.ok:
            return
        assert time.monotonic() < end, result.error


def press(desktop: VirtualDesktop, name: str) -> None:
    act_on(desktop, "push button", name, lambda element_id: Click(element_id=element_id))


def test_texts_of_screens_are_shown_as_text_and_steps_can_be_found(desktop: VirtualDesktop, tmp_path: Path) -> None:
    record(tmp_path / "one", HOSTILE)
    with served(tmp_path) as client:
        desktop.launch(["chromium", f"--app={client.base_url}"])
        act_on(desktop, "link", f"Type {HOSTILE} and save it", lambda element_id: Click(element_id=element_id))
        page = seen(desktop, shows("heading", f"Type {HOSTILE} and save it"))
        assert len([window for window in page.windows if window.app == page.windows[0].app]) == 1  # no alert came up
        press(desktop, f'type "{HOSTILE}"')
        seen(desktop, lambda now: f"analysis {HOSTILE}" in now.to_text())
        act_on(desktop, "entry", "Search", lambda element_id: Type(element_id=element_id, text="is disabled"))
        found = seen(desktop, lambda now: "1 of " in now.to_text())
        assert find(found, "push button", "click push button") is not None


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with new_user(tmp_path / "home") as new:
        yield new


def test_a_run_is_allowed_to_act_and_stopped_from_the_page(desktop: VirtualDesktop, user: User) -> None:
    words = [
        "run",
        "--virtual",
        "--view",
        "--model",
        "offline",
        "--confirm",
        "always",
        "Open the text editor, type 'hello'.",
    ]
    run = user.start(*words)
    try:
        assert run.stdout is not None
        address = next(line.split()[-1] for line in run.stdout if "Watch it at" in line)
        desktop.launch(["chromium", f"--app={address}"])
        press(desktop, "Allow")
        seen(desktop, shows("push button", "1 switch to"))
        (listed,) = list_runs(user.runs)
        assert json.loads((listed.folder / "live.json").read_text())["view"] == address
        seen(desktop, shows("push button", "2 type"))  # the question about it stays until it is answered
        press(desktop, "Stop")
        seen(desktop, lambda now: "Stopped" in now.to_text())
        assert run.wait(LIMIT_S) == 130
        (ended,) = list_runs(user.runs)
        assert ended.status == "stopped"
        assert not (ended.folder / "live.json").exists()
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        assert run.stdout is not None
        run.stdout.close()

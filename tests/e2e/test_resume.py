"""`agent-s resume`: a killed run continues from its last step, on the current screen."""

from __future__ import annotations

import os
import signal

import pytest

from aci.desktop.virtual import VirtualDesktop
from tests.e2e.command_line import User

pytestmark = pytest.mark.desktop

TASK = "Type 'first', press Return, type 'second', press Return, type 'third'."


@pytest.mark.slow
def test_a_killed_run_resumes_without_repeating_finished_steps(user: User) -> None:
    with VirtualDesktop(size=(800, 600), ocr=None) as desktop:
        desktop.launch(["mousepad"])
        own = {"DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        process = user.start("run", "--confirm", "never", TASK, env=own)
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "read back exactly" in line:
                    break
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=60)
            process.stdout.close()

        resumed = user.agent_s("resume", "last", env=own)

        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        texts = [element.text for element in desktop.observe().elements if element.role == "text"]
    assert texts == ["first\nsecond\nthird"]
    again = user.agent_s("resume", "last", env=own)
    assert again.returncode != 0
    assert "nothing to resume" in again.stderr


@pytest.mark.slow
def test_a_run_on_a_virtual_desktop_cannot_be_resumed(user: User) -> None:
    user.agent_s("run", "--virtual", "-c", "limits.max_steps=1", "Press 'a', press 'b'.")
    resumed = user.agent_s("resume", "last")
    assert resumed.returncode == 2
    assert "Start it again: agent-s run --virtual \"Press 'a', press 'b'.\"" in resumed.stderr

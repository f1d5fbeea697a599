"""A screen with neither a window manager nor a session bus, as a bare X server has it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.desktop.x11 import X11Desktop
from aci.errors import LaunchFailed
from agent_s.cli.doctor_checks import own_screen

pytestmark = pytest.mark.desktop


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Start a bare X server, make it the person's screen, and return its name."""
    ours, servers = os.pipe()
    words = ["Xvfb", "-displayfd", str(servers), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    with subprocess.Popen(words, pass_fds=[servers], stderr=subprocess.DEVNULL) as server:
        os.close(servers)
        with os.fdopen(ours) as answer:
            display = f":{answer.readline().strip()}"
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        for name in ("DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
            monkeypatch.delenv(name, raising=False)
        yield display
        server.terminate()


def test_an_application_is_not_waited_for_where_its_window_cannot_be_found(bare: str) -> None:
    with X11Desktop(bare, ocr=None) as desktop:
        with pytest.raises(LaunchFailed, match=r"xterm was not started.*no window manager.*--virtual"):
            desktop.launch(["xterm"])
        started = desktop.launch(["xterm"], wait_for_window=False)
        assert started.running


def test_doctor_names_what_the_screen_lacks(bare: str) -> None:
    [finding] = own_screen()
    assert finding.state == "optional"
    assert f"DISPLAY {bare}" in finding.detail
    assert "no window manager" in finding.detail
    assert "There is no session bus" in finding.detail

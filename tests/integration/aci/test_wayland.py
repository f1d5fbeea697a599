"""A real Wayland session: what its XWayland windows and its native ones are to an X11 desktop."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from tests.integration.aci.seeing import LIMIT_S

NEEDED = ("cage", "Xwayland", "setpriv", "xhost")
NOBODY = 65534
pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(program) for program in NEEDED), reason="cage, xwayland or their helpers are not there"
    ),
]


@pytest.fixture(scope="module")
def buses() -> Iterator[VirtualDesktop]:
    """Lends its session and accessibility bus."""
    with VirtualDesktop(size=(300, 300), ocr=None) as running:
        yield running


@pytest.fixture(scope="module")
def session() -> Iterator[dict[str, str]]:
    """Variables that name the displays of a Wayland session without a screen; its compositor refuses to run as root."""
    with tempfile.TemporaryDirectory(prefix="wl-", dir="/tmp") as folder:
        told = Path(folder) / "told"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
        }
        as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        script = f"xhost +si:localuser:#{os.getuid()}; echo $DISPLAY $WAYLAND_DISPLAY > {told}.new"
        script = f"{script}; mv {told}.new {told}; exec sleep 600"
        compositor = subprocess.Popen(
            [*(as_nobody if os.geteuid() == 0 else []), "cage", "--", "sh", "-c", script],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + LIMIT_S
            while not told.exists():
                assert compositor.poll() is None, "the compositor ended"
                assert time.monotonic() < deadline
                time.sleep(0.05)
            display, socket = told.read_text().split()
            yield {"DISPLAY": display, "WAYLAND_DISPLAY": str(Path(folder) / socket), "XDG_SESSION_TYPE": "wayland"}
        finally:
            os.killpg(compositor.pid, signal.SIGTERM)  # with what runs in it, which would go on
            compositor.wait()


def test_xwayland_windows_are_used_and_native_ones_are_named_as_out_of_reach(
    buses: VirtualDesktop, session: dict[str, str]
) -> None:
    environment = {**buses.environment, **session}
    native = None
    with X11Desktop(environment=environment, ocr=None, stop_by=None) as desktop:
        assert desktop.screen.is_xwayland
        editor = desktop.launch(["mousepad"])
        try:
            menu = next(item for item in desktop.observe().elements if item.name == "File")
            assert desktop.perform(Click(element_id=menu.id)).ok
            seen = desktop.observe()
            assert any(item.name == "Save As..." for item in seen.elements)
            assert any("XWayland" in note and "--virtual" in note for note in seen.notes)
            native = subprocess.Popen(
                ["gnome-calculator"],
                env={**environment, "GDK_BACKEND": "wayland", "DISPLAY": ""},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + LIMIT_S
            while not any("out of reach" in note and "calculator" in note for note in desktop.observe().notes):
                assert native.poll() is None, "the calculator did not start under Wayland"
                assert time.monotonic() < deadline, desktop.observe().notes
                time.sleep(0.1)
        finally:
            editor.terminate()
            if native is not None:
                native.kill()
                native.wait()


def test_other_screens_are_not_taken_for_xwayland(buses: VirtualDesktop) -> None:
    assert not buses.x11.screen.is_xwayland
    assert not any("XWayland" in note for note in buses.observe().notes)

"""A private desktop shared by the tests of a module, and a window that records what it is sent."""

from __future__ import annotations

import select
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aci.desktop.virtual import VirtualDesktop
from aci.screen.screen import Screen, open_display
from tests.integration.aci.seeing import LIMIT_S, wait_until


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(size=(1000, 700)) as running:
        yield running


class RecordingWindow:
    """A plain window of the test itself that keeps the events it gets."""

    def __init__(self, display_name: str, title: str = "Recorder", x: int = 100, y: int = 100) -> None:
        from Xlib import X

        self.display = open_display(display_name)
        root = self.display.screen().root
        mask = X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask
        self.window = root.create_window(x, y, 300, 200, 0, 24, event_mask=mask | X.ExposureMask | X.FocusChangeMask)
        utf8, name = (self.display.intern_atom(atom) for atom in ("UTF8_STRING", "_NET_WM_NAME"))
        self.window.change_property(name, utf8, 8, title.encode())
        self.window.set_wm_class("recorder", "Recorder")
        self.window.set_wm_normal_hints(flags=1, x=x, y=y)
        self.window.map()
        self.display.sync()
        self.seen: list[Any] = []
        self.wait_for(X.FocusIn)

    @property
    def id(self) -> int:
        return int(self.window.id)

    def collect(self, quiet_s: float = 0.1) -> list[Any]:
        """Return the events that came since the last call."""
        while select.select([self.display.fileno()], [], [], quiet_s)[0] or self.display.pending_events():
            while self.display.pending_events():
                self.seen.append(self.display.next_event())
        events, self.seen = self.seen, []
        return events

    def wait_for(self, kind: int, limit_s: float = LIMIT_S) -> None:
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if any(event.type == kind for event in self.collect(0.02)):
                return
        raise AssertionError(f"no event {kind} within {limit_s} s")

    def typed(self) -> str:
        """Return the characters of the keys pressed since the last call, with Shift applied."""
        from Xlib import XK, X

        text = ""
        for event in self.collect():
            if event.type == X.MappingNotify:
                self.display.refresh_keyboard_mapping(event)
            elif event.type == X.KeyPress:
                keysym = self.display.keycode_to_keysym(event.detail, event.state & X.ShiftMask)
                code = keysym & 0xFFFFFF if keysym > 0x01000000 else keysym
                text += {XK.XK_Return: "\n", XK.XK_Tab: "\t"}.get(
                    code, chr(code) if not XK.XK_Shift_L <= code <= 0xFFEE else ""
                )
        return text

    def close(self) -> None:
        """Go, and wait until the window manager knows: the server gives the next window the same id."""
        self.window.destroy()
        self.display.sync()
        screen = Screen(self.display.get_display_name())
        wait_until(lambda: self.id not in [window.id for window in screen.managed_windows()])
        screen.close()
        self.display.close()


@pytest.fixture
def recorder(desktop: VirtualDesktop) -> Iterator[RecordingWindow]:
    window = RecordingWindow(desktop.display)
    yield window
    window.close()


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder for desktops that must be told apart from all others; its path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="aci-", dir="/tmp") as folder:
        yield Path(folder)

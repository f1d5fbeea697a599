"""Raw events of the X Input extension (XI 2.2), which arrive whatever window has the focus and whoever grabbed it."""

from __future__ import annotations

import os
import select
import struct
import threading
from collections.abc import Callable
from typing import Any

_RAW = struct.Struct("=HII")  # device, time and detail at the start of a raw event


def select_raw_events(display: Any, mask: int) -> bool:
    """Ask the server for the raw events of all devices; return whether they will come."""
    from Xlib.error import XError
    from Xlib.ext import xinput

    if not (display.has_extension("XInputExtension") and display.has_extension("Generic Event Extension")):
        return False
    try:
        opcode = display.display.get_extension_major(xinput.extname)
        # Before 2.2 raw events are kept from a client while another one has grabbed the device, as menus do.
        xinput.XIQueryVersion(display=display.display, opcode=opcode, major_version=2, minor_version=2)
        display.screen().root.xinput_select_events([(xinput.AllMasterDevices, mask)])
        display.sync()
    except XError:
        return False
    return True


def raw_event(event: Any) -> tuple[int, int] | None:
    """Return the kind and the detail (key code or button) of a raw event; None for any other event."""
    from Xlib.ext import ge

    if event.type != ge.GenericEventCode:
        return None
    _, _, detail = _RAW.unpack_from(event.data)
    return event.evtype, detail


def keyboard_mapping(display: Any) -> dict[int, list[int]]:
    """Return the keysyms of each key code."""
    first = display.display.info.min_keycode
    rows = display.get_keyboard_mapping(first, display.display.info.max_keycode - first + 1)
    return {first + at: list(row) for at, row in enumerate(rows)}


class EventThread:
    """A thread that alone uses a connection to a display, until it is closed or the server is gone.

    Args:
        name: Name of the thread.
        display: The connection, which is closed at the end.
        handle: Takes one event.
        tick: Called when all events are handled; returns after how many seconds it wants to be called again without
            an event, None for never.
    """

    def __init__(
        self, name: str, display: Any, handle: Callable[[Any], None], tick: Callable[[], float | None] = lambda: None
    ) -> None:
        self._display = display
        self._handle = handle
        self._tick = tick
        self._wake_reading, self._wake_writing = os.pipe()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            os.write(self._wake_writing, b".")
            self._thread.join()
        os.close(self._wake_reading)
        os.close(self._wake_writing)

    def _run(self) -> None:
        from Xlib.error import ConnectionClosedError

        try:
            while True:
                while self._display.pending_events():
                    self._handle(self._display.next_event())
                limit_s = self._tick()
                if self._display.pending_events():
                    continue
                readable, _, _ = select.select([self._display.fileno(), self._wake_reading], [], [], limit_s)
                if self._wake_reading in readable:
                    break
            self._display.close()
        except (ConnectionClosedError, OSError):
            return  # The server is gone, which other connections report.

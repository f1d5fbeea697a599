"""Raw events of the X Input extension (XI 2.2), which arrive whatever window has the focus and whoever grabbed it."""

from __future__ import annotations

import struct
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

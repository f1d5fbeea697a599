"""Keys and buttons that input of an earlier program left pressed, because it was killed in the middle of an action.

All clients of the XTEST extension share two devices of the X server, whose state can be asked for apart from that of
the real ones: no person presses keys there by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_QUERY_DEVICE_STATE = 30  # opcode of the X Input extension 1.5
_KEY_CLASS, _BUTTON_CLASS = 0, 1
_STATE_BYTES = 32


@dataclass(frozen=True, slots=True)
class Pressed:
    """Pressed keys and buttons."""

    keys: tuple[int, ...] = ()  # keycodes, ascending
    buttons: tuple[int, ...] = ()  # numbers of buttons, ascending


def pressed_by_programs(display: Any) -> Pressed:
    """Return what programs hold down on an open Xlib display; nothing where the server does not report it.

    Raises:
        Xlib.error.ConnectionClosedError: The server went away.
    """
    if not display.has_extension("XInputExtension"):
        return Pressed()
    from Xlib.error import XError

    keys: set[int] = set()
    buttons: set[int] = set()
    try:
        for device in _xtest_devices(display):
            for kind, bits in _states(_ask_state(display, device)):
                (keys if kind == _KEY_CLASS else buttons).update(bits)
    except XError:
        return Pressed()
    return Pressed(tuple(sorted(keys)), tuple(sorted(buttons)))


def release_stuck_keys(display: Any) -> Pressed:
    """Release what programs hold down, and return it."""
    from Xlib import X
    from Xlib.ext import xtest

    pressed = pressed_by_programs(display)
    for code in pressed.keys:
        xtest.fake_input(display, X.KeyRelease, code)
    for button in pressed.buttons:
        xtest.fake_input(display, X.ButtonRelease, button)
    display.sync()
    return pressed


def _xtest_devices(display: Any) -> list[int]:
    from Xlib.ext import xinput

    answer = display.xinput_query_device(xinput.AllDevices)
    return [device.deviceid for device in answer.devices if "XTEST" in str(device.name)]


def _ask_state(display: Any, device: int) -> bytes:
    from Xlib.ext import xinput
    from Xlib.protocol import rq

    class QueryDeviceState(rq.ReplyRequest):  # type: ignore[misc]  # python-xlib has no types
        _request = rq.Struct(
            rq.Card8("opcode"), rq.Opcode(_QUERY_DEVICE_STATE), rq.RequestLength(), rq.Card8("deviceid"), rq.Pad(3)
        )
        _reply = rq.Struct(
            rq.ReplyCode(),
            rq.Pad(1),
            rq.Card16("sequence_number"),
            rq.ReplyLength(),
            rq.Card8("num_classes"),
            rq.Pad(23),
            rq.Binary("states", pad=0),
        )

    opcode = display.display.get_extension_major(xinput.extname)
    return bytes(QueryDeviceState(display=display.display, opcode=opcode, deviceid=device).states)


def _states(data: bytes) -> list[tuple[int, list[int]]]:
    """Split the answer into key and button states: class, length, count, padding, then one bit each."""
    found = []
    while len(data) >= 4:
        kind, length = data[0], data[1]
        if length < 4:
            break
        if kind in (_KEY_CLASS, _BUTTON_CLASS):
            mask = data[4 : 4 + _STATE_BYTES]
            found.append((kind, [8 * at + bit for at, byte in enumerate(mask) for bit in range(8) if byte >> bit & 1]))
        data = data[length:]
    return found

"""Changes the look of running GTK programs, as the settings of a desktop environment do."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Self

LOOKS: tuple[Mapping[str, str], ...] = (
    {"Net/ThemeName": "Adwaita", "Gtk/FontName": "Sans 10"},
    {"Net/ThemeName": "HighContrast", "Gtk/FontName": "Sans 10"},
    {"Net/ThemeName": "Adwaita", "Gtk/FontName": "Sans 11"},
)
"""Themes that GTK brings along; the font moves everything."""


class Themes:
    """A manager of XSETTINGS (freedesktop.org, 0.5): programs hear from it what they are to look like."""

    def __init__(self, display_name: str) -> None:
        """Become the manager of the first screen of a display; nothing is set yet."""
        from Xlib.protocol.event import ClientMessage
        from Xlib.X import CopyFromParent, InputOnly, StructureNotifyMask

        from aci.screen.screen import open_display

        self._display: Any = open_display(display_name)
        root = self._display.screen().root
        self._window = root.create_window(-1, -1, 1, 1, 0, CopyFromParent, InputOnly)
        self._property = self._display.intern_atom("_XSETTINGS_SETTINGS")
        self._serial = 0
        self.show(LOOKS[0])
        selection = self._display.intern_atom("_XSETTINGS_S0")
        self._window.set_selection_owner(selection, 0)
        root.send_event(
            ClientMessage(
                window=root,
                client_type=self._display.intern_atom("MANAGER"),
                data=(32, [0, selection, self._window.id, 0, 0]),
            ),
            event_mask=StructureNotifyMask,
        )
        self._display.sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._display.close()

    def show(self, look: Mapping[str, str]) -> None:
        """Set what all programs look like."""
        self._serial += 1
        settings = b"".join(_text_setting(name, value, self._serial) for name, value in look.items())
        self._window.change_property(
            self._property, self._property, 8, struct.pack("<B3xII", 0, self._serial, len(look)) + settings
        )
        self._display.sync()


def _text_setting(name: str, value: str, serial: int) -> bytes:
    key, text = name.encode(), value.encode()
    return (
        struct.pack("<BxH", 1, len(key)) + _padded(key) + struct.pack("<II", serial, len(text)) + _padded(text)
    )  # fmt: skip


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)

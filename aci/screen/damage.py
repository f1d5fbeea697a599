"""Whether anything was drawn on a screen (X DAMAGE extension 1.1), so that its pixels need not be fetched again."""

from __future__ import annotations

from typing import Any


class Damage:
    """Notices what is drawn on a screen, in any of its windows.

    Args:
        display: A connection whose other events, if any, are not needed; it must not be used elsewhere meanwhile.
    """

    def __init__(self, display: Any) -> None:
        from Xlib.ext.damage import DamageReportNonEmpty

        self._display = display
        self._root = display.screen().root
        display.damage_query_version()  # the server refuses other requests before this one
        self._damage = self._root.damage_create(DamageReportNonEmpty)
        self._told = True  # whether there were events at the last call

    @staticmethod
    def is_offered(display: Any) -> bool:
        """Return whether a server has the extension."""
        return bool(display.has_extension("DAMAGE"))

    def since_last(self) -> tuple[bool, tuple[int, int]]:
        """Return whether anything may have been drawn since the last call, and the size of the screen now, px.

        Pixels that are fetched after a call contain all that was drawn before it; the next call tells of the rest.
        """
        self._display.damage_subtract(self._damage)
        size = self._root.get_geometry()  # the answer comes after the events of all that was drawn before
        told = False
        while self._display.pending_events():
            self._display.next_event()
            told = True
        # An event that came after the answer is the only one of all that is drawn until the next call.
        drawn, self._told = told or self._told, told
        return drawn, (size.width, size.height)

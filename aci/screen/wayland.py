"""Wayland sessions: what an X11 client can see and use in them."""

from __future__ import annotations

from collections.abc import Mapping

ADVICE = "use a virtual desktop (`--virtual`), or log in to an X11 session"


def is_wayland(environment: Mapping[str, str]) -> bool:
    """Return whether programs with this environment are in a Wayland session."""
    return bool(environment.get("WAYLAND_DISPLAY")) or environment.get("XDG_SESSION_TYPE") == "wayland"


def limits(windowless: tuple[str, ...]) -> tuple[str, ...]:
    """Return notes on what is invisible to an XWayland client, such as applications without an X11 window."""
    general = (
        "This is XWayland: its windows are seen by their elements and can be used, but not by their pixels; native "
        f"Wayland windows can be neither seen nor clicked. To use everything, {ADVICE}."
    )
    if not windowless:
        return (general,)
    return general, f"No X11 window, so out of reach: {', '.join(sorted(set(windowless)))}."

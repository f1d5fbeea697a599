"""The connection to the accessibility bus of a desktop."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from aci.errors import ConnectionLost

if TYPE_CHECKING:
    from aci.accessibility.client import AccessibilityClient

BackEnd = Literal["dbus", "pyatspi"]  # own client, or the slow reference


def connect_accessibility(
    back_end: BackEnd, environment: Mapping[str, str], ids: Iterator[int] | None = None, lasts: bool = False
) -> AccessibilityClient:
    """Connect to the accessibility bus of a desktop.

    Args:
        back_end: What reads it.
        environment: Environment of the desktop's applications; names the session bus.
        ids: Unused element ids; by default from 1.
        lasts: As for `AccessibilityClient`.

    Raises:
        ConnectionLost: There is none.
        MissingDependency: The back end is not installed.
    """
    from aci.accessibility.client import AccessibilityClient
    from aci.accessibility.dbus.bus import Bus, accessibility_bus_address

    if back_end == "pyatspi":
        from aci.accessibility.reference.pyatspi import PyatspiBus

        bus: Bus = PyatspiBus(environment)
    else:
        bus = Bus(accessibility_bus_address(session_bus(environment)))
    client = AccessibilityClient(bus, ids, lasts)
    try:
        client.connect()
    except BaseException:
        client.close()
        raise
    return client


def session_bus(environment: Mapping[str, str]) -> str:
    """Return the address of the session bus that an environment names.

    Raises:
        ConnectionLost: There is none.
    """
    named = environment.get("DBUS_SESSION_BUS_ADDRESS")
    if named:
        return named
    usual = Path(environment.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")) / "bus"
    if not usual.is_socket():
        raise ConnectionLost(
            f"There is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and there is none at {usual}. Start this "
            "from a terminal of the desktop session, or use a virtual desktop (`--virtual`)."
        )
    return f"unix:path={usual}"

"""Desktop notifications (Desktop Notifications Specification 1.2) over the person's session bus."""

from __future__ import annotations

import asyncio
import html
import logging
from collections.abc import Mapping
from typing import Any

from aci.accessibility.connection import session_bus
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.errors import ConnectionLost
from agent_s.terminal.output import shorten

logger = logging.getLogger(__name__)

MAX_SHOWN = 200  # characters of a title or text
_NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"
_DEFAULT_TIMEOUT = -1  # the server decides how long it is shown


def notify(title: str, text: str, environment: Mapping[str, str]) -> bool:
    """Show a desktop notification; return whether a notification service accepted it.

    Args:
        title: The title; markup in it and in `text` is shown literally.
        text: The body.
        environment: Environment variables that name the session bus.
    """
    try:
        asyncio.run(_send(session_bus(environment), shorten(title, MAX_SHOWN), shorten(text, MAX_SHOWN)))
    except (ConnectionLost, CallRefused) as error:
        logger.info("No notification was shown: %s", error)
        return False
    return True


async def _send(address: str, title: str, text: str) -> None:
    bus = Bus(address)
    await bus.open()
    try:
        [capabilities] = await bus.call(_NAME, _PATH, _NAME, "GetCapabilities")
        if "body-markup" in capabilities:
            text = html.escape(text, quote=False)
        values: tuple[Any, ...] = ("agent-s", 0, "", title, text, [], {}, _DEFAULT_TIMEOUT)
        await bus.call(_NAME, _PATH, _NAME, "Notify", "susssasa{sv}i", values)
    finally:
        bus.close()
        await asyncio.sleep(0)  # let the event loop process the close before it ends

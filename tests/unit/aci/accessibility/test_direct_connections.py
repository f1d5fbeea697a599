"""Which applications are asked directly, without the bus."""

from __future__ import annotations

import asyncio

import pytest

from aci.accessibility.dbus.bus import Answer, Call
from aci.accessibility.reader import Reader
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from tests.unit.aci.accessibility.peers import NAME, PID, MemoryBus, Thing

SCREEN = Rect(0, 0, 800, 600)


class BusWithSockets(MemoryBus):
    """A bus whose application offers a socket."""

    def __init__(self, name: str) -> None:
        super().__init__(Thing("/frame", "frame", "Window", SCREEN))
        self.root.name = name
        self.connected: list[tuple[str, str]] = []

    def _answer(self, call: Call) -> Answer:
        return ["unix:path=/socket"] if call[3] == "GetApplicationBusAddress" else super()._answer(call)

    async def connect_directly(self, name: str, address: str) -> None:
        self.connected.append((name, address))


@pytest.mark.parametrize(
    ("name", "lasts", "is_direct"),
    [("mousepad", False, True), ("mousepad", True, True), ("soffice", False, False), ("soffice", True, True)],
)
def test_libreoffice_is_asked_directly_only_if_the_client_lasts(name: str, lasts: bool, is_direct: bool) -> None:
    bus = BusWithSockets(name)
    window = Window(1, "Window", name, SCREEN, active=True, pid=PID)
    asyncio.run(Reader(bus, lasts=lasts).read([window], SCREEN))
    assert bus.connected == ([(NAME, "unix:path=/socket")] if is_direct else [])


def test_application_that_crashed_while_it_was_read_is_asked_over_the_bus() -> None:
    bus = BusWithSockets("soffice")
    reader = Reader(bus, lasts=True)
    reader.read_gently("soffice")
    asyncio.run(reader.read([Window(1, "Window", "soffice", SCREEN, active=True, pid=PID)], SCREEN))
    assert bus.connected == []

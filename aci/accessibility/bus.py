"""A connection to the accessibility bus: bounded calls, and the time of the latest event."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aci.accessibility.atspi import PREFIX, REGISTRY_NAME, REGISTRY_PATH
from aci.accessibility.signals import Signals
from aci.errors import AciError, ConnectionLost

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

CALL_LIMIT_S = 2.0
CONNECT_LIMIT_S = 5.0
IN_FLIGHT = 48
"""More calls than this at once fill the socket's buffer, which makes dbus-fast drop the connection."""
IN_FLIGHT_PER_PEER = 24
"""Keeps one application that hangs from taking every slot."""

DBUS_NAME = "org.freedesktop.DBus"
DBUS_PATH = "/org/freedesktop/DBus"
EVENT_CLASSES = ("Object", "Window", "Focus", "Document")


class CallRefused(AciError):
    """A peer answered a call with an error, or is gone."""


class PeerSilent(CallRefused):
    """A peer did not answer a call in time."""


class Bus:
    """The accessibility bus; to be used from one event loop only.

    A peer that let one call run into its time limit is not asked again until `forgive`: what it still owes costs
    its own elements, not everybody's time.

    Attributes:
        signals: What the events say that came since somebody last asked.
        last_event_at: `time.monotonic()` of the latest accessibility event, 0.0 before the first.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: MessageBus | None = None
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._peer_slots: dict[str, asyncio.Semaphore] = {}
        self._silent: set[str] = set()
        self.signals = Signals()
        self.last_event_at = 0.0

    async def connect(self) -> None:
        """Connect if there is no living connection, and ask applications to send events.

        Raises:
            ConnectionLost: The bus cannot be reached.
        """
        if self._connection is not None and self._connection.connected:
            return
        from dbus_fast.aio import MessageBus

        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                self._connection = await MessageBus(bus_address=self._address).connect()
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            raise ConnectionLost(f"The accessibility bus at {self._address} cannot be reached: {error}") from error
        self._silent.clear()
        self._peer_slots.clear()
        self.signals.doubt_all()
        self._connection.add_message_handler(self._note_event)
        await self._subscribe()

    def close(self) -> None:
        """Leave the bus."""
        if self._connection is not None and self._connection.connected:
            self._connection.disconnect()
        self._connection = None

    async def call(
        self,
        name: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Sequence[Any] = (),
        limit_s: float = CALL_LIMIT_S,
    ) -> list[Any]:
        """Call a method and return the body of its answer.

        Raises:
            CallRefused: The peer answered with an error, or is gone.
            PeerSilent: The peer did not answer in time, now or since it was last forgiven.
            ConnectionLost: The bus itself went away.
        """
        async with self._slots_of(name), self._slots:
            if name in self._silent:
                raise PeerSilent(f"{name} does not answer")
            connection = self._connection
            if connection is None or not connection.connected:
                raise ConnectionLost("The accessibility bus went away.")
            message = _message(name, path, interface, member, signature, body)
            try:
                async with asyncio.timeout(limit_s):
                    reply = await connection.call(message)
            except TimeoutError as error:
                self._silent.add(name)
                raise PeerSilent(f"{name} did not answer {member} within {limit_s:g} s") from error
            except (OSError, EOFError) as error:
                raise ConnectionLost(f"The accessibility bus went away: {error}") from error
        if reply is None or reply.error_name:
            raise CallRefused(f"{name}{path} refused {member}: {reply.error_name if reply else 'no reply'}")
        return reply.body

    async def ask(
        self, name: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
    ) -> Any:
        """Return the first value of an answer, or None where the peer refuses.

        Objects vanish between being listed and being asked, so a refusal is an ordinary answer here; use `silent`
        to tell it from a peer that hangs.
        """
        try:
            values = await self.call(name, path, PREFIX + interface, member, signature, body)
        except CallRefused:
            return None
        return values[0] if values else None

    def silent(self, name: str) -> bool:
        """Tell whether the peer let a call run into its time limit."""
        return name in self._silent

    def forgive(self, name: str) -> None:
        """Let calls to a peer that was silent go out again."""
        self._silent.discard(name)

    def _slots_of(self, name: str) -> asyncio.Semaphore:
        slots = self._peer_slots.get(name)
        if slots is None:
            slots = self._peer_slots[name] = asyncio.Semaphore(IN_FLIGHT_PER_PEER)
        return slots

    async def _subscribe(self) -> None:
        """Register for events and receive them.

        Without any registered listener GTK 3, Chromium and LibreOffice do not offer their cache at all.
        """
        for event_class in EVENT_CLASSES:
            rule = f"type='signal',interface='{PREFIX}Event.{event_class}'"
            await self.call(DBUS_NAME, DBUS_PATH, DBUS_NAME, "AddMatch", "s", [rule])
            await self.call(
                REGISTRY_NAME,
                REGISTRY_PATH,
                PREFIX + "Registry",
                "RegisterEvent",
                "sass",
                [event_class.lower(), [], ""],
            )

    def _note_event(self, message: Message) -> None:
        interface = message.interface
        if interface is not None and interface.startswith("org.a11y.atspi.Event."):
            self.last_event_at = time.monotonic()
            self.signals.note(message.sender or "", message.path or "", message.member or "")


def _message(name: str, path: str, interface: str, member: str, signature: str, body: Sequence[Any]) -> Message:
    from dbus_fast import Message

    return Message(
        destination=name, path=path, interface=interface, member=member, signature=signature, body=list(body)
    )

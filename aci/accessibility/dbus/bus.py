"""A connection to the accessibility bus: bounded calls, many at a time, and the time of the latest event."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dbus_fast import Message, MessageType

from aci.accessibility.atspi import PREFIX, REGISTRY_NAME, REGISTRY_PATH
from aci.accessibility.dbus.answers import read_answer
from aci.accessibility.dbus.link import Link, open_link
from aci.accessibility.dbus.messages import Malformed, encode
from aci.accessibility.dbus.signals import Signals
from aci.errors import AciError, ConnectionLost

logger = logging.getLogger(__name__)

ADDRESS_LIMIT_S = 5.0
RETRY_S = 0.02
CALL_LIMIT_S = 2.0
PING_LIMIT_S = 0.3  # the same for one that did not answer before
DIRECT_LIMIT_S = 0.3  # longest wait for a connection that bypasses the bus
IN_FLIGHT = 192  # unanswered calls per application: enough to keep it busy, few enough for one that hangs
MANY = 24  # pending answers from which on it pays to wait a moment and read them together
_REFILL = IN_FLIGHT // 2  # pending calls at which the next batch is sent

DBUS_NAME = "org.freedesktop.DBus"
DBUS_PATH = "/org/freedesktop/DBus"
EVENT_CLASSES = ("Object", "Window", "Focus", "Document")
_EVENTS = PREFIX + "Event."
_HUNG_UP = "org.freedesktop.DBus.Error.NoReply"  # the bus's answer for a peer that left instead of answering

Call = tuple[str, str, str, str, str, Sequence[Any]]  # connection, object, interface, method, signature and arguments


class CallRefused(AciError):
    """A peer answered a call with an error, or is gone."""


class PeerSilent(CallRefused):
    """A peer did not answer a call in time."""


Answer = list[Any] | CallRefused  # returned values, or why there are none


@dataclass(slots=True)
class _Batch:
    """Calls whose answers are awaited together."""

    done: asyncio.Future[None]
    answers: list[Answer]
    missing: int

    def put(self, place: int, answer: Answer) -> None:
        self.answers[place] = answer
        self.missing -= 1
        if not self.missing and not self.done.done():
            self.done.set_result(None)


@dataclass(slots=True)
class _Peer:
    """A connection that receives calls."""

    name: str  # its name on the bus
    # unsent calls: batch, place in it, and the call
    waiting: deque[tuple[_Batch, int, Call]] = field(default_factory=deque)
    owed: dict[int, tuple[_Batch, int, Call]] = field(default_factory=dict)  # unanswered calls by serial
    heard_at: float = 0.0  # time of its last answer, or of the first unanswered call, on the loop's clock, s
    silent: bool = False  # whether a call to it timed out
    watch: asyncio.TimerHandle | None = None  # timer of its time limit
    direct: Link | None = None  # A connection that bypasses the bus, if it offers one
    in_flight: int = IN_FLIGHT  # most unanswered calls


class Bus:
    """The accessibility bus; use it from one event loop only.

    A peer that exceeds the time limit gets no further calls until `forgive`, so that it costs only its own elements.
    Another way to the bus overrides `connect`, `close` and `call_all`.

    Attributes:
        application_limit_s: Longest time for reading one application, even if it answers.
        signals: What events reported since they were last taken.
        last_event_at: `time.monotonic()` of the latest accessibility event, 0.0 before the first.
        hung_up: Peers that were gone when they should have answered a call.
    """

    application_limit_s = 8.0

    def __init__(self, address: str) -> None:
        self._address = address
        self._link: Link | None = None
        self._peers: dict[str, _Peer] = {}
        self._asked: dict[int, _Peer] = {}
        self._to_send: dict[str, _Peer] = {}
        self._serial = 0
        self.signals = Signals()
        self.last_event_at = 0.0
        self.hung_up: set[str] = set()

    async def connect(self) -> None:
        """Connect if there is no open connection, and ask applications to send events.

        Raises:
            ConnectionLost: The bus cannot be reached.
        """
        if self._link is not None and self._link.open:
            return
        await self.open()
        self.signals.invalidate_all()
        await self._subscribe()

    async def open(self) -> None:
        """Connect to any bus, without registering for events.

        Raises:
            ConnectionLost: It cannot be reached.
        """
        try:
            self._link = await open_link(self._address, self._take, self._lose)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            raise ConnectionLost(f"The accessibility bus at {self._address} cannot be reached: {error}") from error
        await self._all([(DBUS_NAME, DBUS_PATH, DBUS_NAME, "Hello", "", ())])

    def close(self) -> None:
        """Leave the bus."""
        if self._link is not None:
            self._link.close()
        self._link = None

    async def connect_directly(self, name: str, address: str) -> None:
        """Bypass the bus for calls to a peer, at an address that it offered; has no effect if that fails."""
        peer = self._peer(name)
        if peer.direct is not None:
            return

        def lost(_: str) -> None:
            peer.direct = None
            if peer.owed:
                self.hung_up.add(name)
            self._refuse(peer, CallRefused(f"{name} hung up"))

        try:
            peer.direct = await open_link(address, partial(self._take, only=peer), lost, DIRECT_LIMIT_S)
        except (OSError, ValueError) as error:
            logger.debug("%s is talked to over the bus: %s", name, error)

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
        """Call a method and return the values it returns, variants unpacked.

        Raises:
            CallRefused: The peer answered with an error, or is gone.
            PeerSilent: The peer did not answer in time, now or since `forgive`.
            ConnectionLost: The bus itself went away.
        """
        try:
            async with asyncio.timeout(None if limit_s >= CALL_LIMIT_S else limit_s):
                [answer] = await self.call_all([(name, path, interface, member, signature, body)])
        except TimeoutError as error:
            self._give_up(self._peer(name))
            raise PeerSilent(f"{name} did not answer {member} within {limit_s:g} s") from error
        if isinstance(answer, CallRefused):
            raise answer
        return answer

    async def call_all(self, calls: Sequence[Call]) -> list[Answer]:
        """Call many methods at once and return the answer or error of each.

        Raises:
            ConnectionLost: The bus went away.
        """
        if self._link is None or not self._link.open:
            raise ConnectionLost("The accessibility bus went away.")
        if not calls:
            return []
        missing = CallRefused("not answered yet")
        batch = _Batch(asyncio.get_running_loop().create_future(), [missing] * len(calls), len(calls))
        if not self._to_send:  # what others ask in the same turn of the loop travels along
            asyncio.get_running_loop().call_soon(self._send_all)
        for place, call in enumerate(calls):
            peer = self._to_send.get(call[0])
            if peer is None:
                peer = self._to_send[call[0]] = self._peer(call[0])
            peer.waiting.append((batch, place, call))
        await batch.done
        return batch.answers

    async def ask(
        self, name: str, path: str, interface: str, member: str, signature: str = "", body: Sequence[Any] = ()
    ) -> Any:
        """Return the first value of an answer, or None if the peer refuses.

        Objects vanish between being listed and being asked, so a refusal is an ordinary answer here; `silent`
        distinguishes it from a peer that hangs.
        """
        [value] = await self.ask_all([(name, path, PREFIX + interface, member, signature, body)])
        return value

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """Return the first value of the answer to each call, None if the peer refuses it.

        Raises:
            ConnectionLost: The bus went away.
        """
        answers = await self.call_all(calls)
        return [answer[0] if isinstance(answer, list) and answer else None for answer in answers]

    def silent(self, name: str) -> bool:
        """Return whether a call to the peer timed out."""
        peer = self._peers.get(name)
        return peer is not None and peer.silent

    def forgive(self, name: str) -> None:
        """Allow calls to a peer that timed out."""
        self._peer(name).silent = False

    def ask_singly(self, name: str) -> None:
        """From now on call a peer only when it has answered the call before."""
        self._peer(name).in_flight = 1

    def _peer(self, name: str) -> _Peer:
        peer = self._peers.get(name)
        if peer is None:
            peer = self._peers[name] = _Peer(name)
        return peer

    def _send_all(self) -> None:
        peers, self._to_send = self._to_send, {}
        for peer in peers.values():
            self._send(peer)

    def _send(self, peer: _Peer) -> None:
        direct = peer.direct is not None and peer.direct.open
        link = peer.direct if direct else self._link
        if link is None or peer.silent:
            self._refuse(peer, PeerSilent(f"{peer.name} does not answer"))
            return
        now = asyncio.get_running_loop().time()
        if not peer.owed:
            peer.heard_at = now
        messages: list[bytes] = []
        while peer.waiting and len(peer.owed) < peer.in_flight:
            batch, place, call = peer.waiting.popleft()
            if batch.done.done():
                continue  # the caller gave up
            serial = self._serial = self._serial % 0xFFFFFFFF + 1
            try:
                messages.append(encode(serial, "" if direct else call[0], *call[1:]))
            except Malformed as error:
                batch.put(place, CallRefused(f"{call[3]} cannot be sent: {error}"))
                continue
            peer.owed[serial] = (batch, place, call)
            self._asked[serial] = peer
        if messages:
            link.send(b"".join(messages))
        if peer.owed and peer.watch is None:
            peer.watch = asyncio.get_running_loop().call_at(peer.heard_at + CALL_LIMIT_S, self._look_after, peer)

    def _look_after(self, peer: _Peer) -> None:
        peer.watch = None
        if not peer.owed:
            return
        loop = asyncio.get_running_loop()
        if loop.time() - peer.heard_at >= CALL_LIMIT_S:
            self._give_up(peer)
        else:
            peer.watch = loop.call_at(peer.heard_at + CALL_LIMIT_S, self._look_after, peer)

    def _give_up(self, peer: _Peer) -> None:
        peer.silent = True
        self._refuse(peer, PeerSilent(f"{peer.name} did not answer within {CALL_LIMIT_S:g} s"))

    def _refuse(self, peer: _Peer, why: CallRefused) -> None:
        given_up = [*peer.owed.values(), *peer.waiting]
        for serial in peer.owed:
            self._asked.pop(serial, None)
        peer.owed.clear()
        peer.waiting.clear()
        for batch, place, _ in given_up:
            batch.put(place, why)

    def _take(self, messages: Sequence[Message], only: _Peer | None = None) -> None:
        """Deliver answers and record events; the peer of a direct connection (`only`) answers for itself alone."""
        answered: dict[str, _Peer] = {}
        for message in messages:
            if message.message_type is MessageType.SIGNAL:
                if only is None:
                    self._note_event(message)
                continue
            peer = self._asked.get(message.reply_serial)
            if peer is not None and only in (None, peer):
                del self._asked[message.reply_serial]
                batch, place, call = peer.owed.pop(message.reply_serial)
                batch.put(place, _answer(message, call))
                answered[peer.name] = peer
                if message.error_name == _HUNG_UP:
                    self.hung_up.add(peer.name)
        now = asyncio.get_running_loop().time()
        for peer in answered.values():
            peer.heard_at = now
            if peer.waiting and len(peer.owed) <= _REFILL and peer.name not in self._to_send:
                self._send(peer)
        link = self._link if only is None else only.direct
        if link is not None and sum(len(peer.owed) for peer in answered.values()) >= MANY:
            link.rest()

    def _lose(self, why: str) -> None:
        peers, self._peers = self._peers, {}
        self._asked.clear()
        for peer in peers.values():
            if peer.watch is not None:
                peer.watch.cancel()
            if peer.direct is not None:
                peer.direct.close()
            for batch, _, _ in (*peer.owed.values(), *peer.waiting):
                if not batch.done.done():
                    batch.done.set_exception(ConnectionLost(f"The accessibility bus went away: {why}"))
            peer.waiting.clear()

    async def _subscribe(self) -> None:
        """Register for events: without a listener GTK 3, Chromium and LibreOffice do not offer their cache."""
        rules = [f"type='signal',interface='{_EVENTS}{event_class}'" for event_class in EVENT_CLASSES]
        register = (REGISTRY_NAME, REGISTRY_PATH, PREFIX + "Registry", "RegisterEvent", "sass")
        await self._all(
            [
                *((DBUS_NAME, DBUS_PATH, DBUS_NAME, "AddMatch", "s", (rule,)) for rule in rules),
                *((*register, (event_class.lower(), (), "")) for event_class in EVENT_CLASSES),
            ]
        )

    async def _all(self, calls: Sequence[Call]) -> None:
        """Make calls none of which may fail."""
        for answer in await self.call_all(calls):
            if isinstance(answer, CallRefused):
                self.close()
                raise ConnectionLost(f"The accessibility bus at {self._address} cannot be used: {answer}") from answer

    def _note_event(self, message: Message) -> None:
        sender, path, member = message.sender, message.path, message.member
        if sender and path and member and (message.interface or "").startswith(_EVENTS):
            self.last_event_at = time.monotonic()
            self.signals.note(sender, path, member)


def _answer(message: Message, call: Call) -> Answer:
    if message.message_type is MessageType.ERROR:
        return CallRefused(f"{call[0]}{call[1]} refused {call[3]}: {message.error_name}")
    try:
        return read_answer(call[3], message)
    except Malformed as error:
        return CallRefused(f"{call[0]}{call[1]} gave no answer to {call[3]}: {error}")


def accessibility_bus_address(session_bus_address: str) -> str:
    """Return the address of the accessibility bus, from the session bus; wait a few seconds for it.

    Raises:
        ConnectionLost: There is no session bus, or no accessibility bus on it.
    """
    return asyncio.run(_ask_address(session_bus_address))


async def _ask_address(session_bus_address: str) -> str:
    deadline = time.monotonic() + ADDRESS_LIMIT_S
    while True:
        try:
            return await _address_once(session_bus_address)
        except (CallRefused, ConnectionLost, LookupError) as error:
            if time.monotonic() > deadline:
                raise ConnectionLost(
                    f"The session bus {session_bus_address!r} names no accessibility bus ({error}). "
                    "Is the package at-spi2-core installed?"
                ) from error
        await asyncio.sleep(RETRY_S)


async def _address_once(session_bus_address: str) -> str:
    bus = Bus(session_bus_address)
    await bus.open()
    try:
        [address] = await bus.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
    finally:
        bus.close()
        await asyncio.sleep(0)  # the loop, which ends now, has to see it closed
    if not address:
        raise LookupError("the address is empty")
    return str(address)


class MissingBus(Bus):
    """A bus that does not exist; `reason` says why."""

    async def connect(self) -> None:
        """Raise `ConnectionLost` with the reason."""
        raise ConnectionLost(self._address)

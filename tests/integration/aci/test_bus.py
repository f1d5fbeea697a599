"""Calls over a private message bus, to peers that answer, refuse, hang, leave and flood."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from aci.accessibility.atspi import REGISTRY_NAME
from aci.accessibility.dbus import bus as bus_module
from aci.accessibility.dbus.bus import IN_FLIGHT, Bus, CallRefused, PeerSilent
from aci.accessibility.dbus.messages import split
from aci.errors import ConnectionLost

pytestmark = pytest.mark.desktop
OBJECT, INTERFACE = "/org/a11y/atspi/accessible/1", "org.a11y.atspi.Accessible"

Handle = Callable[[Message], Message | bool | None]


@pytest.fixture
def daemon() -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory(prefix="aci-", dir="/tmp") as folder:
        command = ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={folder}/bus"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(folder))
        assert process.stdout is not None
        process.stdout.readline()
        process.args = f"unix:path={folder}/bus"
        yield process
        process.kill()
        process.wait()


def address(daemon: subprocess.Popen[str]) -> str:
    return str(daemon.args)


def answer(message: Message) -> Message:
    body = message.body or ["nothing"]
    return Message.new_method_return(message, message.signature or "s", body)


def refuse(message: Message) -> Message:
    return Message.new_error(message, "org.example.Error.No", "no")


class Peers:
    """Programs on the bus, each of which handles the calls that it gets in its own way."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.open: list[MessageBus] = []

    async def add(self, handle: Handle | None) -> str:
        """Add one; without a handler it never answers. Returns its name."""
        peer = await MessageBus(bus_address=self.address).connect()
        self.open.append(peer)

        def take(message: Message) -> Message | bool | None:
            if message.message_type is not MessageType.METHOD_CALL or message.path != OBJECT:
                return None
            return True if handle is None else handle(message)

        peer.add_message_handler(take)
        return str(peer.unique_name)

    async def registry(self) -> None:
        registry = await MessageBus(bus_address=self.address).connect()
        self.open.append(registry)
        registry.add_message_handler(
            lambda message: Message.new_method_return(message) if message.member == "RegisterEvent" else None
        )
        await registry.request_name(REGISTRY_NAME)


@asynccontextmanager
async def connected(daemon: subprocess.Popen[str]) -> Any:
    peers, bus = Peers(address(daemon)), Bus(address(daemon))
    try:
        await peers.registry()
        await bus.connect()
        yield bus, peers
    finally:
        bus.close()
        for peer in peers.open:
            peer.disconnect()


def talk(daemon: subprocess.Popen[str], work: Callable[[Bus, Peers], Awaitable[None]]) -> None:
    async def run() -> None:
        async with asyncio.timeout(20), connected(daemon) as (bus, peers):
            await work(bus, peers)

    asyncio.run(run())


def test_many_calls_are_answered_each_with_its_own(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        names = [await peers.add(answer), await peers.add(answer)]
        texts = [f"{number} é 中 😀" * (1 + number % 50) for number in range(3 * IN_FLIGHT)]
        calls = [(names[at % 2], OBJECT, INTERFACE, "Echo", "s", (text,)) for at, text in enumerate(texts)]
        assert await bus.ask_all(calls) == texts
        assert await asyncio.gather(*(bus.call(*call) for call in calls)) == [[text] for text in texts]

    talk(daemon, work)


def test_a_message_of_a_megabyte_arrives(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        text = "x" * 3_000_000
        assert await bus.call(await peers.add(answer), OBJECT, INTERFACE, "Echo", "s", (text,)) == [text]

    talk(daemon, work)


def test_refused_and_foreign_replies_are_not_answers(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        kind, unkind = await peers.add(answer), await peers.add(refuse)
        calls = [(name, OBJECT, INTERFACE, "Echo", "u", (7,)) for name in (kind, unkind, ":1.4711", kind)]
        assert await bus.ask_all(calls) == [7, None, None, 7]
        with pytest.raises(CallRefused, match=r"org\.example\.Error\.No"):
            await bus.call(unkind, OBJECT, INTERFACE, "Echo")
        assert not bus.silent(unkind)

    talk(daemon, work)


def test_a_peer_that_hangs_costs_its_own_answers_only(
    daemon: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_module, "CALL_LIMIT_S", 0.3)
    answering: list[bool] = []

    async def work(bus: Bus, peers: Peers) -> None:
        good = await peers.add(answer)
        stuck = await peers.add(lambda message: answer(message) if answering else True)
        calls = [(name, OBJECT, INTERFACE, "Echo", "u", (1,)) for name in (stuck, good) * (IN_FLIGHT + 20)]
        assert await bus.ask_all(calls) == [None, 1] * (IN_FLIGHT + 20)
        assert bus.silent(stuck)
        assert not bus.silent(good)
        answering.append(True)
        with pytest.raises(PeerSilent):
            await bus.call(stuck, OBJECT, INTERFACE, "Echo", "u", (1,))
        bus.forgive(stuck)
        assert await bus.ask(stuck, OBJECT, "Accessible", "Echo", "u", (2,)) == 2

    talk(daemon, work)


def test_one_call_may_be_given_less_time(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        stuck = await peers.add(None)
        with pytest.raises(PeerSilent):
            await bus.call(stuck, OBJECT, INTERFACE, "Echo", limit_s=0.05)
        assert bus.silent(stuck)

    talk(daemon, work)


def test_a_peer_that_disconnects_is_removed_at_once(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        leaving = await peers.add(None)
        calls = asyncio.ensure_future(bus.ask_all([(leaving, OBJECT, INTERFACE, "Echo", "", ())] * 3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        peers.open[-1].disconnect()
        assert await calls == [None] * 3
        assert not bus.silent(leaving)

    talk(daemon, work)


def test_events_are_gathered_by_sender(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        name = await peers.add(answer)
        bus.signals.take([])
        signal = Message.new_signal(OBJECT, "org.a11y.atspi.Event.Object", "StateChanged", "s", ["showing"])
        await peers.open[-1].send(signal)
        while not bus.last_event_at:
            await asyncio.sleep(0.01)
        assert {ref.path for ref in bus.signals.take([name])[name].objects} == {OBJECT}

    talk(daemon, work)


@asynccontextmanager
async def direct_end(folder: Path, serials: Callable[[Message], Sequence[int]]) -> Any:
    """Listen for direct connections, and answer each call with "direct" under the serials that a function returns."""
    open_now: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_now.append(writer)
        assert (await reader.readuntil(b"\r\n")).startswith(b"\0AUTH EXTERNAL ")
        writer.write(b"OK 0123456789abcdef0123456789abcdef\r\n")
        assert await reader.readuntil(b"\r\n") == b"BEGIN\r\n"
        received = bytearray()
        while part := await reader.read(65536):
            received += part
            for call in split(received):
                for serial in serials(call):
                    reply = Message(
                        message_type=MessageType.METHOD_RETURN, reply_serial=serial, signature="s", body=["direct"]
                    )
                    reply.serial = 1
                    writer.write(bytes(reply._marshall(False)))

    server = await asyncio.start_unix_server(serve, folder / "direct")
    try:
        yield open_now
    finally:
        server.close()


def test_calls_go_to_a_peer_directly_while_it_lets_them(daemon: subprocess.Popen[str], tmp_path: Path) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        name = await peers.add(answer)
        ask = (name, OBJECT, "Accessible", "Echo", "s", ["over the bus"])
        async with direct_end(tmp_path, lambda call: [call.serial]) as open_now:
            await bus.connect_directly(name, f"unix:path={tmp_path}/nobody")
            assert await bus.ask(*ask) == "over the bus"
            await bus.connect_directly(name, f"unix:path={tmp_path}/direct")
            assert await asyncio.gather(*[bus.ask(*ask)] * 3) == ["direct"] * 3
            open_now[0].close()
            while await bus.ask(*ask) != "over the bus":
                await asyncio.sleep(0.01)
            assert not bus.silent(name)

    talk(daemon, work)


def test_a_direct_peer_answers_for_itself_only(daemon: subprocess.Popen[str], tmp_path: Path) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        liar, other = await peers.add(answer), await peers.add(None)
        # It answers the calls to others that were made just before.
        async with direct_end(tmp_path, lambda call: [call.serial - 1, call.serial]):
            await bus.connect_directly(liar, f"unix:path={tmp_path}/direct")
            waiting = asyncio.ensure_future(bus.call(other, OBJECT, INTERFACE, "Echo", limit_s=0.3))
            await asyncio.sleep(0.05)
            assert await bus.ask(liar, OBJECT, "Accessible", "Echo") == "direct"
            with pytest.raises(PeerSilent):
                await waiting

    talk(daemon, work)


def test_lost_bus_raises_in_all_pending_calls(daemon: subprocess.Popen[str]) -> None:
    async def work(bus: Bus, peers: Peers) -> None:
        stuck = await peers.add(None)
        waiting = [asyncio.ensure_future(bus.ask(stuck, OBJECT, "Accessible", "Echo")) for _ in range(3)]
        await asyncio.sleep(0.05)
        daemon.kill()
        assert all(
            isinstance(error, ConnectionLost) for error in await asyncio.gather(*waiting, return_exceptions=True)
        )
        with pytest.raises(ConnectionLost):
            await bus.ask(stuck, OBJECT, "Accessible", "Echo")

    talk(daemon, work)


def test_a_bus_without_a_registry_is_not_the_accessibility_bus(daemon: subprocess.Popen[str]) -> None:
    async def run() -> None:
        with pytest.raises(ConnectionLost):
            await Bus(address(daemon)).connect()

    asyncio.run(run())


@pytest.mark.parametrize("where", ["unix:path=/nonexistent/bus", "tcp:host=localhost,port=1", "", "nonsense"])
def test_addresses_that_cannot_be_used_are_errors(where: str) -> None:
    with pytest.raises(ConnectionLost):
        asyncio.run(Bus(where).connect())

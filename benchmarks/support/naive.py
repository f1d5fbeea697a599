"""The baseline: the accessibility tree read by plain recursion, one call for every property of every object.

This is how the server inside OSWorld's machines reads it: applications side by side, their objects one after another,
whether they can be seen or not; children by index up to a fixed number; of a sheet the cells that are showing, row by
row.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.accessibility.atspi import PREFIX, PROPERTIES, REGISTRY_NAME, REGISTRY_PATH, ROOT_PATH, StateBit

WIDEST = 1024
"""Children of one object that are visited."""
DEEPEST = 50
"""Levels that are visited."""
CALL_LIMIT_S = 5.0
_EVENTS = ("object", "window", "focus", "document")

Ref = tuple[str, str]


@dataclass(slots=True)
class Naive:
    """What a naive reading came to."""

    seconds: float = 0.0  # how long it took, connecting included
    objects: int = 0  # how many objects were read
    whole: bool = True  # whether it came to its end within the time limit
    left_out: int = 0  # children that were beyond the widest that it goes
    calls: int = 0  # how many calls it made
    names: list[tuple[str, str]] = field(default_factory=list)  # roles and names of the objects, as read


def read_naively(address: str, pids: Collection[int], limit_s: float) -> Naive:
    """Read the trees of some processes.

    Args:
        address: Address of the accessibility bus.
        pids: The processes that have windows on the screen.
        limit_s: After this many seconds the rest is left unread.
    """
    return asyncio.run(_Reader(limit_s).read(address, pids))


class _Reader:
    def __init__(self, limit_s: float) -> None:
        self._started = time.perf_counter()
        self._deadline = self._started + limit_s
        self._found = Naive()
        self._bus: Any = None

    async def read(self, address: str, pids: Collection[int]) -> Naive:
        from dbus_fast.aio import MessageBus

        self._bus = await MessageBus(bus_address=address).connect()
        try:
            for event in _EVENTS:
                await self._call((REGISTRY_NAME, REGISTRY_PATH), PREFIX + "Registry", "RegisterEvent", "sass",
                                 event, [], "")  # fmt: skip
            children = await self._call((REGISTRY_NAME, ROOT_PATH), PREFIX + "Accessible", "GetChildren")
            applications = [ref for ref in map(tuple, children or ()) if await self._pid(ref[0]) in pids]
            await asyncio.gather(*(self._visit(ref, 0) for ref in applications))
        finally:
            self._bus.disconnect()
        self._found.seconds = time.perf_counter() - self._started
        return self._found

    async def _visit(self, ref: Ref, depth: int) -> None:
        if self._late():
            return
        role = await self._describe(ref)
        count = await self._property(ref, "Accessible", "ChildCount")
        if not isinstance(count, int) or depth >= DEEPEST:
            return
        if role == "table" and count > WIDEST:
            await self._visit_sheet(ref, count, depth)
            return
        self._found.left_out += max(0, count - WIDEST)
        for index in range(min(count, WIDEST)):
            child = await self._child(ref, index)
            if child is not None:
                await self._visit(child, depth + 1)
            if not self._found.whole:
                return

    async def _visit_sheet(self, ref: Ref, count: int, depth: int) -> None:
        """Read the cells that are showing, each row up to the first that is not."""
        columns = await self._property(ref, "Table", "NColumns") or WIDEST
        before = self._found.objects
        for first in range(0, count, columns):
            row_before = self._found.objects
            for index in range(first, min(first + columns, count)):
                child = await self._child(ref, index)
                if child is None or not await self._shows(child) or self._late():
                    break
                await self._visit(child, depth + 1)
            if self._found.objects == row_before:
                break
        self._found.left_out += count - (self._found.objects - before)

    async def _describe(self, ref: Ref) -> str:
        """Ask for every property, one call each, and return the role."""
        name = await self._property(ref, "Accessible", "Name")
        role = str(await self._ask(ref, "Accessible", "GetRoleName"))
        shows = await self._shows(ref)
        await self._ask(ref, "Accessible", "GetAttributes")
        interfaces = await self._ask(ref, "Accessible", "GetInterfaces") or ()
        self._found.objects += 1
        self._found.names.append((role, str(name)))
        await self._interfaces(ref, {interface.removeprefix(PREFIX) for interface in interfaces}, shows)
        return role

    async def _shows(self, ref: Ref) -> bool:
        states = await self._ask(ref, "Accessible", "GetState")
        return bool(states) and bool(states[0] & StateBit.SHOWING)

    async def _child(self, ref: Ref, index: int) -> Ref | None:
        child = await self._ask(ref, "Accessible", "GetChildAtIndex", "i", index)
        return None if child is None or child[1].endswith("/null") else (child[0], child[1])

    def _late(self) -> bool:
        if time.perf_counter() > self._deadline:
            self._found.whole = False
        return not self._found.whole

    async def _interfaces(self, ref: Ref, offered: set[str], shows: bool) -> None:
        if "Component" in offered and shows:
            await self._ask(ref, "Component", "GetExtents", "u", 0)
        if "Text" in offered:
            count = await self._property(ref, "Text", "CharacterCount")
            await self._ask(ref, "Text", "GetText", "ii", 0, count if isinstance(count, int) else -1)
        if "Value" in offered:
            for name in ("CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"):
                await self._property(ref, "Value", name)
        if "Action" in offered:
            for index in range(await self._property(ref, "Action", "NActions") or 0):
                for method in ("GetName", "GetDescription", "GetKeyBinding"):
                    await self._ask(ref, "Action", method, "i", index)

    async def _property(self, ref: Ref, interface: str, name: str) -> Any:
        value = await self._call(ref, PROPERTIES, "Get", "ss", PREFIX + interface, name)
        return None if value is None else value.value

    async def _ask(self, ref: Ref, interface: str, method: str, signature: str = "", *body: Any) -> Any:
        return await self._call(ref, PREFIX + interface, method, signature, *body)

    async def _pid(self, name: str) -> int:
        place = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        return int(await self._call(place, place[0], "GetConnectionUnixProcessID", "s", name) or 0)

    async def _call(self, ref: Sequence[str], interface: str, method: str, signature: str = "", *body: Any) -> Any:
        """Return the first value of an answer, None for an error or silence."""
        from dbus_fast import Message

        message = Message(
            destination=ref[0], path=ref[1], interface=interface, member=method, signature=signature, body=list(body)
        )
        self._found.calls += 1
        try:
            async with asyncio.timeout(CALL_LIMIT_S):
                reply = await self._bus.call(message)
        except TimeoutError:
            return None
        if reply is None or reply.error_name or not reply.body:
            return None
        return reply.body[0]

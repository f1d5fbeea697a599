"""The accessibility tree as elements, for synchronous callers."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from aci.accessibility.atspi import Ref, StateBit
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.accessibility.elements.extraction import Draft
from aci.accessibility.elements.hit_testing import HitTester
from aci.accessibility.elements.placement import Named, Places, place_elements
from aci.accessibility.reader import Reader
from aci.accessibility.reading import Reading
from aci.accessibility.tree.details import extents, full_text
from aci.accessibility.tree.nodes import Application
from aci.errors import ConnectionLost
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.tracking import IdTracker

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

READ_LIMIT_S = 30.0
ADDRESS_LIMIT_S = 5.0
RETRY_S = 0.02


@dataclass(frozen=True, slots=True)
class Handle:
    """How to reach the object behind an element."""

    ref: Ref  # the object
    text_at: tuple[Ref, ...]  # objects with its text, one per line
    scale: float  # factor on the extents it reports
    shift: tuple[int, int]  # offset added to the scaled extents, px
    shows: int  # state bits that it has while it is visible


def handle_of(draft: Draft) -> Handle:
    """Return the handle of a draft's object."""
    node = draft.node
    # What holds its text elsewhere is an input line of LibreOffice, whose own states mean nothing.
    shows = 0 if node.text_at else node.states & (StateBit.SHOWING | StateBit.VISIBLE).value
    return Handle(node.ref, node.text_at or (node.ref,), node.enlarged[0] if node.enlarged else 1.0, node.shift, shows)


class AccessibilityClient:
    """Reads and changes elements over the accessibility bus.

    An event loop in a separate thread does the communication. Registration for events happens at once, because
    applications that start before anybody listens do not offer their tree.

    Args:
        address: Address of the accessibility bus, from `accessibility_bus_address`.
        ids: Unused element ids; by default from 1.

    Raises:
        ConnectionLost: The bus cannot be reached.
    """

    def __init__(self, address: str, ids: Iterator[int] | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="accessibility", daemon=True)
        self._thread.start()
        self._tracker = IdTracker(ids)
        self._places = Places()
        self._handles: dict[int, Handle] = {}
        self._nudged: set[int] = set()
        self._rest: asyncio.Task[None] | None = None
        self._bus = Bus(address)
        self._reader = Reader(self._bus)
        self._hit_tester = HitTester(self._bus)
        try:
            self._run(self._bus.connect())
        except BaseException:
            self.close()
            raise
        self._loop.call_soon_threadsafe(self._reader.meet)

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Read what all applications show.

        Args:
            windows: Topmost first.
            screen: The whole screen, px.
            pointer_nudge: Moves the pointer over a window; called once per window whose application misplaces its
                contents until then.
            changed: Disjoint areas whose pixels changed since the latest reading, px; only these and what events name
                are read again. None reads everything.

        Raises:
            ConnectionLost: The accessibility bus went away and did not come back.
        """
        with _garbage_kept():
            return self._read(windows, screen, pointer_nudge, changed)

    def _read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None,
        changed: Sequence[Rect] | None,
    ) -> Reading:
        try:
            scene = self._run(self._reader.read(windows, screen, changed))
        except ConnectionLost:
            # The daemon drops clients that fall behind during a burst of events; the next connection works.
            scene = self._run(self._reader.read(windows, screen))
        unsure = [window for window in scene.misplaced if window.id not in self._nudged]
        if pointer_nudge is not None and unsure:
            for window in unsure:
                self._nudged.add(window.id)
                pointer_nudge(window)
            scene = self._run(self._reader.read(windows, screen))
        elements, drafts, focus_id = place_elements(scene.drafts, windows, screen, self._tracker, self._places)
        elements = self._run(self._hit_tester.cleared(elements, drafts, self._reader.by_connection()))
        if focus_id is not None and all(element.id != focus_id for element in elements):
            focus_id = None
        self._handles.update((identity, handle_of(draft)) for identity, draft in drafts.items())
        applications = self._reader.by_connection().values()
        # An application that does not answer has its note.
        unfilled = [] if scene.notes else unfilled_windows(windows, applications, scene.drafts)
        notes = tuple(f"The window {window.title!r} shows no elements yet." for window in unfilled)
        ids, pids = tuple(window.id for window in unfilled), {window.pid for window in windows}
        windowless = tuple(one.name for one in applications if one.name and one.pid not in pids)
        return Reading(elements, focus_id, (*scene.notes, *notes), ids, windowless)

    def rest(self, after_s: float) -> None:
        """Completely re-read partly read applications after an idle time, in the background.

        Any other call and `prepare_for_action` end that, so that nobody waits for it.
        """
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._begin_rest, after_s)

    def prepare_for_action(self) -> None:
        """End what `rest` began, because an action follows."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end_rest)
            self._loop.call_soon_threadsafe(self._reader.prepare_for_action)

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest accessibility event, 0.0 if there was none."""
        return self._bus.last_event_at

    def applications(self) -> list[tuple[str, int]]:
        """Return name and process id of each application on the bus."""
        return [(application.name, application.pid) for application in self._run(self._reader.applications())]

    def element_text(self, element_id: int) -> str | None:
        """Return the current text of a known element, or None where it has none or is gone."""
        handle = self._handles.get(element_id)
        return None if handle is None else self._run(full_text(self._bus, handle.text_at))

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether that was accepted."""
        handle = self._handles.get(element_id)
        if handle is None or len(handle.text_at) > 1:
            return False
        return bool(self._run(self._bus.ask(*handle.text_at[0], "EditableText", "SetTextContents", "s", [text])))

    def locate(self, element_id: int) -> Rect | None:
        """Return the current extents of a known element, px; None if it is gone or invisible."""
        handle = self._handles.get(element_id)
        return None if handle is None else self._run(self._extents_now(handle))

    def has_focus(self, element_id: int) -> bool:
        """Return whether a known element reports right now that it has the keyboard focus."""
        handle = self._handles.get(element_id)
        states = None if handle is None else self._run(self._bus.ask(*handle.ref, "Accessible", "GetState"))
        return states is not None and bool((states[0] | states[1] << 32) & StateBit.FOCUSED)

    def close(self) -> None:
        """Leave the bus and end the thread."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop)
        self._thread.join(timeout=2.0)
        if not self._thread.is_alive():
            self._loop.close()

    async def _leave(self) -> None:
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)  # a cancelled task ends in the loop's next turn
        self._bus.close()
        self._loop.stop()

    def _begin_rest(self, after_s: float) -> None:
        self._end_rest()
        self._rest = self._loop.create_task(self._read_at_rest(after_s))

    def _end_rest(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    async def _read_at_rest(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        try:
            await self._reader.read_again()
        except ConnectionLost as error:  # whoever looks next connects again, or hears of it
            logger.debug("Reading at rest ended: %s", error)

    async def _extents_now(self, handle: Handle) -> Rect | None:
        ref = handle.ref
        rect, states = await asyncio.gather(extents(self._bus, ref), self._bus.ask(*ref, "Accessible", "GetState"))
        if rect is None or not rect.area or states is None:
            return None
        bits = states[0] | states[1] << 32
        if bits & handle.shows != handle.shows:
            return None
        return rect.scaled(handle.scale).moved(*handle.shift)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        if not self._thread.is_alive():
            work.close()
            raise ConnectionLost("The accessibility client is closed.")
        self._loop.call_soon_threadsafe(self._end_rest)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout=READ_LIMIT_S)
        except FutureTimeout as error:
            future.cancel()
            raise ConnectionLost(f"The accessibility bus did not answer within {READ_LIMIT_S:g} s.") from error


def unfilled_windows(
    windows: Sequence[Window], applications: Iterable[Application], drafts: Iterable[Named]
) -> list[Window]:
    """Return the windows whose application is on the bus but shows no elements in them yet."""
    filled = {draft.window.id for draft, _ in drafts}
    known = {application.pid for application in applications}
    return [window for window in windows if window.pid in known and not window.popup and window.id not in filled]


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Pause the cyclic garbage collector: a reading creates tens of thousands of objects, which would set it off."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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

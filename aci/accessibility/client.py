"""The accessibility tree as elements, for synchronous callers."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from aci.accessibility.atspi import Ref, StateBit, role_name
from aci.accessibility.dbus.bus import Bus
from aci.accessibility.elements.hit_testing import HitTester
from aci.accessibility.elements.placement import Places, place_elements
from aci.accessibility.reader import Reader, Scene
from aci.accessibility.reading import Documents, Reading
from aci.accessibility.roles import VIEWED
from aci.accessibility.texts import (
    FoundText,
    MissingText,
    Run,
    character_boxes,
    find,
    is_selected,
    main_text,
    read_runs,
    select,
    set_caret,
)
from aci.accessibility.tree.capture import all_properties, all_states, corrected_states
from aci.accessibility.tree.details import extents, full_text
from aci.accessibility.tree.libreoffice import is_input_line
from aci.accessibility.tree.names import lies_in_disabled, states_of
from aci.accessibility.tree.nodes import Application, Node
from aci.accessibility.tree.refresh_scope import delays_places, lags
from aci.accessibility.tree.scrolling import find_scroll_bar
from aci.accessibility.values import ValueRange, set_value, value_range
from aci.errors import ConnectionLost
from aci.observation.geometry import Rect
from aci.observation.snapshot import Element, Window
from aci.observation.tracking import IdTracker

Result = TypeVar("Result")
logger = logging.getLogger(__name__)

READ_LIMIT_S = 30.0
_TELLING = (StateBit.SHOWING | StateBit.VISIBLE | StateBit.ENABLED | StateBit.DEFUNCT | StateBit.CHECKED).value


@dataclass(frozen=True, slots=True)
class _Handle:
    """How to reach the object behind an element."""

    ref: Ref  # the object
    text_at: tuple[Ref, ...]  # objects with its text, one per line
    scale: float  # factor on the extents it reports
    shift: tuple[int, int]  # offset added to the scaled extents, px
    shows: int  # state bits that it has while it is visible
    said: tuple[str, str, int]  # the role, name and telling states that it reported

    @classmethod
    def of(cls, node: Node) -> _Handle:
        shows = 0 if is_input_line(node) else node.states & (StateBit.SHOWING | StateBit.VISIBLE).value
        scale = node.enlarged[0] if node.enlarged else 1.0
        role, name, states, _ = node.as_reported or (node.role, node.name, node.states, 0)
        said = role, name, states & _TELLING
        return cls(node.ref, node.text_at or (node.ref,), scale, node.shift, shows, said)


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


class AccessibilityClient:
    """Reads and changes elements over the accessibility bus.

    An event loop in a separate thread does the communication. Each reading connects if need be; `connect` does so
    early, because applications that start before anybody listens do not offer their tree.

    Args:
        bus: The bus, not connected yet.
        ids: Unused element ids; by default from 1.
        lasts: Whether it is closed only after the applications have ended, or when nobody needs them any more.
    """

    def __init__(self, bus: Bus, ids: Iterator[int] | None = None, lasts: bool = False) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="accessibility", daemon=True)
        self._thread.start()
        self._tracker = IdTracker(ids)
        self._places = Places()
        self._handles: dict[int, _Handle] = {}
        self._nudged: set[int] = set()
        self._rest: asyncio.Task[None] | None = None
        self._bus = bus
        self._reader = Reader(bus, lasts=lasts)
        self._hit_tester = HitTester(bus)

    def connect(self) -> None:
        """Connect ahead of the first reading.

        Raises:
            ConnectionLost: The bus cannot be reached.
            MissingDependency: What the bus needs is not installed.
        """
        self._run(self._bus.connect())
        self._loop.call_soon_threadsafe(self._reader.list_ahead)

    @_garbage_kept()
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
        scene = self._read_scene(windows, screen, changed)
        unsure = [window for window in scene.misplaced if window.id not in self._nudged]
        if pointer_nudge is not None and unsure:
            for window in unsure:
                self._nudged.add(window.id)
                pointer_nudge(window)
            lost = scene.lost
            scene = self._run(self._reader.read(windows, screen))
            scene = replace(scene, lost=(*lost, *scene.lost))
        elements, drafts, focus_id = place_elements(scene.drafts, windows, screen, self._tracker, self._places, changed)
        elements = self._run(self._hit_tester.cleared(elements, drafts, self._reader.by_connection(), scene.changed))
        if focus_id is not None and all(element.id != focus_id for element in elements):
            focus_id = None
        self._handles.update((identity, _Handle.of(draft.node)) for identity, draft in drafts.items())
        applications = self._reader.known
        filled, known = {draft.window.id for draft, _ in scene.drafts}, {one.pid for one in applications}
        # An application that does not answer has its note.
        unfilled = [
            window
            for window in (windows if not scene.notes else ())
            if window.pid in known and not window.popup and window.id not in filled
        ]
        pids = {window.pid for window in windows}
        return Reading(
            elements,
            focus_id,
            notes=(*scene.notes, *(f"The window {window.title!r} shows no elements yet." for window in unfilled)),
            silent=scene.silent,
            lost=scene.lost,
            unfilled=tuple(window.id for window in unfilled),
            windowless=tuple(one.name for one in applications if one.name and one.pid not in pids),
            documents=_documents(applications),
            lags=any(lags(one) for one in applications if one.pid in pids),
            delays_places=any(delays_places(one) for one in applications if one.pid in pids),
        )

    def read_applications(self, windows: Sequence[Window], screen: Rect) -> list[Application]:
        """Read all applications completely, and return them with the nodes of their trees.

        Args:
            windows: Topmost first.
            screen: The whole screen, px.

        Raises:
            ConnectionLost: The accessibility bus went away.
        """
        self._read_scene(windows, screen, None)
        return self._reader.known

    def _read_scene(self, windows: Sequence[Window], screen: Rect, changed: Sequence[Rect] | None) -> Scene:
        try:
            return self._run(self._reader.read(windows, screen, changed))
        except ConnectionLost:
            # The daemon drops clients that fall behind during a burst of events; the next connection works.
            return self._run(self._reader.read(windows, screen))

    def read_gently(self, name: str) -> None:
        """From now on ask applications of this name for one property of one object at a time."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._reader.read_gently, name)

    def rest(self, after_s: float) -> None:
        """Completely re-read partly read applications after an idle time, in the background.

        Any other call and `prepare_for_action` end that, so that no call waits for it.
        """
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._begin_rest, after_s)

    def finish_rest(self, limit_s: float) -> bool | None:
        """Wait for the reading that `rest` began, and return whether it has found anything else than the latest `read`.

        The next `read` shows what it has found. One that took longer at earlier times than the limit allows is not
        waited for.

        Args:
            limit_s: How long to wait, s.

        Returns:
            None if it has found nothing by then and continues.
        """
        if not self._thread.is_alive():
            return False
        return asyncio.run_coroutine_threadsafe(self._finish_rest(limit_s), self._loop).result(READ_LIMIT_S)

    @property
    def was_corrected(self) -> bool:
        """Whether the reading that `rest` began has found anything else than the latest `read`."""
        return self._reader.was_corrected

    async def _finish_rest(self, limit_s: float) -> bool | None:
        if self._rest is not None and self._reader.ends_within(limit_s):
            await asyncio.wait([self._rest], timeout=limit_s)
        goes_on = self._rest is not None and not self._rest.done()
        return self._reader.was_corrected or (None if goes_on else False)

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
        """Return the current text of an element; None if it has none or is gone, or the bus is."""
        return self._asked(element_id, lambda handle: full_text(self._bus, handle.text_at))

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether that was accepted."""

        async def replaced(handle: _Handle) -> bool:
            [line, *others] = handle.text_at
            return not others and bool(await self._bus.ask(*line, "EditableText", "SetTextContents", "s", [text]))

        return bool(self._asked(element_id, replaced))

    def whole_text(self, element_id: int) -> str | None:
        """Return all of the text of an element and of what it contains, also out of sight; None if it has none."""
        runs = self._asked(element_id, lambda handle: read_runs(self._bus, handle.text_at))
        return "".join(run.text for run in runs) or None if runs is not None else None

    def main_text(self, window_id: int) -> str | None:
        """Return all of the text of the largest document, terminal, text or table of a window; None if it has none."""

        async def read() -> list[Run]:
            ref = main_text(self._reader.known, window_id)
            return [] if ref is None else await read_runs(self._bus, [ref])

        try:
            return "".join(run.text for run in self._run(read())) or None
        except ConnectionLost:
            return None

    def find_text(self, element_id: int, words: str, occurrence: int = 1, until: str = "") -> FoundText | MissingText:
        """Return an occurrence of words in an element's text and in that of what it contains; see `texts.find`."""

        async def found(handle: _Handle) -> FoundText | MissingText:
            return find(await read_runs(self._bus, handle.text_at), words, occurrence, until)

        return self._asked(element_id, found) or MissingText("no_text")

    def boxes(self, element_id: int, found: FoundText) -> list[Rect]:
        """Return the extents of the characters of words of an element, px; [] where its toolkit gives none."""

        async def placed(handle: _Handle) -> list[Rect]:
            reported = await character_boxes(self._bus, found.parts)
            return [box.scaled(handle.scale).moved(*handle.shift) for box in reported]

        return self._asked(element_id, placed) or []

    def select(self, found: FoundText) -> bool:
        """Select words through the Text interface, and return whether their object says that it did."""
        [part, *others] = found.parts
        return not others and self._tried(select(self._bus, part, self._toolkit(part.ref)))

    def set_caret(self, found: FoundText) -> bool:
        """Put the caret before words, and return whether their object says that it did."""
        return self._tried(set_caret(self._bus, found.parts[0]))

    def is_selected(self, found: FoundText) -> bool:
        """Return whether exactly these words are selected, as far as their objects' texts go."""
        return self._tried(is_selected(self._bus, found.parts, self._toolkit(found.parts[0].ref)))

    def value_range(self, element_id: int) -> ValueRange | None:
        """Return the current value of an element and its bounds; None if it has none or is gone."""
        return self._asked(element_id, lambda handle: value_range(self._bus, handle.ref))

    def set_value(self, element_id: int, value: float) -> bool:
        """Ask the application to set the value of an element, and return whether it did not refuse."""
        return bool(self._asked(element_id, lambda handle: set_value(self._bus, handle.ref, value)))

    def grab_focus(self, element_id: int) -> bool:
        """Ask the application to give an element the keyboard, and return whether it says that it did."""
        return bool(self._asked(element_id, lambda handle: self._bus.ask(*handle.ref, "Component", "GrabFocus")))

    def scrolls_late(self, element_id: int) -> bool:
        """Return whether a click on an element makes its list scroll half a second later.

        Qt scrolls to an entry that is cut off once a double click can no longer follow.
        """
        handle = self._handles.get(element_id)
        application = self._reader.by_connection().get(handle.ref.name) if handle is not None else None
        node = application.nodes.get(handle.ref) if handle is not None and application is not None else None
        if application is None or node is None or node.rect is None or not application.toolkit.startswith("Qt"):
            return False
        around = application.nodes.get(node.parent) if node.parent is not None else None
        inside = around is None or around.rect is None or around.rect.intersection(node.rect) == node.rect
        return node.role in VIEWED and not inside

    def scroll_bar(self, element_id: int, horizontal: bool) -> int | None:
        """Return the id of the scroll bar that moves an element, for `value_range` and `set_value`; None for none.

        Scroll bars are not elements, so their ids are negative.
        """

        async def find(handle: _Handle) -> Node | None:
            return find_scroll_bar(self._reader.known, handle.ref, horizontal)

        bar = self._asked(element_id, find)
        if bar is None:
            return None
        identity = -2 * element_id - horizontal
        self._handles[identity] = _Handle.of(bar)
        return identity

    def _toolkit(self, ref: Ref) -> str:
        application = self._reader.by_connection().get(ref.name)
        return application.toolkit if application is not None else ""

    def _tried(self, work: Coroutine[Any, Any, bool]) -> bool:
        try:
            return self._run(work)
        except ConnectionLost:
            return False

    def locate(self, element_id: int) -> Rect | None:
        """Return the current extents of an element, px; None if it is gone or invisible, or the bus is gone."""
        return self._asked(element_id, self._extents_now)

    def now(self, elements: Sequence[Element]) -> list[Element | None]:
        """Return elements with their current states, text and value; None for each that is gone, or without the bus.

        The next reading reads those again that have changed.
        """

        async def read() -> list[Element | None]:
            return list(await asyncio.gather(*(self._now(element) for element in elements)))

        try:
            return self._run(read())
        except ConnectionLost:
            return [None] * len(elements)

    async def _now(self, element: Element) -> Element | None:
        handle = self._handles.get(element.id)
        application = self._reader.by_connection().get(handle.ref.name) if handle is not None else None
        node = application.nodes.get(handle.ref) if handle is not None and application is not None else None
        if handle is None or application is None or node is None:
            return None
        [bits], text, value = await asyncio.gather(
            all_states(self._bus, [handle.ref]),
            full_text(self._bus, handle.text_at) if element.text is not None else asyncio.sleep(0),
            value_range(self._bus, handle.ref) if element.value is not None else asyncio.sleep(0),
        )
        if bits is None or bits & handle.shows != handle.shows:
            return None
        fresh = replace(node, states=corrected_states(node.role, bits))
        states = states_of(application, fresh, element.role, lies_in_disabled(application, node))
        if node.cell is not None and "focused" in states:
            states |= {"selected"}  # which LibreOffice does not say of the cell that has the keyboard
        now = replace(element, states=states, text=text, value=value.current if value is not None else None)
        if now != element:
            self._bus.signals.note(handle.ref.name, handle.ref.path, "StateChanged")
        return now

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element reports right now that it has the keyboard focus."""

        async def focused(handle: _Handle) -> bool:
            [states] = await all_states(self._bus, [handle.ref])
            return states is not None and bool(states & StateBit.FOCUSED)

        return bool(self._asked(element_id, focused))

    def is_unchanged(self, element_id: int) -> bool:
        """Return whether an element reports the name, role and telling states that it had when it was read.

        False for elements of browsers, whose answers lag behind their pixels.
        """

        async def compared(handle: _Handle) -> bool:
            application = self._reader.by_connection().get(handle.ref.name)
            if application is None or lags(application):
                return False
            [states], [name], role = await asyncio.gather(
                all_states(self._bus, [handle.ref]),
                all_properties(self._bus, [handle.ref], "Accessible", "Name"),
                self._bus.ask(*handle.ref, "Accessible", "GetRole"),
            )
            if states is None:
                return False
            return (role_name(role or 0), name, states & _TELLING) == handle.said

        return bool(self._asked(element_id, compared))

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
        await asyncio.sleep(0)  # the loop has to see it closed
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
        except ConnectionLost as error:  # the next reading connects again or raises it
            logger.debug("Reading at rest ended: %s", error)

    async def _extents_now(self, handle: _Handle) -> Rect | None:
        rect, [states] = await asyncio.gather(extents(self._bus, handle.ref), all_states(self._bus, [handle.ref]))
        if rect is None or not rect.area or states is None or states & handle.shows != handle.shows:
            return None
        return rect.scaled(handle.scale).moved(*handle.shift)

    def _asked(
        self, element_id: int, question: Callable[[_Handle], Coroutine[Any, Any, Result | None]]
    ) -> Result | None:
        """Return what an element answers now; None for an unknown one, or without the bus."""
        handle = self._handles.get(element_id)
        try:
            return None if handle is None else self._run(question(handle))
        except ConnectionLost:
            return None

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


def _documents(applications: Iterable[Application]) -> Documents:
    shown = [
        node
        for application in applications
        if application.holders
        for node in application.nodes.values()
        if node.role.startswith("document") and node.has(application.shows_by)
    ]
    filled = frozenset(node.ref for node in shown if node.child_count)
    return Documents(filled, frozenset(node.ref for node in shown) - filled)

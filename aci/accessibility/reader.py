"""Concurrent reading of all applications."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from aci.accessibility.atspi import PREFIX, REGISTRY_NAME, ROOT_PATH, Ref, object_ref
from aci.accessibility.dbus.bus import CALL_LIMIT_S, DBUS_NAME, DBUS_PATH, PING_LIMIT_S, Bus, CallRefused, PeerSilent
from aci.accessibility.dbus.signals import Touched, united
from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.kept_drafts import KeptDrafts
from aci.accessibility.elements.placement import Named
from aci.accessibility.elements.window_drafts import Drawn, draft_all
from aci.accessibility.elements.windows import correct_windows
from aci.accessibility.reading import Lost
from aci.accessibility.tree.capture import find_unlisted, get_property, read_tree, showing, top_refs, tops_with
from aci.accessibility.tree.chromium import note_scrolled, show_choices
from aci.accessibility.tree.details import read_details
from aci.accessibility.tree.gecko import find_spilling, show_boxless
from aci.accessibility.tree.gtk_menus import show_open_menus
from aci.accessibility.tree.java import name_entries
from aci.accessibility.tree.names import LONGEST_NAME, collapse, is_java
from aci.accessibility.tree.nodes import Application
from aci.accessibility.tree.refresh_scope import LateAreas, areas_by_window, joined, lags, own_windows, scope_of
from aci.accessibility.tree.tables import KnownTables, read_tables
from aci.accessibility.tree.update import update_tree
from aci.accessibility.tree.webkit import show_embedded
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.processes import without_version

SHORTEST_LIMIT_S = 1.0  # the limit of a slow application is halved at each look, down to this
WHOLE_AGAIN_S = 20.0  # after this long a slow application gets its full limit again

EMPTY_READINGS = 3  # consecutive looks at which an application with an empty window is read completely

_NO_REGISTRY = "The accessibility registry does not answer; applications that started lately are missing."
_logger = logging.getLogger(__name__)

# raised while reading an application whose answers are inconsistent
_NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
_CRASHES_AFTER_DIRECT = frozenset({"soffice"})  # now and then, when a client that bypassed the bus is gone


@dataclass(frozen=True, slots=True)
class Scene:
    """What all applications show, before other windows are taken into account."""

    drafts: tuple[Named, ...]  # with the name of their application, in reading order within each window
    notes: tuple[str, ...]  # what is missing and why
    misplaced: tuple[Window, ...]  # windows whose contents may not be where their application reports
    lost: tuple[Lost, ...] = ()  # applications that ended while they were read
    changed: frozenset[int] = frozenset()  # ids of windows in which anything may have changed since the latest scene
    silent: frozenset[int] = frozenset()  # processes of the applications that did not answer


@dataclass(frozen=True, slots=True)
class _Part:
    """What one application adds to a scene."""

    drawn: tuple[Drawn, ...] = ()
    note: str = ""
    misplaced: tuple[Window, ...] = ()
    changed: frozenset[int] = frozenset()  # ids of the windows that were drawn anew
    silent: bool = False  # whether the application did not answer

    @property
    def drafts(self) -> Iterator[Draft]:
        return (draft for one in self.drawn for draft in one.drafts)


class TimeLimits:
    """Time limits of applications that answer too slowly.

    The limit is halved at each look at which it was exceeded, and restored now and then.
    """

    def __init__(self, whole_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._whole_s = whole_s
        self._clock = clock
        self._late: dict[Ref, tuple[int, float]] = {}

    def limit_s(self, root: Ref) -> float:
        """Return the time limit of an application, s."""
        times, whole_at = self._late.get(root, (0, 0.0))
        if not times or self._clock() - whole_at >= WHOLE_AGAIN_S:
            return self._whole_s
        return max(SHORTEST_LIMIT_S, self._whole_s / (1 << min(times, 9)))

    def exceeded(self, root: Ref, limit_s: float) -> None:
        """Record that an application exceeded its limit."""
        times, whole_at = self._late.get(root, (0, 0.0))
        self._late[root] = (1, self._clock()) if limit_s == self._whole_s else (times + 1, whole_at)

    def restore(self, root: Ref) -> None:
        """Record that an application was read."""
        self._late.pop(root, None)


class Reader:
    """Reads all applications, and keeps what is known of each between looks.

    Args:
        bus: The accessibility bus.
        time_limits: How long reading each may take; by default that of the bus.
        clock: Monotonic clock, s.
        lasts: Whether the bus stays connected as long as the applications run.
    """

    def __init__(
        self,
        bus: Bus,
        time_limits: TimeLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
        lasts: bool = False,
    ) -> None:
        self._bus = bus
        self._lasts = lasts
        self._clock = clock
        self._late = LateAreas()
        self._time_limits = time_limits or TimeLimits(bus.application_limit_s)
        self._known: dict[Ref, Application] = {}
        self._parts: dict[Ref, _Part] = {}
        self._kept: dict[Ref, KeptDrafts] = {}
        self._empty_readings: Counter[Ref] = Counter()
        self._registry_answers = True
        self._partly_read: set[Ref] = set()
        self._renewed: set[Ref] = set()
        self._corrected: set[Ref] = set()
        self._read_since: tuple[Ref, float] | None = None  # the application that is being read again, and since when
        self._takes_s: dict[Ref, float] = {}  # how long that took, or had lasted when it was cancelled
        self._gently: set[str] = set()
        self._action_follows = False
        self._listing: asyncio.Task[list[Application]] | None = None

    def list_ahead(self) -> None:
        """Begin to list the applications, ahead of the first reading."""
        self._listing = asyncio.get_running_loop().create_task(self._applications())

    async def read(self, windows: Sequence[Window], screen: Rect, areas: Sequence[Rect] | None = None) -> Scene:
        """Read what the applications of these windows (topmost first) show.

        `areas` are disjoint areas of the screen that changed since the latest reading, px; None reads everything again.

        Raises:
            ConnectionLost: The bus went away.
        """
        self._corrected.clear()
        pids = {window.pid for window in windows}
        known = self._known
        applications = [item for item in await self.applications() if item.pid in pids or None in pids]
        _assign_strangers(applications, windows)
        touched = self._bus.signals.take(name for item in applications for name in item.connections)
        late = self._late.take(areas, screen, self._clock())
        in_windows = with_late = areas_by_window(areas, windows) if areas is not None else None
        if areas is not None and any(lags(item) for item in applications):
            with_late = areas_by_window(joined(areas, late), windows)
        for item in applications:
            note_scrolled(item, windows, in_windows or {})
        if areas is None:
            self._parts.clear()
        if self._action_follows and areas is not None:
            active = {window.pid for window in windows if window.active}
            self._partly_read.update(item.root for item in applications if item.pid in active)
        self._action_follows = False
        self._parts = {item.root: self._parts[item.root] for item in applications if item.root in self._parts}
        self._kept = {item.root: self._kept.get(item.root) or KeptDrafts() for item in applications}
        parts = await asyncio.gather(
            *(
                self._part(
                    item,
                    windows,
                    screen,
                    united(touched[name] for name in item.connections),
                    with_late if lags(item) else in_windows,
                )
                for item in applications
            )
        )
        return Scene(
            tuple(
                (draft, _name_in(item, draft.window))
                for item, part in zip(applications, parts, strict=True)
                for draft in part.drafts
            ),
            (
                *(part.note for part in parts if part.note),
                *(() if self._registry_answers else (_NO_REGISTRY,)),
            ),
            tuple(window for part in parts for window in part.misplaced),
            tuple(self._lost({**known, **self._known}.values())),
            frozenset(window for part in parts for window in part.changed),
            frozenset(item.pid for item, part in zip(applications, parts, strict=True) if part.silent),
        )

    def read_gently(self, name: str) -> None:
        """From now on ask applications of this name for one property of one object at a time."""
        self._gently.add(name)
        for application in self._known.values():
            self._spare(application)

    def _spare(self, application: Application) -> None:
        if application.name in self._gently:
            application.gently = True
            self._bus.ask_singly(application.root.name)

    def _lost(self, applications: Iterable[Application]) -> Iterator[Lost]:
        for application in applications:
            if application.root.name in self._bus.hung_up:
                self._bus.hung_up.discard(application.root.name)
                yield Lost(application.name, application.pid, application.session)

    def prepare_for_action(self) -> None:
        """Count the active application as changed, because an action on it follows."""
        self._action_follows = True

    async def read_again(self) -> None:
        """Completely read the applications that were only read partly since, one after another.

        This corrects what neither events nor pixels reported. It may be cancelled at any time: an application is
        replaced in one go. One that does not answer keeps its state.

        Raises:
            ConnectionLost: The bus went away.
        """
        for root in sorted(self._partly_read):
            anew = await self._timed(root)
            self._partly_read.discard(root)
            if anew is None:
                continue
            self._time_limits.restore(root)  # with time enough it can be read
            known, self._known[root] = self._known[root], anew
            if _reported(anew) != _reported(known):
                self._corrected.add(root)
            self._renewed.add(root)

    def ends_within(self, limit_s: float) -> bool:
        """Return whether `read_again`, going by how long it took before, ends its present application by then."""
        if self._read_since is None:
            return True
        root, began = self._read_since
        return self._takes_s.get(root, 0.0) <= self._clock() - began + limit_s

    async def _timed(self, root: Ref) -> Application | None:
        began = self._clock()
        self._read_since = root, began
        try:
            anew = await self._read_apart(root)
            self._takes_s[root] = self._clock() - began
            return anew
        except asyncio.CancelledError:
            self._takes_s[root] = max(self._takes_s.get(root, 0.0), self._clock() - began)
            raise
        finally:
            self._read_since = None

    @property
    def was_corrected(self) -> bool:
        """Whether `read_again` has found something that the next reading will show and the latest did not."""
        return bool(self._corrected)

    async def _read_apart(self, root: Ref) -> Application | None:
        """Read an application completely, apart from its known state; None if it does not answer properly."""
        known = self._known.get(root)
        if known is None or self._bus.silent(root.name):
            return None
        anew = known.unread()
        try:
            async with asyncio.timeout(self._bus.application_limit_s):
                await self._read_whole(anew)
        except (CallRefused, TimeoutError, *_NONSENSE) as error:
            _logger.debug("%s could not be read at rest: %s", known.name, error)
            return None
        return None if self._bus.silent(root.name) else anew

    @property
    def known(self) -> list[Application]:
        """The applications of the latest reading."""
        return list(self._known.values())

    def by_connection(self) -> dict[str, Application]:
        """Return these applications by the unique names of their connections and of those that they embed."""
        return {name: application for application in self._known.values() for name in application.connections}

    async def applications(self) -> list[Application]:
        """Return the applications on the bus.

        Raises:
            ConnectionLost: The bus cannot be reached.
        """
        listing, self._listing = self._listing, None
        if listing is not None:
            await asyncio.gather(listing, return_exceptions=True)  # whatever went wrong goes wrong again below
        return await self._applications()

    async def _applications(self) -> list[Application]:
        await self._bus.connect()
        introduced = await asyncio.gather(*(self._application(ref) for ref in await self._registered()))
        self._known = {item.root: item for item in introduced if item is not None}
        return self.known

    async def _registered(self) -> list[Ref]:
        """Return the roots of all applications; the known ones if the registry does not answer."""
        self._bus.forgive(REGISTRY_NAME)
        limit_s = CALL_LIMIT_S if self._registry_answers else PING_LIMIT_S
        get_children = (REGISTRY_NAME, ROOT_PATH, PREFIX + "Accessible", "GetChildren")
        try:
            [children] = await self._bus.call(*get_children, limit_s=limit_s)
        except CallRefused:
            self._registry_answers = False
            return list(self._known)
        self._registry_answers = True
        return list(dict.fromkeys(ref for child in children if (ref := object_ref(child)) is not None))

    async def _application(self, root: Ref) -> Application | None:
        known = self._known.get(root)
        if known is not None:
            return known
        get_pid = (DBUS_NAME, DBUS_PATH, DBUS_NAME, "GetConnectionUnixProcessID")
        try:
            [pid] = await self._bus.call(*get_pid, "s", [root.name])
        except CallRefused:
            return None
        application = Application(root, "", pid, "", session=_session_of(pid))
        await self._identify(application)
        return application

    async def _identify(self, application: Application) -> None:
        """Read the name and toolkit of an application; repeated later for one that does not answer."""
        root = application.root
        *values, address = await asyncio.gather(
            get_property(self._bus, root, "Accessible", "Name"),
            get_property(self._bus, root, "Application", "ToolkitName"),
            get_property(self._bus, root, "Application", "Version"),
            self._bus.ask(*root, "Application", "GetApplicationBusAddress"),
        )
        name, toolkit, version = (each if isinstance(each, str) else "" for each in values)
        application.name = without_version(collapse(name)[:LONGEST_NAME])
        application.toolkit = f"{toolkit} {version}".strip()
        application.introduced = not self._bus.silent(root.name)
        self._spare(application)
        spared = self._gently if self._lasts else self._gently | _CRASHES_AFTER_DIRECT
        if isinstance(address, str) and address and application.name not in spared:
            await self._bus.connect_directly(root.name, address)

    async def _part(
        self,
        application: Application,
        windows: Sequence[Window],
        screen: Rect,
        touched: Touched,
        areas: Mapping[int, Sequence[Rect]] | None,
    ) -> _Part:
        """Read an application as far as needed, within its time limit."""
        bus, root = self._bus, application.root
        before = self._parts.pop(root, None)
        application.forget_cells(touched.anything, touched.parents)
        name = _shown_name(application, windows)
        silence = f"{name} does not answer; its elements are missing."
        if bus.silent(root.name) and not await self._answers(application):
            return _Part(note=silence, silent=True)
        limit_s = self._time_limits.limit_s(root)
        try:
            async with asyncio.timeout(limit_s):
                if not application.introduced:
                    await self._identify(application)
                await find_unlisted(bus, application, touched.objects)
                if before is None or areas is None:
                    application.windows = own_windows(windows, application.pid)
                    await self._read_whole(application)
                    self._partly_read.discard(root)
                    known = []
                else:
                    changed = await self._update(application, windows, touched, areas)
                    if not changed:
                        return self._keep(application, windows, replace(before, changed=frozenset()))
                    known = [one for one in before.drawn if one.top.ref not in changed]
            drawn, unsure = draft_all(application, windows, screen, known, self._kept[root])
        except CallRefused:
            self._time_limits.exceeded(root, limit_s)
            return _Part(note=silence, silent=True)
        except TimeoutError:
            self._time_limits.exceeded(root, limit_s)
            self._partly_read.add(root)
            return _Part(note=f"{name} took more than {limit_s:g} s to read; its elements are missing.")
        except _NONSENSE:
            # Whatever one application says, the others must be seen.
            _logger.warning("%s could not be read", name, exc_info=True)
            return _Part(note=f"{name} reports a tree that makes no sense; its elements are missing.")
        anew = frozenset(one.window.id for one in drawn if all(one is not other for other in known))
        part = _Part(tuple(drawn), misplaced=tuple(unsure), changed=anew)
        if bus.silent(root.name):
            self._time_limits.exceeded(root, limit_s)
            return replace(part, note=silence, silent=True)
        self._time_limits.restore(root)
        if application.cut:
            part = replace(part, note=f"{name} shows more than can be read; the rest of its elements is missing.")
        return self._keep(application, windows, part)

    def _keep(self, application: Application, windows: Sequence[Window], part: _Part) -> _Part:
        application.windows = own_windows(windows, application.pid)
        filled = {draft.window.id for draft in part.drafts}
        if all(window.pid is None or window.id in filled for window in application.windows):
            del self._empty_readings[application.root]
        else:
            self._empty_readings[application.root] += 1
        self._parts[application.root] = part
        return part

    async def _read_whole(self, application: Application) -> None:
        await read_tree(self._bus, application)
        await show_open_menus(self._bus, application)
        await show_choices(self._bus, application)
        name_entries(application)
        await show_boxless(self._bus, application)
        await show_embedded(self._bus, application)
        await read_details(self._bus, application, showing(application))
        await find_spilling(self._bus, application)
        await read_tables(self._bus, application)
        application.forget_the_gone()

    async def _update(
        self,
        application: Application,
        windows: Sequence[Window],
        touched: Touched,
        areas: Mapping[int, Sequence[Rect]],
    ) -> Set[Ref]:
        """Update the state of an application; return its windows whose elements must be made again."""
        roots = await top_refs(self._bus, application)
        if self._bus.silent(application.root.name):
            raise PeerSilent(f"{application.root.name} does not answer")
        now = own_windows(windows, application.pid)
        scope = scope_of(application.windows, now, areas, touched)
        bare = 0 < self._empty_readings[application.root] <= EMPTY_READINGS
        renewed = application.root in self._renewed
        self._renewed.discard(application.root)
        if not (scope or bare) and roots == [top.ref for top in application.tops]:
            return _tops(application) if renewed else frozenset()
        if renewed:
            scope = replace(scope, redrawn=True)
            correct_windows(application, application.windows)
        application.windows = now
        if touched.anything or bare or (scope.redrawn and not application.patchy):
            await self._read_whole(application)
            self._partly_read.discard(application.root)
            return _tops(application)
        self._partly_read.add(application.root)
        tables = KnownTables(application, scope)
        changed = await update_tree(self._bus, application, roots, scope)
        changed |= await tables.read(self._bus)
        application.forget_the_gone()
        if self._bus.silent(application.root.name):
            raise PeerSilent(f"{application.root.name} stopped answering")
        if scope.redrawn:
            return _tops(application)
        within = tops_with(application, changed)
        if not within:
            correct_windows(application, windows)
        return within

    async def _answers(self, application: Application) -> bool:
        name = application.root.name
        self._bus.forgive(name)
        try:
            await self._bus.call(*application.root, PREFIX + "Accessible", "GetRole", limit_s=PING_LIMIT_S)
        except CallRefused:
            return not self._bus.silent(name)
        return True


def _reported(application: Application) -> list[Hashable]:
    """Return what an application reports of its visible objects, without what they are.

    LibreOffice makes new objects of its cells at each reading.
    """
    return [
        (
            *(node.as_reported or (node.role, node.name, node.states, node.child_count)),
            *(node.description, node.reported_rect, node.text, node.caret, node.selection, node.value, node.choice),
        )
        for node in showing(application)
    ]


def _tops(application: Application) -> frozenset[Ref]:
    return frozenset(top.ref for top in application.tops)


def _assign_strangers(applications: Sequence[Application], windows: Sequence[Window]) -> None:
    """Tell each application which connections belong to others, which have windows of their own."""
    pids = {window.pid for window in windows}
    owners = frozenset(item.root.name for item in applications if item.pid in pids)
    for application in applications:
        application.strangers = owners - {application.root.name}


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _name_in(application: Application, window: Window) -> str:
    """Return the name of an application; Java gives the title of its first window for it."""
    return (is_java(application) and window.app) or application.name


def _shown_name(application: Application, windows: Sequence[Window]) -> str:
    of_window = next((window.app or window.title for window in windows if window.pid == application.pid), "")
    return application.name or of_window or f"Process {application.pid}"

"""Reads all applications side by side, one store of nodes each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aci.accessibility.atspi import REGISTRY_NAME, ROOT_PATH
from aci.accessibility.bus import DBUS_NAME, DBUS_PATH, Bus, CallRefused, PeerSilent
from aci.accessibility.details import read_details
from aci.accessibility.elements import Draft, draft_elements
from aci.accessibility.nodes import Application, Node, Ref
from aci.accessibility.scene import Named, mark_active_cells
from aci.accessibility.scope import areas_by_window, own_windows, scope_of
from aci.accessibility.signals import Touched
from aci.accessibility.tables import TablesBefore, read_tables
from aci.accessibility.tree import child_refs, get_property, read_tree, showing
from aci.accessibility.update import update_tree
from aci.accessibility.windows import match_windows, mend_extents
from aci.geometry import Rect
from aci.observation import Window

APPLICATION_LIMIT_S = 8.0
"""Longest time that one application may take, though it answers."""
PING_LIMIT_S = 0.3
"""How long an application that was silent before is waited for."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What all applications show, before other windows are taken into account.

    Attributes:
        drafts: With the name of their application, in reading order within each window.
        notes: What is missing and why.
        misplaced: Windows whose contents may not be where their application says.
    """

    drafts: tuple[Named, ...]
    notes: tuple[str, ...]
    misplaced: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one application adds to a scene."""

    drafts: tuple[Named, ...] = ()
    note: str = ""
    misplaced: tuple[Window, ...] = ()


class Reader:
    """Keeps what is known of each application from one look to the next."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._known: dict[Ref, Application] = {}
        self._parts: dict[Ref, _Part] = {}

    async def read(self, windows: Sequence[Window], screen: Rect, areas: Sequence[Rect] | None = None) -> Scene:
        """Read what the applications of these windows show.

        Args:
            windows: Topmost first.
            screen: The whole screen, px.
            areas: Where the screen looks different than at the latest reading, px, disjoint; None where that is not
                known, so that everything is read anew.

        Raises:
            ConnectionLost: The bus went away.
        """
        applications = [item for item in await self.applications() if _has_window(item, windows)]
        touched = self._bus.signals.take(item.root.name for item in applications)
        in_windows = areas_by_window(areas, windows) if areas is not None else None
        if areas is None:
            self._parts.clear()
        self._parts = {item.root: self._parts[item.root] for item in applications if item.root in self._parts}
        parts = await asyncio.gather(
            *(self._part(item, windows, screen, touched[item.root.name], in_windows) for item in applications)
        )
        return Scene(
            tuple(draft for part in parts for draft in part.drafts),
            tuple(part.note for part in parts if part.note),
            tuple(window for part in parts for window in part.misplaced),
        )

    def by_connection(self) -> dict[str, Application]:
        """Return the applications of the latest reading by the unique name of their connection."""
        return {root.name: application for root, application in self._known.items()}

    async def applications(self) -> list[Application]:
        """Return the applications on the bus.

        Raises:
            ConnectionLost: The bus cannot be reached.
        """
        await self._bus.connect()
        children = await self._bus.ask(REGISTRY_NAME, ROOT_PATH, "Accessible", "GetChildren")
        refs = [Ref(*child) for child in children or () if not child[1].endswith("/null")]
        introduced = await asyncio.gather(*(self._introduce(ref) for ref in refs))
        self._known = {item.root: item for item in introduced if item is not None}
        return list(self._known.values())

    async def _introduce(self, root: Ref) -> Application | None:
        known = self._known.get(root)
        if known is not None:
            return known
        name, toolkit, version = await asyncio.gather(
            get_property(self._bus, root, "Accessible", "Name"),
            get_property(self._bus, root, "Application", "ToolkitName"),
            get_property(self._bus, root, "Application", "Version"),
        )
        try:
            pid = (
                await self._bus.call(DBUS_NAME, DBUS_PATH, DBUS_NAME, "GetConnectionUnixProcessID", "s", [root.name])
            )[0]
        except CallRefused:
            return None
        return Application(root, str(name or ""), int(pid), f"{toolkit or ''} {version or ''}".strip())

    async def _part(
        self,
        application: Application,
        windows: Sequence[Window],
        screen: Rect,
        touched: Touched,
        areas: Mapping[int, Sequence[Rect]] | None,
    ) -> _Part:
        """Read an application as far as it is needed, within its time."""
        bus, root = self._bus, application.root
        before = self._parts.pop(root, None)
        if bus.silent(root.name) and not await self._answers(application):
            return _Part(note=_silence(application))
        try:
            async with asyncio.timeout(APPLICATION_LIMIT_S):
                if before is None or areas is None:
                    await self._read_whole(application)
                elif not await self._update(application, windows, touched, areas):
                    return self._keep(application, windows, before)
        except CallRefused:
            return _Part(note=_silence(application))
        except TimeoutError:
            note = f"{_called(application)} took more than {APPLICATION_LIMIT_S:g} s to read; its elements are missing."
            return _Part(note=note)
        drafts, unsure = draft_all(application, windows, screen)
        part = _Part(tuple((draft, application.name) for draft in drafts), misplaced=tuple(unsure))
        if bus.silent(root.name):
            return replace(part, note=_silence(application))
        return self._keep(application, windows, part)

    def _keep(self, application: Application, windows: Sequence[Window], part: _Part) -> _Part:
        application.windows = own_windows(windows, application.pid)
        self._parts[application.root] = part
        return part

    async def _read_whole(self, application: Application) -> None:
        await read_tree(self._bus, application)
        await read_details(self._bus, application, showing(application))
        await read_tables(self._bus, application)
        application.forget_the_gone()

    async def _update(
        self,
        application: Application,
        windows: Sequence[Window],
        touched: Touched,
        areas: Mapping[int, Sequence[Rect]],
    ) -> bool:
        """Bring what is known of an application up to date; return whether its elements have to be made anew."""
        roots = await child_refs(self._bus, application.root)
        if self._bus.silent(application.root.name):
            raise PeerSilent(f"{application.root.name} does not answer")
        now = own_windows(windows, application.pid)
        own_areas = [area for window in now for area in areas.get(window.id, ())]
        scope = scope_of(application.windows, now, own_areas, touched)
        if not scope and roots == [top.ref for top in application.tops]:
            return False
        if touched.anything or not application.patchy:
            await self._read_whole(application)
            return True
        tables = TablesBefore(application, scope)
        changed = await update_tree(self._bus, application, roots, scope)
        changed |= await tables.read(self._bus)
        application.forget_the_gone()
        if self._bus.silent(application.root.name):
            raise PeerSilent(f"{application.root.name} stopped answering")
        if changed or scope.redrawn:
            return True
        _mend(application, windows)
        return False

    async def _answers(self, application: Application) -> bool:
        name = application.root.name
        self._bus.forgive(name)
        try:
            await self._bus.call(name, application.root.path, "org.freedesktop.DBus.Peer", "Ping", limit_s=PING_LIMIT_S)
        except CallRefused:
            return not self._bus.silent(name)
        return True


def draft_all(application: Application, windows: Sequence[Window], screen: Rect) -> tuple[list[Draft], list[Window]]:
    """Return what an application shows in all its windows, and those whose contents may not be where it says."""
    drafts: list[Draft] = []
    placed, unsure = _mend(application, windows)
    for top, window in placed:
        found = draft_elements(application, top, window, windows, screen)
        mark_active_cells(found)
        drafts += found
    return drafts, unsure


def _mend(application: Application, windows: Sequence[Window]) -> tuple[list[tuple[Node, Window]], list[Window]]:
    """Mend the extents in all windows; return these with their X11 windows, and those that may still be misplaced."""
    matched = match_windows(application, windows)
    placed = [(top, matched[top.ref]) for top in application.tops if top.ref in matched]
    return placed, [window for top, window in placed if not mend_extents(application, top, window, windows)]


def _has_window(application: Application, windows: Sequence[Window]) -> bool:
    return any(window.pid is None or window.pid == application.pid for window in windows)


def _called(application: Application) -> str:
    return application.name or f"Process {application.pid}"


def _silence(application: Application) -> str:
    return f"{_called(application)} does not answer; its elements are missing."

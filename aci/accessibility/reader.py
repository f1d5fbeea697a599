"""Reads all applications side by side, one store of nodes each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from aci.accessibility.atspi import REGISTRY_NAME, ROOT_PATH, StateBit
from aci.accessibility.bus import DBUS_NAME, DBUS_PATH, Bus, CallRefused
from aci.accessibility.details import read_details
from aci.accessibility.elements import Draft, draft_elements
from aci.accessibility.nodes import Application, Node, Ref
from aci.accessibility.scene import Named, mark_active_cells
from aci.accessibility.tree import get_property, is_managed, read_tree, showing
from aci.accessibility.view import read_rows, read_view
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


class Reader:
    """Keeps what is known of each application from one look to the next."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._known: dict[Ref, Application] = {}

    async def read(self, windows: Sequence[Window], screen: Rect) -> Scene:
        """Read what the applications of these windows show.

        Raises:
            ConnectionLost: The bus went away.
        """
        applications = [item for item in await self.applications() if _has_window(item, windows)]
        results = await asyncio.gather(*(self._read(item, windows, screen) for item in applications))
        drafts: list[Named] = []
        notes: list[str] = []
        misplaced: list[Window] = []
        for application, (found, note, unsure) in zip(applications, results, strict=True):
            drafts += [(draft, application.name) for draft in found]
            notes += [note] if note else []
            misplaced += unsure
        return Scene(tuple(drafts), tuple(notes), tuple(misplaced))

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

    async def _read(
        self, application: Application, windows: Sequence[Window], screen: Rect
    ) -> tuple[list[Draft], str, list[Window]]:
        """Return drafts, a note where something is missing, and the windows whose contents may be misplaced."""
        bus, name = self._bus, application.root.name
        if bus.silent(name) and not await self._answers(application):
            return [], _silence(application), []
        try:
            async with asyncio.timeout(APPLICATION_LIMIT_S):
                await read_tree(bus, application)
                await read_details(bus, application, showing(application))
                await self._read_views(application)
                application.forget_the_gone()
        except CallRefused:
            return [], _silence(application), []
        except TimeoutError:
            note = f"{_called(application)} took more than {APPLICATION_LIMIT_S:g} s to read; its elements are missing."
            return [], note, []
        drafts, unsure = _drafts(application, windows, screen)
        return drafts, _silence(application) if bus.silent(name) else "", unsure

    async def _answers(self, application: Application) -> bool:
        name = application.root.name
        self._bus.forgive(name)
        try:
            await self._bus.call(name, application.root.path, "org.freedesktop.DBus.Peer", "Ping", limit_s=PING_LIMIT_S)
        except CallRefused:
            return not self._bus.silent(name)
        return True

    async def _read_views(self, application: Application) -> None:
        """Add the visible cells of tables that are too large to be listed."""
        tables = [node for node in showing(application) if _is_large_table(node)]
        for table in tables:
            area = table.rect
            if area is None or not area.area:
                continue
            if _is_sheet(table):
                table.children = await read_view(self._bus, application, table, area)
            else:
                table.children = await read_rows(self._bus, application, table, area)
                await read_details(self._bus, application, table.children)
            application.nodes.update({node.ref: node for node in table.children})


def _drafts(application: Application, windows: Sequence[Window], screen: Rect) -> tuple[list[Draft], list[Window]]:
    drafts: list[Draft] = []
    unsure: list[Window] = []
    matched = match_windows(application, windows)
    for top in application.tops:
        window = matched.get(top.ref)
        if window is None:
            continue
        if not mend_extents(application, top, window, windows):
            unsure.append(window)
        found = draft_elements(application, top, window, windows, screen)
        mark_active_cells(found)
        drafts += found
    return drafts, unsure


def _has_window(application: Application, windows: Sequence[Window]) -> bool:
    return any(window.pid is None or window.pid == application.pid for window in windows)


def _is_large_table(node: Node) -> bool:
    """Tell whether the children of a table were not listed; a sheet may show single cells among its children."""
    return is_managed(node) and "Table" in node.interfaces and node.child_count != len(node.children)


def _is_sheet(table: Node) -> bool:
    return table.has(StateBit.EDITABLE) or table.role == "document spreadsheet"


def _called(application: Application) -> str:
    return application.name or f"Process {application.pid}"


def _silence(application: Application) -> str:
    return f"{_called(application)} does not answer; its elements are missing."

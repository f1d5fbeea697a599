"""The windows of another machine: as its X server knows them, or else as its accessibility tree shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from aci.accessibility.atspi import StateBit
from aci.accessibility.elements.windows import SAME_PLACE
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding, overlap

POPUPS = frozenset({"menu", "popup menu", "tool tip", "window"})
"""Roles of windows without a title bar."""
_SHOWN = (StateBit.SHOWING | StateBit.VISIBLE).value


class _Listed(BaseModel):
    """One window as `aci.remote.on_machine` prints it."""

    id: Annotated[int, Field(gt=0)]
    title: str
    app: str
    rect: tuple[int, int, int, int]
    active: bool
    popup: bool
    pid: int | None
    modal: bool
    frame: tuple[int, int, int, int] | None

    def window(self) -> Window:
        """Return it as the rest of the package knows windows."""
        rect = Rect(*self.rect)
        framed = None
        if self.frame is not None and any(self.frame):
            left, right, top, bottom = self.frame
            framed = Rect(rect.x - left, rect.y - top, rect.width + left + right, rect.height + top + bottom)
        title = "" if self.popup else self.title
        return Window(self.id, title, self.app, rect, self.active, self.popup, self.pid, self.modal, framed)


_LIST = TypeAdapter(list[_Listed])


def listed_windows(answer: object) -> tuple[Window, ...] | None:
    """Return the windows that a machine has listed, topmost first; None if it has not, or not properly."""
    try:
        return tuple(each.window() for each in _LIST.validate_python(answer))
    except ValidationError:
        return None


class TreeWindows:
    """Takes the windows from the accessibility tree, which knows neither their order nor their ids.

    Open menus are on top, then the active one, then dialogs, then smaller ones. Ids are negative, and stay the same for
    a title.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, int], int] = {}

    def of(self, applications: Sequence[Application], screen: Rect) -> tuple[Window, ...]:
        """Return the windows of applications, whose process ids are set to those of the windows."""
        found = []
        for number, application in enumerate(applications, start=1):
            application.pid = -number
            same: dict[str, int] = {}
            for top in application.tops:
                if not _is_visible(top, screen):
                    continue
                same[top.name] = same.get(top.name, 0) + 1
                found.append(_window(application, top, self._id(application, top.name, same[top.name])))
            for menu, rect in _open_menus(application):
                identity = self._id(application, menu.ref.path, 0)
                found.append(Window(identity, "", application.name, rect, popup=True, pid=application.pid))
        return tuple(sorted(found, key=lambda each: (not each.popup, not each.active, not each.modal, each.rect.area)))

    def _id(self, application: Application, name: str, number: int) -> int:
        return self._ids.setdefault((application.root.name, name, number), -1 - len(self._ids))


def _open_menus(application: Application) -> Iterator[tuple[Node, Rect]]:
    """Yield the menus whose entries show, with the box around these."""
    for node in application.nodes.values():
        if node.role == "menu":
            shown = [child for child in node.children if child.rect is not None and child.states & _SHOWN == _SHOWN]
            rects = [child.rect for child in shown if child.rect is not None and child.rect.area]
            if rects:
                yield node, bounding(rects)


def with_processes(applications: Sequence[Application], windows: Sequence[Window], screen: Rect) -> tuple[Window, ...]:
    """Set the process ids of applications to those of their windows, by title and place.

    Returns:
        The windows, and below them what has no window of the X server, such as the panel of the desktop's shell.
    """
    scored = [
        (_likeness(top, window), number, window.pid)
        for number, application in enumerate(applications)
        for top in application.tops
        for window in windows
        if window.pid is not None
    ]
    pids: dict[int, int] = {}
    for score, number, pid in sorted(scored, reverse=True):
        if score > 0 and number not in pids and pid not in pids.values():
            pids[number] = pid
    added = []
    for number, application in enumerate(applications):
        application.pid = pids.get(number, -1 - number)
        if number not in pids:
            shown = [top for top in application.tops if _is_visible(top, screen)]
            added += [_window(application, top, -(1000 * (number + 1) + place)) for place, top in enumerate(shown)]
    return (*windows, *added)


def _likeness(top: Node, window: Window) -> float:
    if window.popup:
        return 0.0
    place = overlap(top.rect, window.rect) if top.rect is not None else 0.0
    titled = bool(top.name) and top.name == window.title
    return 2 + place if titled else place if place >= SAME_PLACE else 0.0


def _is_visible(top: Node, screen: Rect) -> bool:
    return top.rect is not None and top.rect.intersection(screen) is not None and not top.has(StateBit.DEFUNCT)


def _window(application: Application, top: Node, identity: int) -> Window:
    assert top.rect is not None  # it is visible
    active, popup = top.has(StateBit.ACTIVE), top.role in POPUPS and not top.name
    return Window(
        id=identity,
        title="" if popup else top.name,
        app=application.name,
        rect=top.rect,
        active=active,
        popup=popup,
        pid=application.pid,
        modal=top.has(StateBit.MODAL) or top.role in ("dialog", "alert", "file chooser"),
    )

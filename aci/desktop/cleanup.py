"""What desktops leave behind when the process that owned them was killed, and how it is removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aci.desktop.applications import sockets_elsewhere
from aci.desktop.folders import DesktopPlace, places
from aci.desktop.private_session import remove_server_files
from aci.desktop.processes import belonging_to, bound_sockets, end, remove_sockets


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left of one desktop whose owner is gone.

    Attributes:
        desktop_id: Name of the desktop.
        folder: Its folder, with its home, sockets and logs.
        processes: Ids of its processes that still live.
        display: Number of its X display, or None where it never got one.
    """

    desktop_id: str
    folder: Path
    processes: tuple[int, ...]
    display: int | None


def find_remains(parent: Path | None = None) -> list[Remains]:
    """Return what is left of this user's desktops whose owner no longer lives.

    A desktop is left alone while the very process that started it runs (number and start time are compared), and so is
    a home that was asked to be kept.

    Args:
        parent: Where the desktops' common folder lies; by default the folder for temporary files.
    """
    return [_describe(place) for place in places(parent) if _abandoned(place)]


def remove_remains(remains: Iterable[Remains], grace_s: float = 0.5) -> list[Remains]:
    """End the processes and remove the folders, sockets and locks of abandoned desktops.

    Args:
        remains: What `find_remains` returned.
        grace_s: Seconds that applications get to end by themselves.

    Returns:
        Those of which something could not be removed.
    """
    return [item for item in remains if not _remove(item, grace_s)]


def _abandoned(place: DesktopPlace) -> bool:
    if place.kept:
        return False
    owner = place.read_owner()
    return owner is None or not owner.alive


def _describe(place: DesktopPlace) -> Remains:
    owner = place.read_owner()
    return Remains(
        desktop_id=place.id,
        folder=place.path,
        processes=tuple(sorted(belonging_to(place.id))),
        display=owner.display if owner else None,
    )


def _remove(item: Remains, grace_s: float) -> bool:
    if not _abandoned(DesktopPlace(item.folder)):
        return True  # Somebody else removed it, or it was kept, since it was found.
    sockets = bound_sockets(belonging_to(item.desktop_id))
    stuck = end(lambda: belonging_to(item.desktop_id), grace_s)
    if not stuck:
        remove_sockets(sockets | sockets_elsewhere(DesktopPlace(item.folder).home))
    if item.display is not None:
        remove_server_files(item.display)
    shutil.rmtree(item.folder, ignore_errors=True)
    return not stuck and not item.folder.exists()

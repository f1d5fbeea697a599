"""Removal of what desktops leave behind when their owner is killed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aci.applications.catalog import sockets_elsewhere
from aci.desktop.folders import DesktopFolder, desktop_folders
from aci.desktop.private_session import remove_server_files
from aci.processes import belonging_to, bound_sockets, end, remove_sockets

_GRACE_S = 0.5  # between asking processes to end and killing them


@dataclass(frozen=True, slots=True)
class AbandonedDesktop:
    """The remains of one desktop whose owner is gone."""

    desktop_id: str  # name of the desktop
    folder: Path  # its folder, with its home, sockets and logs
    processes: tuple[int, ...]  # ids of its processes that still live
    display: int | None  # number of its X display, or None where it never got one
    keeps_home: bool  # whether its home is to stay
    user: int  # number of the user whose it was


def find_abandoned(parent: Path | None = None) -> list[AbandonedDesktop]:
    """Return what is left of this user's desktops whose owner (process id and start time) no longer runs.

    Root gets those of all users. Homes that were to be kept stay. `parent` is the parent of the common folder of the
    desktops, by default the one for temporary files.
    """
    found = (_describe(place) for place in desktop_folders(parent) if _abandoned(place))
    return [one for one in found if one is not None]


def remove_abandoned(remains: Iterable[AbandonedDesktop]) -> list[AbandonedDesktop]:
    """End the processes of abandoned desktops and remove their files; return those of which some remain.

    What another user left stays, also for root: its record may name anything.
    """
    return [item for item in remains if not _remove(item)]


def remove_when_abandoned(place: DesktopFolder) -> None:
    """Wait until the owner of a desktop has ended, and remove what it left of it, if anything."""
    owner = place.read_owner()
    if owner is not None:
        owner.wait()
    found = _describe(place)
    if found is not None:
        remove_abandoned([found])


def _abandoned(place: DesktopFolder) -> bool:
    if place.kept:
        return False
    owner = place.read_owner()
    return owner is None or not owner.alive


def _describe(place: DesktopFolder) -> AbandonedDesktop | None:
    """Return what is left of a desktop; None if its owner has removed it meanwhile."""
    try:
        user = place.path.lstat().st_uid
    except FileNotFoundError:
        return None
    owner = place.read_owner()
    return AbandonedDesktop(
        desktop_id=place.id,
        folder=place.path,
        processes=tuple(sorted(belonging_to(place.id))),
        display=owner.display if owner else None,
        keeps_home=owner is not None and owner.keeps_home,
        user=user,
    )


def _remove(item: AbandonedDesktop) -> bool:
    if item.user != os.getuid():
        return False
    if not _abandoned(DesktopFolder(item.folder)):
        return True  # It was removed or kept since it was found.
    sockets = bound_sockets(belonging_to(item.desktop_id))
    stuck = end(lambda: belonging_to(item.desktop_id), _GRACE_S)
    if not stuck:
        remove_sockets(sockets | sockets_elsewhere(DesktopFolder(item.folder).home))
    if item.display is not None:
        remove_server_files(item.display)
    DesktopFolder(item.folder).remove(item.keeps_home)
    return not stuck and (item.keeps_home or not item.folder.exists())

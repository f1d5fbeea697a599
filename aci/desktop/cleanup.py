"""Cleanup of abandoned desktops, whose owner was killed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aci.applications.catalog import sockets_elsewhere
from aci.desktop.folders import DesktopFolder, desktop_folders
from aci.desktop.private_session import remove_server_files
from aci.processes import belonging_to, bound_sockets, end, remove_sockets

_GRACE_S = 0.5  # time between asking processes to end and killing them


@dataclass(frozen=True, slots=True)
class AbandonedDesktop:
    """The remains of one desktop whose owner is gone."""

    desktop_id: str  # name of the desktop
    folder: Path  # its folder, with its home, sockets and logs
    processes: tuple[int, ...]  # ids of its running processes
    display: int | None  # number of its X display; None if it never got one
    keeps_home: bool  # whether to keep its home
    user: int  # id of the user who owned it


def find_abandoned(parent: Path | None = None) -> list[AbandonedDesktop]:
    """Return this user's desktops whose owner process no longer runs; as root, those of all users.

    Args:
        parent: Parent of the common folder of all desktops; None for the folder for temporary files.
    """
    found = (_describe(place) for place in desktop_folders(parent) if _is_abandoned(place))
    return [one for one in found if one is not None]


def remove_abandoned(remains: Iterable[AbandonedDesktop]) -> list[AbandonedDesktop]:
    """End the processes of abandoned desktops and remove their files; return those that could not be fully removed.

    Desktops of other users are never removed, even by root: their owner records cannot be trusted.
    """
    return [item for item in remains if not _remove(item)]


def remove_when_abandoned(place: DesktopFolder) -> None:
    """Wait until the owner of a desktop has ended, and remove what it left behind."""
    owner = place.read_owner()
    if owner is not None:
        owner.wait()
    found = _describe(place)
    if found is not None:
        remove_abandoned([found])


def _is_abandoned(place: DesktopFolder) -> bool:
    if place.kept:
        return False
    owner = place.read_owner()
    return owner is None or not owner.alive


def _describe(place: DesktopFolder) -> AbandonedDesktop | None:
    """Return the remains of a desktop; None if its owner has removed it."""
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
    if not _is_abandoned(DesktopFolder(item.folder)):
        return True  # removed or kept in the meantime
    sockets = bound_sockets(belonging_to(item.desktop_id))
    stuck = end(lambda: belonging_to(item.desktop_id), _GRACE_S)
    if not stuck:
        remove_sockets(sockets | sockets_elsewhere(DesktopFolder(item.folder).home))
    if item.display is not None:
        remove_server_files(item.display)
    DesktopFolder(item.folder).remove(item.keeps_home)
    return not stuck and (item.keeps_home or not item.folder.exists())

"""Facts about a machine that do not depend on its screen."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from aci.applications.catalog import Catalog

_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")
_USER_DIR = re.compile(r'^\s*XDG_(\w+)_DIR\s*=\s*"(\$HOME)?/?([^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about a machine, its desktop and its user's folders; empty values are unknown."""

    system: str = ""  # operating system, such as "Debian GNU/Linux 12 (bookworm)"
    desktop: str = ""  # desktop environment or window manager, such as "Xfce"
    language: str = ""  # locale of the applications, such as "en_US.UTF-8"
    keyboard: str = ""  # keyboard layouts, such as "us" or "de,us"
    size: tuple[int, int] = (0, 0)  # width and height of the screen, px
    home: str = ""  # path of the home folder
    folders: tuple[str, ...] = ()  # the user's standard folders that exist, from "~" or "/"
    applications: tuple[str, ...] = ()  # names of the installed applications, for `switch_applications`
    display_names: Mapping[str, str] = field(
        default_factory=dict
    )  # of applications, by the name that their windows may report
    now: datetime | None = None  # date and time, with time zone


def read_machine(
    environment: Mapping[str, str],
    home: Path,
    size: tuple[int, int],
    catalog: Catalog,
    manager: str = "",
    keyboard: str = "",
) -> Machine:
    """Return the facts about this machine.

    Args:
        environment: Environment of the applications.
        home: Home folder of the applications.
        size: Width and height of the screen, px.
        catalog: The installed applications.
        manager: Name of the window manager, for desktops that do not name themselves.
        keyboard: Keyboard layouts.
    """
    return Machine(
        system=_system(),
        desktop=environment.get("XDG_CURRENT_DESKTOP", "").replace(":", ", ") or manager,
        language=next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""),
        keyboard=keyboard,
        size=size,
        home=str(home),
        folders=user_folders(environment, home),
        applications=tuple(sorted({application.name for application in catalog.applications}, key=str.casefold)),
        display_names=catalog.display_names(),
        now=datetime.now().astimezone(),
    )


def user_folders(environment: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Return the user's existing standard folders, from "~" or "/" (xdg-user-dirs 0.18, or else by their usual names).

    Args:
        environment: Environment variables, of which XDG_CONFIG_HOME is used.
        home: The home directory.
    """
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "user-dirs.dirs"
    try:
        listed = _USER_DIR.findall(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        listed = []
    folders = [home / path if in_home else Path("/") / path for _, in_home, path in listed]
    folders = folders or [home / name for name in _FOLDERS]
    found = dict.fromkeys(folder for folder in folders if folder != home and folder.is_dir())
    return tuple(f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder) for folder in found)


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {os.uname().release}"

"""System packages: the list in `configs/debian-packages.txt`, and whether each is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Literal, get_args

Group = Literal["base", "demo", "test", "toolkits", "optional"]

GROUPS: dict[str, Group] = {group: group for group in get_args(Group)}
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


@dataclass(frozen=True, slots=True)
class Package:
    """A package of the system."""

    names: tuple[str, ...]  # its name, then alternatives on other systems
    probe: str  # how to detect it: `program:NAME,NAME`, `font:FILE` or `file:PATTERN`
    group: Group  # what needs it: `base` for everything, `demo`, `test`, `toolkits` or `optional`
    purpose: str  # what it does, for a person

    @property
    def present(self) -> bool:
        """Whether its content is on this machine, from whichever package."""
        from aci.desktop.private_session import find_program

        kind, _, what = self.probe.partition(":")
        if kind == "program":
            return any(find_program(name) for name in what.split(","))
        if kind == "font":
            folders = (Path(folder).expanduser() for folder in FONT_FOLDERS)
            return any(next(folder.rglob(what), None) for folder in folders if folder.is_dir())
        return bool(glob(what))  # noqa: PTH207 - the pattern is absolute


def read_packages(path: Path) -> list[Package]:
    """Read the list of packages.

    Raises:
        ValueError: A line is invalid.
    """
    packages = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        names, probe, group, purpose = line.split(maxsplit=3)
        if group not in GROUPS:
            raise ValueError(f"{path}: {group!r} is not a group of packages")
        packages.append(Package(tuple(names.split("|")), probe, GROUPS[group], purpose))
    return packages


def missing(groups: Sequence[Group]) -> list[Package]:
    """Return the packages of some groups that are missing on this machine."""
    from agent_s.settings import configs_folder

    wanted = read_packages(configs_folder() / "debian-packages.txt")
    return [package for package in wanted if package.group in groups and not package.present]


def install_argv(packages: Iterable[Package]) -> tuple[str, ...]:
    """Return the command that installs packages, word by word; empty on a machine without apt-get."""
    if shutil.which("apt-get") is None:
        return ()
    before = () if os.geteuid() == 0 else ("sudo",)
    return (*before, "apt-get", "install", "-y", "--no-install-recommends", *(one.names[0] for one in packages))


def install_command(packages: Sequence[Package]) -> str:
    """Return the command that installs packages, or their Debian names on a machine without apt-get."""
    names = " ".join(package.names[0] for package in packages)
    other = f"install the equivalents of the Debian packages {names} with your package manager"
    return " ".join(install_argv(packages)) or other

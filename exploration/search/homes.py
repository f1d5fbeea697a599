"""The files in the home of a private desktop, and the settings that applications keep there."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_s.probes.preferences import KEYFILE, OF_TOOLKITS, read_settings

_IGNORED = (".cache", ".dbus", ".config/libreoffice", ".config/dconf", ".local/share/gvfs-metadata", "tmp")
"""Caches and by-products."""
_IGNORED_FILES = frozenset(
    {"recently-used.xbel", "recently-used.xbel.lock", ".ICEauthority", ".Xauthority", "user-dirs.dirs"}
)
_GEOMETRY = re.compile(
    r"/(?:session|height|width|left|top|x|y|maximized|fullscreen|is-maximized|window-.*|.*-(?:width|height|pos|position))$"
)  # sizes and places of windows and the last session, which applications record and nobody sets
_MOST_BYTES = 4_000_000
_LONGEST_PID = 12  # bytes of a file with a process id


@dataclass(frozen=True, slots=True)
class HomeState:
    """Digests of files by their path relative to the home, and settings by "group/key"."""

    files: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    def without(self, names: Collection[str]) -> HomeState:
        """Return this home without some files and settings."""
        files = {path: digest for path, digest in self.files.items() if path not in names}
        return HomeState(files, {key: value for key, value in self.settings.items() if key not in names})

    def with_hidden(self, other: HomeState) -> HomeState:
        """Return this home with the hidden files of another moment."""
        own = {path: digest for path, digest in self.files.items() if not is_hidden(path)}
        hidden = {path: digest for path, digest in other.files.items() if is_hidden(path)}
        return HomeState(own | hidden, self.settings)


def read_home(home: Path) -> HomeState:
    """Read a home, without caches and other by-products."""
    return HomeState(dict(_files(home)), _settings(home))


def is_hidden(path: str) -> bool:
    """Return whether a file, by its path relative to the home, is hidden, as those that only applications use are."""
    return any(part.startswith(".") for part in path.split("/"))


def _files(home: Path) -> Iterator[tuple[str, str]]:
    for folder, names, files in os.walk(home):
        relative = Path(folder).relative_to(home)
        names[:] = sorted(name for name in names if str(relative / name) not in _IGNORED)
        for name in sorted(files):
            path = relative / name
            if name in _IGNORED_FILES or path == KEYFILE or name.startswith((".goutputstream", ".~lock")):
                continue
            if not _is_lock(home / path):
                yield str(path), _digest(home / path)


def _is_lock(path: Path) -> bool:
    """Return whether a file is the lock of a running program: private to its owner, and holding a process id."""
    try:
        status = path.lstat()
        alone = stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
        content = path.read_bytes().strip(b"\0\n ") if alone and status.st_size <= _LONGEST_PID else b""
        return content.isdigit() and int(content) > 1 and Path("/proc", content.decode()).exists()
    except OSError:
        return False


def _digest(path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file():
            return "special"
        size = path.stat().st_size
        return f"{size} bytes" if size > _MOST_BYTES else hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return "gone"  # removed between listing and reading; the next look tells


def _settings(home: Path) -> dict[str, str]:
    return {
        key: value.replace(str(home), "~")
        for key, value in (read_settings(home) or {}).items()
        if not key.startswith(OF_TOOLKITS) and not _GEOMETRY.search(f"/{key}")
    }

"""Access control for probes: they read files that the task is about, never hidden files, external links or devices."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from intents.alignment import holds
from intents.text import tokens

MAX_BYTES = 20_000_000
CLOCK_S = 0.1  # resolution of file times, which is coarser than the clock of a process
_MAX_ENTRIES = 2000  # maximum number of listed entries per folder
_MAX_CHANGED = 20
_MAX_FOLDERS, _MAX_DEPTH = 300, 4  # maximum number of searched folders of a home, and of their levels


class NotReadable(Exception):
    """A file cannot or must not be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files that a task is about."""

    home: Path  # home of the applications
    wording: str  # the task and the points to judge, which name its files
    since: float  # when the task began, s since the epoch

    def find(self, path: str) -> Path:
        """Resolve the path of a probe; the file need not exist.

        Raises:
            NotReadable: The path is outside the places that the task is about, or ambiguous.
        """
        if "\0" in path:
            raise NotReadable("a path holds no null character")
        parts = PurePosixPath(path)
        if ".." in parts.parts:
            raise NotReadable("a path must not contain '..'")
        if path.startswith("~/"):
            return self._checked(self.home / parts.relative_to("~"))
        if parts.is_absolute():
            return self._checked(Path(path))
        if len(parts.parts) > 1:
            return self._checked(self.home / parts)
        found = [folder / path for folder in folders_of(self.home) if os.path.lexists(folder / path)]
        if len(found) > 1:
            raise NotReadable(f"there are several: {', '.join(map(self.shown, found))}; name one of them")
        return self._checked(found[0] if found else self.home / path)

    def shown(self, path: Path) -> str:
        """Return a path with "~" for the home."""
        return f"~/{path.relative_to(self.home)}" if path.is_relative_to(self.home) else str(path)

    def is_changed(self, path: Path) -> bool:
        """Return whether a file was written or renamed since the task began."""
        status = path.stat()
        return max(status.st_mtime, status.st_ctime) >= self.since - CLOCK_S

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            NotReadable: It is not a regular file, is too large, is unrelated to the task, or is an external link.
            OSError: It cannot be read.
        """
        real = self._checked(path.resolve(strict=True))
        # A device or a pipe must not block, and is not read.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotReadable("it is not a regular file")
            if status.st_size > MAX_BYTES:
                raise NotReadable(f"it has {status.st_size} bytes; at most {MAX_BYTES} are read")
            if not (self._is_named(path) or self.is_changed(path)):
                raise NotReadable("the task does not name it, and it was not changed since the task began")
            return file.read(MAX_BYTES)

    def changed_files(self) -> tuple[Path, ...]:
        """Return visible files in the folders of the home that were written or renamed since the task began."""
        found = []
        for folder in folders_of(self.home):
            for entry in _entries(folder):
                try:
                    if (
                        entry.name[0] != "."
                        and entry.is_file(follow_symlinks=False)
                        and self.is_changed(Path(entry.path))
                    ):
                        found.append(Path(entry.path))
                except OSError:  # it has been removed
                    continue
        return tuple(sorted(found)[:_MAX_CHANGED])

    def listed(self) -> frozenset[str] | None:
        """Return the visible files and folders in the home, with "~" for the home and a "/" after folders.

        None if there are too many to detect removed ones later.
        """
        folders = folders_of(self.home)
        if len(folders) == _MAX_FOLDERS:
            return None
        root = len(str(self.home))  # string slicing, since a home may contain many files
        found = {f"~{str(folder)[root:]}/" for folder in folders[1:]}
        for folder in folders:
            entries = list(_entries(folder))
            if len(entries) == _MAX_ENTRIES:
                return None
            found.update(
                f"~{entry.path[root:]}"
                for entry in entries
                if entry.name[0] != "." and not entry.is_dir(follow_symlinks=False)
            )
        return frozenset(found)

    def folder_names(self) -> tuple[str, ...]:
        """Return the names of the top-level visible folders in the home."""
        return tuple(folder.name for folder in folders_of(self.home) if folder.parent == self.home)

    def _checked(self, path: Path) -> Path:
        home = self.home.resolve()
        for root in (self.home, home):
            if path.is_relative_to(root):
                if any(part.startswith(".") for part in path.relative_to(root).parts):
                    raise NotReadable("hidden files are not read")
                return path
        named = [Path(token.value) for token in tokens(self.wording) if token.sort == "path"]
        if any(path == place or path.is_relative_to(place) for place in named if place.is_absolute() and place.name):
            return path
        raise NotReadable("it is neither in the home folder nor named by the task")

    def _is_named(self, path: Path) -> bool:
        return holds(self.wording, path.name) or holds(self.wording, path.stem)


def folders_of(home: Path) -> list[Path]:
    """Return a home and its visible folders in breadth-first order, at most `_MAX_FOLDERS`."""
    found = level = [home]
    for _ in range(_MAX_DEPTH):
        inside = (entry for folder in level for entry in sorted(_entries(folder), key=lambda entry: entry.name))
        level = [Path(entry.path) for entry in inside if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)]
        found = [*found, *level][:_MAX_FOLDERS]
        if len(found) == _MAX_FOLDERS:
            break
    return found


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from islice(entries, _MAX_ENTRIES)
    except OSError:  # an unreadable folder counts as empty
        return

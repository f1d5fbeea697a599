"""Folders of private desktops, and records of their owners."""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from aci.errors import StartFailed
from aci.processes import boot_id, start_ticks

_COMMON = "agent-s-"
_PREFIX = "desktop-"
_OWNER_FILE = "owner.json"
_KEPT_FILE = "kept"
_MAX_PARENT = 27  # bytes; the socket paths below it, a browser's being the longest, must fit the 107 of sockaddr_un


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that owns a private desktop, and its display."""

    pid: int
    started: int  # start time, clock ticks since boot
    boot: str  # id of the boot
    display: int | None = None  # number of the X display; None if unknown
    keeps_home: bool = False  # whether to keep the home when the desktop is removed

    @classmethod
    def this_process(cls, keeps_home: bool = False) -> Owner:
        """Return the calling process as an owner."""
        pid = os.getpid()
        started = start_ticks(pid)
        assert started is not None  # the calling process is running
        return cls(pid=pid, started=started, boot=boot_id(), keeps_home=keeps_home)

    @property
    def alive(self) -> bool:
        """Whether the process still runs, and is not another one with a reused id."""
        return self.boot == boot_id() and start_ticks(self.pid) == self.started

    def wait(self) -> None:
        """Wait until the process has ended."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive:  # checked after opening the handle, which therefore refers to the same process
                select.select([handle], [], [])
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class DesktopFolder:
    """The folder of one private desktop."""

    path: Path  # the folder itself, mode 0700

    @property
    def id(self) -> str:
        """Name of the desktop, unique on the machine."""
        return self.path.name.removeprefix(_PREFIX)

    @property
    def home(self) -> Path:
        """Default HOME of the desktop's applications."""
        return self.path / "home"

    @property
    def run(self) -> Path:
        """XDG_RUNTIME_DIR, which contains the sockets."""
        return self.path / "run"

    @property
    def tmp(self) -> Path:
        """TMPDIR."""
        return self.path / "tmp"

    @property
    def logs(self) -> Path:
        """Output of the desktop's programs."""
        return self.path / "logs"

    @property
    def kept(self) -> bool:
        """Whether the folder was left in place in order to keep its home."""
        return (self.path / _KEPT_FILE).exists()

    def remove(self, keep_home: bool) -> None:
        """Remove the folder; with `keep_home`, all of it but the home, and the folder has no owner any more."""
        if not keep_home:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        (self.path / _KEPT_FILE).touch()
        (self.path / _OWNER_FILE).unlink(missing_ok=True)
        for part in (self.run, self.tmp, self.logs):
            shutil.rmtree(part, ignore_errors=True)

    def write_owner(self, owner: Owner) -> None:
        """Record the owner atomically."""
        fresh = self.path / f"{_OWNER_FILE}.new"
        fresh.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        fresh.replace(self.path / _OWNER_FILE)

    def record_display(self, number: int) -> None:
        """Add the number of the X display to the record of the owner."""
        owner = self.read_owner()
        assert owner is not None  # written when the folder was created
        self.write_owner(replace(owner, display=number))

    def read_owner(self) -> Owner | None:
        """Return the owner, or None if the record is missing or incomplete."""
        try:
            return TypeAdapter(Owner).validate_json((self.path / _OWNER_FILE).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None


def common_folder(parent: Path | None = None) -> Path:
    """Return the folder of all private desktops of this user; it need not exist.

    By default it lies in the folder for temporary files, or in /tmp if that path is too long for sockets.
    """
    base = parent or Path(tempfile.gettempdir())
    if parent is None and _too_long(base):
        base = Path("/tmp")
    return base / f"{_COMMON}{os.getuid()}"


def create_folder(parent: Path | None = None, keeps_home: bool = False) -> DesktopFolder:
    """Create the folder of a new desktop, owned by the calling process.

    Raises:
        StartFailed: The common folder is not private to this user or not writable, or its path is too long.
    """
    if parent is not None and _too_long(parent):
        raise StartFailed(f"The path {parent} is too long for sockets; use one of at most {_MAX_PARENT} bytes.")
    folder = common_folder(parent)
    token = secrets.token_hex(5)
    unowned = DesktopFolder(folder / f".{token}")  # under the final name, it would count as abandoned without an owner
    place = DesktopFolder(folder / f"{_PREFIX}{token}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(folder)
        unowned.path.mkdir(mode=0o700)
        unowned.write_owner(Owner.this_process(keeps_home))
        unowned.path.rename(place.path)
        for part in (place.run, place.tmp, place.logs):
            part.mkdir(mode=0o700)
    except BaseException as error:  # even Ctrl-C, since nothing else knows of this folder yet
        for path in (unowned.path, place.path):
            shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, OSError):
            raise StartFailed(f"Cannot create the folder of a private desktop in {folder}: {error}") from error
        raise
    return place


def desktop_folders(parent: Path | None = None) -> Iterator[DesktopFolder]:
    """Yield the folders of this user's desktops, including those of other processes; as root, of all users.

    A process in a user namespace names its folder after its user id there.
    """
    for folder in sorted(common_folder(parent).parent.glob(f"{_COMMON}*")):
        if folder.name.removeprefix(_COMMON).isdigit() and (_is_private(folder) or os.getuid() == 0):
            yield from (DesktopFolder(path) for path in sorted(folder.glob(f"{_PREFIX}*")) if path.is_dir())


def _too_long(parent: Path) -> bool:
    return len(os.fsencode(parent)) > _MAX_PARENT


def _is_private(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _check_private(folder: Path) -> None:
    if not _is_private(folder):
        raise StartFailed(f"{folder} is not a folder that only you can access; remove it or set another TMPDIR.")

"""The processes of this machine, and those of a private desktop.

Applications fork twice, open sessions of their own and overwrite their environment. A process belongs to a desktop if
it carries the desktop's mark in its environment, shares a session with one that does, or descends from one.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "AGENT_S_DESKTOP"  # environment variable of every process of a private desktop; its value is the desktop's id

_PROC = Path("/proc")
_VERSION = re.compile(r"(?<=\w)-\d+(?:\.\d+)+$")
_POLL_S = 0.005
_KNOWN_S = 10.0  # the ids of ended processes are not reused as soon as this
_LONGEST_STAT = 4096  # bytes; its 52 fields are numbers, but for a short name


@dataclass(frozen=True, slots=True)
class Stat:
    """What the kernel says of a process; see proc_pid_stat(5)."""

    pid: int
    program: str  # name of its program, at most 15 characters
    state: str
    parent: int
    group: int
    session: int
    terminal: int  # device number of its terminal, 0 for none
    foreground: int  # the process group in the foreground of that terminal, or -1
    ran: int  # processor time that it took, in clock ticks
    started: int  # when it started, in clock ticks since boot


def without_version(name: str) -> str:
    """Return the name of a program or application without the version at its end, as in "gimp-2.10"."""
    return _VERSION.sub("", name)


def start_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot, or None if there is none; process ids are reused."""
    stat = read_stat(pid)
    return None if stat is None or stat.state == "Z" else stat.started


def boot_id() -> str:
    """Return the kernel's id of the current boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def belonging_to(desktop_id: str) -> set[int]:
    """Return the ids of a desktop's running processes, without the calling one."""
    stats = living()
    needle = f"{MARK}={desktop_id}".encode()
    found = {pid for pid in stats if needle in _environment(pid)}
    grown = True
    while grown:
        sessions = {stats[pid].session for pid in found} - {stats[os.getpid()].session}
        more = {pid for pid, stat in stats.items() if stat.session in sessions or stat.parent in found} - found
        grown = bool(more)
        found |= more
    return found - {os.getpid()}


def sessions_of(pids: Collection[int]) -> set[int]:
    """Return the ids of the sessions that some processes belong to."""
    return {stat.session for pid in pids if (stat := read_stat(pid))}


def bound_sockets(pids: Collection[int]) -> set[Path]:
    """Return the paths of the Unix sockets that some processes have bound; killed processes leave them behind."""
    paths = _socket_paths()
    return {paths[link] for pid in pids for link in open_files(pid) if link in paths}


def remove_sockets(paths: Collection[Path]) -> None:
    """Remove the sockets of ended processes, except those that another process has bound since."""
    for path in paths:
        if path.is_socket() and path.lstat().st_uid == os.getuid() and not is_answered(path):
            path.unlink(missing_ok=True)


def is_answered(path: Path) -> bool:
    """Return whether a process listens at a Unix socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # Busy, of another kind or not for us, but in use.
    return True


def end(
    find: Callable[[], set[int]],
    grace_s: float,
    limit_s: float = 5.0,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> set[int]:
    """End processes with SIGTERM, and with SIGKILL after `grace_s`, until `find` returns none.

    Returns:
        The processes that still run `limit_s` later, stuck in the kernel.
    """
    started = clock()
    asked: set[int] = set()
    while remaining := find():
        elapsed = clock() - started
        if elapsed > grace_s + limit_s:
            return remaining
        if elapsed >= grace_s:
            _signal(remaining, signal.SIGKILL)
        else:
            _signal(remaining - asked, signal.SIGTERM)
            asked |= remaining
        pause(_POLL_S)
    return set()


def _signal(pids: Collection[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # It ended by itself in the meantime.


def living() -> dict[int, Stat]:
    """Return all running processes by their id."""
    return _running(_pids())


class Family:
    """Finds the descendants of processes again and again.

    Whose child a process is changes only when its parent ends, so that only new processes are asked for their parents.
    After a while all are asked again, since process ids are reused.

    Args:
        clock: Monotonic clock, s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked_at = clock()
        self._parents: dict[int, int] = {}

    def of(self, ancestors: Collection[int]) -> dict[int, Stat]:
        """Return these processes and their descendants, as far as they run, by their id."""
        if self._clock() - self._asked_at > _KNOWN_S:
            self._asked_at = self._clock()
            self._parents.clear()
        pids = _pids()
        alive = pids | {0}
        parents = {one: parent for one, parent in self._parents.items() if one in pids and parent in alive}
        for stat in map(read_stat, pids - parents.keys()):
            if stat is not None:
                parents[stat.pid] = stat.parent
        self._parents = parents
        found = set(ancestors)
        grown = True
        while grown:
            more = {one for one, parent in parents.items() if parent in found} - found
            grown = bool(more)
            found |= more
        return _running(found)


def _pids() -> set[int]:
    return {int(entry) for entry in os.listdir(_PROC) if entry.isdigit()}  # noqa: PTH208 - a Path per process is slow


def _running(pids: Iterable[int]) -> dict[int, Stat]:
    """Return those of some processes that have not ended, by their id."""
    return {stat.pid: stat for stat in map(read_stat, pids) if stat is not None and stat.state not in "ZX"}


def read_stat(pid: int) -> Stat | None:
    """Return what the kernel says of a process, None if there is none."""
    try:
        # Read for many processes: a Path and a file object take four times as long.
        file = os.open(f"{_PROC}/{pid}/stat", os.O_RDONLY)
        try:
            raw = os.read(file, _LONGEST_STAT).decode(errors="replace")
        finally:
            os.close(file)
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command stands in brackets and may itself hold brackets and blanks.
    program, rest = raw[raw.index("(") + 1 : raw.rindex(")")], raw[raw.rindex(")") + 2 :]
    state, *fields = rest.split()
    parent, group, session, terminal, foreground, *others = map(int, fields)
    ran, started = others[5] + others[6], others[13]
    return Stat(pid, program, state, parent, group, session, terminal, foreground, ran, started)


def _socket_paths() -> dict[str, Path]:
    """Return the paths of bound Unix sockets by their links in `/proc/PID/fd`, such as "socket:[4711]"."""
    rows = (line.split(maxsplit=7) for line in (_PROC / "net/unix").read_text(encoding="utf-8").splitlines()[1:])
    return {f"socket:[{row[6]}]": Path(row[7]) for row in rows if len(row) == 8 and row[7].startswith("/")}


def open_files(pid: int) -> Iterator[str]:
    """Yield what the file descriptors of a process link to; nothing for a process that ended or is another user's."""
    try:
        entries = list((_PROC / str(pid) / "fd").iterdir())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return  # Ended in the meantime.
    for entry in entries:
        with suppress(FileNotFoundError, ProcessLookupError):  # Closed in the meantime.
            yield str(entry.readlink())


def _environment(pid: int) -> tuple[bytes, ...]:
    try:
        return tuple((_PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ()  # Gone, or another user's: not ours.

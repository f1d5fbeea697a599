"""Detection of applications that are busy with an action although the screen does not change.

There are three signs, all from the kernel, so that no application has to cooperate: processor time, a network request
without a response, and a running command that was started in a terminal.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from aci.applications.catalog import quiet_time
from aci.processes import Family, Stat, living, open_files, read_stat

logger = logging.getLogger(__name__)

WINDOW_S = 0.1
BUSY_SHARE = 0.25
"""Share of one core, within the window, from which an application is busy; a blinking caret takes less than 0.02."""
_FAMILY_S = 0.1  # a command must be found before its terminal counts as idle
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")

_TCP_DIAG, _REQUEST_DUMP, _DONE, _ERROR = 18, 0x301, 3, 2
_ESTABLISHED, _SYN_SENT = 1, 2
_INET_DIAG_INFO = 2
_HEADER, _MESSAGE = 16, 72
_TIMES_AT = 44
"""Offset of `tcpi_last_data_sent`, `tcpi_last_ack_sent` and `tcpi_last_data_recv` (ms ago) in `struct tcp_info`."""


class Activity:
    """Watches the processes of the applications that an action concerns.

    Time that a main thread spends waiting for a processor counts as work, so that an overloaded machine is waited for.

    Args:
        pids: Returns the processes that own the windows concerned; their descendants count too.

    Attributes:
        quiet_s: Quiet time after which these applications have finished, s; see `Recipe.quiet_s`.
        quiet_in_menu_s: The same while a menu is open.
    """

    def __init__(self, pids: Callable[[], Collection[int]]) -> None:
        self._pids = pids
        self._began = self._began_at_boot = self._family_at = 0.0
        self._family: frozenset[int] = frozenset()
        self._descendants = Family()
        self.quiet_s = self.quiet_in_menu_s = 0.0
        self._samples: deque[tuple[float, Mapping[int, float]]] = deque()
        self._usual = 0.0
        self._sees_connections = True
        self._waiting: Collection[str] = ()  # connections without a response at the latest check, as links
        self._ended: tuple[float, Mapping[int, float], frozenset[int]] | None = None

    def begin(self) -> None:
        """Record the state before an action."""
        self._began, self._began_at_boot = time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
        self._samples.clear()
        self._waiting = ()
        self._find_family()
        work_s = self._work_s()
        if self._ended is not None:
            at, before, family = self._ended
            # Constant activity, such as playing a film, is not work on the action.
            idle_s = self._began - at
            if family == self._family and idle_s >= WINDOW_S:
                self._usual = max(0.0, _added(before, work_s) / idle_s)
        self._samples.append((self._began, work_s))

    def is_waiting(self) -> bool:
        """Return whether a network response or the end of a command is still outstanding.

        When polled, it also detects requests that immediately follow the response to another one.
        """
        now = time.monotonic()
        if now - self._family_at >= _FAMILY_S:
            self._find_family()
        return self._runs_command() or self._awaits_answer(now)

    def is_computing(self) -> bool:
        """Return whether the applications have recently used more processor time than usual."""
        return self._computes(time.monotonic())

    def has_started(self) -> bool:
        """Return whether any running process on this machine was started since the action began.

        It may open the window of another application.
        """
        return any(self._is_since(stat) for stat in living().values())

    def end(self) -> None:
        """Record the state after an action, to measure later what applications do by themselves."""
        self._ended = time.monotonic(), self._work_s(), self._family

    def _computes(self, now: float) -> bool:
        self._samples.append((now, self._work_s()))
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_S:
            self._samples.popleft()
        (since, before), (_, work_s) = self._samples[0], self._samples[-1]
        return _added(before, work_s) / max(now - since, WINDOW_S) > self._usual + BUSY_SHARE

    def _runs_command(self) -> bool:
        """Return whether a command that was started since the action began runs in the foreground of a terminal."""
        return any(stat.terminal and stat.group == stat.foreground and self._is_since(stat) for stat in self._stats())

    def _is_since(self, stat: Stat) -> bool:
        """Return whether a process was started since the action began; the kernel rounds start times down to a tick."""
        return (stat.started + 1) * _TICK_S > self._began_at_boot

    def _awaits_answer(self, now: float) -> bool:
        """Return whether a connection has sent data since the action began, and received none since then."""
        if not self._sees_connections:
            return False
        try:
            connections = list(_connections())
        except OSError as error:
            logger.warning(
                "Cannot detect pages that wait for a response, since the kernel lists no connections: %s", error
            )
            self._sees_connections = False
            return False
        # If sending and receiving coincide, it is the next request, provided the previous one was outstanding.
        self._waiting = {
            f"socket:[{inode}]"
            for inode, sent_s, received_s in connections
            if sent_s < now - self._began
            and (sent_s < received_s or (sent_s == received_s and f"socket:[{inode}]" in self._waiting))
        }
        waiting = self._waiting
        return bool(waiting) and any(link in waiting for pid in self._family for link in open_files(pid))

    def _stats(self) -> Iterator[Stat]:
        return (stat for pid in self._family if (stat := read_stat(pid)) is not None)

    def _work_s(self) -> dict[int, float]:
        return {stat.pid: stat.ran * _TICK_S + _queued_s(stat.pid) for stat in self._stats()}

    def _find_family(self) -> None:
        """Find the applications' processes and their descendants."""
        self._family_at = time.monotonic()
        found = self._descendants.of(self._pids())
        if found.keys() != self._family:
            self._family = frozenset(found)
            programs = {stat.program for stat in found.values()}
            self.quiet_s = max(map(quiet_time, programs), default=0.0)
            self.quiet_in_menu_s = max((quiet_time(program, in_menu=True) for program in programs), default=0.0)


def _added(before: Mapping[int, float], now: Mapping[int, float]) -> float:
    """Return the work between two samples of the processes that are in both, s."""
    return sum(work_s - before[pid] for pid, work_s in now.items() if pid in before)


def _queued_s(pid: int) -> float:
    """Return how long a process has waited for a processor, s."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended, or the kernel keeps no such times
        return int((_PROC / str(pid) / "schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return 0.0


def _connections() -> Iterator[tuple[int, float, float]]:
    """Yield the TCP connections of this machine: inode, and how long ago data was sent and received, s.

    Source: sock_diag(7); `ss -ti` shows the same. The older request that is used names no address family, so that the
    kernel goes through its table, which takes milliseconds, once for both.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 4) as kernel:  # NETLINK_SOCK_DIAG
        kernel.settimeout(0.5)
        states = 1 << _ESTABLISHED | 1 << _SYN_SENT
        query = struct.pack("=BBBB48xII", socket.AF_INET, 0, 0, 1 << (_INET_DIAG_INFO - 1), states, 0)
        kernel.send(struct.pack("=IHHII", _HEADER + len(query), _TCP_DIAG, _REQUEST_DUMP, 1, 0) + query)
        for message in _messages(kernel):
            inode, at = int.from_bytes(message[68:72], "little"), _MESSAGE
            while at + 4 <= len(message):
                size, kind = struct.unpack_from("=HH", message, at)
                if kind == _INET_DIAG_INFO:
                    sent_ms, _, received_ms = struct.unpack_from("=III", message, at + 4 + _TIMES_AT)
                    yield inode, sent_ms / 1000, received_ms / 1000
                at += (size + 3) & ~3


def _messages(kernel: socket.socket) -> Iterator[bytes]:
    while True:
        data = kernel.recv(1 << 18)
        while len(data) >= _HEADER:
            size, kind = struct.unpack_from("=IH", data)
            if kind == _DONE:
                return
            if kind == _ERROR:
                raise OSError(-struct.unpack_from("=i", data, _HEADER)[0], "The kernel does not list connections")
            yield data[_HEADER:size]
            data = data[(size + 3) & ~3 :]

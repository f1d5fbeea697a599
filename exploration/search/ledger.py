"""The record of a search on disk: every event in order, each on the disk before the search continues.

```
ledger.jsonl    a header line, then one `SearchEvent` per line
ledger.claims   empty; its locks say what is being tried at the moment
```

Several searches of one application, each in its own process with a desktop of its own, share one record: each appends
what it found, reads what the others appended, and takes on (`Ledger.claim`) what none of them has taken on.

Versions of the format; others are refused:

1. Header, the events of `exploration.search.records`.
2. Skills have an intent, aliases and the way to them; their descriptions do not contain the aliases any more.
3. What a step changed is a list of `Change`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import ValidationError

from exploration.errors import LedgerError
from exploration.search.records import (
    SEARCH_EVENT_ADAPTER,
    Attempt,
    Attempted,
    Boundary,
    BoundaryFound,
    Composed,
    ScreenState,
    SearchEnded,
    SearchEvent,
    SkillVerified,
    StateFound,
    UnitSkill,
)

SCHEMA_VERSION = 3
_READABLE = (1, 2, 3)
FORMAT = "agent-s exploration"
_PRIVATE = 0o600
_WRITING = 0  # the byte of the claims file that is locked by who writes; the others belong to claims


class Ledger:
    """The events of a search, appended to a file; opening it again reads what is there.

    A last line that is cut short, as by a kill, is removed, and its event will happen again.

    The dictionaries are in the order of the file, the same for all searches that share it.

    Attributes:
        path: The file.
        app: The application.
        argv: The program and its arguments.
        states: Screens by fingerprint.
        attempts: Attempts by key.
        skills: Verified skills by the key of their attempt.
        boundaries: Boundaries by the key of their attempt.
        composed: Composite tasks by key.
        composing_seconds: Time used for composite tasks, s.
        seconds: Time used by the search, s.
        ended: How the search ended; None if it has not, or was resumed after its end.
    """

    def __init__(self, path: Path, app: str, argv: tuple[str, ...]) -> None:
        """Open the record, or create it.

        Args:
            path: The file; its folder must exist.
            app: The application.
            argv: The program and its arguments.

        Raises:
            LedgerError: The file cannot be read or written, has an unknown version, or is about something else.
        """
        self.path, self.app, self.argv = path, app, argv
        self.states: dict[str, ScreenState] = {}
        self.attempts: dict[str, Attempt] = {}
        self.skills: dict[str, UnitSkill] = {}
        self.boundaries: dict[str, Boundary] = {}
        self.composed: dict[str, Composed] = {}
        self.composing_seconds = self.seconds = 0.0
        self.ended: SearchEnded | None = None
        self._read = self._lines = 0  # number of bytes and lines of the file that were read
        try:
            self._claims = os.open(path.with_suffix(".claims"), os.O_RDWR | os.O_CREAT, _PRIVATE)
            with self._writing():
                self._file: IO[bytes] = self._open()
        except OSError as error:
            raise LedgerError(f"{path} cannot be opened: {error.strerror or error}. Check its folder.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def composites(self) -> tuple[UnitSkill, ...]:
        """The composite skills."""
        return tuple(event.skill for event in self.composed.values() if event.skill is not None)

    @property
    def is_new(self) -> bool:
        """Whether nothing was tried yet."""
        return not self.attempts

    def write(self, event: SearchEvent) -> None:
        """Append an event and sync it to the disk.

        Raises:
            LedgerError: The file cannot be written.
        """
        with self._writing():
            self._append(event.model_dump(mode="json"))
        self._take(event)

    def claim(self, key: str) -> bool:
        """Take something on and read what others recorded; return False if another search has taken it on.

        A claim ends with `release` or with the process, so that the others take on what a killed one leaves.

        Raises:
            LedgerError: The file cannot be read.
        """
        try:
            _lock(self._claims, fcntl.F_WRLCK, _place_of(key), wait=False)
        except BlockingIOError:
            return False
        self.refresh()
        return True

    def release(self, key: str) -> None:
        """End a claim, after its event is written."""
        _lock(self._claims, fcntl.F_UNLCK, _place_of(key))

    def refresh(self) -> None:
        """Read what other searches have appended.

        Raises:
            LedgerError: The file cannot be read.
        """
        try:
            if self.path.stat().st_size == self._read:
                return
            with self.path.open("rb") as file:
                file.seek(self._read)
                content = file.read()
        except OSError as error:
            raise LedgerError(f"{self.path} cannot be read: {error.strerror or error}.") from error
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=self._lines + 1):
            try:
                self._take(SEARCH_EVENT_ADAPTER.validate_json(line))
            except ValidationError as error:
                problem = f"{self.path}, line {number}, cannot be read: {error.errors()[0]['msg']}"
                raise LedgerError(f"{problem}. Remove the file to start over.") from error
        self._read += len(whole)
        self._lines += whole.count(b"\n")

    def close(self) -> None:
        """Close the file and end all claims; a second call does nothing."""
        self._file.close()
        with suppress(OSError):
            os.close(self._claims)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep others from writing."""
        _lock(self._claims, fcntl.F_WRLCK, _WRITING)
        try:
            yield
        finally:
            _lock(self._claims, fcntl.F_UNLCK, _WRITING)

    def _append(self, fields: dict[str, Any]) -> None:
        """Append a line after those of others, without one that was cut short."""
        try:
            if self._read:
                self.refresh()
                os.truncate(self.path, self._read)
            line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except (OSError, ValueError) as error:
            hint = "Make room, or choose another folder."
            raise LedgerError(f"{self.path} cannot be written: {error}. {hint}") from error
        self._read += len(line)
        self._lines += 1

    def _open(self) -> IO[bytes]:
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _PRIVATE)
        self._file = os.fdopen(handle, "ab")
        content = self.path.read_bytes()
        header, end, _ = content.partition(b"\n")
        if end:
            self._check_header(header)
            self._read, self._lines = len(header) + 1, 1
            self.refresh()
            os.truncate(self.path, self._read)
        else:
            os.truncate(self.path, 0)
            about = {"app": self.app, "argv": list(self.argv)}
            self._append({"schema_version": SCHEMA_VERSION, "format": FORMAT, **about})
        return self._file

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
            found = (header["format"], header["schema_version"])
            about = (header["app"], tuple(header["argv"]))
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"{self.path} is not the record of an exploration; choose another folder.") from error
        if found[0] != FORMAT or found[1] not in _READABLE:
            raise LedgerError(
                f"{self.path} has version {found[1]}; this program reads versions up to {SCHEMA_VERSION}. Upgrade "
                "agent-s, or choose another folder."
            )
        if about != (self.app, self.argv):
            raise LedgerError(f"{self.path} is about {about[0]} ({' '.join(about[1])}); choose another folder.")

    def _take(self, event: SearchEvent) -> None:
        if isinstance(event, Composed):
            self.composed[event.key] = event
            self.composing_seconds = event.seconds
            return
        self.seconds = max(self.seconds, event.seconds)
        self.ended = event if isinstance(event, SearchEnded) else None
        match event:
            case StateFound(state=state):
                self.states.setdefault(state.fingerprint, state)
            case Attempted(attempt=attempt):
                self.attempts[attempt.key] = attempt
            case SkillVerified(skill=skill):
                self.skills[skill.key] = skill
            case BoundaryFound(boundary=boundary):
                self.boundaries[boundary.key] = boundary
            case _:
                pass


def _place_of(key: str) -> int:
    """Return the byte of the claims file that stands for a key."""
    return 1 + int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")


def _lock(file: int, kind: int, place: int, wait: bool = True) -> None:
    """Lock or unlock one byte of a file; the lock belongs to the open file, so that it ends with the process.

    Raises:
        BlockingIOError: It is locked, and `wait` is False.
    """
    command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
    fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))

"""The record of a search on disk: every event in order, each on the disk before the search continues.

```
ledger.jsonl   a header line, then one `SearchEvent` per line
```

Versions of the format; others are refused:

1. Header, the events of `exploration.search.records`.
2. Skills have an intent, aliases and the way to them; their descriptions do not contain the aliases any more.
3. What a step changed is a list of `Change`.
"""

from __future__ import annotations

import json
import os
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


class Ledger:
    """The events of a search, appended to a file; opening it again reads what is there.

    A last line that is cut short, as by a kill, is removed, and its event will happen again.

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
        try:
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
        self._append(event.model_dump(mode="json"))
        self._take(event)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    def _append(self, fields: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except (OSError, ValueError) as error:
            hint = "Make room, or choose another folder."
            raise LedgerError(f"{self.path} cannot be written: {error}. {hint}") from error

    def _open(self) -> IO[bytes]:
        fresh = not self.path.exists() or not self._read_back()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _PRIVATE)
        self._file = os.fdopen(handle, "ab")
        if fresh:
            header = {"schema_version": SCHEMA_VERSION, "format": FORMAT, "app": self.app, "argv": list(self.argv)}
            self._append(header)
        return self._file

    def _read_back(self) -> bool:
        """Read the file and cut off an incomplete last line; return whether there is a header."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        lines = whole.splitlines()
        if not lines:
            return False
        self._check_header(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            try:
                self._take(SEARCH_EVENT_ADAPTER.validate_json(line))
            except ValidationError as error:
                problem = f"{self.path}, line {number}, cannot be read: {error.errors()[0]['msg']}"
                raise LedgerError(f"{problem}. Remove the file to start over.") from error
        return True

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

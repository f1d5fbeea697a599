"""The record of a search on disk: every event in order, each safe on the disk before the search goes on.

```
ledger.jsonl   a header line, then one `SearchEvent` per line
```

Versions of the format, one line each; a reader refuses those it does not know:

1. Header, the events of `exploration.search.records`.
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

SCHEMA_VERSION = 1
FORMAT = "agent-s exploration"
_PRIVATE = 0o600


class Ledger:
    """What a search has tried, appended to a file; opening it again takes up what is there.

    A last line that a kill cut short is removed: what it told of will be done again.

    Attributes:
        path: The file.
        app: The application it is about.
        argv: The program and its arguments.
    """

    def __init__(self, path: Path, app: str, argv: tuple[str, ...]) -> None:
        """Open the record, creating it where there is none.

        Args:
            path: The file; its folder must exist.
            app: The application.
            argv: Program and arguments it is started with.

        Raises:
            LedgerError: The file cannot be read or written, is of another version, or is about something else.
        """
        self.path, self.app, self.argv = path, app, argv
        self.states: dict[str, ScreenState] = {}
        """Screens by fingerprint."""
        self.attempts: dict[str, Attempt] = {}
        """Attempts by key."""
        self.skills: dict[str, UnitSkill] = {}
        """Verified skills by the key of their attempt."""
        self.boundaries: dict[str, Boundary] = {}
        """Boundaries by the key of their attempt."""
        self.composed: dict[str, Composed] = {}
        """Tasks of several skills by their key."""
        self.composing_seconds = 0.0
        """Time used for these, s."""
        self.seconds = 0.0
        """Time used by the search so far, s."""
        self.ended: SearchEnded | None = None
        """How it ended; None for one that has not, and for one that went on after its end."""
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
        """Skills that tasks of several skills became."""
        return tuple(event.skill for event in self.composed.values() if event.skill is not None)

    @property
    def is_new(self) -> bool:
        """Whether nothing was tried yet."""
        return not self.attempts

    def write(self, event: SearchEvent) -> None:
        """Append an event; it is on the disk when this returns.

        Raises:
            LedgerError: It cannot be written.
        """
        self._append(event.model_dump(mode="json"))
        self._take(event)

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._file.close()

    def _append(self, fields: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except (OSError, ValueError) as error:
            raise LedgerError(
                f"{self.path} cannot be written: {error}. Make room, or choose another folder."
            ) from error

    def _open(self) -> IO[bytes]:
        fresh = not self.path.exists() or not self._read_back()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _PRIVATE)
        self._file = os.fdopen(handle, "ab")
        if fresh:
            header = {"schema_version": SCHEMA_VERSION, "format": FORMAT, "app": self.app, "argv": list(self.argv)}
            self._append(header)
        return self._file

    def _read_back(self) -> bool:
        """Take up what the file holds, and cut off a torn last line; return whether there is a header."""
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
                raise LedgerError(
                    f"{self.path}, line {number}, cannot be read: {error.errors()[0]['msg']}. Remove the file to begin "
                    "anew."
                ) from error
        return True

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
            found = (header["format"], header["schema_version"])
            about = (header["app"], tuple(header["argv"]))
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"{self.path} is not the record of an exploration; choose another folder.") from error
        if found != (FORMAT, SCHEMA_VERSION):
            raise LedgerError(f"{self.path} is of version {found[1]}; this program reads version {SCHEMA_VERSION}.")
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

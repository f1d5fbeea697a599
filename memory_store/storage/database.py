"""The database behind a store: connections, transactions and the translation of errors."""

from __future__ import annotations

import json
import os
import pwd
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory_store.errors import (
    InvalidExperience,
    MemoryStoreError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_WRITE = "memory_store_write"
ResultT = TypeVar("ResultT")
to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)

_DAMAGED = (
    "is damaged: move it away together with the files whose names begin with its name, then restore a backup or import "
    "an export; `agent-s memory check --salvage EXPORT` writes what can still be read of it to an export"
)
_TRANSLATION: dict[int, tuple[type[MemoryStoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreBusy, "is locked by another process: end that process or try again"),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "is locked by another connection: try again"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, _DAMAGED),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, _DAMAGED),
    sqlite3.SQLITE_FULL: (StoreFull, "cannot grow, the disk is full: free some space and try again"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "may not be written: check the rights of the file and its folder"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "may not be written: check the rights of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "cannot be opened: check that its folder exists and may be written"),
    sqlite3.SQLITE_IOERR: (
        StoreUnavailable,
        "cannot be read or written: check that the disk has free space and is a local one",
    ),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "cannot be locked: keep it on a local disk, not a network one"),
}


def translate(error: BaseException | None, place: Path | str) -> MemoryStoreError | None:
    """Return our own error for one of SQLite; None if it is not about the file or the disk."""
    found = _TRANSLATION.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return found and found[0](f"the memory store {place} {found[1]} (SQLite: {error})")


@contextmanager
def translated(
    place: Path | str, translate: Callable[[BaseException | None, Path | str], MemoryStoreError | None] = translate
) -> Iterator[None]:
    """Turn errors of the database driver and of SQLAlchemy into errors of this package."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidExperience("the memory store cannot look for a text with a lone surrogate: decode it") from error
    except PoolTimeout as error:
        raise StoreBusy(f"the memory store {place} is used by too many threads at once: use fewer") from error
    except (DBAPIError, sqlite3.Error) as error:
        ours = translate(error.orig if isinstance(error, DBAPIError) else error, place)
        if ours is None:
            raise
        raise ours from error


class Database(ABC):
    """Pooled connections to one database and two kinds of transaction.

    Attributes:
        place: The file, or the URL without its password.
        path: The file; None on a server.
        engine: The engine, for tests and tools that inspect the database.
    """

    path: Path | None = None

    def __init__(self, place: str, engine: Engine) -> None:
        self.place = place
        self.engine = engine
        self._closed = False

    def persist(self, work: Callable[[], ResultT]) -> ResultT:
        """Do work that opens at most one writing transaction; on a server, again if its connection is lost.

        Raises:
            ConnectionLost: The server did not come back in time.
        """
        return work()

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that only reads and sees one state throughout.

        Raises:
            MemoryStoreError: One of `StoreBusy`, `StoreCorrupt`, `StoreUnavailable`, `StoreClosed`.
        """

    @abstractmethod
    def write(self) -> AbstractContextManager[Connection]:
        """Open a transaction that holds the write lock; durable when the block ends, undone if it raises.

        Raises:
            MemoryStoreError: As `read`, and `StoreFull`, `StoreReadOnly`.
        """

    def close(self) -> None:
        """Close all connections. Closing twice is allowed."""
        self._closed = True
        with self._translated():
            self.engine.dispose()

    @abstractmethod
    def user(self) -> str:
        """Return the name of the user who stores experience here."""

    @abstractmethod
    def size(self) -> int:
        """Return the size of the database, bytes."""

    @abstractmethod
    def compact(self) -> None:
        """Free the space of deleted rows.

        Raises:
            MemoryStoreError: As `write`.
        """

    @abstractmethod
    def problems(self) -> list[str]:
        """Look for damage below the tables and return the problems in words."""

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the memory store {self.place} has been closed: open it again")

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]: ...

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        self._check_open()
        with self._translated(), engine.begin() as connection:
            yield connection


class SqliteDatabase(Database):
    """One SQLite file.

    A writer takes the write lock at its start (a read that is upgraded later fails under contention whatever the
    time-out) and its commit is on the disk when it returns (synchronous=FULL).

    Args:
        path: The file; it must exist.
        busy_timeout_s: How long to wait for another process's lock, s.
    """

    path: Path

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path = path
        status = path.stat()
        self._file = (status.st_dev, status.st_ino)
        engine = create_engine(
            URL.create("sqlite", database=str(path)),
            connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
            json_serializer=to_json,
        )
        super().__init__(str(path), engine)
        self._writing = engine.execution_options(**{_WRITE: True})
        event.listen(engine, "connect", _set_up_connection)
        event.listen(engine, "begin", _begin)

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that only reads."""
        return self._transaction(self.engine)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock."""
        self._check_in_place()
        with self._transaction(self._writing) as connection:
            yield connection

    def user(self) -> str:
        """Return the login name, or the number of a user without a name."""
        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return str(os.geteuid())

    def size(self) -> int:
        """Return the size of the file and its write-ahead log, bytes."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def compact(self) -> None:
        """Rewrite the file without its free space."""
        self._check_in_place()
        with translated(self.path), closing(self.engine.raw_connection()) as connection:
            connection.cursor().execute("VACUUM")
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def problems(self) -> list[str]:
        """Look at every page; return what is damaged, in words."""
        with self.read() as connection:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)") if row[0] != "ok"]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            found.append(f"{len(broken)} rows belong to an experience that is not there")
        return [
            f"{problem}: restore a backup or an export, or see `agent-s memory check --salvage`" for problem in found
        ]

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def _check_in_place(self) -> None:
        # SQLite would keep writing into a file that no path leads to any more, and it would all be lost.
        try:
            status = self.path.stat()
        except FileNotFoundError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._file:
            raise StoreUnavailable(f"the memory store {self.path} was moved or deleted while open: open it again")


def _set_up_connection(connection: sqlite3.Connection, _record: object) -> None:
    # Python's sqlite3 must not open transactions by itself; `_begin` does it.
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    options: dict[str, Any] = dict(connection.get_execution_options())
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute("BEGIN IMMEDIATE" if options.get(_WRITE) else "BEGIN")

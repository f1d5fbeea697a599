"""The database behind a store: connections, transactions and errors in our own words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory_store.errors import (
    MemoryStoreError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_WRITE = "memory_store_write"
_to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)

_TRANSLATION: dict[int, tuple[type[MemoryStoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreBusy, "is locked by another process: end that process or try again"),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "is locked by another connection: try again"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "is damaged: restore a backup or an export, or salvage it"),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, "is damaged: restore a backup or an export, or salvage it"),
    sqlite3.SQLITE_FULL: (StoreFull, "cannot grow, the disk is full: free some space and try again"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "may not be written: check the rights of the file and its folder"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "may not be written: check the rights of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: (StoreUnavailable, "cannot be opened: check that its folder exists and may be written"),
    sqlite3.SQLITE_IOERR: (StoreUnavailable, "cannot be read or written: check the disk, and keep it on a local one"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "cannot be locked: keep it on a local disk, not a network one"),
}


def translate(error: BaseException | None, path: Path) -> MemoryStoreError | None:
    """Say in our own words what SQLite reported; None when it is no condition of the file or disk."""
    code = getattr(error, "sqlite_errorcode", None)
    found = None if code is None else _TRANSLATION.get(code & 0xFF)
    if found is None:
        return None
    kind, words = found
    return kind(f"the memory store {path} {words} (SQLite: {error})")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and SQLAlchemy raise about the file or disk into errors of this package."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreBusy(f"the memory store {path} is used by too many threads at once: use fewer") from error
    except (DBAPIError, sqlite3.Error) as error:
        ours = translate(error.orig if isinstance(error, DBAPIError) else error, path)
        if ours is None:
            raise
        raise ours from error


class Database(Protocol):
    """What a store is kept in: `SqliteDatabase`, or `memory_store.storage.postgres.PostgresDatabase`."""

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""

    @property
    def place(self) -> str:
        """The file or URL, without a password."""

    @property
    def closed(self) -> bool:
        """Whether it was closed."""

    @property
    def engine(self) -> Engine:
        """The engine, for tests and tools that inspect the database."""

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one state throughout."""

    def write(self) -> AbstractContextManager[Connection]:
        """Open a transaction that holds the write lock; durable when the block ends, undone if it raises."""

    def close(self) -> None:
        """Close all connections. Closing twice is allowed."""

    def size(self) -> int:
        """Return the size, bytes."""

    def compact(self) -> None:
        """Give back the space of what was deleted."""

    def problems(self) -> list[str]:
        """Look for damage below the tables; return what is wrong, in words."""


class SqliteDatabase:
    """Pooled connections to one SQLite file and the two kinds of transaction.

    A reader sees one state of the database throughout. A writer takes the write lock at its start (a read
    that is upgraded later fails under contention whatever the time-out) and its commit is on the disk when
    it returns (synchronous=FULL).

    Args:
        path: The file; it must exist.
        busy_timeout_s: How long to wait for another process's lock.
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path = path
        self.place = str(path)
        self._closed = False
        status = path.stat()
        self._file = (status.st_dev, status.st_ino)
        self._engine = create_engine(
            URL.create("sqlite", database=str(path)),
            connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
            json_serializer=_to_json,
        )
        self._writing = self._engine.execution_options(**{_WRITE: True})
        event.listen(self._engine, "connect", _set_up_connection)
        event.listen(self._engine, "begin", _begin)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def engine(self) -> Engine:
        """The engine, for tests and tools that inspect the database."""
        return self._engine

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that only reads.

        Raises:
            MemoryStoreError: One of `StoreBusy`, `StoreCorrupt`, `StoreUnavailable`, `StoreClosed`.
        """
        return self._transaction(self._engine)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock; durable when the block ends, undone if it raises.

        Raises:
            MemoryStoreError: As `read`, and `StoreFull`, `StoreReadOnly`.
        """
        self._check_in_place()
        with self._transaction(self._writing) as connection:
            yield connection

    def close(self) -> None:
        """Close all connections. Closing twice is allowed."""
        self._closed = True
        with translated(self.path):
            self._engine.dispose()

    def size(self) -> int:
        """Return the size of the file and its write-ahead log, bytes."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def compact(self) -> None:
        """Write the file anew without the space that is free.

        Raises:
            MemoryStoreError: As `write`.
        """
        self._check_in_place()
        with translated(self.path), closing(self._engine.raw_connection()) as connection:
            connection.cursor().execute("VACUUM")
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def problems(self) -> list[str]:
        """Look at every page; return what is damaged, in words."""
        with self.read() as connection:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)") if row[0] != "ok"]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            found.append(f"{len(broken)} rows belong to an experience that is not there")
        return [f"{problem}: restore a backup or an export, or salvage what can be read" for problem in found]

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        if self._closed:
            raise StoreClosed(f"the memory store {self.path} has been closed: open it again")
        with translated(self.path), engine.begin() as connection:
            yield connection

    def _check_in_place(self) -> None:
        # SQLite would go on writing into a file that no path leads to any more, and it would all be lost.
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

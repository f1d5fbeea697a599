"""A store on a PostgreSQL server, so that several machines share one memory.

Its tables live in a schema of their own, beside whatever else is in the database. Writers take one lock for all, as on
SQLite: version counters, near-duplicates and ascending keys stay right whoever writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory_store.errors import (
    InvalidExperience,
    MemoryStoreError,
    NotAStore,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_store.migrations import HEAD, SCRIPTS, check_revision, run_migrations
from memory_store.storage.schema import APPLICATION_ID

SCHEMA = "agent_s_memory"
"""The schema of all tables."""

CONNECT_TIMEOUT_S = 10

_to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)
_UNREACHABLE = "cannot be reached: check that the server runs, the database exists, and host, user and password fit"
# By the class of the SQLSTATE (its first two characters) or the whole of it, which goes first.
_TRANSLATION: dict[str, tuple[type[MemoryStoreError], str]] = {
    "55P03": (StoreBusy, "is locked by another process: end that process or try again"),
    "40": (StoreBusy, "was changed by another process at the same time: try again"),
    "53100": (StoreFull, "cannot grow, the disk of the server is full: free some space and try again"),
    "53300": (StoreBusy, "has too many connections: close some and try again"),
    "53": (StoreUnavailable, "lacks memory or other means on the server: try again when it is less busy"),
    "25006": (StoreReadOnly, "may only be read: connect to the primary server"),
    "42501": (StoreReadOnly, "may not be used: grant the user the right to create and write its tables"),
    "3D000": (StoreUnavailable, "names a database that does not exist: create it first"),
    "28": (StoreUnavailable, "refuses the user or the password: check the URL"),
    "54": (InvalidExperience, "cannot hold a text of that length: store a shorter one"),
    "57": (StoreUnavailable, "was shut down: try again when the server runs"),
    "58": (StoreUnavailable, "cannot be read or written: check the disk of the server"),
    "08": (StoreUnavailable, _UNREACHABLE),
    "XX": (StoreCorrupt, "is damaged: restore a backup or an export"),
}


class PostgresDatabase:
    """Pooled connections to one PostgreSQL database and the two kinds of transaction.

    Args:
        url: Of the database, with the driver psycopg.
        busy_timeout_s: How long to wait for another process's lock.

    Raises:
        StoreUnavailable: The driver is not installed.
    """

    path: Path | None = None

    def __init__(self, url: URL, busy_timeout_s: float) -> None:
        self.place = url.render_as_string(hide_password=True)
        self._closed = False
        self._lock_ms = max(1, int(busy_timeout_s * 1000))
        try:
            self._engine = create_engine(
                url.set(drivername="postgresql+psycopg"),
                connect_args={"connect_timeout": CONNECT_TIMEOUT_S},
                json_serializer=_to_json,
                pool_pre_ping=True,
            )
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreUnavailable("PostgreSQL needs psycopg: install agent-s[postgres]") from error
        self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ")
        event.listen(self._engine, "connect", self._set_up_connection)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def engine(self) -> Engine:
        """The engine, for tests and tools that inspect the database."""
        return self._engine

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one state throughout.

        Raises:
            MemoryStoreError: The server cannot be used; the kind and message say why.
        """
        return self._transaction(self._reading)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock; durable when the block ends, undone if it raises.

        Raises:
            MemoryStoreError: As `read`, and `StoreBusy`, `StoreFull`, `StoreReadOnly`.
        """
        with self._transaction(self._engine) as connection:
            # Released when the transaction has ended and its changes can be seen.
            connection.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": APPLICATION_ID})
            yield connection

    def close(self) -> None:
        """Close all connections. Closing twice is allowed."""
        self._closed = True
        self._engine.dispose()

    def size(self) -> int:
        """Return the size of the tables with their indexes, bytes."""
        with self.read() as connection:
            size = connection.scalar(
                text(
                    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
                    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :name AND c.relkind = 'r'"
                ),
                {"name": SCHEMA},
            )
        return int(size or 0)

    def compact(self) -> None:
        """Let the server use again the space of what was deleted.

        Raises:
            MemoryStoreError: As `write`.
        """
        with self._translated(), self._engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            for table in _tables(alone):
                alone.exec_driver_sql(f'VACUUM "{SCHEMA}"."{table}"')

    def problems(self) -> list[str]:
        """The server guards its pages and references itself; return nothing."""
        return []

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        if self._closed:
            raise StoreClosed(f"the memory store {self.place} has been closed: open it again")
        with self._translated(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise StoreBusy(f"the memory store {self.place} is used by too many threads at once: use fewer") from error
        except DBAPIError as error:
            ours = self._translate(error)
            if ours is None:
                raise
            raise ours from error

    def _translate(self, error: DBAPIError) -> MemoryStoreError | None:
        code = getattr(error.orig, "sqlstate", None)
        if code is None and _is_operational(error):
            code = "08"  # There was no answer of the server at all.
        known = _TRANSLATION.get(code or "") or _TRANSLATION.get((code or "")[:2])
        if known is None:
            return None
        kind, words = known
        return kind(f"the memory store {self.place} {words} (PostgreSQL: {str(error.orig).strip()})")

    def _set_up_connection(self, connection: Any, _record: object) -> None:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {SCHEMA}, public")
            cursor.execute("SET synchronous_commit TO on")
            cursor.execute(f"SET lock_timeout TO {self._lock_ms}")
        connection.autocommit = False


def open_postgres(
    url: URL, busy_timeout_s: float, scripts: Path = SCRIPTS, head: str = HEAD
) -> tuple[PostgresDatabase, str]:
    """Open the store of a database, creating or migrating its tables as needed.

    Returns:
        The database and its schema revision.

    Raises:
        MemoryStoreError: It cannot be used; see `memory_store.errors`.
    """
    database = PostgresDatabase(url, busy_timeout_s)
    try:
        with database.write() as connection:
            revision = _current_revision(connection, database.place)
            if revision != head:
                if revision is None:
                    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                else:
                    check_revision(revision, head, database.place)
                    back_up(connection, revision)
                run_migrations(connection, scripts, head)
    except BaseException:
        database.close()
        raise
    return database, head


def back_up(connection: Connection, revision: str) -> str:
    """Copy all tables to a schema beside, in the transaction that migrates them; return its name."""
    name = f"{SCHEMA}_backup_{revision}_{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%fZ')}"
    connection.exec_driver_sql(f'CREATE SCHEMA "{name}"')
    for table in _tables(connection):
        connection.exec_driver_sql(f'CREATE TABLE "{name}"."{table}" AS TABLE "{SCHEMA}"."{table}"')
    return name


def _current_revision(connection: Connection, place: str) -> str | None:
    tables = _tables(connection)
    if not tables:
        return None
    if not {"alembic_version", "store_state"} <= set(tables):
        raise NotAStore(f"the schema {SCHEMA} of {place} is of another program: choose another database")
    found = connection.exec_driver_sql(f"SELECT version_num FROM {SCHEMA}.alembic_version").first()
    if found is None:
        raise StoreCorrupt(f"the memory store {place} lacks its schema version: restore a backup or an export")
    return str(found[0])


def _tables(connection: Connection) -> list[str]:
    query = text("SELECT tablename FROM pg_tables WHERE schemaname = :name ORDER BY tablename")
    return list(connection.scalars(query, {"name": SCHEMA}))


def _is_operational(error: DBAPIError) -> bool:
    return type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout", "InterfaceError")

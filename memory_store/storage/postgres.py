"""A store on a PostgreSQL server, so that several machines share one memory.

Its tables have a schema of their own. All writers share one lock, as on SQLite, so that version counters,
near-duplicates and ascending keys stay right whoever writes.

A connection may be lost at any moment, as when the server is restarted. Transactions that were not committed are begun
again. Whether one was committed whose connection was lost during the commit is asked of the server, so that nothing is
written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from memory_store.errors import (
    ConnectionLost,
    InvalidExperience,
    MemoryStoreError,
    NotAStore,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_store.migrations import HEAD, SCRIPTS, check_revision, run_migrations
from memory_store.storage.database import Database, ResultT, to_json, translated
from memory_store.storage.schema import APPLICATION_ID

SCHEMA = "agent_s_memory"  # the schema of all tables
CONNECT_TIMEOUT_S = 10
PATIENCE_S = 20.0  # how long a method waits for a server that is away
OPENING_PATIENCE_S = 5.0  # likewise when a store is opened, as the URL may be wrong
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0  # between attempts to reach it
# A machine that is switched off while it writes holds the lock of all writers until the server misses it; likewise, a
# server that has vanished is missed by its clients. Without these settings of TCP, both take two hours.
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_UNREACHABLE = "cannot be reached: check that the server runs, the database exists, and user and password are right"
_RESTARTING = "was shut down: try again when the server runs"
# By the SQLSTATE, or by its class (its first two characters).
_TRANSLATION: dict[str, tuple[type[MemoryStoreError], str]] = {
    "55P03": (StoreBusy, "is locked by another process: end that process or try again"),
    "40": (StoreBusy, "was changed by another process at the same time: try again"),
    "53100": (StoreFull, "cannot grow, the disk of the server is full: free some space and try again"),
    "53300": (StoreBusy, "has too many connections: close some and try again"),
    "53": (StoreUnavailable, "lacks memory or other resources on the server: try again when it is less busy"),
    "25006": (StoreReadOnly, "may only be read: connect to the primary server"),
    "42501": (StoreReadOnly, "may not be used: grant the user the right to create and write its tables"),
    "3D000": (StoreUnavailable, "names a database that does not exist: create it first"),
    "28": (StoreUnavailable, "refuses the user or the password: check the URL"),
    "54": (InvalidExperience, "cannot hold a text of that length: store a shorter one"),
    "57P01": (ConnectionLost, _RESTARTING),
    "57P02": (ConnectionLost, _RESTARTING),
    "57P03": (ConnectionLost, _RESTARTING),
    "57": (StoreUnavailable, "was interrupted by the server: try again"),
    "58": (StoreUnavailable, "cannot be read or written: check the disk of the server"),
    "08": (ConnectionLost, _UNREACHABLE),
    "XX": (StoreCorrupt, "is damaged: restore a backup or an export"),
}


class PostgresDatabase(Database):
    """One PostgreSQL database.

    Args:
        url: The database.
        busy_timeout_s: How long to wait for another process's lock, s.
        patience_s: How long to wait for a server that is away, s.

    Raises:
        StoreUnavailable: The driver is not installed.
    """

    def __init__(self, url: URL, busy_timeout_s: float, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._away = False
        self._lock_ms = max(1, int(busy_timeout_s * 1000))
        try:
            engine = create_engine(
                url.set(drivername="postgresql+psycopg"),
                connect_args={"connect_timeout": CONNECT_TIMEOUT_S, **_KEEPALIVES},
                json_serializer=to_json,
                pool_pre_ping=True,
            )
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreUnavailable("PostgreSQL needs psycopg: install agent-s[postgres]") from error
        super().__init__(url.render_as_string(hide_password=True), engine)
        self._reading = engine.execution_options(isolation_level="REPEATABLE READ")
        event.listen(engine, "connect", self._set_up_connection)

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that only reads."""
        return self._transaction(self._reading)

    def persist(self, work: Callable[[], ResultT], patience_s: float | None = None) -> ResultT:
        """Do work that opens at most one writing transaction, again if its connection is lost.

        Once a server did not come back in time, it is not waited for again until it has answered.
        """
        deadline = time.monotonic() + (0.0 if self._away else self._patience_s if patience_s is None else patience_s)
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                result = work()
            except ConnectionLost:
                if time.monotonic() + pause_s > deadline:
                    self._away = True
                    raise
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                self._away = False
                return result

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock."""
        self._check_open()
        with self._translated(), self.engine.connect() as connection:
            transaction = connection.begin()
            # Released when the transaction has ended and its changes can be seen.
            connection.execute(text("SELECT pg_advisory_xact_lock(:id)"), {"id": APPLICATION_ID})
            number = connection.scalar(text("SELECT pg_current_xact_id()::text"))
            yield connection
            try:
                transaction.commit()
            except DBAPIError as error:
                if not isinstance(_translate(error.orig, self.place), ConnectionLost):
                    raise
                if not self._was_committed(str(number)):
                    raise

    def _was_committed(self, transaction: str) -> bool:
        """Return whether a transaction was committed whose connection was lost.

        Raises:
            StoreUnavailable: The server does not say.
        """
        status = text("SELECT pg_xact_status(CAST(:number AS xid8))")
        deadline = time.monotonic() + self._patience_s
        found, reason = "in progress", ""
        while found == "in progress" and time.monotonic() < deadline:
            time.sleep(_FIRST_PAUSE_S)
            try:
                with self.read() as connection:
                    found = connection.scalar(status, {"number": transaction})
            except ConnectionLost as error:
                reason = str(error)
        if found not in ("committed", "aborted"):
            raise StoreUnavailable(
                f"the connection to the memory store {self.place} was lost while a change was committed, and it is not"
                f" known whether it was stored: look before you repeat it ({reason or 'the server does not know it'})"
            )
        return found == "committed"

    def user(self) -> str:
        """Return the name that the user has logged in to the server with."""
        with self.read() as connection:
            return str(connection.scalar(text("SELECT session_user")))

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
        """Let the server reuse the space of deleted rows."""
        with self._translated(), self.engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            for table in _tables(alone):
                alone.exec_driver_sql(f'VACUUM "{SCHEMA}"."{table}"')

    def problems(self) -> list[str]:
        """Return nothing: the server guards its pages and references itself."""
        return []

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.place, _translate)

    def _set_up_connection(self, connection: Any, _record: object) -> None:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {SCHEMA}, public")
            cursor.execute("SET synchronous_commit TO on")
            cursor.execute(f"SET lock_timeout TO {self._lock_ms}")
            for name, value in _KEEPALIVES.items():
                cursor.execute(f"SET tcp_{name} TO {value}")
        connection.autocommit = False


def _translate(error: BaseException | None, place: Path | str) -> MemoryStoreError | None:
    code = getattr(error, "sqlstate", None)
    if code is None and type(error).__name__ in ("OperationalError", "ConnectionTimeout", "InterfaceError"):
        code = "08"  # The server did not answer at all.
    found = _TRANSLATION.get(code or "") or _TRANSLATION.get((code or "")[:2])
    return found and found[0](f"the memory store {place} {found[1]} (PostgreSQL: {str(error).strip()})")


def open_postgres(url: URL, busy_timeout_s: float, head: str = HEAD) -> tuple[PostgresDatabase, str]:
    """Open the store of a database, creating or migrating its tables as needed.

    Returns:
        The database and its schema revision.

    Raises:
        MemoryStoreError: It cannot be used; see `memory_store.errors`.
    """
    database = PostgresDatabase(url, busy_timeout_s)

    def prepare() -> None:
        with database.write() as connection:
            revision = _current_revision(connection, database.place)
            if revision != head:
                if revision is None:
                    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                else:
                    check_revision(revision, head, database.place)
                    back_up(connection, revision)
                run_migrations(connection, SCRIPTS, head)

    try:
        database.persist(prepare, OPENING_PATIENCE_S)
    except BaseException:
        database.close()
        raise
    return database, head


def back_up(connection: Connection, revision: str) -> str:
    """Copy all tables to another schema, in the transaction that migrates them, and return its name."""
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
        raise NotAStore(f"the schema {SCHEMA} of {place} belongs to another program: choose another database")
    found = connection.exec_driver_sql(f"SELECT version_num FROM {SCHEMA}.alembic_version").first()
    if found is None:
        raise StoreCorrupt(f"the memory store {place} lacks its schema version: restore a backup or an export")
    return str(found[0])


def _tables(connection: Connection) -> list[str]:
    query = text("SELECT tablename FROM pg_tables WHERE schemaname = :name ORDER BY tablename")
    return list(connection.scalars(query, {"name": SCHEMA}))

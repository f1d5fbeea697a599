"""Opening of a database file: examine it, create it, migrate it.

Nothing is written to a file before it is known to be a sound store of a version that this program reads.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from memory_store.errors import NotAStore, StoreCorrupt, StoreFull, StoreReadOnly, StoreUnavailable
from memory_store.migrations import HEAD, SCRIPTS, check_revision, run_migrations
from memory_store.storage.database import Database, SqliteDatabase, translated
from memory_store.storage.schema import APPLICATION_ID

QUICK_CHECK_BYTES = 256 * 1024 * 1024  # Checking the pages of larger files would take seconds.
_POSTGRES = ("postgresql", "postgresql+psycopg", "postgres")
MAGIC = b"SQLite format 3\0"
_REVISION = "SELECT version_num FROM alembic_version"


def locate(path_or_url: str | os.PathLike[str]) -> Path | URL:
    """Return the file meant by a path or an ``sqlite:///`` URL, or the URL of a PostgreSQL database.

    Raises:
        StoreUnavailable: The URL names a database this version cannot use, or no file.
    """
    text = os.fspath(path_or_url)
    if isinstance(path_or_url, str) and re.match(r"[a-z][a-z0-9+]*://", text):
        url = urlsplit(text)
        if url.scheme in _POSTGRES:
            try:
                server = make_url(text)
                if "@" in (server.host or ""):
                    raise ValueError("a part of the password would be taken for the host, and shown")
            except (ArgumentError, ValueError) as error:
                # The message does not repeat the text, which may hold a password.
                raise StoreUnavailable(
                    "this is not the URL of a database: give postgresql://USER@HOST/DATABASE, with %40 for an @ in a"
                    " password, or keep the password in ~/.pgpass"
                ) from error
            return server
        if url.scheme != "sqlite" or url.netloc or url.query or len(url.path) < 2:
            raise StoreUnavailable(
                f"{url.scheme}:// is not a store that this version can open: give postgresql://USER@HOST/DATABASE,"
                " sqlite:///FILE or a path"
            )
        text = unquote(url.path[1:])
    if not text or text == ":memory:" or "\0" in text:
        raise StoreUnavailable(f"{text!r} is not a file name: give the path of the memory file")
    return Path(text).expanduser().absolute()


def open_located(place: Path | URL, busy_timeout_s: float) -> tuple[Database, str]:
    """Open the result of `locate`; see `open_database` and `memory_store.storage.postgres.open_postgres`."""
    if isinstance(place, Path):
        return open_database(place, busy_timeout_s)
    from memory_store.storage.postgres import open_postgres

    return open_postgres(place, busy_timeout_s)


def open_database(
    path: Path, busy_timeout_s: float, scripts: Path = SCRIPTS, head: str = HEAD
) -> tuple[SqliteDatabase, str]:
    """Open the file, creating or migrating it as needed.

    Args:
        path: The file. It and its folder are created if they are missing (modes 0600 and 0700).
        busy_timeout_s: How long to wait for another process's lock.
        scripts: Folder of the Alembic migrations.
        head: The revision to migrate to.

    Returns:
        The database and its schema revision.

    Raises:
        MemoryStoreError: The file cannot be used; see `memory_store.errors`.
    """
    with _file_errors(path), translated(path):
        _check_place(path)
        revision = examine(path, busy_timeout_s, head)
        _secure(path)
        _ensure_wal(path, busy_timeout_s)
        database = SqliteDatabase(path, busy_timeout_s)
        try:
            if revision != head:
                _migrate(database, scripts, head)
                # Earlier versions kept a cache of their index in a file next to the database.
                path.with_name(f"{path.name}-index").unlink(missing_ok=True)
        except BaseException:
            database.close()
            raise
    return database, head


def examine(path: Path, busy_timeout_s: float, head: str) -> str | None:
    """Examine the file without writing to it.

    Returns:
        Its schema revision; None if it is empty or missing.

    Raises:
        MemoryStoreError: `StoreCorrupt`, `NotAStore`, `StoreNewer`, `StoreBusy`, `StoreUnavailable`.
    """
    if not path.exists():
        return None
    with path.open("rb") as file:
        magic = file.read(len(MAGIC))
    if not magic:
        # SQLite silently deletes the log of an empty file, and with it the only copy of its contents.
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise StoreCorrupt(_damaged(path, "it is empty but its write-ahead log is not"))
        return None
    if magic != MAGIC:
        raise StoreCorrupt(_damaged(path, "it does not begin as an SQLite file"))
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=busy_timeout_s)) as connection:
        revision = revision_of(connection, path)
        if revision is not None:
            check_revision(revision, head, path)
            pages = "PRAGMA quick_check(1)"
            if path.stat().st_size <= QUICK_CHECK_BYTES and (found := connection.execute(pages).fetchone()[0]) != "ok":
                raise StoreCorrupt(_damaged(path, str(found)))
    return revision


def revision_of(connection: sqlite3.Connection, path: Path) -> str | None:
    """Return the schema revision of a file; None if it is empty.

    Raises:
        NotAStore: It is the database of another program.
        StoreCorrupt: The revision is missing.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark == 0 and not tables:
        return None
    if mark != APPLICATION_ID:
        raise NotAStore(f"{path} is the database of another program: choose another file for the memory store")
    found = connection.execute(_REVISION).fetchone() if "alembic_version" in tables else None
    if found is None:
        raise StoreCorrupt(_damaged(path, "its schema version is missing"))
    return str(found[0])


def _damaged(path: Path, how: str) -> str:
    return (
        f"the memory store {path} is damaged ({how}); it was left as it is: move it away together with the files"
        " whose names begin with its name, then restore a backup or import an export; `agent-s memory check"
        " --salvage EXPORT` writes what can still be read of it to an export"
    )


def _check_place(path: Path) -> None:
    folder = path.parent
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.is_dir() or (path.exists() and not path.is_file()):
        raise StoreUnavailable(
            f"{path} is not a file in a folder: choose another place for the memory store (memory.path)"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreReadOnly(
            f"the folder {folder} may not be written: change its rights or choose another (memory.path)"
        )
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise StoreReadOnly(f"the memory store {path} may not be read and written: change the rights of the file")


@contextmanager
def _file_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = f"the memory store {path} cannot be opened or created ({error.strerror})"
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                raise StoreFull(f"{place}: free some space and try again") from error
            case errno.EACCES | errno.EPERM | errno.EROFS:
                raise StoreReadOnly(
                    f"{place}: change the rights of the file and folder or choose another (memory.path)"
                ) from error
            case _:
                raise StoreUnavailable(f"{place}: choose another place for it (memory.path)") from error


def _secure(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    status = path.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != 0o600:
        path.chmod(0o600)


def _ensure_wal(path: Path, busy_timeout_s: float) -> None:
    deadline = time.monotonic() + busy_timeout_s
    with closing(sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)) as connection:
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                # If two processes create one store, SQLite fails here without its busy time-out.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)
    if mode != "wal":
        raise StoreUnavailable(f"{path} is on a file system without shared locks: put the memory store on a local disk")


def _migrate(database: SqliteDatabase, scripts: Path, head: str) -> None:
    with database.write() as connection:
        # Another process may have migrated it in the meantime.
        known = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").first()
        found = connection.exec_driver_sql(_REVISION).first() if known else None
        revision = None if found is None else str(found[0])
        if revision == head:
            return
        if revision is not None:
            check_revision(revision, head, database.path)
            back_up(database.path, revision)
        run_migrations(connection, scripts, head)


def back_up(path: Path, revision: str) -> Path:
    """Copy the store to a file in its folder.

    Args:
        path: The store; the caller holds its write lock, so the copy is complete.
        revision: Its schema revision, part of the copy's name.

    Returns:
        The copy, such as ``memory.db.backup-0001-20260131T120000Z``.

    Raises:
        MemoryStoreError: The copy cannot be written; likewise OSError.
    """
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    copy = path.with_name(f"{path.name}.backup-{revision}-{moment}")
    part = copy.with_name(f"{copy.name}.part")
    try:
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with (
            translated(part),
            closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(part)) as target,
        ):
            source.backup(target)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)
    return copy

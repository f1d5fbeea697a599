"""Salvage of a damaged store: all readable experiences are written to an export.

SQLite refuses every statement that reads a damaged page, while the other pages stay sound. So rows are read from a copy
of the store and its write-ahead log in ranges, which are halved down to single rows where reading fails.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.exc import DatabaseError

from memory_store.errors import StoreCorrupt, StoreUnavailable, TransferError
from memory_store.migrations import HEAD
from memory_store.migrations.packed_descriptions import unpack
from memory_store.records.experience import KINDS, Experience, Kind, Record
from memory_store.records.kinds import SkillExperience
from memory_store.storage.database import SqliteDatabase
from memory_store.storage.opening import MAGIC, locate, revision_of
from memory_store.storage.rows import TABLES, select_kind, to_record
from memory_store.transfer import write_export

_HEADER_BYTES = 100
_PACKED = "0003"  # the last schema with the aliases of skills in their descriptions
_ADDED = (
    ("0004", "skill", ("aliases JSON", "intent JSON", "effects JSON")),
    ("0005", "experience", ("draft BOOLEAN NOT NULL DEFAULT 0",)),
    ("0006", "experience", ("author TEXT NOT NULL DEFAULT ''",)),
)
"""Columns that later schemas added, which earlier ones get before they are read."""
_LONGEST_FILL = 1 << 40  # bytes; a header that promises more is damaged
_IDS = "SELECT uid, pk FROM experience INDEXED BY sqlite_autoindex_experience_1"
_NEWEST = (
    "SELECT seq FROM sqlite_sequence WHERE name = 'experience'",
    "SELECT max(pk) FROM experience",
    *(f"SELECT max(pk) FROM {kind}" for kind in KINDS),
)


class SalvageReport(Record):
    """The result of a salvage."""

    saved: int  # number of experiences written to the export
    lost: tuple[str, ...]  # known ids of experiences that cannot be read
    complete: bool  # whether the list of ids could be read, so that ``lost`` is complete


def salvage_store(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> SalvageReport:
    """Write all readable experiences of a store, damaged or not, to a file that `import_store` reads.

    Forgotten experience and cached search results are omitted, as in an export.

    Args:
        path: The file of the store. It is left as it is.
        target: The export to write (mode 0600); replaced only once it is complete.

    Raises:
        StoreUnavailable: The store is on a server, or does not exist.
        StoreCorrupt: Not even its tables can be found.
        NotAStore: It is the database of another program.
        TransferError: The copy or the export cannot be written.
    """
    source = locate(path)
    if not isinstance(source, Path):
        raise StoreUnavailable("only a file can be salvaged: for a server use its own tools, such as pg_dump")
    if not source.is_file():
        raise StoreUnavailable(f"there is no memory store {source}: check the path")
    folder = Path(target).expanduser().absolute().parent
    try:
        with tempfile.TemporaryDirectory(prefix=".salvage-", dir=folder) as name:
            records, lost, complete = _read(_copy(source, Path(name)), source)
    except OSError as error:
        raise TransferError(f"{folder} has no place for a copy ({error.strerror}): choose another place") from error
    write_export(target, len(records), records)
    return SalvageReport(saved=len(records), lost=lost, complete=complete)


def _copy(source: Path, folder: Path) -> Path:
    copy = folder / "memory.db"
    for ending in ("", "-wal"):
        part = source.with_name(source.name + ending)
        if part.exists():
            shutil.copyfile(part, copy.with_name(copy.name + ending))
    _fill_up(copy)
    return copy


def _fill_up(copy: Path) -> None:
    """Extend a truncated file to the length in its header, since SQLite refuses to open a shorter one."""
    with copy.open("rb+") as file:
        header = file.read(_HEADER_BYTES)
        if header.startswith(MAGIC):
            page = int.from_bytes(header[16:18], "big") or 65_536
            length = page * int.from_bytes(header[28:32], "big")
            if file.seek(0, os.SEEK_END) < length <= _LONGEST_FILL:
                file.truncate(length)


def _read(copy: Path, source: Path) -> tuple[list[Experience], tuple[str, ...], bool]:
    try:
        with closing(sqlite3.connect(copy)) as raw:
            revision = revision_of(raw, source)
    except sqlite3.DatabaseError as error:
        raise StoreCorrupt(
            f"nothing of {source} can be read, since its first page is damaged ({error}): restore a backup, or try"
            " `sqlite3 FILE .recover`, which guesses from what the other pages look like"
        ) from error
    if revision is not None and _PACKED <= revision < HEAD:
        with closing(sqlite3.connect(copy)) as raw:
            for schema, table, columns in _ADDED:
                for column in columns if revision < schema else ():
                    raw.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    elif revision != HEAD:
        raise StoreCorrupt(f"{source} has schema {revision}, not {HEAD}: salvage it with the version that wrote it")
    database = SqliteDatabase(copy, 0.0)
    try:
        with database.engine.connect() as connection:
            known, newest, complete = _known(connection)
            rows = [row for kind in KINDS for row in _rows(connection, kind, 1, newest)]
    finally:
        database.close()
    records = {record.id: record for row in rows if (record := _sound(row, revision == _PACKED)) is not None}
    forgotten = {row.uid for row in rows if row.forgotten_at is not None}
    ordered = sorted(records.values(), key=lambda record: (record.provenance.created_at, record.id))
    return ordered, tuple(sorted((known | {row.uid for row in rows}) - forgotten - set(records))), complete


def _known(connection: Connection) -> tuple[set[str], int, bool]:
    """Return the ids from their index, the highest pk found, and whether all ids were read."""
    known: dict[str, int] = {}
    newest = 0
    complete = True
    try:
        for uid, pk in connection.exec_driver_sql(_IDS):
            known[uid] = pk
    except DatabaseError as error:
        _only_damage(error)
        complete = False
    for query in _NEWEST:
        try:
            newest = max(newest, connection.exec_driver_sql(query).scalar() or 0)
        except DatabaseError as error:
            _only_damage(error)
    return set(known), max(newest, *known.values(), 0), complete


def _rows(connection: Connection, kind: Kind, first: int, last: int) -> Iterator[Row[Any]]:
    """Yield the readable rows of a kind with pks in a range."""
    pending = [(first, last)]
    while pending:
        low, high = pending.pop()
        if low > high:
            continue
        wanted = select_kind(kind).where(TABLES[kind].c.pk.between(low, high))
        try:
            yield from connection.execute(wanted).all()
        except (DatabaseError, ValueError, TypeError) as error:
            # A damaged page may also hold values that cannot be converted.
            if isinstance(error, DatabaseError):
                _only_damage(error)
            if low < high:
                middle = (low + high) // 2
                pending += [(middle + 1, high), (low, middle)]


def _sound(row: Row[Any], packed: bool) -> Experience | None:
    if row.forgotten_at is not None:
        return None
    try:
        record = to_record(row)
    except (ValueError, TypeError):
        return None
    if record.key.digest != row.key_digest:
        return None
    if packed and isinstance(record, SkillExperience):
        aliases, description = unpack(record.name, record.description, record.provenance.app)
        return record.model_copy(update={"aliases": tuple(aliases), "description": description})
    return record


def _only_damage(error: DatabaseError) -> None:
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR):
        raise error

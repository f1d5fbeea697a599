"""The file beside a database that keeps its indexes for the next opening.

It is a cache. Its first line says of which store, embedder and state it is, and holds a checksum of the rest; a file
that is cut short, damaged, of another store or embedder, or of a state that the database never had is not used, and
the indexes are made from the database again. One that is merely older is caught up.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from memory_store.embedding.embedders import Embedder
from memory_store.records.experience import KINDS
from memory_store.storage.schema import ExperienceRow, StateRow

if TYPE_CHECKING:
    from memory_store.search.vectors import VectorIndex

_FORMAT = "agent-s-index"
_VERSION = 2
_LONGEST_HEADER = 65_536
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """A state of the database as far as an index is concerned.

    Attributes:
        newest: The highest pk.
        version: Of the store.
        removed: How often forgotten rows were deleted.
    """

    newest: int = 0
    version: int = 0
    removed: int = 0


class IndexFile:
    """The file of one store.

    Args:
        database: The database file that it stands beside.
    """

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}-index")

    def read(
        self, connection: Connection, embedder: Embedder, store_uid: str
    ) -> tuple[Mark, dict[str, VectorIndex]] | None:
        """Return the indexes and the state they are of; None where they cannot be trusted."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file:
                header = json.loads(file.readline(_LONGEST_HEADER))
                data = memoryview(file.read())
            mark = _check(connection, header, embedder, store_uid, data)
            return mark, _parts(header, embedder.dimension, data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("the index %s is not used and made again: %s", self.path, error)
            return None

    def write(self, connection: Connection, embedder: Embedder, mark: Mark, indexes: Mapping[str, VectorIndex]) -> None:
        """Replace the file; where that fails, the next opening takes longer and nothing else."""
        parts = {kind: index.write() for kind, index in indexes.items()}
        checksum = 0
        for data in parts.values():
            checksum = zlib.crc32(data, checksum)
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "store": connection.scalar(select(StateRow.uid)),
            "embedder": embedder.name,
            "mark": asdict(mark),
            "last": _uid_of(connection, mark.newest),
            "kinds": {kind: [indexes[kind].form, len(data)] for kind, data in parts.items()},
            "checksum": checksum,
        }
        part = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(json.dumps(header).encode() + b"\n")
                for data in parts.values():
                    file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            _log.warning("the index %s could not be kept: %s", self.path, error)
        finally:
            part.unlink(missing_ok=True)


def _check(connection: Connection, header: Any, embedder: Embedder, store_uid: str, data: memoryview) -> Mark:
    if header["format"] != _FORMAT or header["version"] != _VERSION:
        raise ValueError("of another version")
    if header["store"] != store_uid or not store_uid:
        raise ValueError("of another store")
    if header["embedder"] != embedder.name:
        raise ValueError("of another embedder")
    if len(data) != sum(size for _, size in header["kinds"].values()) or zlib.crc32(data) != header["checksum"]:
        raise ValueError("damaged")
    mark = Mark(**header["mark"])
    state = connection.execute(select(StateRow.version, StateRow.removed)).one()
    # A database that was restored from a backup has lost what the file knows, and may have gone on differently.
    if mark.version > state.version or mark.removed > state.removed:
        raise ValueError("newer than the store")
    if header["last"] is None or _uid_of(connection, mark.newest) != header["last"]:
        raise ValueError("of a state that the store does not have")
    return mark


def _parts(header: Any, dimension: int, data: memoryview) -> dict[str, VectorIndex]:
    from memory_store.search.vectors import VectorIndex

    if set(header["kinds"]) != set(KINDS):
        raise ValueError("not all kinds are there")
    indexes: dict[str, VectorIndex] = {}
    start = 0
    for kind, (form, size) in header["kinds"].items():
        indexes[kind] = VectorIndex.read(dimension, form, data[start : start + size])
        start += size
    return indexes


def _uid_of(connection: Connection, pk: int) -> str | None:
    return connection.scalar(select(ExperienceRow.uid).where(ExperienceRow.pk == pk))

"""The local index: a cache in memory of the vectors in the database, one index for each kind of experience.

The database is the truth. Before each search the index catches up with what this and other processes have added,
changed and removed, by the counters that `memory_store.storage.schema` describes; if nothing has changed, that costs
one small query.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import ColumnElement, Connection, and_, func, select

from memory_store.embedding.embedders import Embedder, checked_embed
from memory_store.records.experience import KINDS, Kind
from memory_store.search.vectors import VectorIndex
from memory_store.storage.embeddings import cosines_of, decode, key_texts
from memory_store.storage.rows import chunks
from memory_store.storage.schema import experience, store_state, vector_table

if TYPE_CHECKING:
    from memory_store.search.vectors import Vector

EMBED_AT_ONCE = 256  # A larger number of experiences without a vector is embedded in the background.
_LOAD_ROWS = 8192
_EMBED_ROWS = 256
_STATE = select(
    func.coalesce(select(func.max(experience.c.pk)).scalar_subquery(), 0).label("newest"),
    store_state.c.version,
    store_state.c.removed,
)


class Index(Protocol):
    """Finds the nearest vectors of a store.

    Hold `lock` from before the reading transaction begins until the search is over, so that states of the database are
    seen in order.
    """

    @property
    def lock(self) -> threading.Lock:
        """Held during a search."""

    @property
    def newest(self) -> int:
        """The highest pk that was seen."""

    def catch_up(self, connection: Connection) -> None:
        """Bring the index to the state of the database that the transaction sees."""

    def search(
        self, connection: Connection, kind: Kind, vector: Vector, count: int, others: Sequence[int]
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """Return the experiences nearest to a vector, and the cosines of these and of others.

        Args:
            connection: A reading transaction.
            kind: The kind of experience.
            vector: The ``(d,)`` vector.
            count: Maximum number of neighbours.
            others: Further pks.

        Returns:
            (pk, cosine) pairs of the nearest, best first, and the cosine of each pk that has a vector.
        """

    def ids(self, connection: Connection, kind: Kind) -> frozenset[int]:
        """Return the pks indexed for a kind."""


@dataclass(frozen=True, slots=True)
class _Seen:
    newest: int = 0
    version: int = 0
    removed: int = 0


class LocalIndex:
    """The indexes of one open store and how far they have followed the database.

    Args:
        embedder: Whose vectors are indexed.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.lock = threading.Lock()
        self._embedder = embedder
        self._indexes: dict[str, VectorIndex] = {}
        self._seen = _Seen()

    @property
    def newest(self) -> int:
        """The highest pk that was seen."""
        return self._seen.newest

    def catch_up(self, connection: Connection) -> None:
        """Bring the indexes to the state of the database that the transaction sees."""
        now = _Seen(*connection.execute(_STATE).one())
        if not self._indexes:
            self._indexes = {kind: VectorIndex(self._embedder.dimension) for kind in KINDS}
        if now.removed != self._seen.removed:
            alive = set(connection.scalars(select(experience.c.pk)))
            for index in self._indexes.values():
                index.remove(index.ids - alive)
        if now.version != self._seen.version and self._seen.newest:
            changed = experience.c.changed > self._seen.version
            pks = connection.scalars(select(experience.c.pk).where(changed)).all()
            for index in self._indexes.values():
                index.remove(pks)
            self._load(connection, and_(changed, experience.c.pk <= self._seen.newest))
        if now.newest > self._seen.newest:
            self._load(connection, experience.c.pk.between(self._seen.newest + 1, now.newest))
        self._seen = now

    def search(
        self, connection: Connection, kind: Kind, vector: Vector, count: int, others: Sequence[int]
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """Return the experiences nearest to a vector, and their cosines and those of others."""
        near = dict(self._indexes[kind].search(vector, count))
        cosines = near | cosines_of(
            connection, self._embedder, [*near, *(pk for pk in others if pk not in near)], vector
        )
        return sorted(((pk, cosines[pk]) for pk in near), key=lambda pair: -pair[1]), cosines

    def ids(self, connection: Connection, kind: Kind) -> frozenset[int]:
        """Return the pks indexed for a kind."""
        return self._indexes[kind].ids if self._indexes else frozenset()

    def _load(self, connection: Connection, which: ColumnElement[bool]) -> None:
        same = and_(vector_table.c.pk == experience.c.pk, vector_table.c.embedder == self._embedder.name)
        query = (
            select(experience.c.pk, experience.c.kind, vector_table.c.data)
            .outerjoin(vector_table, same)
            .where(which, experience.c.forgotten_at.is_(None))
        )
        for rows in connection.execute(query).partitions(_LOAD_ROWS):
            parts: defaultdict[str, tuple[list[int], list[bytes | None]]] = defaultdict(lambda: ([], []))
            for pk, kind, data in rows:
                pks, blobs = parts[kind]
                pks.append(pk)
                blobs.append(data)
            for kind, (pks, blobs) in parts.items():
                self._add(connection, kind, pks, blobs)

    def _add(self, connection: Connection, kind: str, pks: list[int], blobs: list[bytes | None]) -> None:
        vectors, usable = decode(blobs, self._embedder.dimension)
        missing = [number for number, good in enumerate(usable) if not good]
        if len(missing) > EMBED_AT_ONCE:
            # The background embeds them and then increases the version.
            good = [number for number, good in enumerate(usable) if good]
            self._indexes[kind].add([pks[number] for number in good], vectors[good])
            return
        if missing:
            # Damaged, or just written by a process with another embedder.
            vectors = vectors.copy()
            for some in chunks(missing, _EMBED_ROWS):
                vectors[some] = checked_embed(self._embedder, key_texts(connection, [pks[number] for number in some]))
        self._indexes[kind].add(pks, vectors)

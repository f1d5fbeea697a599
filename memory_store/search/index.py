"""The local vector index: an in-memory cache of the vectors in the database, one index per kind of experience.

The database is the source of truth. Before each search, the index catches up with changes by this and other processes,
using the counters that `memory_store.storage.schema` describes. If nothing has changed, this costs one small query.

Vectors are quantized to one byte per number, which takes a quarter of the memory and half of the time of floats. The
error of a cosine is less than 0.01; exact cosines are computed from the vectors in the database.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Connection, and_, func, select

from memory_store.embedding.embedders import Embedder, checked_embed
from memory_store.records.experience import KINDS, Kind
from memory_store.storage.embeddings import cosines_of, decode, key_texts
from memory_store.storage.schema import experience, store_state, vector_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

EMBED_AT_ONCE = 256  # A larger number of experiences without a vector is embedded in the background.
_LOAD_ROWS = 8192
_STATE = select(
    func.coalesce(select(func.max(experience.c.pk)).scalar_subquery(), 0).label("newest"),
    store_state.c.version,
    store_state.c.removed,
)


class Index(Protocol):
    """Nearest-neighbor search over the vectors of a store.

    Hold `lock` from before the reading transaction begins until the search has ended, so that states of the database
    are seen in order.
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


class _Seen(NamedTuple):
    newest: int = 0
    version: int = 0
    removed: int = 0


class LocalIndex:
    """The in-memory indexes of one open store, and the state of the database that they reflect."""

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
            for kind in KINDS:
                if stored := [(pk, data) for pk, other, data in rows if other == kind]:
                    self._add(connection, kind, stored)

    def _add(self, connection: Connection, kind: str, stored: list[tuple[int, bytes | None]]) -> None:
        vectors, usable = decode([data for _, data in stored], self._embedder.dimension)
        good = [pk for (pk, _), sound in zip(stored, usable, strict=True) if sound]
        self._indexes[kind].add(good, vectors if len(good) == len(stored) else vectors[usable])
        missing = [pk for (pk, _), sound in zip(stored, usable, strict=True) if not sound]
        # These are damaged, or were just written by a process with another embedder. A larger number is left to the
        # background, which increases the version when it has embedded them.
        if 0 < len(missing) <= EMBED_AT_ONCE:
            self._indexes[kind].add(missing, checked_embed(self._embedder, key_texts(connection, missing)))


class VectorIndex:
    """Exhaustive inner-product search over unit vectors with integer ids."""

    def __init__(self, dimension: int) -> None:
        import faiss
        import numpy as np

        # One query at a time: starting threads costs more than they save.
        faiss.omp_set_num_threads(1)
        quantizer = faiss.ScalarQuantizer.QT_8bit_uniform
        scalars: Any = faiss.IndexScalarQuantizer(dimension, quantizer, faiss.METRIC_INNER_PRODUCT)
        # The numbers of a unit vector lie between -1 and 1, so no data is needed for training.
        scalars.train(np.outer([-1.0, 1.0], np.ones(dimension)).astype(np.float32))
        self._index: Any = faiss.IndexIDMap(scalars)
        self._index.own_fields = True
        scalars.this.disown()
        self._ids: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[int]:
        """The ids in the index."""
        return frozenset(self._ids)

    def add(self, ids: Sequence[int], vectors: Vector) -> None:
        """Add ``(n, d)`` vectors; ids that are already present keep their vectors."""
        import numpy as np

        new = [row for row, number in enumerate(ids) if number not in self._ids]
        if new:
            chosen = np.asarray([ids[row] for row in new], dtype=np.int64)
            self._index.add_with_ids(vectors if len(new) == len(ids) else vectors[new], chosen)
            self._ids.update(chosen.tolist())

    def remove(self, ids: Iterable[int]) -> None:
        """Remove the vectors with these ids; unknown ids are ignored."""
        import numpy as np

        present = self._ids.intersection(ids)
        if present:
            self._index.remove_ids(np.fromiter(present, dtype=np.int64, count=len(present)))
            self._ids -= present

    def search(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` pairs of id and approximate cosine nearest to a ``(d,)`` vector, best first."""
        count = min(count, len(self._ids))
        if count < 1:
            return []
        cosines, ids = self._index.search(vector.reshape(1, -1), count)
        return list(zip(ids[0].tolist(), cosines[0].tolist(), strict=True))

"""The FAISS index: a cache of the vectors in the database, exact, one for each kind of experience.

The database is the truth. Before each search the index is caught up with what this and other processes have
added and removed since; when nothing changed, that costs one small query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Select, and_, func, select
from sqlalchemy.dialects.sqlite import insert

from memory_store.database import Database
from memory_store.embedding import Embedder, checked_embed
from memory_store.experience import Kind
from memory_store.schema import ExperienceRow, StateRow, VectorRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

ItemT = TypeVar("ItemT")

_KINDS: tuple[Kind, ...] = ("narrative", "episodic")
_LOAD_ROWS = 8192
_EMBED_ROWS = 256

# Column objects of the table behind the mapped class: plain rows, no ORM objects.
_experience = ExperienceRow.__table__.c
_vector = VectorRow.__table__.c
_state = StateRow.__table__.c


class VectorIndex:
    """Exact inner-product search over unit vectors with integer ids.

    Args:
        dimension: Length of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        import faiss

        # One query at a time: starting threads costs more than they save.
        faiss.omp_set_num_threads(1)
        self._faiss = faiss
        self._index: Any = faiss.IndexIDMap(faiss.IndexFlatIP(dimension))
        self._ids: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[int]:
        """The ids in the index."""
        return frozenset(self._ids)

    def add(self, ids: Sequence[int], vectors: Vector) -> None:
        """Add ``(n, d)`` vectors; ids already present are left as they are (FAISS would keep both)."""
        import numpy as np

        new = [row for row, number in enumerate(ids) if number not in self._ids]
        if not new:
            return
        chosen = np.asarray([ids[row] for row in new], dtype=np.int64)
        self._index.add_with_ids(vectors if len(new) == len(ids) else vectors[new], chosen)
        self._ids.update(chosen.tolist())

    def remove(self, ids: Iterable[int]) -> None:
        """Remove the vectors with these ids; unknown ids are ignored."""
        import numpy as np

        gone = self._ids.intersection(ids)
        if gone:
            self._index.remove_ids(np.fromiter(gone, dtype=np.int64, count=len(gone)))
            self._ids -= gone

    def search(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` (id, cosine) pairs nearest to a ``(d,)`` vector, best first."""
        count = min(count, len(self._ids))
        if count < 1:
            return []
        similarities, ids = self._index.search(vector.reshape(1, -1), count)
        return list(zip(ids[0].tolist(), similarities[0].tolist(), strict=True))


class IndexCache:
    """The indexes of one open store and how far they have followed the database.

    Hold `lock` from before the reading transaction begins until the search is over; states of the database
    are then seen in order.

    Args:
        embedder: Whose vectors are indexed.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.lock = threading.Lock()
        self._embedder = embedder
        self._indexes: dict[str, VectorIndex] = {}
        self._seen = 0
        self._removed = 0

    def catch_up(self, connection: Connection) -> None:
        """Make the indexes equal to the state of the database that the transaction sees."""
        if not self._indexes:
            self._indexes = {kind: VectorIndex(self._embedder.dimension) for kind in _KINDS}
        newest, removed = connection.execute(
            select(select(func.max(_experience.pk)).scalar_subquery(), _state.removed)
        ).one()
        if removed != self._removed:
            self._drop_missing(connection)
            self._removed = removed
        if newest is not None and newest > self._seen:
            self._load_after(connection, self._seen)
            self._seen = newest

    def search(self, kind: Kind, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` (pk, cosine) pairs nearest to a ``(d,)`` vector, best first."""
        return self._indexes[kind].search(vector, count)

    def ids(self, kind: Kind) -> frozenset[int]:
        """The pks indexed for a kind."""
        return self._indexes[kind].ids if self._indexes else frozenset()

    def _drop_missing(self, connection: Connection) -> None:
        alive = set(connection.scalars(select(_experience.pk)))
        for index in self._indexes.values():
            index.remove(index.ids - alive)

    def _load_after(self, connection: Connection, pk: int) -> None:
        query = (
            select(_experience.pk, _experience.kind, _experience.key_text, _vector.data)
            .outerjoin(VectorRow.__table__, and_(_vector.pk == _experience.pk, _vector.embedder == self._embedder.name))
            .where(_experience.pk > pk)
            .order_by(_experience.pk)
        )
        for rows in connection.execute(query).partitions(_LOAD_ROWS):
            for kind in _KINDS:
                self._add([row for row in rows if row.kind == kind], kind)

    def _add(self, rows: Sequence[Any], kind: str) -> None:
        if not rows:
            return
        vectors, sound = decode([row.data for row in rows], self._embedder.dimension)
        bad = [number for number, is_sound in enumerate(sound) if not is_sound]
        for some in chunks(bad, _EMBED_ROWS):
            # Written meanwhile by a process with another embedder, or damaged.
            vectors[some] = checked_embed(self._embedder, [rows[number].key_text for number in some])
        self._indexes[kind].add([row.pk for row in rows], vectors)


def encode(vector: Vector) -> bytes:
    """Return the stored form of a ``(d,)`` vector: little-endian float32."""
    return vector.astype("<f4", copy=False).tobytes()


def decode(blobs: Sequence[bytes | None], dimension: int) -> tuple[Vector, list[bool]]:
    """Return the ``(n, dimension)`` vectors of stored forms, and which of them are usable.

    Unusable are those that are missing, of a wrong size, not finite, or of a length other than one.
    """
    import numpy as np

    size = 4 * dimension
    blank = bytes(size)
    whole = [blob if blob is not None and len(blob) == size else blank for blob in blobs]
    vectors = np.frombuffer(b"".join(whole), dtype="<f4").reshape(len(blobs), dimension).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    sound: list[bool] = (np.abs(lengths - 1.0) <= 1e-3).tolist()
    return vectors, sound


def store_missing_vectors(database: Database, embedder: Embedder) -> int:
    """Embed what has no vector by this embedder yet and store the vectors; return how many.

    Works in batches of one transaction each, so that an interruption loses at most one batch of work. Vectors
    of other embedders stay where they are.

    Raises:
        MemoryStoreError: The store cannot be written, or the embedder fails.
    """
    done = 0
    last = 0
    while True:
        with database.read() as connection:
            rows = connection.execute(_missing(embedder, last)).all()
        if not rows:
            return done
        vectors = checked_embed(embedder, [row.key_text for row in rows])
        values = [
            {"pk": row.pk, "embedder": embedder.name, "data": encode(vector)}
            for row, vector in zip(rows, vectors, strict=True)
        ]
        with database.write() as connection:
            wanted = [row.pk for row in rows]
            # Some may have been forgotten while we were embedding.
            alive = set(connection.scalars(select(_experience.pk).where(_experience.pk.in_(wanted))))
            kept = [value for value in values if value["pk"] in alive]
            if kept:
                statement = insert(VectorRow)
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=["pk", "embedder"], set_={"data": statement.excluded.data}
                    ),
                    kept,
                )
        done += len(kept)
        last = rows[-1].pk


def _missing(embedder: Embedder, after: int) -> Select[Any]:
    vector = and_(_vector.pk == _experience.pk, _vector.embedder == embedder.name)
    usable = func.length(_vector.data) == 4 * embedder.dimension
    return (
        select(_experience.pk, _experience.key_text)
        .outerjoin(VectorRow.__table__, and_(vector, usable))
        .where(_experience.pk > after, _vector.pk.is_(None))
        .order_by(_experience.pk)
        .limit(_EMBED_ROWS)
    )


def chunks(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """Yield the items in runs of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

"""The stored vectors of experiences, and the embedding of those that have none yet."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select

from memory_store.embedding.embedders import Embedder, checked_embed
from memory_store.errors import ConnectionLost, MemoryStoreError, StoreBusy
from memory_store.storage.database import Database
from memory_store.storage.rows import chunks, mark_changed
from memory_store.storage.schema import experience, vector_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_BATCH = 256
_RETRY_S = 0.2
_VECTORS = select(vector_table.c.pk, vector_table.c.data).where(
    vector_table.c.pk.in_(bindparam("pks", expanding=True)), vector_table.c.embedder == bindparam("embedder")
)
logger = logging.getLogger(__name__)


def encode(vector: Vector) -> bytes:
    """Return the stored form of a ``(d,)`` vector: little-endian float32."""
    return vector.astype("<f4", copy=False).tobytes()


def decode(blobs: Sequence[bytes | None], dimension: int) -> tuple[Vector, list[bool]]:
    """Return the ``(n, dimension)`` vectors of stored forms, and which of them are usable.

    A vector is not usable if it is missing, of a wrong size, not finite, or of a length other than one.
    """
    import numpy as np

    size = 4 * dimension
    blank = bytes(size)
    whole = [blob if blob is not None and len(blob) == size else blank for blob in blobs]
    vectors = np.frombuffer(b"".join(whole), dtype="<f4").reshape(len(blobs), dimension).astype(np.float32, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    usable: list[bool] = (np.abs(lengths - 1.0) <= 1e-3).tolist()
    return vectors, usable


def cosines_of(
    connection: Connection, embedder: Embedder, pks: Sequence[int], vector: Vector, embed_missing: bool = False
) -> dict[int, float]:
    """Return the cosines between a ``(d,)`` vector and the stored vectors of experiences.

    Args:
        connection: A transaction.
        embedder: Whose vectors are compared.
        pks: The experiences.
        vector: The vector to compare with.
        embed_missing: Whether to embed experiences without a usable vector; otherwise they are left out.
    """
    found: dict[int, float] = {}
    for some in chunks(pks, _BATCH):
        rows = connection.execute(_VECTORS, {"pks": list(some), "embedder": embedder.name}).all()
        if rows:
            vectors, usable = decode([row.data for row in rows], embedder.dimension)
            cosines = (vectors @ vector).tolist()
            found |= {row.pk: cosine for row, cosine, good in zip(rows, cosines, usable, strict=True) if good}
        missing = [pk for pk in some if pk not in found] if embed_missing else []
        if missing:
            vectors = checked_embed(embedder, key_texts(connection, missing))
            found |= dict(zip(missing, (vectors @ vector).tolist(), strict=True))
    return found


def key_texts(connection: Connection, pks: Sequence[int]) -> list[str]:
    """Return the texts that experiences are embedded by."""
    rows = connection.execute(select(experience.c.pk, experience.c.key_text).where(experience.c.pk.in_(pks)))
    texts: dict[int, str] = {pk: text for pk, text in rows}
    return [texts[pk] for pk in pks]


def count_missing_vectors(database: Database, embedder: Embedder) -> int:
    """Return the number of experiences without a vector by this embedder."""
    with database.read() as connection:
        present = connection.scalar(select(func.count()).select_from(experience)) or 0
        embedded = connection.scalar(select(func.count()).where(vector_table.c.embedder == embedder.name)) or 0
    return present - embedded


def store_missing_vectors(
    database: Database, embedder: Embedder, stop: Callable[[], bool] = lambda: False, limit: int | None = None
) -> int:
    """Embed experiences that have no usable vector by this embedder and return their number.

    Each batch is one transaction, so that an interruption loses at most one batch of work. The vectors of other
    embedders are kept.

    Args:
        database: The open database.
        embedder: Makes the vectors.
        stop: Checked between batches; if it returns true, the rest is left for later.
        limit: Stop after the batch in which this number is reached.

    Raises:
        MemoryStoreError: The store cannot be written, or the embedder fails.
    """
    same = and_(vector_table.c.pk == experience.c.pk, vector_table.c.embedder == embedder.name)
    usable = func.length(vector_table.c.data) == 4 * embedder.dimension
    missing = (
        select(experience.c.pk, experience.c.key_text)
        .outerjoin(vector_table, and_(same, usable))
        .where(experience.c.pk > bindparam("after"), vector_table.c.pk.is_(None))
        .order_by(experience.c.pk)
        .limit(_BATCH)
    )
    done = after = 0
    while not stop() and (limit is None or done < limit):
        with database.read() as connection:
            rows = connection.execute(missing, {"after": after}).all()
        if not rows:
            break
        vectors = checked_embed(embedder, [row.key_text for row in rows])
        values = [
            {"pk": row.pk, "embedder": embedder.name, "data": encode(vector)}
            for row, vector in zip(rows, vectors, strict=True)
        ]
        with database.write() as connection:
            done += _store(connection, embedder, values)
        after = rows[-1].pk
    return done


def _store(connection: Connection, embedder: Embedder, values: list[dict[str, Any]]) -> int:
    # Meanwhile some experiences may have been deleted, and others embedded by another process.
    pks = [value["pk"] for value in values]
    alive = set(connection.scalars(select(experience.c.pk).where(experience.c.pk.in_(pks))))
    connection.execute(delete(vector_table).where(vector_table.c.pk.in_(pks), vector_table.c.embedder == embedder.name))
    kept = [value for value in values if value["pk"] in alive]
    if kept:
        connection.execute(insert(vector_table), kept)
        mark_changed(connection, list(alive))
    return len(kept)


class BackgroundEmbedding:
    """A thread that embeds experiences without a vector, until none is left or the store is closed."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: MemoryStoreError | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="memory-embedding", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current batch; the rest is embedded after the next opening."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def wait(self) -> None:
        """Wait until everything is embedded.

        Raises:
            MemoryStoreError: The thread ended with this error.
        """
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                store_missing_vectors(self._database, self._embedder, self._stopped.is_set)
                return
            except (StoreBusy, ConnectionLost):
                self._stopped.wait(_RETRY_S)
            except MemoryStoreError as error:
                self._error = error
                logger.warning("some experiences have no vector by %s yet: %s", self._embedder.name, error)
                return

"""The indexes of a store: a cache of the vectors in the database, one for each kind of experience.

The database is the truth. Before each search the index is caught up with what this and other processes have
added and removed since, told by the counters that `memory_store.storage.schema` describes; when nothing changed, that
costs
one small query. Large indexes are kept in a file beside the database as well (`memory_store.search.index_file`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, update

from memory_store.embedding.embedders import Embedder, checked_embed
from memory_store.records.experience import KINDS, Kind
from memory_store.search.index_file import IndexFile, Mark
from memory_store.search.vectors import EXACT_ROWS, VectorIndex
from memory_store.storage.database import Database
from memory_store.storage.fetching import fetch
from memory_store.storage.schema import ExperienceRow, StateRow, VectorRow
from memory_store.storage.statements import STATE, VECTORS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

ItemT = TypeVar("ItemT")

EMBED_AT_ONCE = 256
"""More experiences without a vector than this are embedded in the background."""

_LOAD_ROWS = 8192
_EMBED_ROWS = 256
_SAVE_SHARE = 20

# Column objects of the table behind the mapped class: plain rows, no ORM objects.
_experience = ExperienceRow.__table__.c
_vector = VectorRow.__table__.c
_state = StateRow.__table__.c


class Index(Protocol):
    """What finds the nearest vectors of a store.

    Hold `lock` from before the reading transaction begins until the search is over; states of the database are then
    seen in order.
    """

    @property
    def lock(self) -> threading.Lock:
        """Held during a search."""

    @property
    def newest(self) -> int:
        """The highest pk that was seen."""

    def catch_up(self, connection: Connection) -> None:
        """Make the index equal to the state of the database that the transaction sees."""

    def search(self, connection: Connection, kind: Kind, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` (pk, cosine) pairs nearest to a ``(d,)`` vector, best first."""

    def cosines(self, connection: Connection, pks: Sequence[int], vector: Vector) -> dict[int, float]:
        """Return the cosine of the stored vector of each pk that has one."""

    def ids(self, connection: Connection, kind: Kind) -> frozenset[int]:
        """Return the pks indexed for a kind."""

    def save(self, connection: Connection) -> bool:
        """Keep the index for the next opening where that pays; return whether it was written."""


class IndexCache:
    """The indexes of one open store and how far they have followed the database.

    Args:
        embedder: Whose vectors are indexed.
        file: Where large indexes are kept between openings; None for nowhere.
    """

    def __init__(self, embedder: Embedder, file: IndexFile | None = None) -> None:
        self.lock = threading.Lock()
        self._embedder = embedder
        self._file = file
        self._indexes: dict[str, VectorIndex] = {}
        self._at = Mark()
        self._saved = Mark()

    def catch_up(self, connection: Connection) -> None:
        """Make the indexes equal to the state of the database that the transaction sees."""
        (state,) = fetch(connection, STATE, {})
        if not self._indexes:
            self._begin(connection, state.uid)
            self._follow(connection, state)
            if self._saved.newest and not self._is_whole(connection):
                # The file was of a store that lost its last changes, by a backup that was put back.
                self._at = self._saved = Mark()
                self._indexes = {kind: VectorIndex(self._embedder.dimension) for kind in KINDS}
        self._follow(connection, state)

    def _is_whole(self, connection: Connection) -> bool:
        alive = select(func.count()).where(_experience.forgotten_at.is_(None))
        return connection.scalar(alive) == sum(len(index) for index in self._indexes.values())

    def _follow(self, connection: Connection, state: Any) -> None:
        if state.removed != self._at.removed:
            self._drop_missing(connection)
        if state.version != self._at.version:
            self._follow_changes(connection)
        newest = state.newest or 0
        if newest > self._at.newest:
            self._load(connection, and_(_experience.pk > self._at.newest, _experience.pk <= newest))
        self._at = Mark(newest, state.version, state.removed)

    def search(self, connection: Connection, kind: Kind, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` (pk, cosine) pairs nearest to a ``(d,)`` vector, best first."""
        index = self._indexes[kind]
        near = index.search(vector, count)
        if index.is_exact or not near:
            return near
        exact = self.cosines(connection, [pk for pk, _ in near], vector)
        return sorted(((pk, exact.get(pk, cosine)) for pk, cosine in near), key=lambda pair: -pair[1])

    def cosines(self, connection: Connection, pks: Sequence[int], vector: Vector) -> dict[int, float]:
        """Return the cosine of the stored vector of each pk that has one."""
        if not pks:
            return {}
        if all(index.is_exact for index in self._indexes.values()):
            # What is in memory needs not be read again.
            parts = [index.cosines(pks, vector) or {} for index in self._indexes.values() if len(index)]
            return {pk: cosine for part in parts for pk, cosine in part.items()}
        return cosines_of(connection, self._embedder, pks, vector)

    @property
    def newest(self) -> int:
        """The highest pk that was seen."""
        return self._at.newest

    def ids(self, connection: Connection, kind: Kind) -> frozenset[int]:
        """The pks indexed for a kind."""
        return self._indexes[kind].ids if self._indexes else frozenset()

    def forms(self) -> dict[str, str]:
        """The form of the index of each kind that has been loaded."""
        return {kind: index.form for kind, index in self._indexes.items()}

    def save(self, connection: Connection) -> bool:
        """Keep large indexes for the next opening, if they have changed much; return whether they were written."""
        size = sum(len(index) for index in self._indexes.values())
        behind = self._at.newest - self._saved.newest + self._at.version - self._saved.version
        if self._file is None or size <= EXACT_ROWS or behind <= size // _SAVE_SHARE:
            return False
        self._file.write(connection, self._embedder, self._at, self._indexes)
        self._saved = self._at
        return True

    def _begin(self, connection: Connection, store_uid: str) -> None:
        found = self._file.read(connection, self._embedder, store_uid) if self._file is not None else None
        if found is not None:
            self._at, self._indexes = found
            self._saved = self._at
        else:
            self._indexes = {kind: VectorIndex(self._embedder.dimension) for kind in KINDS}

    def _drop_missing(self, connection: Connection) -> None:
        alive = set(connection.scalars(select(_experience.pk)))
        for index in self._indexes.values():
            index.remove(index.ids - alive)

    def _follow_changes(self, connection: Connection) -> None:
        changed = _experience.changed > self._at.version
        for index in self._indexes.values():
            index.remove(connection.scalars(select(_experience.pk).where(changed)).all())
        self._load(connection, and_(changed, _experience.pk <= self._at.newest))

    def _load(self, connection: Connection, which: ColumnElement[bool]) -> None:
        query = (
            select(_experience.pk, _experience.kind, _vector.data)
            .outerjoin(VectorRow.__table__, and_(_vector.pk == _experience.pk, _vector.embedder == self._embedder.name))
            .where(which, _experience.forgotten_at.is_(None))
            .order_by(_experience.pk)
        )
        for rows in connection.execute(query).partitions(_LOAD_ROWS):
            for kind in KINDS:
                self._add(connection, [row for row in rows if row.kind == kind], kind)
        for index in self._indexes.values():
            index.settle()

    def _add(self, connection: Connection, rows: Sequence[Any], kind: str) -> None:
        if not rows:
            return
        vectors, sound = decode([row.data for row in rows], self._embedder.dimension)
        bad = [number for number, is_sound in enumerate(sound) if not is_sound]
        if len(bad) > EMBED_AT_ONCE:
            # They are being embedded in the background, and told by the version when that is done.
            good = [number for number, is_sound in enumerate(sound) if is_sound]
            self._indexes[kind].add([rows[number].pk for number in good], vectors[good])
            return
        for some in chunks(bad, _EMBED_ROWS):
            # Written meanwhile by a process with another embedder, or damaged.
            wanted = [rows[number].pk for number in some]
            vectors[some] = checked_embed(self._embedder, _texts(connection, wanted))
        self._indexes[kind].add([row.pk for row in rows], vectors)


def cosines_of(
    connection: Connection, embedder: Embedder, pks: Sequence[int], vector: Vector, embed_missing: bool = False
) -> dict[int, float]:
    """Return the cosine of the stored vector of each pk that has one, or of each pk."""
    found: dict[int, float] = {}
    for some in chunks(pks, _EMBED_ROWS):
        rows = fetch(connection, VECTORS, {"pks": list(some), "embedder": embedder.name})
        if rows:
            vectors, sound = decode([row.data for row in rows], embedder.dimension)
            cosines = (vectors @ vector).tolist()
            found |= {row.pk: cosine for row, cosine, good in zip(rows, cosines, sound, strict=True) if good}
        missing = [pk for pk in some if pk not in found] if embed_missing else []
        if missing:
            vectors = checked_embed(embedder, _texts(connection, missing))
            found |= dict(zip(missing, (vectors @ vector).tolist(), strict=True))
    return found


def _texts(connection: Connection, pks: Sequence[int]) -> list[str]:
    rows = connection.execute(select(_experience.pk, _experience.key_text).where(_experience.pk.in_(pks)))
    texts: dict[int, str] = {pk: text for pk, text in rows}
    return [texts[pk] for pk in pks]


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


def count_missing_vectors(database: Database, embedder: Embedder) -> int:
    """Count the experiences that have no vector by this embedder."""
    with database.read() as connection:
        there = connection.scalar(select(func.count()).select_from(ExperienceRow.__table__)) or 0
        known = connection.scalar(select(func.count()).where(_vector.embedder == embedder.name)) or 0
    return there - known


def store_missing_vectors(
    database: Database, embedder: Embedder, stop: Callable[[], bool] = lambda: False, most: int | None = None
) -> int:
    """Embed what has no vector by this embedder yet and store the vectors; return how many.

    Works in batches of one transaction each, so that an interruption loses at most one batch of work. Vectors
    of other embedders stay where they are.

    Args:
        database: Where.
        embedder: Makes the vectors.
        stop: Asked between batches whether to leave the rest for later.
        most: Leave the rest after so many.

    Raises:
        MemoryStoreError: The store cannot be written, or the embedder fails.
    """
    done = 0
    last = 0
    while not stop() and (most is None or done < most):
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
            done += _store_vectors(connection, embedder, {value["pk"]: value for value in values})
        last = rows[-1].pk
    return done


def _store_vectors(connection: Connection, embedder: Embedder, values: dict[int, dict[str, Any]]) -> int:
    # Some may have been deleted while we were embedding, some embedded by another process.
    alive = set(connection.scalars(select(_experience.pk).where(_experience.pk.in_(values))))
    there = and_(_vector.pk.in_(values), _vector.embedder == embedder.name)
    connection.execute(VectorRow.__table__.delete().where(there))  # type: ignore[attr-defined]  # a Table, declared as less
    kept = [value for pk, value in values.items() if pk in alive]
    if kept:
        connection.execute(VectorRow.__table__.insert(), kept)  # type: ignore[attr-defined]  # a Table, declared as less
        mark_changed(connection, list(alive))
    return len(kept)


def mark_changed(connection: Connection, pks: Sequence[int]) -> None:
    """Tell all readers that the index entries of these rows are out of date."""
    version = (connection.scalar(select(_state.version)) or 0) + 1
    connection.execute(update(StateRow).values(version=version))
    for some in chunks(pks, _EMBED_ROWS):
        connection.execute(update(ExperienceRow).where(ExperienceRow.pk.in_(some)).values(changed=version))


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

"""Finding experience by its key: the same words first, then what is nearest in meaning and words together.

Candidates are those nearest by embedding and those that share rare words; `memory_store.search.ranking` decides which
of them
may be returned, and in which order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_
from sqlalchemy.orm import Session

from memory_store.embedding.embedders import Embedder, checked_embed, checked_vector
from memory_store.keys import Key
from memory_store.records.experience import QUARANTINE_AFTER_FAILURES, Experience, Hit, Kind, State
from memory_store.records.narrative import NarrativeExperience
from memory_store.search.index import Index, chunks
from memory_store.search.lexical import WordSearch
from memory_store.search.ranking import LEAST_COSINE, Judge, Verdict, weight
from memory_store.storage.database import Database
from memory_store.storage.fetching import fetch
from memory_store.storage.rows import to_record
from memory_store.storage.schema import ExperienceRow
from memory_store.storage.statements import Statements, statements

if TYPE_CHECKING:
    from memory_store.search.vectors import Vector

_BATCH = 500
_FIRST_CANDIDATES = 32
_BY_WORDS = 16
_MOST_CANDIDATES = 128
_FEW = 12
"""So many experiences are read at once with all they hold."""
_MOST_FILTERED = 2048


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search is for.

    Attributes:
        kind: Which memory.
        key: What to look for.
        k: At most so many hits.
        app: Only about this application (case does not count), unless None.
        platform: Only from this platform, unless None.
        min_similarity: Threshold in place of the embedder's own, unless None.
        vector: The embedding of the key, ``(d,)`` float32 of length one, where the caller has it.
        states: In one of these states.
    """

    kind: Kind
    key: Key
    k: int
    app: str | None = None
    platform: str | None = None
    min_similarity: float | None = None
    vector: Vector | None = None
    states: tuple[State, ...] = ("active", "candidate")

    @property
    def filters(self) -> dict[str, Any]:
        """The values of the filters in `memory_store.storage.statements`."""
        values: dict[str, Any] = {"states": list(self.states)}
        if self.app is not None:
            values["app"] = self.app.lower()
        if self.platform is not None:
            values["platform"] = self.platform
        return values


class Retriever:
    """Searches one open store.

    Args:
        database: The open database.
        embedder: Turns keys into vectors.
        index: Finds the nearest vectors.
    """

    def __init__(self, database: Database, embedder: Embedder, index: Index) -> None:
        self._database = database
        self._embedder = embedder
        self._words = WordSearch()
        self.index = index

    def search(self, wanted: Wanted) -> list[Hit[Experience]]:
        """Return the experiences of a kind whose key is like the wanted one: the same words first, then by score.

        Raises:
            ValueError: ``k`` is below one.
            MemoryStoreError: The store cannot be read, or the embedder fails.
        """
        if wanted.k < 1:
            raise ValueError("k must be at least 1")
        vector = (
            checked_embed(self._embedder, [wanted.key.text])[0]
            if wanted.vector is None
            else checked_vector(wanted.vector, self._embedder.dimension)
        )
        prepared = statements(wanted.kind, wanted.app is not None, wanted.platform is not None)
        ranking = _Ranking(wanted.k)
        with self.index.lock, self._database.read() as connection:
            self.index.catch_up(connection)
            for row in fetch(connection, prepared.same, {"digest": wanted.key.digest, **wanted.filters}):
                record = to_record(row)
                success = record.success if isinstance(record, NarrativeExperience) else True
                if ranking.takes(record.key.digest, success):
                    score = 1.0 + weight(record.provenance)
                    ranking.hits.append(Hit(record, 1.0, "the same words", score, ("the same words",)))
            if not ranking.full:
                self._search_like(connection, prepared, wanted, vector, ranking)
        return ranking.hits

    def save(self) -> None:
        """Keep large indexes for the next opening."""
        with self.index.lock, self._database.read() as connection:
            self.index.save(connection)

    def _search_like(
        self, connection: Connection, prepared: Statements, wanted: Wanted, vector: Vector, ranking: _Ranking
    ) -> None:
        floor = self._embedder.min_similarity if wanted.min_similarity is None else wanted.min_similarity
        least = floor * LEAST_COSINE if floor > 0 else floor
        by_words = self._words.search(connection, wanted.kind, wanted.key.text, _BY_WORDS, self.index.newest)
        forced = wanted.min_similarity is not None
        judge = Judge(wanted.key.text, floor, by_words, self._embedder.name, forced=forced)
        cosines: dict[int, float] = {}
        light: dict[int, Row[Any]] = {}
        looked: set[int] = set()
        count, most = _FIRST_CANDIDATES, _MOST_FILTERED if wanted.app or wanted.platform else _MOST_CANDIDATES
        while True:
            near = self.index.search(connection, wanted.kind, vector, count)
            cosines |= dict(near)
            cosines |= self.index.cosines(connection, [pk for pk in by_words if pk not in cosines], vector)
            fresh = [pk for pk, cosine in cosines.items() if cosine >= least and pk not in looked]
            looked.update(fresh)
            for some in chunks(fresh, _BATCH):
                statement = prepared.heavy if len(fresh) <= _FEW else prepared.light
                found = fetch(connection, statement, {"pks": list(some), **wanted.filters})
                light |= {row.pk: row for row in found}
            verdicts = judge.verdicts([(row, cosines[pk]) for pk, row in light.items()])
            # What the filters turn down is made up for by looking further down the list.
            kept = len({verdict.row.key_digest for verdict in verdicts}) + len(ranking.hits)
            if kept >= wanted.k or len(near) < count or near[-1][1] < least or count >= most:
                break
            count *= 4
        _offer(connection, prepared, verdicts, ranking)


def _offer(connection: Connection, prepared: Statements, verdicts: Sequence[Verdict], ranking: _Ranking) -> None:
    chosen = [verdict for verdict in verdicts if ranking.takes(verdict.row.key_digest, bool(verdict.row.success))]
    if not chosen:
        return
    rows = [verdict.row for verdict in chosen]
    if not all("uid" in row._fields for row in rows):
        rows = list(fetch(connection, prepared.whole, {"pks": [row.pk for row in rows]}))
    records = {row.pk: to_record(row) for row in rows}
    for verdict in chosen:
        reasons = verdict.reasons
        similarity = min(verdict.cosine, 1.0)
        ranking.hits.append(Hit(records[verdict.row.pk], similarity, "; ".join(reasons), verdict.score, tuple(reasons)))


class _Ranking:
    """Takes hits best first and keeps the first ``k``, one of each sort."""

    def __init__(self, k: int) -> None:
        self._left = k
        self._sorts: set[tuple[str, bool]] = set()
        self.hits: list[Hit[Experience]] = []

    @property
    def full(self) -> bool:
        """Whether no more candidates are wanted."""
        return self._left == 0

    def takes(self, digest: str, success: bool) -> bool:
        """Tell whether there is room for one with this key and ending, and take its place."""
        # Ten successes of one task would crowd out everything else, but a failure of it is news.
        sort = (digest, success)
        if self._left == 0 or sort in self._sorts:
            return False
        self._sorts.add(sort)
        self._left -= 1
        return True


def usable() -> ColumnElement[bool]:
    """Neither forgotten nor withdrawn."""
    table = ExperienceRow.__table__.c
    return and_(
        table.forgotten_at.is_(None),
        table.state.in_(("active", "candidate")),
        table.times_used - table.times_worked < QUARANTINE_AFTER_FAILURES,
    )


def load(connection: Connection, query: Select[Any]) -> list[Experience]:
    """Return the records of the rows that a query for mapped rows gives."""
    with Session(connection) as session:
        return [to_record(row) for row in session.scalars(query)]

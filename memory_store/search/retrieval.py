"""Search by key: exact matches first, then by meaning and words.

Candidates are the nearest by embedding and those that share rare words; `memory_store.search.ranking` decides which of
them may be returned, and in which order.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, select, true

from memory_store.embedding.embedders import Embedder, checked_embed, checked_vector
from memory_store.embedding.minilm import MiniLmEmbedder
from memory_store.errors import EmbedderUnavailable
from memory_store.keys import Key
from memory_store.records.experience import Experience, Hit, Kind
from memory_store.records.kinds import NarrativeExperience
from memory_store.search.index import Index
from memory_store.search.lexical import WordSearch
from memory_store.search.ranking import LEAST_COSINE, Judge, Same, Verdict, weight
from memory_store.storage.database import Database
from memory_store.storage.rows import NEWEST_FIRST, TABLES, chunks, load, select_kind, to_record, usable
from memory_store.storage.schema import experience

if TYPE_CHECKING:
    from memory_store.search.index import Vector

logger = logging.getLogger(__name__)

_EXACT_CANDIDATES = 64
_FIRST_CANDIDATES = 32
_MAX_CANDIDATES = 128
_MAX_FILTERED_CANDIDATES = 2048
_CANDIDATES_BY_WORDS = 16
_MAX_EMBEDDED = 64  # number of latest texts whose vectors are kept: a run searches for the same ones several times


class Filters(TypedDict, total=False):
    """Which experiences a search may return; what is left out filters nothing."""

    app: str | None  # only about this application (case does not count)
    platform: str | None  # only from this platform
    min_similarity: float | None  # minimum cosine; by default the embedder's threshold, for meaning and words together
    vector: Vector | None  # the embedding of the key, ``(d,)`` float32 of length one, if the caller has it


@dataclass(frozen=True, slots=True)
class Query:
    """A search."""

    kind: Kind
    key: Key  # the key to look for
    k: int  # maximum number of hits
    app: str | None = None  # see `Filters` for this and the next three
    platform: str | None = None
    min_similarity: float | None = None
    vector: Vector | None = None
    candidates: bool = True  # whether to return candidates as well as active experience

    @property
    def filters(self) -> dict[str, str]:
        """The values of the filters in the statements."""
        filters = {"app": self.app and self.app.lower(), "platform": self.platform}
        return {name: value for name, value in filters.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Statements:
    """The statements of a search. Building them takes longer than running them, so they are cached."""

    same: Select[Any]  # all columns by key digest, verified and newest first
    light: Select[Any]  # the columns for ranking, by pks


@lru_cache(maxsize=16)
def _statements(kind: Kind, candidates: bool, by_app: bool, by_platform: bool) -> _Statements:
    table = TABLES[kind]
    conditions = [usable()]
    if not candidates:
        conditions.append(experience.c.state == "active")
    if by_app:
        conditions.append(func.lower(experience.c.app) == bindparam("app"))
    if by_platform:
        conditions.append(experience.c.platform == bindparam("platform"))
    # The kind is only a condition where it is part of the index: together with a pk it misleads SQLite's planner.
    of_key = and_(experience.c.kind == kind, experience.c.key_digest == bindparam("digest"))
    of_pks = experience.c.pk.in_(bindparam("pks", expanding=True))
    whole = select_kind(kind)
    both = experience.join(table, table.c.pk == experience.c.pk)
    ranked_by = (
        *(experience.c.pk, experience.c.key_text, experience.c.key_digest, experience.c.app, experience.c.verified),
        *(experience.c.times_used, experience.c.times_worked, experience.c.created_at, experience.c.last_used_at),
        table.c.success if kind == "narrative" else true().label("success"),
    )
    return _Statements(
        same=whole.where(of_key, *conditions)
        .order_by(func.coalesce(experience.c.verified, False).desc(), *NEWEST_FIRST)
        .limit(_EXACT_CANDIDATES),
        light=select(*ranked_by).select_from(both).where(of_pks, *conditions),
    )


class Retriever:
    """Searches one open store."""

    def __init__(self, database: Database, embedder: Embedder, index: Index) -> None:
        self._database = database
        self._embedder = embedder
        self._words = WordSearch()
        self._embedded = lru_cache(_MAX_EMBEDDED)(lambda text: checked_embed(embedder, [text])[0])
        self._same: Same | None = None
        if isinstance(embedder, MiniLmEmbedder):
            self._same = lru_cache(_MAX_EMBEDDED)(embedder.same)
        self.index = index

    def search(self, query: Query) -> list[Hit[Experience]]:
        """Return the experiences whose key is similar to that of the query: exact matches first, then by score.

        Raises:
            ValueError: ``k`` is below one.
            MemoryStoreError: The store cannot be read, or the embedder fails.
        """
        if query.k < 1:
            raise ValueError("k must be at least 1")
        vector = self._vector(query)
        statements = _statements(query.kind, query.candidates, query.app is not None, query.platform is not None)
        ranking = _Ranking(query.k)
        with self.index.lock, self._database.read() as connection:
            if vector is not None:
                self.index.catch_up(connection)
            for row in connection.execute(statements.same, {"digest": query.key.digest, **query.filters}).all():
                record = to_record(row)
                success = record.success if isinstance(record, NarrativeExperience) else True
                if ranking.takes(record.key.digest, success):
                    score = 1.0 + weight(record.provenance)
                    ranking.hits.append(Hit(record, 1.0, "the same words", score, ("the same words",)))
            if vector is not None and not ranking.full:
                self._search_like(connection, statements, query, vector, ranking)
        return ranking.hits

    def _vector(self, query: Query) -> Vector | None:
        """Return the vector to search by; None if the embedder's server is away, so that only the same words count."""
        if query.vector is not None:
            return checked_vector(query.vector, self._embedder.dimension)
        try:
            row: Vector = self._embedded(query.key.text)
        except EmbedderUnavailable as error:
            logger.warning("Only experience with the same words is found: %s", error)
            return None
        return row

    def _search_like(
        self, connection: Connection, statements: _Statements, query: Query, vector: Vector, ranking: _Ranking
    ) -> None:
        floor = self._embedder.min_similarity if query.min_similarity is None else query.min_similarity
        least = floor * LEAST_COSINE if floor > 0 else floor
        by_words = self._words.search(connection, query.kind, query.key.text, _CANDIDATES_BY_WORDS, self.index.newest)
        forced = query.min_similarity is not None
        # The model was trained on whole tasks; the keys of steps are longer and those of skills shorter.
        same = self._same if query.kind == "narrative" else None
        judge = Judge(query.key.text, floor, by_words, self._embedder.name, forced=forced, same=same)
        rows: dict[int, Row[Any]] = {}
        seen: set[int] = set()
        count, limit = _FIRST_CANDIDATES, _MAX_FILTERED_CANDIDATES if query.app or query.platform else _MAX_CANDIDATES
        while True:
            near, cosines = self.index.search(connection, query.kind, vector, count, by_words)
            fresh = [pk for pk, cosine in cosines.items() if cosine >= least and pk not in seen]
            seen.update(fresh)
            for some in chunks(fresh):
                found = connection.execute(statements.light, {"pks": list(some), **query.filters}).all()
                rows |= {row.pk: row for row in found}
            verdicts = judge.verdicts([(row, cosines[pk]) for pk, row in rows.items()])
            # If the filters reject candidates, look further down the list.
            kept = len({verdict.row.key_digest for verdict in verdicts}) + len(ranking.hits)
            if kept >= query.k or len(near) < count or near[-1][1] < least or count >= limit:
                break
            count *= 4
        _take(connection, query.kind, verdicts, ranking)


def _take(connection: Connection, kind: Kind, verdicts: Sequence[Verdict], ranking: _Ranking) -> None:
    chosen = [verdict for verdict in verdicts if ranking.takes(verdict.row.key_digest, bool(verdict.row.success))]
    records = load(connection, kind, [verdict.row.pk for verdict in chosen])
    for verdict in chosen:
        reasons = verdict.reasons
        similarity = min(verdict.cosine, 1.0)
        ranking.hits.append(Hit(records[verdict.row.pk], similarity, "; ".join(reasons), verdict.score, tuple(reasons)))


class _Ranking:
    """Takes hits best first and keeps the first ``k``, one for each key and outcome."""

    def __init__(self, k: int) -> None:
        self._left = k
        self._taken: set[tuple[str, bool]] = set()
        self.hits: list[Hit[Experience]] = []

    @property
    def full(self) -> bool:
        return self._left == 0

    def takes(self, digest: str, success: bool) -> bool:
        # Ten successes of one task would hide everything else, but its failure is of interest.
        if self.full or (digest, success) in self._taken:
            return False
        self._taken.add((digest, success))
        self._left -= 1
        return True

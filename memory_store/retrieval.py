"""Finding experience by its key: the same words first, then what is nearest in meaning and words together.

The ranks by embedding and by words are fused (reciprocal rank fusion; Cormack, Clarke and Buettcher, 2009). A candidate
is returned only if meaning and words together are like enough, it is not about another application than the query
names, and it does not do the opposite of what the query asks: wrong experience is worse than none. What is left is
ordered by the fused rank, weighted by how it ended, how often it helped and how old it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select
from sqlalchemy.orm import Session

from memory_store.database import Database
from memory_store.embedding import Embedder, checked_vector, embed_keys
from memory_store.experience import QUARANTINE_AFTER_FAILURES, Experience, Hit, Kind, State
from memory_store.index import IndexCache, chunks
from memory_store.indexfile import IndexFile
from memory_store.keys import Key
from memory_store.lexical import WordSearch
from memory_store.narrative import NarrativeExperience
from memory_store.rows import to_record
from memory_store.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow
from memory_store.words import opposite, other_application, stems, without_applications

if TYPE_CHECKING:
    from memory_store.vectors import Vector

_BATCH = 500
_FIRST_CANDIDATES = 32
_BY_WORDS = 16
_EXACT_CANDIDATES = 64

RANK_OFFSET = 20
"""The constant of reciprocal rank fusion: how little the first places differ."""

WORD_SHARE = 0.15
"""How much shared words count beside the cosine when it is decided whether a candidate is like enough."""

MISLED_MARGIN = 0.05
"""How much less like than misleading experience another one may be."""

LEAST_COSINE = 0.6
"""Share of the threshold that the cosine alone must reach, however many words are shared."""

_OLD_AFTER_DAYS = 365.0

NEWEST_VERIFIED = (
    func.coalesce(ExperienceRow.verified, False).desc(),
    ExperienceRow.created_at.desc(),
    ExperienceRow.pk.desc(),
)
"""Order of experiences with equal keys."""

KindTable = type[NarrativeRow] | type[EpisodicRow] | type[SkillRow]


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


class Retriever:
    """Searches one open store.

    Args:
        database: The open database.
        embedder: Turns keys into vectors.
        file: Where large indexes are kept between openings; None for nowhere.
    """

    def __init__(self, database: Database, embedder: Embedder, file: IndexFile | None = None) -> None:
        self._database = database
        self._embedder = embedder
        self._words = WordSearch()
        self.index = IndexCache(embedder, file)

    def search(self, table: KindTable, wanted: Wanted) -> list[Hit[Experience]]:
        """Return the experiences of a kind whose key is like the wanted one: the same words first, then by score.

        Raises:
            ValueError: ``k`` is below one.
            MemoryStoreError: The store cannot be read, or the embedder fails.
        """
        if wanted.k < 1:
            raise ValueError("k must be at least 1")
        floor = self._embedder.min_similarity if wanted.min_similarity is None else wanted.min_similarity
        vector = (
            embed_keys(self._embedder, [wanted.key.text])[0]
            if wanted.vector is None
            else checked_vector(wanted.vector, self._embedder.dimension)
        )
        ranking = _Ranking(wanted.k)
        with self.index.lock, self._database.read() as connection:
            self.index.catch_up(connection)
            conditions = [table.kind == wanted.kind, usable(), *_filters(table, wanted)]
            same = select(table).where(table.key_digest == wanted.key.digest, *conditions)
            for record in load(connection, same.order_by(*NEWEST_VERIFIED).limit(_EXACT_CANDIDATES)):
                ranking.offer(Hit(record, 1.0, "the same words", 1.0 + _weight(record), ("the same words",)))
            if not ranking.full:
                self._search_like(connection, table, conditions, wanted, vector, floor, ranking)
        return ranking.hits

    def save(self) -> None:
        """Keep large indexes for the next opening."""
        with self.index.lock, self._database.read() as connection:
            self.index.save(connection)

    def _search_like(
        self,
        connection: Connection,
        table: KindTable,
        conditions: Sequence[ColumnElement[bool]],
        wanted: Wanted,
        vector: Vector,
        floor: float,
        ranking: _Ranking,
    ) -> None:
        least = floor * LEAST_COSINE if floor > 0 else floor
        by_words = self._words.search(connection, wanted.kind, wanted.key.text, _BY_WORDS, self.index.newest)
        count = _FIRST_CANDIDATES
        judge = _Judge(wanted, floor, by_words, self._embedder.name)
        while True:
            near = self.index.search(connection, wanted.kind, vector, count)
            cosines = dict(near)
            places = {pk: place for place, (pk, _) in enumerate(near)}
            others = [pk for pk in by_words if pk not in cosines]
            cosines |= self.index.cosines(connection, others, vector)
            found = self._rows(connection, table, conditions, [pk for pk, c in cosines.items() if c >= least])
            hits = judge.hits([(pk, record, cosines[pk], places.get(pk)) for pk, record in found])
            enough = len({(hit.experience.key.digest) for hit in hits}) + len(ranking.hits) >= wanted.k
            # What the filters turn down is made up for by looking further down the list.
            if enough or len(near) < count or near[-1][1] < least:
                break
            count *= 4
        for hit in hits:
            ranking.offer(hit)

    def _rows(
        self, connection: Connection, table: KindTable, conditions: Sequence[ColumnElement[bool]], pks: Sequence[int]
    ) -> list[tuple[int, Experience]]:
        found: list[tuple[int, Experience]] = []
        for some in chunks(pks, _BATCH):
            query = select(table).where(table.pk.in_(some), *conditions).order_by(*NEWEST_VERIFIED)
            with Session(connection) as session:
                found += [(row.pk, to_record(row)) for row in session.scalars(query)]
        return found


class _Judge:
    """Decides which candidates are returned, and gives them their scores and reasons."""

    def __init__(self, wanted: Wanted, floor: float, by_words: Sequence[int], embedder: str) -> None:
        self._query = wanted.key.text
        self._words = stems(without_applications(self._query))
        self._floor = floor
        self._forced = wanted.min_similarity is not None
        self._places = {pk: place for place, pk in enumerate(by_words)}
        self._embedder = embedder

    def hits(self, candidates: Sequence[tuple[int, Experience, float, int | None]]) -> list[Hit[Experience]]:
        """Return the hits among (pk, record, cosine, place by meaning), best first."""
        apps = {record.provenance.app for _, record, _, _ in candidates}
        misleading = {pk for pk, record, _, _ in candidates if self._misleads(record, apps)}
        # Where the nearest does the opposite of what was asked, what is far less like it is not what was asked either.
        nearest = max((cosine for pk, _, cosine, _ in candidates if pk in misleading), default=-1.0)
        least = -1.0 if self._forced else nearest - MISLED_MARGIN
        kept = [
            (pk, record, cosine, place)
            for pk, record, cosine, place in candidates
            if pk not in misleading and cosine >= least and self._likeness(record, cosine) >= self._floor
        ]
        kept.sort(key=lambda item: -round(item[2], 5))
        # Places are those among what may be returned: what was turned down takes none.
        by_words = sorted((pk for pk, *_ in kept if pk in self._places), key=self._places.__getitem__)
        second = {pk: place for place, pk in enumerate(by_words)}
        hits = []
        for first, (pk, record, cosine, _) in enumerate(kept):
            fused = _share(first) + (_share(second[pk]) if pk in second else 0.0)
            reasons = [f"similar meaning, {cosine:.2f} by {self._embedder}"]
            if pk in second:
                shared = len(self._words & stems(record.key.text))
                reasons.append(f"{shared} shared words, place {second[pk] + 1} by words")
            reasons += _reasons(record)
            hits.append(Hit(record, min(cosine, 1.0), "; ".join(reasons), fused / 2 * _weight(record), tuple(reasons)))
        return sorted(hits, key=lambda hit: -hit.score)

    def _likeness(self, record: Experience, cosine: float) -> float:
        if self._forced:
            return cosine
        words = stems(without_applications(record.key.text))
        shared = len(self._words & words)
        overlap = 2 * shared / max(1, len(self._words) + len(words))
        return max(cosine * (1 - WORD_SHARE) + overlap * WORD_SHARE, cosine - 0.1)

    def _misleads(self, record: Experience, apps: set[str]) -> bool:
        key = record.key.text
        return bool(
            opposite(self._query, key) or other_application(self._query, key, record.provenance.app, sorted(apps))
        )


class _Ranking:
    """Takes hits best first and keeps the first ``k``, one of each sort."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._sorts: set[tuple[str, bool]] = set()
        self.hits: list[Hit[Experience]] = []

    @property
    def full(self) -> bool:
        """Whether no more candidates are wanted."""
        return len(self.hits) >= self._k

    def offer(self, hit: Hit[Experience]) -> None:
        """Keep the hit unless it says the same as one that was kept."""
        # Ten successes of one task would crowd out everything else, but a failure of it is news.
        record = hit.experience
        success = record.success if isinstance(record, NarrativeExperience) else True
        sort = (record.key.digest, success)
        if not self.full and sort not in self._sorts:
            self._sorts.add(sort)
            self.hits.append(hit)


def _share(place: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + place)


def _weight(record: Experience) -> float:
    """Return how much an experience counts beside its place: about 0.8 to 1.2."""
    source = record.provenance
    outcome = {True: 1.06, None: 1.0, False: 0.9}[source.verified]
    # Laplace's rule of succession: nothing is known of what was never used.
    helped = 0.85 + 0.3 * (source.times_worked + 1) / (source.times_used + 2)
    days = max(0.0, (datetime.now(UTC) - (source.last_used_at or source.created_at)).total_seconds() / 86_400)
    fresh = 0.95 + 0.05 * math.exp(-days / _OLD_AFTER_DAYS)
    return outcome * helped * fresh


def _reasons(record: Experience) -> list[str]:
    source = record.provenance
    reasons = []
    if source.verified is not None:
        reasons.append("verified" if source.verified else "its result was found wrong")
    if source.times_used:
        reasons.append(f"worked {source.times_worked} of {source.times_used} times")
    return reasons


def _filters(table: KindTable, wanted: Wanted) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [table.state.in_(wanted.states)]
    if wanted.app is not None:
        conditions.append(func.lower(table.app) == wanted.app.lower())
    if wanted.platform is not None:
        conditions.append(table.platform == wanted.platform)
    return conditions


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

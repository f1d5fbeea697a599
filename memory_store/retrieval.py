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

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, select, true
from sqlalchemy.orm import Session

from memory_store.database import Database
from memory_store.embedding import Embedder, checked_embed, checked_vector
from memory_store.experience import QUARANTINE_AFTER_FAILURES, Experience, Hit, Kind, Provenance, State
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
_MOST_CANDIDATES = 128
_MOST_FILTERED = 2048
_EXACT_CANDIDATES = 64

RANK_OFFSET = 20
"""The constant of reciprocal rank fusion: how little the first places differ."""

WORDS_WEIGHT = 0.2
"""How much the rank by words counts beside the rank by meaning."""

WORD_SHARE = 0.3
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

_LIGHT = (
    *(ExperienceRow.pk, ExperienceRow.key_text, ExperienceRow.key_digest, ExperienceRow.app, ExperienceRow.verified),
    *(ExperienceRow.times_used, ExperienceRow.times_worked, ExperienceRow.created_at, ExperienceRow.last_used_at),
)

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
            checked_embed(self._embedder, [wanted.key.text])[0]
            if wanted.vector is None
            else checked_vector(wanted.vector, self._embedder.dimension)
        )
        ranking = _Ranking(wanted.k)
        with self.index.lock, self._database.read() as connection:
            self.index.catch_up(connection)
            conditions = [usable(), *_filters(table, wanted)]
            # The kind is only named where it is part of the index: beside a pk it would mislead SQLite's planner.
            of_key = (table.kind == wanted.kind, table.key_digest == wanted.key.digest)
            same = select(table).where(*of_key, *conditions)
            for record in load(connection, same.order_by(*NEWEST_VERIFIED).limit(_EXACT_CANDIDATES)):
                success = record.success if isinstance(record, NarrativeExperience) else True
                if ranking.takes(record.key.digest, success):
                    score = 1.0 + _weight(record.provenance)
                    ranking.hits.append(Hit(record, 1.0, "the same words", score, ("the same words",)))
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
        judge = _Judge(wanted, floor, by_words, self._embedder.name)
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
            light |= self._light(connection, table, conditions, fresh)
            verdicts = judge.verdicts([(row, cosines[pk]) for pk, row in light.items()])
            # What the filters turn down is made up for by looking further down the list.
            kept = len({verdict.row.key_digest for verdict in verdicts}) + len(ranking.hits)
            if kept >= wanted.k or len(near) < count or near[-1][1] < least or count >= most:
                break
            count *= 4
        self._offer(connection, table, verdicts, ranking)

    def _light(
        self, connection: Connection, table: KindTable, conditions: Sequence[ColumnElement[bool]], pks: Sequence[int]
    ) -> dict[int, Row[Any]]:
        """Return what is needed of experiences to judge them, by pk."""
        success = NarrativeRow.success if table is NarrativeRow else true().label("success")
        found: dict[int, Row[Any]] = {}
        for some in chunks(pks, _BATCH):
            query = select(*_LIGHT, success).select_from(table).where(ExperienceRow.pk.in_(some), *conditions)
            found |= {row.pk: row for row in connection.execute(query)}
        return found

    def _offer(self, connection: Connection, table: KindTable, verdicts: Sequence[_Verdict], ranking: _Ranking) -> None:
        chosen = [verdict for verdict in verdicts if ranking.takes(verdict.row.key_digest, bool(verdict.row.success))]
        with Session(connection) as session:
            rows = session.scalars(select(table).where(table.pk.in_([verdict.row.pk for verdict in chosen])))
            records = {row.pk: to_record(row) for row in rows}
        for verdict in chosen:
            reasons = verdict.reasons
            similarity = min(verdict.cosine, 1.0)
            ranking.hits.append(
                Hit(records[verdict.row.pk], similarity, "; ".join(reasons), verdict.score, tuple(reasons))
            )


@dataclass(frozen=True, slots=True)
class _Verdict:
    """That a candidate is returned, with what for."""

    row: Row[Any]
    cosine: float
    score: float
    reasons: list[str]


class _Judge:
    """Decides which candidates are returned, and gives them their scores and reasons."""

    def __init__(self, wanted: Wanted, floor: float, by_words: Sequence[int], embedder: str) -> None:
        self._query = wanted.key.text
        self._words = stems(without_applications(self._query))
        self._floor = floor
        self._forced = wanted.min_similarity is not None
        self._places = {pk: place for place, pk in enumerate(by_words)}
        self._embedder = embedder

    def verdicts(self, candidates: Sequence[tuple[Row[Any], float]]) -> list[_Verdict]:
        """Return those that may be returned among rows with their cosines, best first."""
        apps = sorted({row.app for row, _ in candidates})
        misleading = {row.pk for row, _ in candidates if self._misleads(row, apps)}
        # Where the nearest does the opposite of what was asked, what is far less like it is not what was asked either.
        nearest = max((cosine for row, cosine in candidates if row.pk in misleading), default=-1.0)
        least = -1.0 if self._forced else nearest - MISLED_MARGIN
        kept = [
            (row, cosine)
            for row, cosine in candidates
            if row.pk not in misleading and cosine >= least and self._likeness(row.key_text, cosine) >= self._floor
        ]
        # Equal keys have equal vectors up to rounding; among those the verified and the newest come first.
        kept.sort(
            key=lambda item: (-round(item[1], 5), not item[0].verified, -item[0].created_at.timestamp(), -item[0].pk)
        )
        # Places are those among what may be returned: what was turned down takes none.
        by_words = sorted((row.pk for row, _ in kept if row.pk in self._places), key=self._places.__getitem__)
        second = {pk: place for place, pk in enumerate(by_words)}
        found = [self._verdict(row, cosine, first, second.get(row.pk)) for first, (row, cosine) in enumerate(kept)]
        return sorted(found, key=lambda verdict: -verdict.score)

    def _verdict(self, row: Row[Any], cosine: float, first: int, second: int | None) -> _Verdict:
        reasons = [f"similar meaning, {cosine:.2f} by {self._embedder}"]
        fused = _share(first)
        if second is not None:
            fused += WORDS_WEIGHT * _share(second)
            reasons.append(f"{len(self._words & stems(row.key_text))} shared words, place {second + 1} by words")
        return _Verdict(row, cosine, fused / (1 + WORDS_WEIGHT) * _weight(row), reasons + _reasons(row))

    def _likeness(self, key: str, cosine: float) -> float:
        if self._forced:
            return cosine
        words = stems(without_applications(key))
        overlap = 2 * len(self._words & words) / max(1, len(self._words) + len(words))
        return cosine * (1 - WORD_SHARE) + overlap * WORD_SHARE

    def _misleads(self, row: Row[Any], apps: Sequence[str]) -> bool:
        key = row.key_text
        return bool(opposite(self._query, key) or other_application(self._query, key, row.app, apps))


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


def _nearest_first(item: tuple[Row[Any], float]) -> tuple[float, bool, float, int]:
    row, cosine = item
    return -round(cosine, 5), not row.verified, -row.created_at.timestamp(), -row.pk


def _share(place: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + place)


def _weight(source: Provenance | Row[Any]) -> float:
    """Return how much an experience counts beside its place: about 0.8 to 1.2."""
    outcome = {True: 1.06, None: 1.0, False: 0.9}[source.verified]
    # Laplace's rule of succession: nothing is known of what was never used.
    helped = 0.85 + 0.3 * (source.times_worked + 1) / (source.times_used + 2)
    days = max(0.0, (datetime.now(UTC) - (source.last_used_at or source.created_at)).total_seconds() / 86_400)
    fresh = 0.95 + 0.05 * math.exp(-days / _OLD_AFTER_DAYS)
    return outcome * helped * fresh


def _reasons(source: Row[Any]) -> list[str]:
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

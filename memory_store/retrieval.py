"""Finding experience by its key: the same words first, then the nearest in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select
from sqlalchemy.orm import Session

from memory_store.database import Database
from memory_store.embedding import Embedder, checked_embed
from memory_store.experience import QUARANTINE_AFTER_FAILURES, Experience, Hit, Kind
from memory_store.index import IndexCache, chunks
from memory_store.keys import Key
from memory_store.narrative import NarrativeExperience
from memory_store.rows import to_record
from memory_store.schema import EpisodicRow, ExperienceRow, NarrativeRow

_BATCH = 500
_FIRST_CANDIDATES = 32
_EXACT_CANDIDATES = 64

NEWEST_VERIFIED = (
    func.coalesce(ExperienceRow.verified, False).desc(),
    ExperienceRow.created_at.desc(),
    ExperienceRow.pk.desc(),
)
"""Order of experiences with equal keys."""


class Retriever:
    """Searches one open store.

    Args:
        database: The open database.
        embedder: Turns keys into vectors.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self.index = IndexCache(embedder)

    def search(
        self,
        table: type[NarrativeRow] | type[EpisodicRow],
        kind: Kind,
        key: Key,
        k: int,
        app: str | None,
        platform: str | None,
        min_similarity: float | None,
    ) -> list[Hit[Experience]]:
        """Return up to ``k`` experiences of a kind whose key is like this one: the same words first, then by cosine.

        Args:
            table: The table of the kind.
            kind: The kind.
            key: What to look for.
            k: At most this many.
            app: Only about this application (case does not count), unless None.
            platform: Only from this platform, unless None.
            min_similarity: Cosine below which nothing is returned; the embedder's own threshold when None.

        Raises:
            ValueError: ``k`` is below one.
            MemoryStoreError: The store cannot be read, or the embedder fails.
        """
        if k < 1:
            raise ValueError("k must be at least 1")
        floor = self._embedder.min_similarity if min_similarity is None else min_similarity
        vector = checked_embed(self._embedder, [key.text])[0]
        ranking = _Ranking(k, app, platform)
        with self.index.lock, self._database.read() as connection:
            self.index.catch_up(connection)
            same = select(table).where(table.kind == kind, table.key_digest == key.digest, usable())
            for record in load(connection, same.order_by(*NEWEST_VERIFIED).limit(_EXACT_CANDIDATES)):
                ranking.offer(record, 1.0, "the same words")
            wanted = _FIRST_CANDIDATES
            offered: set[int] = set()
            # What the filters turn down is made up for by looking further down the list.
            while not ranking.full:
                near = self.index.search(kind, vector, wanted)
                # Equal vectors may change places between two searches, so candidates are told by pk, not by rank.
                fresh = [(pk, cosine) for pk, cosine in near if cosine >= floor and pk not in offered]
                self._offer(connection, ranking, table, fresh)
                if len(near) < wanted or near[-1][1] < floor:
                    break
                offered.update(pk for pk, _ in fresh)
                wanted *= 4
        return ranking.hits

    def _offer(
        self,
        connection: Connection,
        ranking: _Ranking,
        table: type[NarrativeRow] | type[EpisodicRow],
        near: Sequence[tuple[int, float]],
    ) -> None:
        for some in chunks(near, _BATCH):
            similarities = dict(some)
            query = select(table).where(table.pk.in_(similarities), usable()).order_by(*NEWEST_VERIFIED)
            with Session(connection) as session:
                found = [(similarities[row.pk], to_record(row)) for row in session.scalars(query)]
            # Equal keys have equal vectors up to rounding; among those the order of the query stands.
            for similarity, record in sorted(found, key=lambda pair: -round(pair[0], 5)):
                ranking.offer(record, similarity, f"similar meaning, {similarity:.2f} by {self._embedder.name}")


class _Ranking:
    """Takes candidates best first and keeps the first ``k`` that pass the filters, one of each sort."""

    def __init__(self, k: int, app: str | None, platform: str | None) -> None:
        self._k = k
        self._app = app
        self._platform = platform
        self._sorts: set[tuple[str, bool]] = set()
        self.hits: list[Hit[Experience]] = []

    @property
    def full(self) -> bool:
        """Whether no more candidates are wanted."""
        return len(self.hits) >= self._k

    def offer(self, record: Experience, similarity: float, reason: str) -> None:
        """Keep the candidate unless it is filtered out or says the same as one that was kept."""
        # Ten successes of one task would crowd out everything else, but a failure of it is news.
        success = record.success if isinstance(record, NarrativeExperience) else True
        sort = (record.key.digest, success)
        source = record.provenance
        if self.full or sort in self._sorts:
            return
        if self._app is not None and source.app.casefold() != self._app.casefold():
            return
        if self._platform is not None and source.platform != self._platform:
            return
        self._sorts.add(sort)
        self.hits.append(Hit(record, min(similarity, 1.0), reason))


def usable() -> ColumnElement[bool]:
    """Not in quarantine."""
    table = ExperienceRow.__table__.c
    return table.times_used - table.times_worked < QUARANTINE_AFTER_FAILURES


def load(connection: Connection, query: Select[Any]) -> list[Experience]:
    """Return the records of the rows that a query for mapped rows gives."""
    with Session(connection) as session:
        return [to_record(row) for row in session.scalars(query)]

"""The memory store: one SQLite file, what was learned in it, and how to find it again."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Select, delete, func, select, update
from sqlalchemy.orm import Session, with_polymorphic

from memory_store.database import Database
from memory_store.embedding import Embedder, checked_embed, default_embedder
from memory_store.episodic import EpisodicExperience, Step
from memory_store.errors import InvalidExperience, UnknownExperience
from memory_store.experience import (
    Experience,
    Hit,
    Kind,
    Provenance,
    StoreStats,
    first_problem,
)
from memory_store.index import chunks, encode, store_missing_vectors
from memory_store.keys import check_text, make_key
from memory_store.narrative import NarrativeExperience, PlannedSubtask
from memory_store.opening import locate, open_database
from memory_store.retrieval import Retriever, load, usable
from memory_store.rows import to_record, to_row
from memory_store.schema import EpisodicRow, ExperienceRow, NarrativeRow, StateRow, VectorRow

BUSY_TIMEOUT_S = 5.0
"""How long to wait for another process's lock, in seconds."""

_BATCH = 500

RecordT = TypeVar("RecordT", bound=Experience)


class MemoryStore:
    """Narrative and episodic memory in one file that many processes and threads may use at once.

    Each method that writes is one transaction: when it returns, the change is on the disk; when it raises,
    nothing was changed. Make one with `open`.

    Args:
        database: The open database.
        embedder: Turns keys into vectors.
        schema_version: The schema revision of the database.
    """

    def __init__(self, database: Database, embedder: Embedder, schema_version: str) -> None:
        self._database = database
        self._embedder = embedder
        self._schema_version = schema_version
        self._retriever = Retriever(database, embedder)

    @classmethod
    def open(
        cls,
        path_or_url: str | os.PathLike[str],
        embedder: Embedder | None = None,
        *,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
    ) -> MemoryStore:
        """Open the store, creating or migrating it as needed.

        A damaged, foreign or newer file is refused and left as it is. Before an older store is migrated, a
        copy is put beside it. Experience that has no vector by this embedder yet is embedded.

        Args:
            path_or_url: The file, or ``sqlite:///FILE``.
            embedder: MiniLM when installed, else the hashing fallback, when None.
            busy_timeout_s: How long to wait for another process's lock.

        Raises:
            MemoryStoreError: The store cannot be opened; the kind and message say why and what to do.
        """
        database, schema_version = open_database(locate(path_or_url), busy_timeout_s)
        try:
            store = cls(database, default_embedder() if embedder is None else embedder, schema_version)
            store_missing_vectors(database, store.embedder)
        except BaseException:
            database.close()
            raise
        return store

    @property
    def path(self) -> Path:
        """The database file."""
        return self._database.path

    @property
    def embedder(self) -> Embedder:
        """The embedder this store was opened with."""
        return self._embedder

    def close(self) -> None:
        """Close the file. Closing twice is allowed."""
        self._database.close()

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- writing ---

    def add_narrative(
        self,
        *,
        query: str,
        instruction: str,
        summary: str,
        success: bool,
        provenance: Provenance,
        plan: Sequence[PlannedSubtask] = (),
    ) -> NarrativeExperience:
        """Store the story of one task and return the record.

        Raises:
            InvalidExperience: A text is blank where a key is needed, or not storable.
            MemoryStoreError: The store cannot be written.
        """
        record = self._new(
            NarrativeExperience,
            query=query,
            instruction=instruction,
            summary=summary,
            success=success,
            plan=tuple(plan),
            provenance=provenance,
        )
        self.add_records([record])
        return record

    def add_episodic(
        self,
        *,
        task_query: str,
        subtask: str,
        summary: str,
        steps: Iterable[Step],
        provenance: Provenance,
        context: str = "",
    ) -> EpisodicExperience:
        """Store how one subtask was carried out and return the record.

        Raises:
            InvalidExperience: A text is blank where a key is needed or not storable, or a step is not JSON.
            MemoryStoreError: The store cannot be written.
        """
        record = self._new(
            EpisodicExperience,
            task_query=task_query,
            subtask=subtask,
            context=context,
            summary=summary,
            steps=tuple(steps),
            provenance=provenance,
        )
        self.add_records([record])
        return record

    def add_records(self, records: Sequence[Experience]) -> int:
        """Store finished records as they are, in one transaction; ids already present are left as they are.

        Returns:
            How many were added.

        Raises:
            InvalidExperience: The key of a record is blank.
            MemoryStoreError: The store cannot be written.
        """
        # Embedding takes long; it is done before the write lock is taken.
        unique = list({record.id: record for record in records}.values())
        rows = [to_row(record) for record in unique]
        blobs = {
            row.uid: encode(vector)
            for some in chunks(rows, _BATCH)
            for row, vector in zip(some, checked_embed(self._embedder, [row.key_text for row in some]), strict=True)
        }
        added = 0
        with self._database.write() as connection, Session(connection) as session:
            for some in chunks(rows, _BATCH):
                uids = [row.uid for row in some]
                known = set(connection.scalars(select(ExperienceRow.uid).where(ExperienceRow.uid.in_(uids))))
                new = [row for row in some if row.uid not in known]
                session.add_all(new)
                session.flush()
                session.add_all(VectorRow(pk=row.pk, embedder=self._embedder.name, data=blobs[row.uid]) for row in new)
                session.flush()
                added += len(new)
                session.expunge_all()
        return added

    def mark_verified(
        self,
        *,
        verified: bool | None,
        by: str,
        run_id: str | None = None,
        ids: Iterable[str] | None = None,
    ) -> int:
        """Record what an independent check said about the experience of a run, or about single ones.

        Args:
            verified: What the check said; None withdraws an earlier verdict.
            by: What checked it.
            run_id: All experience of this run.
            ids: These experiences; unknown ids are ignored.

        Returns:
            How many experiences were marked.

        Raises:
            ValueError: Neither or both of ``run_id`` and ``ids`` were given.
            MemoryStoreError: The store cannot be written.
        """
        if (run_id is None) == (ids is None):
            raise ValueError("give either run_id or ids")
        check_text(by, "the name of the check")
        change = update(ExperienceRow).values(verified=verified, verified_by=by)
        with self._database.write() as connection:
            if run_id is not None:
                return connection.execute(change.where(ExperienceRow.run_id == run_id)).rowcount
            return sum(
                connection.execute(change.where(ExperienceRow.uid.in_(some))).rowcount
                for some in chunks(list(dict.fromkeys(ids or ())), _BATCH)
            )

    def record_use(self, experience_id: str, worked: bool) -> None:
        """Count one use of an experience. Two uses that failed put it in quarantine: it is no longer returned.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be written.
        """
        change = (
            update(ExperienceRow)
            .where(ExperienceRow.uid == experience_id)
            .values(
                times_used=ExperienceRow.times_used + 1,
                times_worked=ExperienceRow.times_worked + int(worked),
            )
        )
        with self._database.write() as connection:
            if connection.execute(change).rowcount == 0:
                raise _unknown(experience_id)

    def forget(self, ids: Iterable[str]) -> int:
        """Delete experiences; unknown ids are ignored.

        Returns:
            How many were deleted.

        Raises:
            MemoryStoreError: The store cannot be written.
        """
        with self._database.write() as connection:
            count = sum(
                connection.execute(delete(ExperienceRow).where(ExperienceRow.uid.in_(some))).rowcount
                for some in chunks(list(dict.fromkeys(ids)), _BATCH)
            )
            if count:
                connection.execute(update(StateRow).values(removed=StateRow.removed + 1))
        return count

    # --- looking up ---

    def search_narrative(
        self,
        query: str,
        k: int = 3,
        *,
        app: str | None = None,
        platform: str | None = None,
        min_similarity: float | None = None,
    ) -> list[Hit[NarrativeExperience]]:
        """Find stories of tasks whose query is like this one, best first.

        Args:
            query: The query of the task at hand, as the Manager words it.
            k: At most this many.
            app: Only about this application (case does not count).
            platform: Only from this platform.
            min_similarity: Cosine below which nothing is returned; the embedder's own threshold when None.

        Raises:
            InvalidExperience: The query is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        hits = self._retriever.search(NarrativeRow, "narrative", make_key(query), k, app, platform, min_similarity)
        return cast("list[Hit[NarrativeExperience]]", hits)

    def search_episodic(
        self,
        task_query: str,
        subtask: str,
        context: str = "",
        k: int = 3,
        *,
        app: str | None = None,
        platform: str | None = None,
        min_similarity: float | None = None,
    ) -> list[Hit[EpisodicExperience]]:
        """Find how subtasks like this one were carried out, best first. Arguments as in `search_narrative`.

        Raises:
            InvalidExperience: The key is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        key = make_key(task_query, subtask, context)
        hits = self._retriever.search(EpisodicRow, "episodic", key, k, app, platform, min_similarity)
        return cast("list[Hit[EpisodicExperience]]", hits)

    def find_verified_narrative(self, instruction: str, platform: str | None = None) -> NarrativeExperience | None:
        """Return the newest verified success of exactly this instruction, for replay; None when there is none.

        "Exactly" is `memory_store.keys.exact_form`: white space outside quotations and the case of the first
        letter do not count. Experience in quarantine is not returned.
        """
        query = (
            select(NarrativeRow)
            .where(NarrativeRow.instruction_digest == make_key(instruction).digest, NarrativeRow.success.is_(True))
            .where(*_replayable(platform))
        )
        return self._newest(NarrativeExperience, query)

    def find_verified_episode(
        self, task_query: str, subtask: str, context: str = "", platform: str | None = None
    ) -> EpisodicExperience | None:
        """Return the newest verified experience of exactly this subtask, for replay; None when there is none."""
        key = make_key(task_query, subtask, context)
        query = select(EpisodicRow).where(
            EpisodicRow.kind == "episodic", EpisodicRow.key_digest == key.digest, *_replayable(platform)
        )
        return self._newest(EpisodicExperience, query)

    def get(self, experience_id: str) -> Experience:
        """Return one experience, in quarantine or not.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be read.
        """
        any_kind = with_polymorphic(ExperienceRow, "*")
        with self._database.read() as connection:
            found = load(connection, select(any_kind).where(any_kind.uid == experience_id))
        if not found:
            raise _unknown(experience_id)
        return found[0]

    def list_experiences(
        self,
        kind: Kind | None = None,
        *,
        app: str | None = None,
        run_id: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Experience]:
        """Return experiences, newest first, those in quarantine included.

        Args:
            kind: Only this kind.
            app: Only about this application (case does not count).
            run_id: Only of this run.
            limit: At most this many; all when None.
            offset: Leave out this many of the newest.
        """
        any_kind = with_polymorphic(ExperienceRow, "*")
        query = select(any_kind).order_by(any_kind.created_at.desc(), any_kind.pk.desc()).limit(limit).offset(offset)
        if kind is not None:
            query = query.where(any_kind.kind == kind)
        if app is not None:
            query = query.where(func.lower(any_kind.app) == func.lower(app))
        if run_id is not None:
            query = query.where(any_kind.run_id == run_id)
        with self._database.read() as connection:
            return load(connection, query)

    @contextmanager
    def snapshot(self) -> Iterator[tuple[int, Iterator[Experience]]]:
        """Give the number of all experiences and each of them, oldest first, in one state of the store."""
        any_kind = with_polymorphic(ExperienceRow, "*")
        with self._database.read() as connection, Session(connection) as session:
            count = connection.scalar(select(func.count()).select_from(ExperienceRow.__table__)) or 0
            rows = session.scalars(select(any_kind).order_by(any_kind.pk).execution_options(yield_per=_BATCH))
            yield count, (to_record(row) for row in rows)

    def stats(self) -> StoreStats:
        """Count what is in the store."""
        table = ExperienceRow.__table__.c
        with self._database.read() as connection:
            kinds = _counts(connection, table.kind)
            apps = _counts(connection, table.app)
            vectors = _counts(connection, VectorRow.__table__.c.embedder)
            verified = connection.scalar(select(func.count()).where(table.verified.is_(True)))
            quarantined = connection.scalar(select(func.count()).where(~usable()))
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return StoreStats(
            path=str(self.path),
            schema_version=self._schema_version,
            embedder=self._embedder.name,
            narrative=kinds.get("narrative", 0),
            episodic=kinds.get("episodic", 0),
            verified=verified or 0,
            quarantined=quarantined or 0,
            apps=apps,
            vectors=vectors,
            bytes=sum(file.stat().st_size for file in files if file.exists()),
        )

    # --- within ---

    def _new(self, kind: type[RecordT], provenance: Provenance, **fields: Any) -> RecordT:
        try:
            return kind(
                id=f"{kind.kind[0]}-{secrets.token_hex(8)}",
                provenance=provenance.model_copy(update={"embedder": self._embedder.name}),
                **fields,
            )
        except ValidationError as error:
            raise InvalidExperience(f"not a {kind.kind} experience: {first_problem(error)}") from error

    def _newest(self, kind: type[RecordT], query: Select[Any]) -> RecordT | None:
        with self._database.read() as connection:
            found = load(connection, query.order_by(ExperienceRow.created_at.desc(), ExperienceRow.pk.desc()).limit(1))
        return cast("RecordT", found[0]) if found else None


def _replayable(platform: str | None) -> list[ColumnElement[bool]]:
    conditions = [ExperienceRow.verified.is_(True), usable()]
    if platform is not None:
        conditions.append(ExperienceRow.platform == platform)
    return conditions


def _counts(connection: Connection, column: ColumnElement[Any]) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).group_by(column).order_by(column))
    return {value: count for value, count in rows}


def _unknown(experience_id: str) -> UnknownExperience:
    return UnknownExperience(f"no experience {experience_id!r}: list the store to see the ids there are")

"""The memory store: one database, what was learned in it, and how to find it again."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, select, true
from sqlalchemy.orm import Session, with_polymorphic

from intents.intent import Intent
from memory_store.embedding.embedders import Embedder, checked_embed, default_embedder
from memory_store.errors import InvalidExperience, UnknownExperience
from memory_store.keys import check_text, make_key
from memory_store.records.episodic import EpisodicExperience, Step
from memory_store.records.experience import (
    Experience,
    Hit,
    Kind,
    Provenance,
    State,
    StoreStats,
    first_problem,
)
from memory_store.records.narrative import NarrativeExperience, PlannedSubtask
from memory_store.records.skills import Effect, SkillExperience
from memory_store.search.index import EMBED_AT_ONCE, Index, LocalIndex
from memory_store.search.retrieval import Query, Retriever
from memory_store.storage import forgetting, trust, web_answers
from memory_store.storage.database import Database
from memory_store.storage.embeddings import (
    BackgroundEmbedding,
    count_missing_vectors,
    encode,
    store_missing_vectors,
)
from memory_store.storage.forgetting import Selection, VacuumReport
from memory_store.storage.integrity import find_problems
from memory_store.storage.merging import find_twin, merge, pk_of
from memory_store.storage.opening import locate, open_located
from memory_store.storage.rows import chunks, mark_changed, to_record, to_row, usable
from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow, VectorRow, WebAnswerRow
from memory_store.storage.web_answers import WebAnswer

if TYPE_CHECKING:
    from memory_store.search.vectors import Vector

BUSY_TIMEOUT_S = 5.0
"""How long to wait for another process's lock, in seconds."""

_BATCH = 500
_log = logging.getLogger(__name__)

RecordT = TypeVar("RecordT", bound=Experience)


class MemoryStore:
    """Narrative memory, episodic memory and skills in one database that many processes and threads may use at once.

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
        self._retriever = Retriever(database, embedder, _open_index(database, embedder))
        self._background = BackgroundEmbedding(database, embedder)

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
        copy is put beside it. Experience that has no vector by this embedder yet is embedded, what is much of it in
        the background; until then it is found by its words. `wait_until_embedded` waits for that.

        Args:
            path_or_url: The file, ``sqlite:///FILE``, or ``postgresql://USER@HOST/DATABASE``.
            embedder: MiniLM when installed, else the hashing fallback, when None.
            busy_timeout_s: How long to wait for another process's lock.

        Raises:
            MemoryStoreError: The store cannot be opened; the kind and message say why and what to do.
        """
        database, schema_version = open_located(locate(path_or_url), busy_timeout_s)
        try:
            store = cls(database, embedder or default_embedder(), schema_version)
            missing = count_missing_vectors(database, store.embedder)
            if missing:
                # A first batch at once: an embedder that does not work is told here, not in the background.
                store_missing_vectors(database, store.embedder, limit=1)
            if missing > EMBED_AT_ONCE:
                store._background.start()
        except BaseException:
            database.close()
            raise
        return store

    @property
    def path(self) -> Path | None:
        """The database file; None on a server."""
        return self._database.path

    @property
    def place(self) -> str:
        """The database file, or the URL without its password."""
        return self._database.place

    @property
    def embedder(self) -> Embedder:
        """The embedder this store was opened with."""
        return self._embedder

    def close(self) -> None:
        """Close the store. Closing twice is allowed."""
        self._background.stop()
        self._database.close()

    def wait_until_embedded(self) -> None:
        """Wait until everything has a vector by this embedder.

        Raises:
            MemoryStoreError: The embedder failed, or the store cannot be written; what was done is kept.
        """
        self._background.wait()

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
        """Store the story of one task and return the record as it is kept; see `memory_store.storage.merging`.

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
        return self._store_new(record)

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
        """Store how one subtask was carried out and return the record as it is kept.

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
        return self._store_new(record)

    def add_skill(
        self,
        *,
        name: str,
        steps: Iterable[Step],
        provenance: Provenance,
        description: str = "",
        preconditions: Sequence[str] = (),
        aliases: Sequence[str] = (),
        intent: Intent | None = None,
        effects: Iterable[Effect] = (),
    ) -> SkillExperience:
        """Store a skill as a candidate and return the stored record.

        Args:
            name: What the skill is called.
            steps: The actions in order.
            provenance: Where the skill comes from; it starts unverified.
            description: One sentence for people and models.
            preconditions: What must hold before the first step.
            aliases: Other names of the skill.
            intent: What the skill does; read from the name if None.
            effects: The expected changes.

        Raises:
            InvalidExperience: The name is blank, there are no steps, or a value cannot be stored.
            MemoryStoreError: The store cannot be written.
        """
        record = self._new(
            SkillExperience,
            name=name,
            aliases=tuple(aliases),
            **({} if intent is None else {"intent": intent}),
            description=description,
            preconditions=tuple(preconditions),
            steps=tuple(steps),
            effects=tuple(effects),
            provenance=provenance.model_copy(update={"state": "candidate", "verified": None, "verified_by": ""}),
        )
        return self._store_new(record)

    def add_records(self, records: Sequence[Experience]) -> int:
        """Store finished records as they are, in one transaction; ids already present are left as they are.

        Those that were forgotten and not yet deleted are brought back.

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
            for some in chunks(rows)
            for row, vector in zip(some, checked_embed(self._embedder, [row.key_text for row in some]), strict=True)
        }
        added = 0
        with self._database.write() as connection, Session(connection) as session:
            for some in chunks(rows):
                uids = [row.uid for row in some]
                there = connection.execute(
                    select(ExperienceRow.uid, ExperienceRow.pk, ExperienceRow.forgotten_at).where(
                        ExperienceRow.uid.in_(uids)
                    )
                ).all()
                known = {row.uid for row in there}
                forgotten = [row.pk for row in there if row.forgotten_at is not None]
                forgetting.remember(connection, forgotten)
                added += len(forgotten)
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
            run_id: All experience of this run, or of ``ids`` those of this run.
            ids: These experiences; unknown ids are ignored.

        Returns:
            How many experiences were marked.

        Raises:
            ValueError: Neither of ``run_id`` and ``ids`` was given.
            MemoryStoreError: The store cannot be written.
        """
        if run_id is None and ids is None:
            raise ValueError("give either run_id or ids, or both")
        check_text(by, "the name of the check")
        of_run = ExperienceRow.run_id == run_id if run_id is not None else true()
        with self._database.write() as connection:
            if ids is None:
                return trust.mark(connection, of_run, verified, by)
            return sum(
                trust.mark(connection, and_(of_run, ExperienceRow.uid.in_(some)), verified, by)
                for some in chunks(list(dict.fromkeys(ids)))
            )

    def record_use(self, experience_id: str, worked: bool) -> None:
        """Count one use of an experience. Two uses that failed put it in quarantine: it is no longer returned.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be written.
        """
        with self._database.write() as connection:
            trust.count_use(connection, _existing(connection, experience_id), worked)

    def record_skill_run(self, skill_id: str, worked: bool, *, checked_by: str = "", clean_start: bool = False) -> None:
        """Count one run of a skill. A candidate that worked becomes active if it began clean and was checked.

        Args:
            skill_id: Which skill.
            worked: Whether the check found the task done; without a check, whether it ran to its end.
            checked_by: What checked the result, other than the model that acted; empty for nothing.
            clean_start: Whether it began from a clean state of the application.

        Raises:
            UnknownExperience: There is no skill with this id.
            MemoryStoreError: The store cannot be written.
        """
        check_text(checked_by, "the name of the check")
        with self._database.write() as connection:
            pk = _existing_skill(connection, skill_id)
            trust.count_skill_run(connection, pk, worked, checked_by, clean_start)

    def deprecate_skill(self, skill_id: str, reason: str, replaced_by: str = "") -> None:
        """Put a skill out of use, in favour of another one where there is one.

        Raises:
            UnknownExperience: There is no skill with one of these ids.
            MemoryStoreError: The store cannot be written.
        """
        check_text(reason, "the reason")
        with self._database.write() as connection:
            pk = _existing_skill(connection, skill_id)
            if replaced_by:
                _existing_skill(connection, replaced_by)
            trust.deprecate(connection, pk, reason, replaced_by)

    def quarantine(self, experience_id: str, reason: str) -> None:
        """Withdraw an experience: it is kept and listed, but no longer returned.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be written.
        """
        check_text(reason, "the reason")
        with self._database.write() as connection:
            trust.set_state(connection, _existing(connection, experience_id), "quarantined", reason)

    def release(self, experience_id: str) -> bool:
        """Take an experience out of quarantine and forgive its failures; return whether it was in there.

        A skill becomes a candidate again.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be written.
        """
        with self._database.write() as connection:
            return trust.release(connection, _existing(connection, experience_id))

    def forget(self, what: Iterable[str] | Selection) -> int:
        """Forget experiences by their ids, or those that are selected; unknown ids are ignored.

        They are hidden at once from everything but `undo_forget`, and deleted by the next `vacuum`. Answers of search
        engines that are selected by age, text or as everything are deleted at once, and are not counted.

        Returns:
            How many were forgotten; `count` tells it before.

        Raises:
            ValueError: A selection that selects nothing in particular.
            MemoryStoreError: The store cannot be written.
        """
        selection = what if isinstance(what, Selection) else Selection(ids=tuple(what))
        with self._database.write() as connection:
            pks = forgetting.chosen(connection, selection)
            forgetting.forget(connection, pks)
            web_answers.forget(connection, selection)
        return len(pks)

    def count(self, selection: Selection) -> int:
        """Count the experiences that are selected and not forgotten."""
        with self._database.read() as connection:
            return len(forgetting.chosen(connection, selection))

    def undo_forget(self) -> int:
        """Bring back what the last `forget` hid; return how many. Repeated, it goes back further, to the last vacuum.

        Raises:
            MemoryStoreError: The store cannot be written.
        """
        with self._database.write() as connection:
            return forgetting.bring_back(connection, None)

    def vacuum(self, web_answers_before: datetime | None = None) -> VacuumReport:
        """Delete what was forgotten for good, and give its space back.

        Args:
            web_answers_before: Also delete what search engines answered before this time.

        Raises:
            MemoryStoreError: The store cannot be written.
        """
        before = self._database.size()
        with self._database.write() as connection:
            deleted = forgetting.delete_forgotten(connection)
            answers = web_answers.delete_older(connection, web_answers_before) if web_answers_before else 0
        self._database.compact()
        return VacuumReport(
            deleted=deleted, web_answers=answers, bytes_before=before, bytes_after=self._database.size()
        )

    def check(self) -> list[str]:
        """Look for damage; return what is wrong, in words, and nothing where all is well.

        Raises:
            MemoryStoreError: The store cannot be read at all.
        """
        problems = self._database.problems()
        with self._database.read() as connection:
            return problems + find_problems(connection, self._embedder, self._retriever.index)

    def save_web_answer(self, answer: WebAnswer) -> None:
        """Keep what a search engine answered, in place of what it answered to the same query before.

        Raises:
            InvalidExperience: The query is blank.
            MemoryStoreError: The store cannot be written.
        """
        with self._database.write() as connection:
            web_answers.save(connection, answer)

    # --- looking up ---

    def find_web_answer(self, engine: str, query: str) -> WebAnswer | None:
        """Return what an engine answered to exactly this query; None where that is not known.

        Raises:
            InvalidExperience: The query is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        with self._database.read() as connection:
            return web_answers.find(connection, engine, query)

    def search_narrative(
        self,
        query: str,
        k: int = 3,
        *,
        app: str | None = None,
        platform: str | None = None,
        min_similarity: float | None = None,
        vector: Vector | None = None,
    ) -> list[Hit[NarrativeExperience]]:
        """Find stories of tasks whose query is like this one, best first.

        Args:
            query: The query of the task at hand, as the Manager words it.
            k: At most this many.
            app: Only about this application (case does not count).
            platform: Only from this platform.
            min_similarity: Cosine below which nothing is returned; when None, the embedder's own threshold, for
                meaning and words together.
            vector: The embedding of the query by this store's embedder, where the caller has it already.

        Raises:
            InvalidExperience: The query is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        wanted = Query("narrative", make_key(query), k, app, platform, min_similarity, vector)
        hits = self._retriever.search(wanted)
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
        vector: Vector | None = None,
    ) -> list[Hit[EpisodicExperience]]:
        """Find how subtasks like this one were carried out, best first. Arguments as in `search_narrative`.

        Raises:
            InvalidExperience: The key is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        key = make_key(task_query, subtask, context)
        wanted = Query("episodic", key, k, app, platform, min_similarity, vector)
        hits = self._retriever.search(wanted)
        return cast("list[Hit[EpisodicExperience]]", hits)

    def search_skills(
        self,
        query: str,
        k: int = 3,
        *,
        app: str | None = None,
        platform: str | None = None,
        min_similarity: float | None = None,
        vector: Vector | None = None,
        candidates: bool = False,
    ) -> list[Hit[SkillExperience]]:
        """Find skills for a task like this one, best first: active ones, and candidates only where asked for.

        Arguments as in `search_narrative`.

        Raises:
            InvalidExperience: The query is blank or not acceptable text.
            MemoryStoreError: The store cannot be read.
        """
        wanted = Query("skill", make_key(query), k, app, platform, min_similarity, vector, candidates)
        return cast("list[Hit[SkillExperience]]", self._retriever.search(wanted))

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

    def find_skill(
        self, name: str, description: str = "", *, platform: str | None = None, states: Sequence[State] = ("active",)
    ) -> SkillExperience | None:
        """Return the newest skill of exactly this name and description in one of these states; None for none."""
        conditions = [SkillRow.state.in_(states), usable()]
        if platform is not None:
            conditions.append(SkillRow.platform == platform)
        digest = make_key(name, description).digest
        query = select(SkillRow).where(SkillRow.kind == "skill", SkillRow.key_digest == digest, *conditions)
        return self._newest(SkillExperience, query)

    def get(self, experience_id: str) -> Experience:
        """Return one experience, in quarantine or not.

        Raises:
            UnknownExperience: There is none with this id.
            MemoryStoreError: The store cannot be read.
        """
        any_kind = with_polymorphic(ExperienceRow, "*")
        with self._database.read() as connection:
            query = select(any_kind).where(any_kind.uid == experience_id, any_kind.forgotten_at.is_(None))
            found = _load(connection, query)
        if not found:
            raise _unknown(experience_id)
        return found[0]

    def list_experiences(
        self,
        kind: Kind | None = None,
        *,
        app: str | None = None,
        run_id: str | None = None,
        state: State | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Experience]:
        """Return experiences, newest first, those in quarantine included.

        Args:
            kind: Only this kind.
            app: Only about this application (case does not count).
            run_id: Only of this run.
            state: Only in this state.
            limit: At most this many; all when None.
            offset: Leave out this many of the newest.
        """
        any_kind = with_polymorphic(ExperienceRow, "*")
        newest_first = (any_kind.created_at.desc(), any_kind.pk.desc())
        query = select(any_kind).where(any_kind.forgotten_at.is_(None)).order_by(*newest_first)
        query = query.limit(limit).offset(offset)
        if kind is not None:
            query = query.where(any_kind.kind == kind)
        if app is not None:
            query = query.where(func.lower(any_kind.app) == func.lower(app))
        if run_id is not None:
            query = query.where(any_kind.run_id == run_id)
        if state is not None:
            query = query.where(any_kind.state == state)
        with self._database.read() as connection:
            return _load(connection, query)

    @contextmanager
    def snapshot(self) -> Iterator[tuple[int, Iterator[Experience]]]:
        """Give the number of all experiences and each of them, oldest first, in one state of the store."""
        any_kind = with_polymorphic(ExperienceRow, "*")
        with self._database.read() as connection, Session(connection) as session:
            count = connection.scalar(select(func.count()).where(ExperienceRow.__table__.c.forgotten_at.is_(None))) or 0
            query = select(any_kind).where(any_kind.forgotten_at.is_(None)).order_by(any_kind.pk)
            rows = session.scalars(query.execution_options(yield_per=_BATCH))
            yield count, (to_record(row) for row in rows)

    def stats(self) -> StoreStats:
        """Count what is in the store."""
        table = ExperienceRow.__table__.c
        alive = table.forgotten_at.is_(None)
        with self._database.read() as connection:
            kinds, apps, states = (
                _counts(connection, column, alive) for column in (table.kind, table.app, table.state)
            )
            of_vector = VectorRow.__table__.c
            with_vector = of_vector.pk.in_(select(table.pk).where(alive))
            vectors = _counts(connection, of_vector.embedder, with_vector)
            verified = connection.scalar(select(func.count()).where(alive, table.verified.is_(True)))
            withdrawn = select(func.count()).where(alive, ~usable(), table.state != "deprecated")
            quarantined = connection.scalar(withdrawn)
            forgotten = connection.scalar(select(func.count()).where(~alive))
            answers = connection.scalar(select(func.count()).select_from(WebAnswerRow))
        return StoreStats(
            path=self.place,
            schema_version=self._schema_version,
            embedder=self._embedder.name,
            narrative=kinds.get("narrative", 0),
            episodic=kinds.get("episodic", 0),
            skill=kinds.get("skill", 0),
            states=states,
            forgotten=forgotten or 0,
            verified=verified or 0,
            quarantined=quarantined or 0,
            apps=apps,
            vectors=vectors,
            web_answers=answers or 0,
            bytes=self._database.size(),
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

    def _store_new(self, record: RecordT) -> RecordT:
        row = to_row(record)
        vector = encode(checked_embed(self._embedder, [row.key_text])[0])
        with self._database.write() as connection, Session(connection) as session:
            twin = find_twin(session, row)
            if twin is None:
                session.add(row)
                session.flush()
                session.add(VectorRow(pk=row.pk, embedder=self._embedder.name, data=vector))
                session.flush()
                return record
            if merge(twin, row):
                vectors = VectorRow.__table__.c.pk == twin.pk
                session.execute(delete(VectorRow).where(vectors))
                session.add(VectorRow(pk=twin.pk, embedder=self._embedder.name, data=vector))
                mark_changed(connection, [twin.pk])
            session.flush()
            return cast("RecordT", to_record(twin))

    def _newest(self, kind: type[RecordT], query: Select[Any]) -> RecordT | None:
        with self._database.read() as connection:
            found = _load(connection, query.order_by(ExperienceRow.created_at.desc(), ExperienceRow.pk.desc()).limit(1))
        return cast("RecordT", found[0]) if found else None


def _open_index(database: Database, embedder: Embedder) -> Index:
    """Return pgvector's index where there is one, else the local one."""
    from memory_store.storage.postgres import PostgresDatabase

    if isinstance(database, PostgresDatabase):
        from memory_store.search.pgvector import open_index

        return open_index(database, embedder) or LocalIndex(embedder)
    return LocalIndex(embedder)


def _replayable(platform: str | None) -> list[ColumnElement[bool]]:
    conditions = [ExperienceRow.verified.is_(True), ExperienceRow.state == "active", usable()]
    if platform is not None:
        conditions.append(ExperienceRow.platform == platform)
    return conditions


def _load(connection: Connection, query: Select[Any]) -> list[Experience]:
    with Session(connection) as session:
        return [to_record(row) for row in session.scalars(query)]


def _counts(connection: Connection, column: ColumnElement[Any], which: ColumnElement[bool]) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).where(which).group_by(column).order_by(column))
    return {value: count for value, count in rows}


def _existing(connection: Connection, experience_id: str) -> int:
    pk = pk_of(connection, experience_id)
    if pk is None:
        raise _unknown(experience_id)
    return pk


def _existing_skill(connection: Connection, skill_id: str) -> int:
    if not skill_id.startswith("s-"):
        raise UnknownExperience(f"{skill_id!r} is no skill: ids of skills begin with s-")
    return _existing(connection, skill_id)


def _unknown(experience_id: str) -> UnknownExperience:
    return UnknownExperience(f"no experience {experience_id!r}: list the store to see the ids there are")

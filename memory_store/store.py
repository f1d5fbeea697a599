"""The memory store: one database of experiences, and searches in it."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, cast

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, and_, func, select, true

from memory_store.embedding.embedders import Embedder, checked_embed, default_embedder
from memory_store.errors import EmbedderUnavailable, InvalidExperience
from memory_store.integrity import find_problems
from memory_store.keys import check_text, make_key
from memory_store.records.experience import Experience, Hit, Kind, Provenance, State, StoreStats, first_problem
from memory_store.records.kinds import (
    EpisodicExperience,
    NarrativeExperience,
    PlannedSubtask,
    SkillDraft,
    SkillExperience,
    Step,
)
from memory_store.search.index import EMBED_AT_ONCE, Index, LocalIndex
from memory_store.search.retrieval import Filters, Query, Retriever
from memory_store.storage import forgetting, trust, web_answers
from memory_store.storage.database import Database
from memory_store.storage.embeddings import BackgroundEmbedding, count_missing_vectors, encode, store_missing_vectors
from memory_store.storage.forgetting import Selection, VacuumReport
from memory_store.storage.merging import find_twin, merged
from memory_store.storage.opening import locate, open_located
from memory_store.storage.rows import (
    NEWEST_FIRST,
    chunks,
    insert_rows,
    load_all,
    mark_changed,
    pk_of,
    replace_vectors,
    select_kind,
    to_record,
    to_values,
    update_row,
    usable,
)
from memory_store.storage.schema import experience, narrative, vector_table, web_answer
from memory_store.storage.web_answers import WebAnswer

BUSY_TIMEOUT_S = 5.0

logger = logging.getLogger(__name__)

_SKILL_PREFIX = "s-"

RecordT = TypeVar("RecordT", bound=Experience)
ArgsT = ParamSpec("ArgsT")
ResultT = TypeVar("ResultT")


def _persistent(
    method: Callable[Concatenate[MemoryStore, ArgsT], ResultT],
) -> Callable[Concatenate[MemoryStore, ArgsT], ResultT]:
    """Make a method of a store wait for a server that is away, and begin again where its connection was lost."""

    @wraps(method)
    def persistent(store: MemoryStore, /, *args: ArgsT.args, **kwargs: ArgsT.kwargs) -> ResultT:
        return store._database.persist(lambda: method(store, *args, **kwargs))

    return persistent


class MemoryStore:
    """Narrative memory, episodic memory and skills in one database that many processes and threads may share.

    Each method that writes is one transaction: when it returns, the change is on the disk; when it raises, nothing has
    changed. Every method raises `MemoryStoreError` if the store cannot be read or written; methods that take an id
    raise `UnknownExperience` if no experience has it, and methods that take text raise `InvalidExperience` if it is
    blank where a key is needed, or cannot be stored. Create a store with `open`.

    Args:
        database: The open database.
        embedder: Turns keys into vectors.
        schema_version: The schema revision of the database.
        trusted: Users whose experience may be replayed, besides the own; None for all.
    """

    def __init__(
        self, database: Database, embedder: Embedder, schema_version: str, trusted: Iterable[str] | None = None
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._schema_version = schema_version
        self._user = database.user()
        self._trusted = None if trusted is None else frozenset((self._user, *trusted))
        self._retriever = Retriever(database, embedder, _open_index(database, embedder))
        self._background = BackgroundEmbedding(database, embedder)

    @classmethod
    def open(
        cls,
        path_or_url: str | os.PathLike[str],
        embedder: Embedder | None = None,
        *,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        trusted: Iterable[str] | None = None,
    ) -> MemoryStore:
        """Open the store; create or migrate it as needed.

        A damaged, foreign or newer file is refused and left as it is. Before an older store is migrated, it is copied.
        Experience without a vector by this embedder is embedded, a large number of them in the background; until then
        they are found by their words. `wait_until_embedded` waits for it.

        Args:
            path_or_url: The file, ``sqlite:///FILE``, or ``postgresql://USER@HOST/DATABASE``.
            embedder: Default: MiniLM if it is installed, else `HashingEmbedder`.
            busy_timeout_s: How long to wait for another process's lock, s.
            trusted: Users whose experience may be replayed, besides the own; None for all.

        Raises:
            MemoryStoreError: The store cannot be opened; the class and message say why and what to do.
        """
        database, schema_version = open_located(locate(path_or_url), busy_timeout_s)
        try:
            chosen = embedder or default_embedder()
            store = database.persist(lambda: cls(database, chosen, schema_version, trusted))
            missing = database.persist(lambda: count_missing_vectors(database, chosen))
            if missing:
                # Embed a first batch at once: an embedder that does not work is reported here.
                try:
                    database.persist(lambda: store_missing_vectors(database, chosen, limit=1))
                except EmbedderUnavailable as error:
                    logger.warning("Experience is found by its words until it is embedded: %s", error)
                    return store
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
        """The embedder that the store was opened with."""
        return self._embedder

    def trusts(self, experience: Experience) -> bool:
        """Return whether the experience of its author may be replayed; that of others is advice at most."""
        return self._trusted is None or experience.provenance.author in self._trusted

    def close(self) -> None:
        """Close the store; closing twice is allowed."""
        self._background.stop()
        self._database.close()

    def wait_until_embedded(self) -> None:
        """Wait until every experience has a vector by this embedder.

        Raises:
            MemoryStoreError: The embedder failed, or the store cannot be written; what was done is kept.
        """
        self._background.wait()

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Adding

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
        """Store the story of a task and return the stored record, which may be merged with an earlier one.

        `memory_store.storage.merging` describes when experiences are merged.
        """
        fields = {"query": query, "instruction": instruction, "summary": summary, "success": success}
        return self._add([self._new(NarrativeExperience, provenance, plan=tuple(plan), **fields)])[0]

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
        """Store how a subtask was carried out and return the stored record."""
        fields = {"task_query": task_query, "subtask": subtask, "context": context, "summary": summary}
        return self._add([self._new(EpisodicExperience, provenance, steps=tuple(steps), **fields)])[0]

    def add_skill(self, **draft: Unpack[SkillDraft]) -> SkillExperience:
        """Store a skill as a candidate and return the stored record; `SkillDraft` describes the arguments."""
        return self.add_skills([draft])[0]

    def add_skills(self, drafts: Iterable[SkillDraft]) -> list[SkillExperience]:
        """Store skills as candidates, embedded together, in one transaction, and return the stored records."""
        return self._add([self._skill(**draft) for draft in drafts])

    def _skill(self, **draft: Unpack[SkillDraft]) -> SkillExperience:
        """Return a skill as a candidate that is not stored."""
        unverified = {"state": "candidate", "verified": None, "verified_by": ""}
        provenance = draft["provenance"].model_copy(update=unverified)
        given = {name: value for name, value in draft.items() if name != "provenance" and value is not None}
        return self._new(SkillExperience, provenance, **given)

    @_persistent
    def add_records(self, records: Sequence[Experience]) -> int:
        """Store finished records as they are, in one transaction, and return the number of added ones.

        Records whose id is already present are skipped; forgotten ones are restored.
        """
        unique = list({record.id: record for record in records}.values())
        rows = [to_values(record) for record in unique]
        # Embedding takes long and is done before the write lock is taken.
        blobs = {
            row["uid"]: encode(vector)
            for some in chunks(rows)
            for row, vector in zip(some, checked_embed(self._embedder, [row["key_text"] for row in some]), strict=True)
        }
        with self._database.write() as connection:
            present: set[str] = set()
            forgotten: list[int] = []
            for some in chunks(list(blobs)):
                columns = (experience.c.uid, experience.c.pk, experience.c.forgotten_at)
                for found in connection.execute(select(*columns).where(experience.c.uid.in_(some))):
                    present.add(found.uid)
                    forgotten += [found.pk] if found.forgotten_at is not None else []
            forgetting.restore(connection, forgotten)
            new = [row for row in rows if row["uid"] not in present]
            insert_rows(connection, new, [blobs[row["uid"]] for row in new], self._embedder.name)
        return len(new) + len(forgotten)

    @_persistent
    def merge_records(self, records: Sequence[Experience]) -> None:
        """Store the records of another store as if this one learned them now, in one transaction.

        Unlike with `add_records`, those that repeat an experience are merged with it, all become the user's own, and
        their verdicts quarantine what they contradict. Records whose id is already present are skipped.
        """
        rows = [to_values(record) | self._own for record in records]
        vectors = self._embedded(rows)
        with self._database.write() as connection:
            for row, data in zip(rows, vectors, strict=True):
                if connection.scalar(select(experience.c.pk).where(experience.c.uid == row["uid"])) is not None:
                    continue
                pk = self._merge(connection, row, data)
                if row["verified"] is not None:
                    trust.mark(connection, experience.c.pk == pk, row["verified"], row["verified_by"])

    @_persistent
    def write_summaries(self, summaries: Mapping[str, str]) -> int:
        """Replace the summaries of drafts, by id, and return how many were drafts; others are left as they are."""
        for summary in summaries.values():
            check_text(summary, "the summary")
        written = 0
        with self._database.write() as connection:
            for uid, summary in summaries.items():
                draft = experience.c.uid == uid, experience.c.draft.is_(True), experience.c.forgotten_at.is_(None)
                row = connection.execute(select(experience.c.pk, experience.c.kind).where(*draft)).one_or_none()
                if row is not None:
                    update_row(connection, row.kind, row.pk, {"summary": summary, "draft": False})
                    written += 1
        return written

    # Trust

    def mark_verified(
        self, *, verified: bool | None, by: str, run_id: str | None = None, ids: Iterable[str] | None = None
    ) -> int:
        """Record the verdict of an independent check and return the number of marked experiences.

        Args:
            verified: The verdict; None withdraws an earlier one.
            by: What checked it.
            run_id: All experience of this run, or those of ``ids`` that are of this run.
            ids: These experiences; unknown ids are ignored.

        Raises:
            ValueError: Neither ``run_id`` nor ``ids`` was given.
        """
        if run_id is None and ids is None:
            raise ValueError("give either run_id or ids, or both")
        check_text(by, "the name of the check")
        of_run = experience.c.run_id == run_id if run_id is not None else true()
        chosen = None if ids is None else list(dict.fromkeys(ids))

        def mark() -> int:
            with self._database.write() as connection:
                if chosen is None:
                    return trust.mark(connection, of_run, verified, by)
                return sum(
                    trust.mark(connection, and_(of_run, experience.c.uid.in_(some)), verified, by)
                    for some in chunks(chosen)
                )

        return self._database.persist(mark)

    @_persistent
    def record_uses(
        self, experience_ids: Sequence[str], worked: bool, *, checked_by: str = "", clean_start: bool = False
    ) -> None:
        """Count a use of each experience, and a run of each skill among them, in one transaction.

        After two failures an experience is quarantined and no longer returned. A skill that is a candidate becomes
        active if it worked, was checked and had a clean start.

        Args:
            experience_ids: The experiences.
            worked: Whether the check found the task done; without a check, whether the steps ran to their end.
            checked_by: What checked the result, other than the acting model; empty for nothing.
            clean_start: Whether the run began from a clean state of the application.
        """
        check_text(checked_by, "the name of the check")
        with self._database.write() as connection:
            for experience_id in experience_ids:
                pk = pk_of(connection, experience_id)
                if experience_id.startswith(_SKILL_PREFIX):
                    trust.count_skill_run(connection, pk, worked, checked_by, clean_start)
                else:
                    trust.count_use(connection, pk, worked)

    @_persistent
    def quarantine(self, experience_id: str, reason: str) -> None:
        """Withdraw an experience: it is kept and listed, but not returned by searches."""
        check_text(reason, "the reason")
        with self._database.write() as connection:
            trust.set_state(connection, pk_of(connection, experience_id), "quarantined", reason)

    @_persistent
    def release(self, experience_id: str) -> bool:
        """Release an experience from quarantine, clear its failures, and return whether it was quarantined.

        A skill becomes a candidate again.
        """
        with self._database.write() as connection:
            return trust.release(connection, pk_of(connection, experience_id))

    # Forgetting and maintenance

    def forget(self, what: Iterable[str] | Selection) -> int:
        """Forget experiences by id or by selection and return their number; unknown ids are ignored.

        They are hidden from everything but `undo_forget`, and deleted by the next `vacuum`. Answers of search engines
        that are selected by age, text or ``everything`` are deleted at once and not counted.

        Raises:
            ValueError: The selection is blank.
        """
        selection = what if isinstance(what, Selection) else Selection(ids=tuple(what))

        def forget() -> int:
            with self._database.write() as connection:
                pks = forgetting.chosen(connection, selection)
                forgetting.forget(connection, pks)
                web_answers.forget(connection, selection)
            return len(pks)

        return self._database.persist(forget)

    @_persistent
    def count(self, selection: Selection) -> int:
        """Return the number of selected experiences that are not forgotten."""
        with self._database.read() as connection:
            return len(forgetting.chosen(connection, selection))

    @_persistent
    def undo_forget(self) -> int:
        """Restore what the last `forget` hid and return the number of experiences.

        Further calls undo earlier ones, back to the last vacuum.
        """
        with self._database.write() as connection:
            return forgetting.restore_last(connection)

    def vacuum(self, web_answers_before: datetime | None = None) -> VacuumReport:
        """Delete forgotten experience for good and free its space.

        Args:
            web_answers_before: Also delete the answers of search engines from before this time.
        """

        def delete() -> tuple[int, int]:
            with self._database.write() as connection:
                deleted = forgetting.delete_forgotten(connection)
                return deleted, web_answers.delete_older(connection, web_answers_before) if web_answers_before else 0

        database = self._database
        before = database.persist(database.size)
        deleted, answers = database.persist(delete)
        database.persist(database.compact)
        after = database.persist(database.size)
        return VacuumReport(deleted=deleted, web_answers=answers, bytes_before=before, bytes_after=after)

    @_persistent
    def check(self) -> list[str]:
        """Look for damage and return the problems in words; none if the store is sound."""
        problems = self._database.problems()
        with self._database.read() as connection:
            return problems + find_problems(connection, self._embedder, self._retriever.index)

    @_persistent
    def save_web_answer(self, answer: WebAnswer) -> None:
        """Store the answer of a search engine, replacing its earlier answer to the same query."""
        with self._database.write() as connection:
            web_answers.save(connection, answer)

    @_persistent
    def find_web_answer(self, engine: str, query: str) -> WebAnswer | None:
        """Return the stored answer of an engine to exactly this query, if any."""
        with self._database.read() as connection:
            return web_answers.find(connection, engine, query)

    # Searching

    @_persistent
    def search_narrative(self, query: str, k: int = 3, **filters: Unpack[Filters]) -> list[Hit[NarrativeExperience]]:
        """Find stories of tasks with a similar query, best first.

        Args:
            query: The query of the current task, as the Manager words it.
            k: Maximum number of results.
            filters: Which of them may be returned; see `memory_store.search.retrieval.Filters`.
        """
        wanted = Query("narrative", make_key(query), k, **filters)
        return cast("list[Hit[NarrativeExperience]]", self._retriever.search(wanted))

    @_persistent
    def search_episodic(
        self, task_query: str, subtask: str, context: str = "", k: int = 3, **filters: Unpack[Filters]
    ) -> list[Hit[EpisodicExperience]]:
        """Find how similar subtasks were carried out, best first; arguments as in `search_narrative`."""
        wanted = Query("episodic", make_key(task_query, subtask, context), k, **filters)
        return cast("list[Hit[EpisodicExperience]]", self._retriever.search(wanted))

    @_persistent
    def search_skills(
        self, query: str, k: int = 3, *, candidates: bool = False, **filters: Unpack[Filters]
    ) -> list[Hit[SkillExperience]]:
        """Find active skills for a similar task, and candidates if wanted; arguments as in `search_narrative`."""
        wanted = Query("skill", make_key(query), k, candidates=candidates, **filters)
        return cast("list[Hit[SkillExperience]]", self._retriever.search(wanted))

    def find_verified_narrative(self, instruction: str, platform: str | None = None) -> NarrativeExperience | None:
        """Return the newest verified success of exactly this instruction, for replay, if any.

        Two instructions are the same if their `memory_store.keys.exact_form` is: white space outside quotations and
        the case of the first letter do not count. Quarantined experience is not returned.
        """
        same = narrative.c.instruction_digest == make_key(instruction).digest
        return self._newest(NarrativeExperience, same, narrative.c.success.is_(True), *_replayable(platform))

    def find_verified_episode(
        self, task_query: str, subtask: str, context: str = "", platform: str | None = None
    ) -> EpisodicExperience | None:
        """Return the newest verified experience of exactly this subtask, for replay, if any."""
        same = experience.c.key_digest == make_key(task_query, subtask, context).digest
        return self._newest(EpisodicExperience, same, *_replayable(platform))

    def find_skill(
        self, name: str, description: str = "", *, platform: str | None = None, states: Sequence[State] = ("active",)
    ) -> SkillExperience | None:
        """Return the newest skill with exactly this name and description in one of these states, if any."""
        same = experience.c.key_digest == make_key(name, description).digest
        return self._newest(SkillExperience, same, experience.c.state.in_(states), usable(), *_on(platform))

    @_persistent
    def get(self, experience_id: str) -> Experience:
        """Return an experience, quarantined or not."""
        with self._database.read() as connection:
            pk = pk_of(connection, experience_id)
            query = select(experience.c.pk, experience.c.kind).where(experience.c.pk == pk)
            return load_all(connection, connection.execute(query).all())[0]

    @_persistent
    def list_experiences(
        self,
        kind: Kind | None = None,
        *,
        app: str | None = None,
        run_id: str | None = None,
        state: State | None = None,
        draft: bool | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Experience]:
        """Return experiences, newest first, including quarantined ones.

        Args:
            kind: Only this kind.
            app: Only about this application (case does not count).
            run_id: Only of this run.
            state: Only in this state.
            draft: Only drafts, or only those that are none.
            limit: Maximum number of results; None for all.
            offset: Number of the newest to skip.
        """
        query = select(experience.c.pk, experience.c.kind).where(experience.c.forgotten_at.is_(None))
        columns = experience.c
        wanted = ((columns.kind, kind), (columns.run_id, run_id), (columns.state, state), (columns.draft, draft))
        for column, value in wanted:
            if value is not None:
                query = query.where(column == value)
        if app is not None:
            query = query.where(func.lower(experience.c.app) == func.lower(app))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(*NEWEST_FIRST).limit(limit).offset(offset)).all()
            return load_all(connection, found)

    @contextmanager
    def snapshot(self) -> Iterator[tuple[int, Iterator[Experience]]]:
        """Give the number of experiences and an iterator over them, oldest first, in one state of the store.

        A server that is away at the beginning is waited for; the state is lost with the connection.
        """
        query = select(experience.c.pk, experience.c.kind).where(experience.c.forgotten_at.is_(None))

        def begin() -> tuple[ExitStack, Connection, Sequence[Any]]:
            with ExitStack() as opened:
                connection = opened.enter_context(self._database.read())
                found = connection.execute(query.order_by(experience.c.pk)).all()
                return opened.pop_all(), connection, found

        opened, connection, found = self._database.persist(begin)
        with opened:
            yield len(found), (record for some in chunks(found) for record in load_all(connection, some))

    @_persistent
    def stats(self) -> StoreStats:
        """Return what the store holds, in numbers."""
        alive = experience.c.forgotten_at.is_(None)
        vector = vector_table.c
        with self._database.read() as connection:

            def count(*conditions: ColumnElement[bool]) -> int:
                return connection.scalar(select(func.count()).select_from(experience).where(*conditions)) or 0

            def counts(column: ColumnElement[Any], which: ColumnElement[bool]) -> dict[str, int]:
                rows = connection.execute(select(column, func.count()).where(which).group_by(column).order_by(column))
                return {value: number for value, number in rows}

            kinds = counts(experience.c.kind, alive)
            return StoreStats(
                path=self.place,
                schema_version=self._schema_version,
                embedder=self._embedder.name,
                narrative=kinds.get("narrative", 0),
                episodic=kinds.get("episodic", 0),
                skill=kinds.get("skill", 0),
                states=counts(experience.c.state, alive),
                forgotten=count(~alive),
                verified=count(alive, experience.c.verified.is_(True)),
                quarantined=count(alive, ~usable(), experience.c.state != "deprecated"),
                apps=counts(experience.c.app, alive),
                vectors=counts(vector.embedder, vector.pk.in_(select(experience.c.pk).where(alive))),
                web_answers=connection.scalar(select(func.count()).select_from(web_answer)) or 0,
                bytes=self._database.size(),
            )

    def _new(self, /, kind: type[RecordT], provenance: Provenance, **fields: Any) -> RecordT:
        """Return a record that is not stored."""
        try:
            return kind(
                id=f"{kind.kind[0]}-{secrets.token_hex(8)}",
                provenance=provenance.model_copy(update=self._own),
                **fields,
            )
        except ValidationError as error:
            raise InvalidExperience(f"not a {kind.kind} experience: {first_problem(error)}") from error

    @_persistent
    def _add(self, /, records: Sequence[RecordT]) -> list[RecordT]:
        """Store new records, each merged with the one that it repeats, and return the stored ones."""
        rows = [to_values(record) for record in records]
        vectors = self._embedded(rows)
        with self._database.write() as connection:
            stored = []
            for row, data in zip(rows, vectors, strict=True):
                pk = self._merge(connection, row, data)
                found = connection.execute(select_kind(row["kind"]).where(experience.c.pk == pk)).one()
                stored.append(cast("RecordT", to_record(found)))
            return stored

    @property
    def _own(self) -> dict[str, Any]:
        """The provenance of what this store itself learns."""
        return {"embedder": self._embedder.name, "author": self._user}

    def _embedded(self, rows: Sequence[dict[str, Any]]) -> list[bytes]:
        """Return the vectors of rows; unusable ones, which are made when they are needed, if the embedder is away."""
        try:
            return [encode(one) for one in checked_embed(self._embedder, [row["key_text"] for row in rows])]
        except EmbedderUnavailable as error:
            logger.warning("Experience is stored and will be embedded later: %s", error)
            return [b""] * len(rows)

    def _merge(self, connection: Connection, row: dict[str, Any], data: bytes) -> int:
        """Merge a row into the experience that it repeats, or insert it, and return the primary key."""
        twin = find_twin(connection, row)
        if twin is None:
            insert_rows(connection, [row], [data], self._embedder.name)
            return pk_of(connection, row["uid"])
        pk = int(twin["pk"])
        changes = merged(twin, row)
        update_row(connection, row["kind"], pk, changes)
        if changes.get("key_text", twin["key_text"]) != twin["key_text"]:
            replace_vectors(connection, pk, self._embedder.name, data)
            mark_changed(connection, [pk])
        return pk

    @_persistent
    def _newest(self, kind: type[RecordT], *conditions: ColumnElement[bool]) -> RecordT | None:
        """Return the newest, of a trusted author if there is one."""
        query = select_kind(kind.kind).where(experience.c.kind == kind.kind, *conditions)
        first = () if self._trusted is None else (experience.c.author.in_(self._trusted).desc(),)
        with self._database.read() as connection:
            row = connection.execute(query.order_by(*first, *NEWEST_FIRST).limit(1)).first()
            return None if row is None else cast("RecordT", to_record(row))


def _open_index(database: Database, embedder: Embedder) -> Index:
    """Return the index of pgvector if the server has it, else a local one."""
    if database.path is not None:
        return LocalIndex(embedder)
    from memory_store.search.pgvector import open_index

    return open_index(database, embedder) or LocalIndex(embedder)


def _on(platform: str | None) -> list[ColumnElement[bool]]:
    return [] if platform is None else [experience.c.platform == platform]


def _replayable(platform: str | None) -> list[ColumnElement[bool]]:
    return [experience.c.verified.is_(True), experience.c.state == "active", usable(), *_on(platform)]

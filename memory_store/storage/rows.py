"""Conversion between typed records and table rows, and what all statements share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, delete, insert, select, update

from memory_store.errors import UnknownExperience
from memory_store.keys import near_digest
from memory_store.records.experience import KINDS, QUARANTINE_AFTER_FAILURES, Experience, Kind, Provenance
from memory_store.records.kinds import EpisodicExperience, NarrativeExperience, SkillExperience
from memory_store.storage.schema import episodic, experience, narrative, skill, store_state, vector_table

RECORDS: dict[str, type[Experience]] = {
    "narrative": NarrativeExperience,
    "episodic": EpisodicExperience,
    "skill": SkillExperience,
}
TABLES: dict[str, Table] = {"narrative": narrative, "episodic": episodic, "skill": skill}

_PROVENANCE = tuple(Provenance.model_fields)
_FIELDS = {kind: set(record.model_fields) - {"id", "provenance"} for kind, record in RECORDS.items()}
NEWEST_FIRST = (experience.c.created_at.desc(), experience.c.pk.desc())
_BATCH = 500

ItemT = TypeVar("ItemT")
Values = Mapping[str, Any]


def to_values(record: Experience) -> dict[str, Any]:
    """Return the columns of a record, by name, without its ``pk``.

    Raises:
        InvalidExperience: The key of the record is blank.
    """
    key = record.key
    values: dict[str, Any] = {name: getattr(record.provenance, name) for name in _PROVENANCE}
    values |= {"uid": record.id, "kind": record.kind, "key_text": key.text, "key_digest": key.digest, "changed": 0}
    values["near_digest"] = near_digest(key.text)
    if record.provenance.quarantined:
        values["state"] = "quarantined"
    if isinstance(record, NarrativeExperience):
        values["instruction_digest"] = record.instruction_key.digest
    return values | record.model_dump(mode="json", include=_FIELDS[record.kind])


def to_record(row: Row[Any]) -> Experience:
    """Return the record of a row that `select_kind` has found.

    Raises:
        ValueError: A value is not valid, as in a damaged database; likewise TypeError.
    """
    provenance = Provenance(**{name: getattr(row, name) for name in _PROVENANCE})
    # Columns that a later schema added are NULL in older rows.
    values = {name: value for name in _FIELDS[row.kind] if (value := getattr(row, name)) is not None}
    return RECORDS[row.kind](id=row.uid, provenance=provenance, **values)


@lru_cache(maxsize=8)
def select_kind(kind: Kind) -> Select[Any]:
    """Return the selection of all experiences of a kind with all columns."""
    table = TABLES[kind]
    columns = (column for column in table.c if column.name != "pk")
    both = experience.outerjoin(table, table.c.pk == experience.c.pk)
    return select(*experience.c, *columns).select_from(both)


@lru_cache(maxsize=8)
def _select_pks(kind: Kind) -> Select[Any]:
    return select_kind(kind).where(experience.c.pk.in_(bindparam("pks", expanding=True)))


def load(connection: Connection, kind: Kind, pks: Sequence[int]) -> dict[int, Experience]:
    """Return the records of a kind by pk."""
    found = (connection.execute(_select_pks(kind), {"pks": list(some)}) for some in chunks(pks))
    return {row.pk: to_record(row) for rows in found for row in rows}


def load_all(connection: Connection, found: Sequence[Row[Any, Any]]) -> list[Experience]:
    """Return the records of pairs of pk and kind, in their order."""
    records: dict[int, Experience] = {}
    for kind in KINDS:
        records |= load(connection, kind, [row.pk for row in found if row.kind == kind])
    return [records[row.pk] for row in found]


def insert_rows(connection: Connection, rows: Sequence[Values], vectors: Sequence[bytes], embedder: str) -> None:
    """Insert the values of new records, each with its vector."""
    for start in range(0, len(rows), _BATCH):
        some = rows[start : start + _BATCH]
        connection.execute(insert(experience), [_of_table(experience, values) for values in some])
        found = select(experience.c.uid, experience.c.pk).where(experience.c.uid.in_([row["uid"] for row in some]))
        pks: dict[str, int] = {uid: pk for uid, pk in connection.execute(found)}
        for kind, table in TABLES.items():
            if of_kind := [{"pk": pks[row["uid"]], **_of_table(table, row)} for row in some if row["kind"] == kind]:
                connection.execute(insert(table), of_kind)
        data = zip(some, vectors[start : start + _BATCH], strict=True)
        connection.execute(
            insert(vector_table), [{"pk": pks[row["uid"]], "embedder": embedder, "data": blob} for row, blob in data]
        )


def replace_vectors(connection: Connection, pk: int, embedder: str, data: bytes) -> None:
    """Replace all vectors of an experience by one of its changed key."""
    connection.execute(delete(vector_table).where(vector_table.c.pk == pk))
    connection.execute(insert(vector_table).values(pk=pk, embedder=embedder, data=data))


def update_row(connection: Connection, kind: str, pk: int, values: Values) -> None:
    """Change columns of one experience."""
    for table in (experience, TABLES[kind]):
        if own := _of_table(table, values):
            connection.execute(update(table).where(table.c.pk == pk).values(own))


def _of_table(table: Table, values: Values) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in table.c}


def pk_of(connection: Connection, uid: str) -> int:
    """Return the pk of an experience that is not forgotten.

    Raises:
        UnknownExperience: There is none.
    """
    wanted = select(experience.c.pk).where(experience.c.uid == uid, experience.c.forgotten_at.is_(None))
    pk: int | None = connection.scalar(wanted)
    if pk is None:
        raise UnknownExperience(f"there is no experience {uid!r}: `agent-s memory list` shows the ids")
    return pk


def usable() -> ColumnElement[bool]:
    """Return the condition that an experience is neither forgotten nor quarantined nor deprecated."""
    return (
        experience.c.forgotten_at.is_(None)
        & experience.c.state.in_(("active", "candidate"))
        & (experience.c.times_used - experience.c.times_worked < QUARANTINE_AFTER_FAILURES)
    )


def mark_changed(connection: Connection, pks: Sequence[int]) -> None:
    """Let the indexes of all processes read these rows again."""
    version = (connection.scalar(select(store_state.c.version)) or 0) + 1
    connection.execute(update(store_state).values(version=version))
    for some in chunks(pks):
        connection.execute(update(experience).where(experience.c.pk.in_(some)).values(changed=version))


def chunks(items: Sequence[ItemT], size: int = _BATCH) -> Iterator[Sequence[ItemT]]:
    """Yield the items in runs of at most ``size``; databases limit the number of values in a statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

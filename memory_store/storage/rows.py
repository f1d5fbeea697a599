"""Conversion between typed records and table rows, and what all statements share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Row, and_, or_, select, update

from memory_store.keys import near_digest
from memory_store.records.episodic import EpisodicExperience
from memory_store.records.experience import QUARANTINE_AFTER_FAILURES, Experience, Kind, Provenance
from memory_store.records.narrative import NarrativeExperience
from memory_store.records.skills import SkillExperience
from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow, StateRow

RECORDS: dict[str, type[Experience]] = {
    "narrative": NarrativeExperience,
    "episodic": EpisodicExperience,
    "skill": SkillExperience,
}
ROWS: dict[str, type[ExperienceRow]] = {"narrative": NarrativeRow, "episodic": EpisodicRow, "skill": SkillRow}
TABLES: dict[str, Any] = {kind: row.__table__ for kind, row in ROWS.items()}

_PROVENANCE = tuple(Provenance.model_fields)
_FIELDS = {kind: tuple(set(record.model_fields) - {"id", "provenance"}) for kind, record in RECORDS.items()}
_BATCH = 500

ItemT = TypeVar("ItemT")
_experience = ExperienceRow.__table__.c


def to_row(experience: Experience) -> ExperienceRow:
    """Return the row of a record.

    Raises:
        InvalidExperience: The key of the record is blank.
    """
    key = experience.key
    values: dict[str, Any] = {name: getattr(experience.provenance, name) for name in _PROVENANCE}
    values |= {"uid": experience.id, "key_text": key.text, "key_digest": key.digest, "changed": 0}
    values["near_digest"] = near_digest(key.text)
    if experience.provenance.quarantined:
        values["state"] = "quarantined"
    if isinstance(experience, NarrativeExperience):
        values["instruction_digest"] = experience.instruction_key.digest
    fields = experience.model_dump(mode="json", include=set(_FIELDS[experience.kind]))
    return ROWS[experience.kind](**values, **fields)


def to_record(row: ExperienceRow | Row[Any]) -> Experience:
    """Return the record of a mapped row, or of a plain row with all columns of its kind.

    Raises:
        ValueError: A value is not valid, as in a damaged database; likewise TypeError.
    """
    if row.kind not in RECORDS:
        raise TypeError(f"not a known kind of experience: {row.kind}")
    provenance = Provenance(**{name: getattr(row, name) for name in _PROVENANCE})
    # Columns that a later schema added are NULL in older rows.
    values = {name: value for name in _FIELDS[row.kind] if (value := getattr(row, name)) is not None}
    return RECORDS[row.kind](id=row.uid, provenance=provenance, **values)


def columns_of(kind: Kind) -> list[Column[Any]]:
    """Return all columns of a kind of experience."""
    return [*_experience, *(column for column in TABLES[kind].c if column.name != "pk")]


def usable() -> ColumnElement[bool]:
    """Return the condition that an experience is neither forgotten nor quarantined nor deprecated."""
    return and_(
        _experience.forgotten_at.is_(None),
        or_(_experience.state == "active", _experience.state == "candidate"),
        _experience.times_used - _experience.times_worked < QUARANTINE_AFTER_FAILURES,
    )


def mark_changed(connection: Connection, pks: Sequence[int]) -> None:
    """Let the indexes of all processes read these rows again."""
    version = (connection.scalar(select(StateRow.version)) or 0) + 1
    connection.execute(update(StateRow).values(version=version))
    for some in chunks(pks):
        connection.execute(update(ExperienceRow).where(ExperienceRow.pk.in_(some)).values(changed=version))


def chunks(items: Sequence[ItemT], size: int = _BATCH) -> Iterator[Sequence[ItemT]]:
    """Yield the items in runs of at most ``size``; databases limit the number of values in a statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

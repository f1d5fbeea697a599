"""The statements that every search runs, each put together once.

SQLAlchemy takes several times as long to put such a statement together as the database takes to run it, and mapped
objects cost more than the rows that they are made of; so searches use plain rows and these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, func, select, true

from memory_store.records.experience import QUARANTINE_AFTER_FAILURES, Kind
from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow, StateRow, VectorRow

_experience = ExperienceRow.__table__.c
_vector = VectorRow.__table__.c
_state = StateRow.__table__.c
_OF_KIND: dict[str, Any] = {
    "narrative": NarrativeRow.__table__,
    "episodic": EpisodicRow.__table__,
    "skill": SkillRow.__table__,
}
_EXACT_CANDIDATES = 64

STATE = select(
    select(func.max(_experience.pk)).scalar_subquery().label("newest"), _state.version, _state.removed, _state.uid
)
"""How far the database has come."""

VECTORS = select(_vector.pk, _vector.data).where(
    _vector.pk.in_(bindparam("pks", expanding=True)), _vector.embedder == bindparam("embedder")
)
"""The vectors of `pks` by `embedder`."""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of searches of one sort; all take `states`, and `app` and `platform` where these are filters.

    Attributes:
        same: Whole experiences with the key digest `digest`, the verified and newest first.
        light: What is needed to judge the experiences `pks`.
        heavy: The same with all the rest of them, for when there are few.
        whole: The experiences `pks`.
        every: All experiences, with all columns.
    """

    same: Select[Any]
    light: Select[Any]
    heavy: Select[Any]
    whole: Select[Any]
    every: Select[Any]


@lru_cache(maxsize=16)
def statements(kind: Kind, by_app: bool, by_platform: bool) -> Statements:
    """Return the statements of searches of one kind, with these filters."""
    table: Table = _OF_KIND[kind]
    both = ExperienceRow.__table__.join(table, table.c.pk == _experience.pk)
    conditions: list[ColumnElement[bool]] = [
        _experience.forgotten_at.is_(None),
        _experience.times_used - _experience.times_worked < QUARANTINE_AFTER_FAILURES,
        _experience.state.in_(bindparam("states", expanding=True)),
    ]
    if by_app:
        conditions.append(func.lower(_experience.app) == bindparam("app"))
    if by_platform:
        conditions.append(_experience.platform == bindparam("platform"))
    # The kind is only named where it is part of the index: beside a pk it would mislead SQLite's planner.
    of_key = and_(_experience.kind == kind, _experience.key_digest == bindparam("digest"))
    of_pks = _experience.pk.in_(bindparam("pks", expanding=True))
    whole = select(*_experience, *(column for column in table.c if column.name != "pk")).select_from(both)
    newest = (func.coalesce(_experience.verified, False).desc(), _experience.created_at.desc(), _experience.pk.desc())
    success = table.c.success if kind == "narrative" else true().label("success")
    needed = (
        *(_experience.pk, _experience.key_text, _experience.key_digest, _experience.app, _experience.verified),
        *(_experience.times_used, _experience.times_worked, _experience.created_at, _experience.last_used_at),
    )
    return Statements(
        same=whole.where(of_key, *conditions).order_by(*newest).limit(_EXACT_CANDIDATES),
        light=select(*needed, success).select_from(both).where(of_pks, *conditions),
        heavy=(whole if kind == "narrative" else whole.add_columns(success)).where(of_pks, *conditions),
        whole=whole.where(of_pks),
        every=whole,
    )

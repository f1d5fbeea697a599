"""Merging of experiences that were learned twice: one is kept, with the counts of both.

Two experiences are the same if their keys differ in filler words at most, application, platform and outcome are equal,
and no checks disagree about them. The newer version is kept, because screens change; but a verified version is only
replaced by one with the same steps, otherwise both are kept.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow

_MAX_CANDIDATES = 16
_KEPT = frozenset(
    {
        *("pk", "uid", "kind", "changed", "state", "state_reason"),
        *("times_used", "times_worked", "times_seen", "last_used_at"),
    }
)


def find_twin(session: Session, row: ExperienceRow) -> ExperienceRow | None:
    """Return the newest stored experience that this one repeats, if any."""
    table = type(row)
    query = (
        select(table)
        .where(
            table.kind == row.kind,
            table.near_digest == row.near_digest,
            table.app == row.app,
            table.platform == row.platform,
            table.forgotten_at.is_(None),
            table.state.in_(("active", "candidate")),
        )
        .order_by(table.pk.desc())
        .limit(_MAX_CANDIDATES)
    )
    return next((old for old in session.scalars(query) if _is_same(old, row)), None)


def merge(old: ExperienceRow, new: ExperienceRow) -> bool:
    """Merge the newer version into the old one and return whether the key has changed."""
    before = old.key_text
    verdict = (old.verified, old.verified_by)
    if new.created_at >= old.created_at:
        for name in _fields(type(old)):
            setattr(old, name, getattr(new, name))
        if new.verified is None and verdict[0] is not None:
            # The steps are the same, so the verdict holds.
            old.verified, old.verified_by = verdict
    elif new.verified is not None:
        old.verified, old.verified_by = new.verified, new.verified_by
    old.times_seen += new.times_seen
    old.times_used += new.times_used
    old.times_worked += new.times_worked
    return old.key_text != before


def pk_of(connection: Connection, uid: str) -> int | None:
    """Return the pk of an experience that is not forgotten."""
    return connection.scalar(
        select(ExperienceRow.pk).where(ExperienceRow.uid == uid, ExperienceRow.forgotten_at.is_(None))
    )


def _is_same(old: ExperienceRow, new: ExperienceRow) -> bool:
    if None not in (old.verified, new.verified) and old.verified != new.verified:
        return False
    proven = old.verified is not None or old.state != new.state
    if proven and not _same_content(old, new):
        return False
    # A replay needs the exact words: another wording of a verified experience stays separate.
    if old.key_digest != new.key_digest and (old.verified or new.verified):
        return False
    if isinstance(old, NarrativeRow) and isinstance(new, NarrativeRow):
        return old.success == new.success and old.instruction_digest == new.instruction_digest
    return not isinstance(old, SkillRow) or _same_content(old, new)


def _same_content(old: ExperienceRow, new: ExperienceRow) -> bool:
    match old, new:
        case NarrativeRow(), NarrativeRow():
            return list(old.plan) == list(new.plan)
        case EpisodicRow(), EpisodicRow():
            return list(old.steps) == list(new.steps)
        case SkillRow(), SkillRow():
            return list(old.steps) == list(new.steps)
    return False


def _fields(table: Any) -> list[str]:
    names: list[str] = [column.key for column in table.__mapper__.column_attrs]
    return [name for name in names if name not in _KEPT]

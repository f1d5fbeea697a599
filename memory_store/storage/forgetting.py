"""Forgetting: what is chosen is hidden at once, can be brought back, and is deleted when the store is vacuumed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import Field
from sqlalchemy import ColumnElement, Connection, delete, func, or_, select, update

from memory_store.records.experience import Kind, Record, State, UtcTime
from memory_store.storage.rows import chunks, mark_changed
from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow, StateRow


class Selection(Record):
    """Which experiences are meant: those to which everything that is given applies.

    Attributes:
        ids: One of these.
        kind: Of this kind.
        run_id: Of this run.
        task_id: Of this task.
        app: About this application (case does not count).
        before: Made before this time.
        text: With these words anywhere in key, instruction, summary or name (case does not count).
        state: In this state.
        everything: All; must be given when nothing else is.
    """

    ids: tuple[str, ...] | None = None
    kind: Kind | None = None
    run_id: str | None = None
    task_id: str | None = None
    app: str | None = None
    before: UtcTime | None = None
    text: str | None = Field(default=None, min_length=1)
    state: State | None = None
    everything: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing was chosen at all."""
        return self == Selection()


class VacuumReport(Record):
    """What vacuuming did.

    Attributes:
        deleted: Number of forgotten experiences that were deleted for good.
        web_answers: Number of answers of search engines that were deleted because they are too old.
        bytes_before: Size of the store.
        bytes_after: Size afterwards.
    """

    deleted: int
    web_answers: int
    bytes_before: int
    bytes_after: int


def chosen(connection: Connection, selection: Selection) -> list[int]:
    """Return the pks of what is meant and not yet forgotten.

    Raises:
        ValueError: Nothing was chosen.
    """
    if selection.is_blank:
        raise ValueError("nothing is chosen: give ids, a task, an application, an age or a text, or everything=True")
    query = select(ExperienceRow.pk).where(ExperienceRow.forgotten_at.is_(None), *_conditions(selection))
    if selection.ids is None:
        return list(connection.scalars(query))
    return [
        pk
        for some in chunks(list(dict.fromkeys(selection.ids)))
        for pk in connection.scalars(query.where(ExperienceRow.uid.in_(some)))
    ]


def forget(connection: Connection, pks: Sequence[int]) -> str:
    """Hide these; return the name by which they can be brought back together."""
    name = secrets.token_hex(8)
    values = {"forgotten_at": datetime.now(UTC), "forgotten_in": name}
    for some in chunks(pks):
        connection.execute(update(ExperienceRow).where(ExperienceRow.pk.in_(some)).values(**values))
    if pks:
        mark_changed(connection, pks)
    return name


def bring_back(connection: Connection, name: str | None) -> int:
    """Bring back what was forgotten under a name, or last when there is none; return how many."""
    if name is None:
        # By version, not by time: a clock may be set back.
        last = select(ExperienceRow.forgotten_in).where(ExperienceRow.forgotten_at.is_not(None))
        name = connection.scalar(last.order_by(ExperienceRow.changed.desc()).limit(1))
    pks = list(connection.scalars(select(ExperienceRow.pk).where(ExperienceRow.forgotten_in == name))) if name else []
    remember(connection, pks)
    return len(pks)


def remember(connection: Connection, pks: Sequence[int]) -> None:
    """Bring these back."""
    values = {"forgotten_at": None, "forgotten_in": None}
    for some in chunks(pks):
        connection.execute(update(ExperienceRow).where(ExperienceRow.pk.in_(some)).values(**values))
    if pks:
        mark_changed(connection, pks)


def delete_forgotten(connection: Connection) -> int:
    """Delete what is forgotten for good; return how many."""
    count = connection.execute(delete(ExperienceRow).where(ExperienceRow.forgotten_at.is_not(None))).rowcount
    if count:
        connection.execute(update(StateRow).values(removed=StateRow.removed + 1))
    return count


def _conditions(selection: Selection) -> list[ColumnElement[bool]]:
    table = ExperienceRow
    conditions: list[ColumnElement[bool]] = []
    for column, value in (
        (table.kind, selection.kind),
        (table.run_id, selection.run_id),
        (table.task_id, selection.task_id),
        (table.state, selection.state),
    ):
        if value is not None:
            conditions.append(column == value)
    if selection.app is not None:
        conditions.append(func.lower(table.app) == selection.app.lower())
    if selection.before is not None:
        conditions.append(table.created_at < selection.before)
    if selection.text is not None:
        conditions.append(_holds(selection.text))
    return conditions


def _holds(text: str) -> ColumnElement[bool]:
    pk = ExperienceRow.pk
    narrative, episodic, skill = (row.__table__.c for row in (NarrativeRow, EpisodicRow, SkillRow))
    return or_(
        ExperienceRow.key_text.icontains(text, autoescape=True),
        pk.in_(
            select(narrative.pk).where(
                or_(
                    narrative.instruction.icontains(text, autoescape=True),
                    narrative.summary.icontains(text, autoescape=True),
                )
            )
        ),
        pk.in_(select(episodic.pk).where(episodic.summary.icontains(text, autoescape=True))),
        pk.in_(select(skill.pk).where(skill.name.icontains(text, autoescape=True))),
    )

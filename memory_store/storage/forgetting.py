"""Forgetting: chosen experiences are hidden at once, can be restored, and are deleted when the store is vacuumed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import Field
from sqlalchemy import ColumnElement, Connection, delete, func, or_, select, update

from memory_store.records.experience import Kind, Record, State, UtcTime
from memory_store.storage.rows import chunks, mark_changed
from memory_store.storage.schema import episodic, experience, narrative, skill, store_state


class Selection(Record):
    """A choice of experiences: those that meet all given conditions."""

    ids: tuple[str, ...] | None = None  # with one of these ids
    kind: Kind | None = None  # of this kind
    run_id: str | None = None  # of this run
    task_id: str | None = None  # of this task
    app: str | None = None  # about this application (case does not count)
    before: UtcTime | None = None  # made before this time
    # with this text in key, instruction, summary or name (case does not count)
    text: str | None = Field(default=None, min_length=1)
    state: State | None = None  # in this state
    everything: bool = False  # all experiences; required if there is no other condition

    @property
    def is_blank(self) -> bool:
        """Whether there is no condition."""
        return self == Selection()


class VacuumReport(Record):
    """The result of vacuuming."""

    deleted: int  # number of forgotten experiences that were deleted
    web_answers: int  # number of deleted answers of search engines
    bytes_before: int  # size of the store before
    bytes_after: int  # size of the store after


def chosen(connection: Connection, selection: Selection) -> list[int]:
    """Return the pks of the selected experiences that are not forgotten.

    Raises:
        ValueError: The selection is blank.
    """
    if selection.is_blank:
        raise ValueError("nothing is chosen: give ids, a task, an application, an age or a text, or everything=True")
    table = experience.c
    query = select(table.pk).where(table.forgotten_at.is_(None))
    for name in ("kind", "run_id", "task_id", "state"):
        if (value := getattr(selection, name)) is not None:
            query = query.where(table[name] == value)
    if selection.app is not None:
        query = query.where(func.lower(table.app) == selection.app.lower())
    if selection.before is not None:
        query = query.where(table.created_at < selection.before)
    if selection.text is not None:
        query = query.where(_holds(selection.text))
    if selection.ids is None:
        return list(connection.scalars(query))
    ids = list(dict.fromkeys(selection.ids))
    return [pk for some in chunks(ids) for pk in connection.scalars(query.where(table.uid.in_(some)))]


def forget(connection: Connection, pks: Sequence[int]) -> None:
    """Hide experiences, under one name by which they are restored together."""
    _set(connection, pks, forgotten_at=datetime.now(UTC), forgotten_in=secrets.token_hex(8))


def restore(connection: Connection, pks: Sequence[int]) -> None:
    """Restore forgotten experiences."""
    _set(connection, pks, forgotten_at=None, forgotten_in=None)


def restore_last(connection: Connection) -> int:
    """Restore what was forgotten last and return the number of experiences."""
    last = select(experience.c.forgotten_in).where(experience.c.forgotten_at.is_not(None))
    # Ordered by version, not by time: a clock may be set back.
    name = connection.scalar(last.order_by(experience.c.changed.desc()).limit(1))
    pks = list(connection.scalars(select(experience.c.pk).where(experience.c.forgotten_in == name))) if name else []
    restore(connection, pks)
    return len(pks)


def delete_forgotten(connection: Connection) -> int:
    """Delete forgotten experiences for good and return their number."""
    count = connection.execute(delete(experience).where(experience.c.forgotten_at.is_not(None))).rowcount
    if count:
        connection.execute(update(store_state).values(removed=store_state.c.removed + 1))
    return count


def _set(connection: Connection, pks: Sequence[int], **values: object) -> None:
    for some in chunks(pks):
        connection.execute(update(experience).where(experience.c.pk.in_(some)).values(**values))
    if pks:
        mark_changed(connection, pks)


def _holds(text: str) -> ColumnElement[bool]:
    searched = (experience.c.key_text, narrative.c.instruction, narrative.c.summary, episodic.c.summary, skill.c.name)
    return or_(
        *(
            experience.c.pk.in_(select(column.table.c.pk).where(column.icontains(text, autoescape=True)))
            for column in searched
        )
    )

"""The tables.

Every experience is a row of ``experience`` and one of ``narrative`` or ``episodic`` with the same ``pk``.
Vectors have a table of their own with one row for each embedder, so that opening a store with another
embedder adds vectors and destroys none. ``pk`` only ever grows and is never used again, and ``removed`` in
``store_state`` counts deletions: together they tell a reader what its index lacks.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, DateTime, Dialect, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

APPLICATION_ID = 0x41673553
"""Marks an SQLite file as a memory store ("Ag5S"); kept in the file's header."""


class UtcDateTime(TypeDecorator[datetime]):
    """A UTC time: with its zone in Python, without one in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Drop the zone of a UTC time."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Add the zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Declarative base; constraint names are fixed so that later migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {str: Text(), datetime: UtcDateTime()}


class ExperienceRow(Base):
    """What every experience has."""

    __tablename__ = "experience"
    __table_args__: Any = (
        Index("ix_experience_kind_key_digest", "kind", "key_digest"),
        {"sqlite_autoincrement": True},
    )
    __mapper_args__: Any = {"polymorphic_on": "kind"}  # noqa: RUF012 - the base declares it for instances

    pk: Mapped[int] = mapped_column(primary_key=True)
    uid: Mapped[str] = mapped_column(String(32), unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    key_text: Mapped[str]
    key_digest: Mapped[str] = mapped_column(String(64))
    run_id: Mapped[str] = mapped_column(index=True)
    task_id: Mapped[str]
    app: Mapped[str]
    platform: Mapped[str]
    model: Mapped[str]
    outcome: Mapped[str]
    verified: Mapped[bool | None]
    verified_by: Mapped[str]
    embedder: Mapped[str]
    created_at: Mapped[datetime]
    version: Mapped[str]
    times_used: Mapped[int]
    times_worked: Mapped[int]


class NarrativeRow(ExperienceRow):
    """What a narrative experience adds."""

    __tablename__ = "narrative"
    __mapper_args__: Any = {"polymorphic_identity": "narrative"}  # noqa: RUF012 - the base declares it for instances

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    query: Mapped[str]
    instruction: Mapped[str]
    instruction_digest: Mapped[str] = mapped_column(String(64), index=True)
    summary: Mapped[str]
    plan: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    success: Mapped[bool]


class EpisodicRow(ExperienceRow):
    """What an episodic experience adds."""

    __tablename__ = "episodic"
    __mapper_args__: Any = {"polymorphic_identity": "episodic"}  # noqa: RUF012 - the base declares it for instances

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    task_query: Mapped[str]
    subtask: Mapped[str]
    context: Mapped[str]
    summary: Mapped[str]
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSON)


class VectorRow(Base):
    """The embedding of one experience's key by one embedder: little-endian float32."""

    __tablename__ = "vector"

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    embedder: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class StateRow(Base):
    """The only row of ``store_state``."""

    __tablename__ = "store_state"

    pk: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    removed: Mapped[int]

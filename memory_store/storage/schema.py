"""The tables.

Every experience is a row of ``experience`` and one of ``narrative``, ``episodic`` or ``skill`` with the same ``pk``.
Vectors have a table of their own with one row for each embedder, so that opening a store with another
embedder adds vectors and destroys none.

A reader updates its index by three values. ``pk`` only grows and is never reused: rows with a higher one are new.
``version`` in ``store_state`` counts changes that affect an index, and ``changed`` of a row is the version at which it
was last forgotten, restored or given another key. ``removed`` counts the deletions of forgotten rows.

``web_answer`` is a cache of the answers of search engines. Forgotten rows stay, with ``forgotten_at`` set, until the
store is vacuumed. In addition to these tables, SQLite has
``experience_fts``, a full-text index of the keys that triggers keep up to date; PostgreSQL has an index over
``to_tsvector`` instead.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

APPLICATION_ID = 0x41673553  # "Ag5S", in the header of an SQLite file that is a memory store
_Count = Integer().with_variant(BigInteger(), "postgresql")
_NullableJson = JSON(none_as_null=True)


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
    """The common columns of all experiences."""

    __tablename__ = "experience"
    __table_args__: Any = (
        Index("ix_experience_kind_key_digest", "kind", "key_digest"),
        Index("ix_experience_kind_near_digest", "kind", "near_digest"),
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
    times_used: Mapped[int] = mapped_column(_Count)
    times_worked: Mapped[int] = mapped_column(_Count)
    times_seen: Mapped[int] = mapped_column(_Count, server_default=text("1"))
    last_used_at: Mapped[datetime | None]
    state: Mapped[str] = mapped_column(String(16), server_default=text("'active'"))
    state_reason: Mapped[str] = mapped_column(server_default=text("''"))
    from_screen: Mapped[bool] = mapped_column(server_default=false())
    near_digest: Mapped[str] = mapped_column(String(64), server_default=text("''"))
    changed: Mapped[int] = mapped_column(server_default=text("0"), index=True, default=0)
    forgotten_at: Mapped[datetime | None]
    forgotten_in: Mapped[str | None] = mapped_column(String(32))


class NarrativeRow(ExperienceRow):
    """The columns of a narrative experience."""

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
    """The columns of an episodic experience."""

    __tablename__ = "episodic"
    __mapper_args__: Any = {"polymorphic_identity": "episodic"}  # noqa: RUF012 - the base declares it for instances

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    task_query: Mapped[str]
    subtask: Mapped[str]
    context: Mapped[str]
    summary: Mapped[str]
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSON)


class SkillRow(ExperienceRow):
    """The columns of a skill."""

    __tablename__ = "skill"
    __mapper_args__: Any = {"polymorphic_identity": "skill"}  # noqa: RUF012 - the base declares it for instances

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str]
    description: Mapped[str]
    preconditions: Mapped[list[str]] = mapped_column(JSON)
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    aliases: Mapped[list[str] | None] = mapped_column(_NullableJson)
    intent: Mapped[dict[str, Any] | None] = mapped_column(_NullableJson)
    effects: Mapped[list[dict[str, Any]] | None] = mapped_column(_NullableJson)
    replaced_by: Mapped[str] = mapped_column(String(32))


class VectorRow(Base):
    """The embedding of one experience's key by one embedder: little-endian float32."""

    __tablename__ = "vector"

    pk: Mapped[int] = mapped_column(ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)
    embedder: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class WebAnswerRow(Base):
    """The answer of a search engine to a query; ``digest`` is of engine and query."""

    __tablename__ = "web_answer"

    pk: Mapped[int] = mapped_column(primary_key=True)
    engine: Mapped[str]
    query: Mapped[str]
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    pages: Mapped[list[dict[str, str]]] = mapped_column(JSON)
    asked_at: Mapped[datetime]


class StateRow(Base):
    """The only row of ``store_state``."""

    __tablename__ = "store_state"

    pk: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    removed: Mapped[int]
    version: Mapped[int] = mapped_column(server_default=text("0"))
    uid: Mapped[str] = mapped_column(String(32), server_default=text("''"))

"""The tables.

Every experience is a row of ``experience`` and one of ``narrative``, ``episodic`` or ``skill`` with the same ``pk``.
Vectors have a table of their own with one row for each embedder, so that opening a store with another
embedder adds vectors and destroys none.

A reader updates its index by three values. ``pk`` only grows and is never reused: rows with a higher one are new.
``version`` in ``store_state`` counts changes that affect an index, and ``changed`` of a row is the version at which it
was last forgotten, restored or given another key. ``removed`` counts the deletions of forgotten rows.

``web_answer`` is a cache of the answers of search engines; its ``digest`` is of engine and query. Forgotten rows stay,
with ``forgotten_at`` set, until the store is vacuumed. In addition to these tables, SQLite has ``experience_fts``, a
full-text index of the keys that triggers keep up to date; PostgreSQL has an index over ``to_tsvector`` instead.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

APPLICATION_ID = 0x41673553  # "Ag5S", in the header of an SQLite file that is a memory store
_COUNT = Integer().with_variant(BigInteger(), "postgresql")
_NULLABLE_JSON = JSON(none_as_null=True)


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


# Constraint names are fixed so that later migrations can refer to them.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


def _pk_of_experience() -> Column[int]:
    return Column("pk", Integer, ForeignKey("experience.pk", ondelete="CASCADE"), primary_key=True)


experience = Table(
    "experience",
    metadata,
    Column("pk", Integer, primary_key=True),
    Column("uid", String(32), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("key_text", Text, nullable=False),
    Column("key_digest", String(64), nullable=False),
    Column("run_id", Text, nullable=False, index=True),
    Column("verified", Boolean),
    *_texts("task_id", "app", "platform", "model", "outcome", "verified_by", "embedder", "version"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("times_used", _COUNT, nullable=False),
    Column("times_worked", _COUNT, nullable=False),
    Column("times_seen", _COUNT, nullable=False, server_default=text("1")),
    Column("last_used_at", UtcDateTime),
    Column("state", String(16), nullable=False, server_default=text("'active'")),
    Column("state_reason", Text, nullable=False, server_default=text("''")),
    Column("from_screen", Boolean, nullable=False, server_default=false()),
    Column("draft", Boolean, nullable=False, server_default=false()),
    Column("author", Text, nullable=False, server_default=text("''")),
    Column("near_digest", String(64), nullable=False, server_default=text("''")),
    Column("changed", Integer, nullable=False, server_default=text("0"), index=True),
    Column("forgotten_at", UtcDateTime),
    Column("forgotten_in", String(32)),
    Index("ix_experience_kind_key_digest", "kind", "key_digest"),
    Index("ix_experience_kind_near_digest", "kind", "near_digest"),
    sqlite_autoincrement=True,
)


narrative = Table(
    "narrative",
    metadata,
    _pk_of_experience(),
    *_texts("query", "instruction"),
    Column("instruction_digest", String(64), nullable=False, index=True),
    Column("summary", Text, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("success", Boolean, nullable=False),
)

episodic = Table(
    "episodic",
    metadata,
    _pk_of_experience(),
    *_texts("task_query", "subtask", "context", "summary"),
    Column("steps", JSON, nullable=False),
)

skill = Table(
    "skill",
    metadata,
    _pk_of_experience(),
    *_texts("name", "description"),
    Column("preconditions", JSON, nullable=False),
    Column("steps", JSON, nullable=False),
    Column("aliases", _NULLABLE_JSON),
    Column("intent", _NULLABLE_JSON),
    Column("effects", _NULLABLE_JSON),
    Column("replaced_by", String(32), nullable=False),
)

# The embedding of an experience's key by one embedder: little-endian float32.
vector_table = Table(
    "vector",
    metadata,
    _pk_of_experience(),
    Column("embedder", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

web_answer = Table(
    "web_answer",
    metadata,
    Column("pk", Integer, primary_key=True),
    *_texts("engine", "query"),
    Column("digest", String(64), nullable=False, unique=True),
    Column("pages", JSON, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
)

# One row.
store_state = Table(
    "store_state",
    metadata,
    Column("pk", Integer, primary_key=True, autoincrement=False),
    Column("removed", Integer, nullable=False),
    Column("version", Integer, nullable=False, server_default=text("0")),
    Column("uid", String(32), nullable=False, server_default=text("''")),
)

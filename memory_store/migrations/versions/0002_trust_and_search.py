"""Trust states, skills, merging, forgetting that can be undone, and full-text search."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

from memory_store.keys import near_digest

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_BATCH = 1000


def upgrade() -> None:
    """Add to the first schema; nothing that is there is lost."""
    _add_columns()
    op.create_table(
        "skill",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("preconditions", sa.JSON(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("replaced_by", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["pk"], ["experience.pk"], name="fk_skill_pk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pk", name="pk_skill"),
    )
    _fill()
    if op.get_bind().dialect.name == "sqlite":
        _make_full_text()
    else:
        # Texts of any length can be stored, but not indexed.
        op.execute(
            "CREATE INDEX ix_experience_words ON experience USING gin (to_tsvector('english', left(key_text, 20000)))"
        )


def _add_columns() -> None:
    count = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
    columns: list[sa.Column[object]] = [
        sa.Column("times_seen", count, nullable=False, server_default=sa.text("1")),
        sa.Column("last_used_at", sa.DateTime(), nullable=True),
        sa.Column("state", sa.String(16), nullable=False, server_default=sa.text("'active'")),
        sa.Column("state_reason", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("from_screen", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("near_digest", sa.String(64), nullable=False, server_default=sa.text("''")),
        sa.Column("changed", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("forgotten_at", sa.DateTime(), nullable=True),
        sa.Column("forgotten_in", sa.String(32), nullable=True),
    ]
    for column in columns:
        op.add_column("experience", column)
    op.create_index("ix_experience_kind_near_digest", "experience", ["kind", "near_digest"])
    op.create_index("ix_experience_changed", "experience", ["changed"])
    op.add_column("store_state", sa.Column("version", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("store_state", sa.Column("uid", sa.String(32), nullable=False, server_default=sa.text("''")))


def _fill() -> None:
    connection = op.get_bind()
    connection.execute(sa.text("UPDATE store_state SET uid = :uid"), {"uid": secrets.token_hex(16)})
    connection.execute(
        sa.text(
            "UPDATE experience SET state = 'quarantined', state_reason = 'failed when it was used'"
            " WHERE times_used - times_worked >= 2"
        )
    )
    last = 0
    while rows := connection.execute(
        sa.text("SELECT pk, key_text FROM experience WHERE pk > :last ORDER BY pk LIMIT :count"),
        {"last": last, "count": _BATCH},
    ).all():
        connection.execute(
            sa.text("UPDATE experience SET near_digest = :near WHERE pk = :pk"),
            [{"pk": pk, "near": near_digest(text)} for pk, text in rows],
        )
        last = rows[-1][0]


def _make_full_text() -> None:
    op.execute(
        "CREATE VIRTUAL TABLE experience_fts USING fts5(key_text, content='experience', content_rowid='pk',"
        " tokenize='porter unicode61 remove_diacritics 2')"
    )
    op.execute("INSERT INTO experience_fts (experience_fts) VALUES ('rebuild')")
    op.execute(
        "CREATE TRIGGER experience_fts_added AFTER INSERT ON experience BEGIN"
        " INSERT INTO experience_fts (rowid, key_text) VALUES (new.pk, new.key_text); END"
    )
    op.execute(
        "CREATE TRIGGER experience_fts_deleted AFTER DELETE ON experience BEGIN"
        " INSERT INTO experience_fts (experience_fts, rowid, key_text) VALUES ('delete', old.pk, old.key_text); END"
    )
    op.execute(
        "CREATE TRIGGER experience_fts_changed AFTER UPDATE OF key_text ON experience BEGIN"
        " INSERT INTO experience_fts (experience_fts, rowid, key_text) VALUES ('delete', old.pk, old.key_text);"
        " INSERT INTO experience_fts (rowid, key_text) VALUES (new.pk, new.key_text); END"
    )

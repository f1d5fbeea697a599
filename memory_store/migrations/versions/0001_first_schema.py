"""First schema: experience, narrative, episodic, vector, store_state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

APPLICATION_ID = 0x41673553


def upgrade() -> None:
    """Create everything in an empty database."""
    _create_experience()
    _create_kinds()
    op.create_table(
        "vector",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["pk"], ["experience.pk"], name="fk_vector_pk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pk", "embedder", name="pk_vector"),
    )
    state = op.create_table(
        "store_state",
        sa.Column("pk", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("pk", name="pk_store_state"),
    )
    op.bulk_insert(state, [{"pk": 1, "removed": 0}])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _create_experience() -> None:
    op.create_table(
        "experience",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("key_text", sa.Text(), nullable=False),
        sa.Column("key_digest", sa.String(64), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=True),
        sa.Column("verified_by", sa.Text(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("times_used", sa.Integer().with_variant(sa.BigInteger(), "postgresql"), nullable=False),
        sa.Column("times_worked", sa.Integer().with_variant(sa.BigInteger(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("pk", name="pk_experience"),
        sa.UniqueConstraint("uid", name="uq_experience_uid"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_experience_kind_key_digest", "experience", ["kind", "key_digest"])
    op.create_index("ix_experience_run_id", "experience", ["run_id"])


def _create_kinds() -> None:
    op.create_table(
        "narrative",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("instruction_digest", sa.String(64), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["pk"], ["experience.pk"], name="fk_narrative_pk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pk", name="pk_narrative"),
    )
    op.create_index("ix_narrative_instruction_digest", "narrative", ["instruction_digest"])
    op.create_table(
        "episodic",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("task_query", sa.Text(), nullable=False),
        sa.Column("subtask", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["pk"], ["experience.pk"], name="fk_episodic_pk", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pk", name="pk_episodic"),
    )

"""Answers of search engines, kept for a while."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table; those that are there stay as they are."""
    op.create_table(
        "web_answer",
        sa.Column("pk", sa.Integer(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("asked_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("pk", name="pk_web_answer"),
        sa.UniqueConstraint("digest", name="uq_web_answer_digest"),
    )

"""Drafts: experience whose summary has yet to be written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; the summaries that are there are no drafts."""
    op.add_column("experience", sa.Column("draft", sa.Boolean(), nullable=False, server_default=sa.false()))

"""Authors: who stored an experience."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; nobody knows who stored the experience that is there."""
    op.add_column("experience", sa.Column("author", sa.Text(), nullable=False, server_default=""))

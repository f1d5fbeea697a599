"""Alembic environment: migrates on the connection in the attributes, inside its open transaction."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # SQLite can roll back schema changes too; the caller owns the one transaction around all of them.
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()

"""Intents, aliases and expected effects of skills."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memory_store.keys import make_skill_key, near_digest
from memory_store.migrations.packed_descriptions import unpack

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and move the aliases from the descriptions into theirs.

    The intents stay NULL: they are read from the names. Skills whose key text has changed lose their vectors, and get
    new ones when the store is opened.
    """
    for name in ("aliases", "intent", "effects"):
        op.add_column("skill", sa.Column(name, sa.JSON(), nullable=True))
    connection = op.get_bind()
    skill = sa.table(
        "skill", sa.column("pk"), sa.column("name"), sa.column("description"), sa.column("aliases", sa.JSON())
    )
    experience = sa.table(
        "experience",
        *map(sa.column, ("pk", "app", "key_text", "key_digest", "near_digest", "changed")),
    )
    vector = sa.table("vector", sa.column("pk"))
    rows = connection.execute(
        sa.select(skill.c.pk, skill.c.name, skill.c.description, experience.c.app, experience.c.key_text).join(
            experience, experience.c.pk == skill.c.pk
        )
    ).all()
    unpacked = [(row, *unpack(row.name, row.description, row.app)) for row in rows]
    packed = [found for found in unpacked if found[1]]
    if not packed:
        return
    version = (connection.scalar(sa.text("SELECT version FROM store_state")) or 0) + 1
    connection.execute(sa.text("UPDATE store_state SET version = :version"), {"version": version})
    for row, aliases, description in packed:
        key = make_skill_key(row.name, description, aliases)
        connection.execute(
            sa.update(skill).where(skill.c.pk == row.pk).values(description=description, aliases=aliases)
        )
        if key.text == row.key_text:
            continue
        values = {"key_text": key.text, "key_digest": key.digest, "near_digest": near_digest(key.text)}
        connection.execute(sa.update(experience).where(experience.c.pk == row.pk).values(changed=version, **values))
        connection.execute(sa.delete(vector).where(vector.c.pk == row.pk))

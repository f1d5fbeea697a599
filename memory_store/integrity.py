"""Detection of damage in a store that can be opened."""

from __future__ import annotations

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DatabaseError

from memory_store.embedding.embedders import Embedder
from memory_store.errors import InvalidExperience
from memory_store.records.experience import KINDS
from memory_store.search.index import Index
from memory_store.storage.embeddings import decode
from memory_store.storage.rows import select_kind, to_record
from memory_store.storage.schema import experience, vector_table

_MAX_PROBLEMS = 20


def find_problems(connection: Connection, embedder: Embedder, index: Index) -> list[str]:
    """Return the problems in words: unreadable experience, wrong keys, damaged vectors, a stale index."""
    problems = [*_records(connection), *_vectors(connection, embedder), *_words(connection)]
    with index.lock:
        index.catch_up(connection)
        for kind in KINDS:
            table = experience.c
            alive = set(connection.scalars(select(table.pk).where(table.kind == kind, table.forgotten_at.is_(None))))
            if extra := len(index.ids(connection, kind) ^ alive):
                problems.append(
                    f"the index of {kind} experience differs from the database in {extra}: open the store again"
                )
    return problems[:_MAX_PROBLEMS]


def _records(connection: Connection) -> list[str]:
    problems = []
    for kind in KINDS:
        for row in connection.execute(select_kind(kind).where(experience.c.kind == kind)):
            try:
                key = to_record(row).key
            except (ValueError, TypeError, InvalidExperience):
                problems.append(f"{row.uid} cannot be read: forget it")
                continue
            if (key.text, key.digest) != (row.key_text, row.key_digest):
                problems.append(f"{row.uid} is stored under a wrong key: export the store and import it into a new one")
    return problems


def _vectors(connection: Connection, embedder: Embedder) -> list[str]:
    table = vector_table.c
    bad = 0
    rows = connection.execute(select(table.data).where(table.embedder == embedder.name))
    for some in rows.partitions(4096):
        bad += decode([row.data for row in some], embedder.dimension)[1].count(False)
    there = connection.scalar(select(func.count()).select_from(experience)) or 0
    known = connection.scalar(select(func.count()).where(table.embedder == embedder.name)) or 0
    problems = [f"{bad} vectors by {embedder.name} are damaged; they are embedded again when needed"] if bad else []
    if there > known:
        problems.append(f"{there - known} experiences have no vector by {embedder.name} yet: open the store again")
    return problems


def _words(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    try:
        connection.exec_driver_sql("INSERT INTO experience_fts (experience_fts, rank) VALUES ('integrity-check', 1)")
    except DatabaseError:
        return ["the full-text index is damaged: export the store and import it into a new one"]
    return []

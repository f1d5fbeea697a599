"""Nearest-neighbor search with pgvector, if the PostgreSQL server has it.

A trigger stores each vector in pgvector's own form as well, with the kind of experience, so that writers of vectors
need not know about it. Each kind and embedder has an HNSW index.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from memory_store.embedding.embedders import Embedder
from memory_store.errors import MemoryStoreError
from memory_store.records.experience import KINDS, Kind
from memory_store.storage.database import Database
from memory_store.storage.embeddings import cosines_of
from memory_store.storage.postgres import SCHEMA
from memory_store.storage.schema import experience

if TYPE_CHECKING:
    from memory_store.search.index import Vector

_MOST_DIMENSIONS = 2000  # HNSW cannot index longer vectors; they are compared one by one.
_MAX_EF_SEARCH = 1000
_MARGIN = 64  # further rows to look up, as some may be forgotten
logger = logging.getLogger(__name__)

# Decodes IEEE 754 numbers of 32 bits; NaN and infinity have the exponent 255. Only a vector of length one is usable.
_FUNCTION = """
CREATE OR REPLACE FUNCTION {schema}.vector_near() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    numbers float8[];
    usable boolean;
BEGIN
    SELECT array_agg(
               CASE WHEN bits >> 31 = 1 THEN -1 ELSE 1 END
               * CASE WHEN (bits >> 23) & 255 = 0 THEN (bits & 8388607) * power(2::float8, -149)
                      ELSE ((bits & 8388607) + 8388608) * power(2::float8, ((bits >> 23) & 255) - 150) END
               ORDER BY place),
           bool_and((bits >> 23) & 255 < 255)
      INTO numbers, usable
      FROM (SELECT place, get_byte(NEW.data, 4 * place)::bigint | (get_byte(NEW.data, 4 * place + 1)::bigint << 8)
                   | (get_byte(NEW.data, 4 * place + 2)::bigint << 16)
                   | (get_byte(NEW.data, 4 * place + 3)::bigint << 24) AS bits
              FROM generate_series(0, length(NEW.data) / 4 - 1) AS place) AS words;
    IF usable AND length(NEW.data) % 4 = 0 THEN
        usable := abs((SELECT sqrt(sum(number * number)) FROM unnest(numbers) AS number) - 1) <= 0.001;
    END IF;
    NEW.near := CASE WHEN usable AND length(NEW.data) % 4 = 0 THEN numbers::{type} END;
    SELECT kind INTO NEW.kind FROM {schema}.experience WHERE pk = NEW.pk;
    RETURN NEW;
END $$
"""
_TRIGGER = """
CREATE OR REPLACE TRIGGER vector_near BEFORE INSERT OR UPDATE OF data ON {schema}.vector
FOR EACH ROW EXECUTE FUNCTION {schema}.vector_near()
"""


def open_index(database: Database, embedder: Embedder) -> PgVectorIndex | None:
    """Return the index of a PostgreSQL server that has pgvector, prepared for an embedder; None if it has none.

    Raises:
        MemoryStoreError: The server cannot be used.
    """
    home = _home(database)
    if home is None:
        return None
    with database.write() as connection:
        _prepare(connection, home, embedder)
    return PgVectorIndex(embedder, home)


class PgVectorIndex:
    """Nearest-neighbor search on the server among the vectors of one embedder.

    Args:
        embedder: The embedder.
        home: The schema in which pgvector is installed.
    """

    def __init__(self, embedder: Embedder, home: str) -> None:
        self.lock = threading.Lock()
        self._embedder = embedder
        self._newest = 0
        near = f'near::"{home}".vector({embedder.dimension})'
        distance = f'{near} OPERATOR("{home}".<#>) CAST(:vector AS "{home}".vector({embedder.dimension}))'
        self._searches = {
            kind: text(
                "SELECT v.pk, -v.distance FROM ("
                f"SELECT pk, {distance} AS distance FROM {SCHEMA}.vector"
                f" WHERE {_which(embedder, kind)} ORDER BY {distance} LIMIT :most) AS v"
                f" JOIN {SCHEMA}.experience AS e ON e.pk = v.pk"
                " WHERE e.forgotten_at IS NULL ORDER BY v.distance LIMIT :count"
            )
            for kind in KINDS
        }

    @property
    def newest(self) -> int:
        """The highest pk that was seen."""
        return self._newest

    def catch_up(self, connection: Connection) -> None:
        """Read the highest pk; the server maintains the index itself."""
        self._newest = connection.scalar(select(func.max(experience.c.pk))) or 0

    def search(
        self, connection: Connection, kind: Kind, vector: Vector, count: int, others: Sequence[int]
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        """Return the experiences nearest to a vector, and the cosines of these and of others.

        Others without a vector by this embedder are embedded.
        """
        looked_at = min(_MAX_EF_SEARCH, 2 * count + _MARGIN)
        connection.exec_driver_sql(f"SET LOCAL hnsw.ef_search = {looked_at}")
        values = {"vector": _literal(vector), "most": count + _MARGIN, "count": count}
        near = [(pk, cosine) for pk, cosine in connection.execute(self._searches[kind], values)]
        cosines = dict(near)
        missing = [pk for pk in others if pk not in cosines]
        return near, cosines | cosines_of(connection, self._embedder, missing, vector, embed_missing=True)

    def ids(self, connection: Connection, kind: Kind) -> frozenset[int]:
        """Return the pks that can be found for a kind."""
        query = text(
            f"SELECT v.pk FROM {SCHEMA}.vector AS v JOIN {SCHEMA}.experience AS e ON e.pk = v.pk"
            f" WHERE {_which(self._embedder, kind, 'v.')} AND v.near IS NOT NULL AND e.forgotten_at IS NULL"
        )
        return frozenset(connection.scalars(query))


def _home(database: Database) -> str | None:
    """Return the schema of pgvector, installing it if the server offers and permits it; otherwise None."""
    where = text("SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                 " WHERE e.extname = 'vector'")  # fmt: skip
    offered = text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    with database.read() as connection:
        home: str | None = connection.scalar(where)
        if home is not None or connection.scalar(offered) is None:
            return home
    try:
        with database.write() as connection:
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            home = connection.scalar(where)
    except (MemoryStoreError, DBAPIError) as error:
        logger.info("pgvector is on the server but may not be installed; a local index is used: %s", error)
        return None
    return home


def _prepare(connection: Connection, home: str, embedder: Embedder) -> None:
    there = connection.scalar(
        text(
            "SELECT count(*) FROM information_schema.columns"
            " WHERE table_schema = :schema AND table_name = 'vector' AND column_name IN ('near', 'kind')"
        ),
        {"schema": SCHEMA},
    )
    kind = f'"{home}".vector'
    plain = connection.execution_options(no_parameters=True)
    plain.exec_driver_sql(_FUNCTION.format(schema=SCHEMA, type=kind))
    if there != 2:
        connection.exec_driver_sql(
            f"ALTER TABLE {SCHEMA}.vector ADD COLUMN IF NOT EXISTS near {kind},"
            " ADD COLUMN IF NOT EXISTS kind varchar(16)"
        )
        plain.exec_driver_sql(_TRIGGER.format(schema=SCHEMA))
        connection.exec_driver_sql(f"UPDATE {SCHEMA}.vector SET data = data WHERE near IS NULL")
    if embedder.dimension > _MOST_DIMENSIONS:
        return
    mark = hashlib.sha256(f"{embedder.name} {embedder.dimension}".encode()).hexdigest()[:12]
    for of_kind in KINDS:
        connection.execute(
            text(
                f"CREATE INDEX IF NOT EXISTS vector_near_{of_kind}_{mark} ON {SCHEMA}.vector"
                f' USING hnsw ((near::"{home}".vector({embedder.dimension})) "{home}".vector_ip_ops)'
                f" WHERE {_which(embedder, of_kind)}"
            )
        )


def _which(embedder: Embedder, kind: str, prefix: str = "") -> str:
    # Literals instead of parameters, so that the server knows that the index of this embedder and kind applies.
    name = embedder.name.replace("'", "''").replace("\\", "\\\\").replace(":", "\\:")
    return f"{prefix}embedder = '{name}' AND {prefix}kind = '{kind}'"


def _literal(vector: Vector) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"

"""Full-text search: FTS5 on SQLite, text search on PostgreSQL.

Words that most keys contain do not discriminate and are slow to rank by, so only the rare words of a query are
searched. Word counts are bounded and cached.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from intents.lexicon import content_words
from memory_store.records.experience import Kind

_MOST_WORDS = 24
_COMMON = 400  # words in more keys are not searched
_MAX_ROWS = 800  # maximum number of rows to rank for a query
_REMEMBERED = 20_000

_COUNT = {
    "sqlite": text("SELECT count(*) FROM (SELECT 1 FROM experience_fts WHERE experience_fts MATCH :words LIMIT :most)"),
    "postgresql": text(
        "SELECT count(*) FROM (SELECT 1 FROM experience"
        " WHERE to_tsvector('english', left(key_text, 20000)) @@ to_tsquery('english', :words) LIMIT :most) AS found"
    ),
}
_SEARCH = {
    "sqlite": text(
        "SELECT f.rowid FROM experience_fts AS f JOIN experience AS e ON e.pk = f.rowid"
        " WHERE f.experience_fts MATCH :words AND e.kind = :kind AND e.forgotten_at IS NULL"
        " ORDER BY bm25(f.experience_fts), f.rowid LIMIT :count"
    ),
    "postgresql": text(
        "SELECT pk FROM experience WHERE kind = :kind AND forgotten_at IS NULL"
        " AND to_tsvector('english', left(key_text, 20000)) @@ to_tsquery('english', :words)"
        " ORDER BY ts_rank(to_tsvector('english', left(key_text, 20000)), to_tsquery('english', :words)) DESC, pk"
        " LIMIT :count"
    ),
}


class WordSearch:
    """Full-text search in the keys of one store."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._at = 0

    def search(self, connection: Connection, kind: Kind, query: str, count: int, newest: int) -> list[int]:
        """Return up to ``count`` pks of a kind whose keys share rare words with the query, best first.

        Args:
            connection: A reading transaction.
            kind: The kind.
            query: The query.
            count: Maximum number of results.
            newest: The highest pk; the cached counts are dropped once it has grown by a fifth.
        """
        if newest > self._at + max(1000, self._at // 5) or len(self._counts) > _REMEMBERED:
            self._counts.clear()
            self._at = newest
        dialect = connection.dialect.name
        words = self._rare(connection, dialect, content_words(query)[:_MOST_WORDS])
        if not words:
            return []
        match = " OR ".join(map(_quoted, words)) if dialect == "sqlite" else " | ".join(map(_lexeme, words))
        rows = connection.execute(_SEARCH[dialect], {"words": match, "kind": kind, "count": count})
        return [row[0] for row in rows]

    def _rare(self, connection: Connection, dialect: str, words: list[str]) -> list[str]:
        counted = sorted((self._count(connection, dialect, word), word) for word in words)
        chosen: list[str] = []
        rows = 0
        for count, word in counted:
            rows += count
            if count > _COMMON or rows > _MAX_ROWS:
                break
            if count:
                chosen.append(word)
        return chosen

    def _count(self, connection: Connection, dialect: str, word: str) -> int:
        known = self._counts.get(word)
        if known is None:
            match = _quoted(word) if dialect == "sqlite" else _lexeme(word)
            values = {"words": match, "most": _COMMON + 1}
            known = self._counts[word] = connection.scalar(_COUNT[dialect], values) or 0
        return known


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _lexeme(word: str) -> str:
    return "'" + word.replace("\\", "").replace("'", "''") + "'"

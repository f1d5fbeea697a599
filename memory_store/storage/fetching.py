"""Running prepared statements at little cost.

SQLAlchemy's own way from a statement to rows takes several times as long as SQLite takes to answer. A search runs a few
statements over and over; on SQLite these are compiled once by SQLAlchemy and then handed to the driver as they are.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, TextClause
from sqlalchemy.dialects.sqlite.pysqlite import dialect as sqlite_dialect

_DIALECT = sqlite_dialect()
_KEPT = 512


def fetch(connection: Connection, statement: Select[Any], values: Mapping[str, Any]) -> Sequence[Any]:
    """Return the rows of a statement; columns are attributes of a row.

    Args:
        connection: A transaction.
        statement: A statement that is used again and again, not one made for this call.
        values: Its bound values by name; lists for those that are expanded, which must not be empty.
    """
    if connection.dialect.name != "sqlite":
        return connection.execute(statement, values).all()
    sizes = tuple((name, len(value) if isinstance(value, list) else None) for name, value in values.items())
    prepared = _prepare(statement, sizes)
    given = [value.take(values) if isinstance(value, _Place) else value for value in prepared.values]
    return [prepared.row(row) for row in _driver(connection).execute(prepared.sql, given)]


def fetch_text(connection: Connection, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
    """Return the rows of a statement that is given as text, with values by name."""
    if connection.dialect.name != "sqlite":
        return connection.execute(statement, values).all()
    return _driver(connection).execute(statement.text, dict(values)).fetchall()


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


@dataclass(frozen=True, slots=True)
class _Place:
    """Which of the given values goes here, and which of its items where it is a list."""

    name: str
    item: int | None = None

    def take(self, values: Mapping[str, Any]) -> Any:
        value = values[self.name]
        return value if self.item is None else value[self.item]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A statement as the driver takes it.

    Attributes:
        sql: Its text.
        values: The positional values: those of the statement itself, and places of those that are given.
        row: Makes a row of what the driver returns.
    """

    sql: str
    values: tuple[Any, ...]
    row: Callable[[Sequence[Any]], Any]


@lru_cache(maxsize=_KEPT)
def _prepare(statement: Select[Any], sizes: tuple[tuple[str, int | None], ...]) -> _Prepared:
    # Stand-ins for the values tell where each goes; what else there is belongs to the statement.
    given: dict[str, Any] = {
        name: _Place(name) if size is None else [_Place(name, place) for place in range(size)] for name, size in sizes
    }
    expanded = statement.compile(dialect=_DIALECT).construct_expanded_state(given)
    columns = statement.selected_columns
    of_row = namedtuple("Row", [str(column.key) for column in columns])  # type: ignore[misc]  # known at run time
    processors = [
        (place, process)
        for place, column in enumerate(columns)
        if (process := column.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None)) is not None
    ]

    def row(found: Sequence[Any]) -> Any:
        changed = list(found)
        for place, process in processors:
            changed[place] = process(changed[place])
        return of_row._make(changed)

    return _Prepared(expanded.statement, tuple(expanded.positional_parameters), row)

"""A cache of the answers of search engines, and of other services that answer one query alike, such as a judge.

Answers are not experience: they are not exported, cannot be restored once they are forgotten, and a later answer to the
same query replaces an earlier one.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from memory_store.keys import make_key
from memory_store.records.experience import Record, StoredText, UtcTime
from memory_store.storage.forgetting import Selection
from memory_store.storage.rows import chunks
from memory_store.storage.schema import web_answer


class WebPage(Record):
    """One result of a search engine; untrusted data."""

    title: StoredText
    url: StoredText
    content: StoredText


class WebAnswer(Record):
    """The answer of a search engine."""

    engine: StoredText  # the engine, with everything that its answers depend on
    query: StoredText
    pages: tuple[WebPage, ...]  # the results, best first
    asked_at: UtcTime  # time of the query, UTC


def find(connection: Connection, engine: str, query: str) -> WebAnswer | None:
    """Return the answer of an engine to exactly this query, if any; white space does not count.

    Raises:
        InvalidExperience: The query is not acceptable text.
    """
    columns = [web_answer.c[name] for name in WebAnswer.model_fields]
    same = web_answer.c.digest == make_key(engine, query).digest
    row = connection.execute(select(*columns).where(same)).first()
    return None if row is None else WebAnswer.model_validate(dict(row._mapping))


def save(connection: Connection, answer: WebAnswer) -> None:
    """Store an answer, replacing an earlier one to the same query.

    Raises:
        InvalidExperience: The query is not acceptable text.
    """
    digest = make_key(answer.engine, answer.query).digest
    connection.execute(delete(web_answer).where(web_answer.c.digest == digest))
    connection.execute(insert(web_answer).values(**answer.model_dump(), digest=digest))


def forget(connection: Connection, selection: Selection) -> int:
    """Delete the selected answers and return their number.

    Only age, text and ``everything`` select answers; a selection with any other condition selects none.
    """
    if selection.everything:
        return connection.execute(delete(web_answer)).rowcount
    if selection != Selection(before=selection.before, text=selection.text):
        return 0
    query = select(web_answer.c.pk, web_answer.c.query, web_answer.c.pages)
    if selection.before is not None:
        query = query.where(web_answer.c.asked_at < selection.before)
    needle = (selection.text or "").casefold()
    pks = [
        pk
        for pk, asked, pages in connection.execute(query)
        if needle in "\n".join((asked, *(text for page in pages for text in page.values()))).casefold()
    ]
    for some in chunks(pks):
        connection.execute(delete(web_answer).where(web_answer.c.pk.in_(some)))
    return len(pks)


def delete_older(connection: Connection, before: datetime) -> int:
    """Delete the answers from before a time and return their number."""
    return connection.execute(delete(web_answer).where(web_answer.c.asked_at < before)).rowcount

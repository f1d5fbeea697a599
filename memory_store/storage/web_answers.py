"""Answers of search engines, kept so that the same question need not be asked again at once.

They are no experience: they are not exported, not brought back once they are forgotten, and a later answer to the same
question takes the place of the one before.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from memory_store.keys import make_key
from memory_store.records.experience import Record, StoredText, UtcTime
from memory_store.storage.forgetting import Selection
from memory_store.storage.rows import chunks
from memory_store.storage.schema import WebAnswerRow


class WebPage(Record):
    """One result of a search engine; data from outside."""

    title: StoredText
    url: StoredText
    content: StoredText


class WebAnswer(Record):
    """What a search engine answered.

    Attributes:
        engine: Which one, with all that its answers depend on.
        query: What it was asked.
        pages: Best first.
        asked_at: When, UTC.
    """

    engine: StoredText
    query: StoredText
    pages: tuple[WebPage, ...]
    asked_at: UtcTime


def find(connection: Connection, engine: str, query: str) -> WebAnswer | None:
    """Return what an engine answered to exactly this query; white space does not count.

    Raises:
        InvalidExperience: The query is not acceptable text.
    """
    wanted = select(WebAnswerRow.engine, WebAnswerRow.query, WebAnswerRow.pages, WebAnswerRow.asked_at)
    row = connection.execute(wanted.where(WebAnswerRow.digest == make_key(engine, query).digest)).first()
    if row is None:
        return None
    pages = tuple(WebPage.model_validate(page) for page in row.pages)
    return WebAnswer(engine=row.engine, query=row.query, pages=pages, asked_at=row.asked_at)


def save(connection: Connection, answer: WebAnswer) -> None:
    """Keep an answer in place of an earlier one to the same query.

    Raises:
        InvalidExperience: The query is not acceptable text.
    """
    digest = make_key(answer.engine, answer.query).digest
    connection.execute(delete(WebAnswerRow).where(WebAnswerRow.digest == digest))
    values = {**answer.model_dump(include={"engine", "query", "asked_at"}), "digest": digest}
    connection.execute(insert(WebAnswerRow).values(pages=[page.model_dump() for page in answer.pages], **values))


def forget(connection: Connection, selection: Selection) -> int:
    """Delete the answers to which a selection applies; return how many.

    Only age, text and everything apply to them: what names an experience, a run, a task or an application means none.
    """
    if selection.everything:
        return connection.execute(delete(WebAnswerRow)).rowcount
    if selection != Selection(before=selection.before, text=selection.text):
        return 0
    query = select(WebAnswerRow.pk, WebAnswerRow.query, WebAnswerRow.pages)
    if selection.before is not None:
        query = query.where(WebAnswerRow.asked_at < selection.before)
    needle = (selection.text or "").casefold()
    pks = [
        pk
        for pk, asked, pages in connection.execute(query)
        if needle in "\n".join((asked, *(text for page in pages for text in page.values()))).casefold()
    ]
    for some in chunks(pks):
        connection.execute(delete(WebAnswerRow).where(WebAnswerRow.pk.in_(some)))
    return len(pks)


def delete_older(connection: Connection, before: datetime) -> int:
    """Delete the answers from before a time; return how many."""
    return connection.execute(delete(WebAnswerRow).where(WebAnswerRow.asked_at < before)).rowcount

"""A search engine whose answers are kept in memory, with their age."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from agent_s.background import Pending
from agent_s.errors import SearchError
from agent_s.llm.protocol import WebResult
from agent_s.search import Meter, WebSearch, cut_off, meter
from memory_store import MemoryStore, MemoryStoreError, WebAnswer, WebPage

OLD = "OLD, since the search engine does not answer now"

log = logging.getLogger(__name__)


class CachedSearch:
    """Answers from memory what was asked not long ago, and from older answers where the engine fails.

    Args:
        engine: Is asked otherwise.
        memory: Keeps the answers.
        name: The engine with all that its answers depend on.
        fresh: How old an answer may be that takes the place of asking.
        usable: How old an answer may be that takes the place of one that does not come.
        wait_s: How long the engine is waited for, s. An answer that comes later is kept for the next time.
        now: Returns the time, UTC.
    """

    def __init__(
        self,
        engine: WebSearch,
        memory: MemoryStore,
        name: str,
        fresh: timedelta,
        usable: timedelta,
        wait_s: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.engine = engine
        self._memory = memory
        self._name = name
        self._fresh = fresh
        self._usable = usable
        self._wait_s = wait_s
        self._now = now

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return what is known or found, best first; each kept result says how old it is.

        Raises:
            SearchError: The engine did not answer, and there is no answer to fall back to.
        """
        kept = self._kept(query)
        age = self._now() - kept.asked_at if kept is not None else timedelta.max
        if kept is not None and age < self._fresh:
            return _results(kept, f"(asked {in_words(age)} ago)")
        try:
            return Pending(lambda: self._ask(query), "web-search").result(self._wait_s)
        except (SearchError, TimeoutError) as error:
            if kept is None or age >= self._usable:
                raise _as_search_error(error) from error
            log.warning("An answer of %s ago is used: %s", in_words(age), _as_search_error(error))
            return _results(kept, f"({OLD}: asked {in_words(age)} ago)")

    def be_metered(self, by: Meter) -> None:
        """Let a meter count what the engine spends; a kept answer costs nothing."""
        meter(self.engine, by)

    def cut(self) -> None:
        """End the searches that other threads are waiting for."""
        cut_off(self.engine)

    def _ask(self, query: str) -> tuple[WebResult, ...]:
        asked_at = self._now()
        results = self.engine.search(query)
        try:
            pages = tuple(WebPage(title=one.title, url=one.url, content=one.content) for one in results)
            answer = WebAnswer(engine=self._name, query=query, pages=pages, asked_at=asked_at)
            if pages:
                self._memory.save_web_answer(answer)
        except (MemoryStoreError, ValueError) as error:  # that it cannot be kept costs nothing but the next search
            log.warning("The answer of the search engine is not kept: %s", error)
        return results

    def _kept(self, query: str) -> WebAnswer | None:
        try:
            return self._memory.find_web_answer(self._name, query)
        except MemoryStoreError as error:
            log.warning("Kept answers of the search engine cannot be read: %s", error)
            return None


def in_words(age: timedelta) -> str:
    """Return an age in its largest unit, such as "3 days"."""
    seconds = max(0, int(age.total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "less than a minute"


def _results(answer: WebAnswer, note: str) -> tuple[WebResult, ...]:
    return tuple(WebResult(page.title, page.url, page.content, note) for page in answer.pages)


def _as_search_error(error: SearchError | TimeoutError) -> SearchError:
    return error if isinstance(error, SearchError) else SearchError("The search engine did not answer in time.")

"""A cache of search results in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from agent_s.background import Pending
from agent_s.errors import SearchError
from agent_s.llm.protocol import WebResult
from agent_s.search import Meter, WebSearch
from memory_store import MemoryStore, MemoryStoreError, WebAnswer, WebPage

OLD = "OLD, since the search engine does not answer now"

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class CachedSearch(WebSearch):
    """Answers recent queries from memory, and falls back to older answers if the engine fails."""

    engine: WebSearch  # the engine
    memory: MemoryStore  # stores the answers
    name: str  # cache key of the engine, including everything that its answers depend on
    fresh: timedelta  # maximum age of an answer that makes a search unnecessary
    usable: timedelta  # maximum age of an answer as a fallback
    wait_s: float  # longest wait for the engine, s; a later answer is still stored
    now: Callable[[], datetime] = lambda: datetime.now(UTC)  # returns the time, UTC

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return results, best first; each stored result notes its age.

        Raises:
            SearchError: The engine did not answer, and there is no answer to fall back to.
        """
        kept = self._kept(query)
        age = self.now() - kept.asked_at if kept is not None else timedelta.max
        if kept is not None and age < self.fresh:
            return _results(kept, f"(asked {in_words(age)} ago)")
        try:
            return Pending(lambda: self._ask(query), "web-search").result(self.wait_s)
        except (SearchError, TimeoutError) as error:
            if kept is None or age >= self.usable:
                raise _as_search_error(error) from error
            logger.warning("Search results from %s ago are used: %s", in_words(age), _as_search_error(error))
            return _results(kept, f"({OLD}: asked {in_words(age)} ago)")

    def set_meter(self, meter: Meter) -> None:
        """Charge searches to a meter; stored answers are free."""
        self.engine.set_meter(meter)

    def cancel(self) -> None:
        """Cancel the searches that other threads are waiting for."""
        self.engine.cancel()

    def _ask(self, query: str) -> tuple[WebResult, ...]:
        asked_at = self.now()
        results = self.engine.search(query)
        try:
            pages = tuple(WebPage(title=one.title, url=one.url, content=one.content) for one in results)
            answer = WebAnswer(engine=self.name, query=query, pages=pages, asked_at=asked_at)
            if pages:
                self.memory.save_web_answer(answer)
        except (MemoryStoreError, ValueError) as error:  # a cache miss
            logger.warning("The search results cannot be cached: %s", error)
        return results

    def _kept(self, query: str) -> WebAnswer | None:
        try:
            return self.memory.find_web_answer(self.name, query)
        except MemoryStoreError as error:
            logger.warning("The cache of search results cannot be read: %s", error)
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

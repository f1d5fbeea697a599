"""SearXNG, a self-hosted metasearch engine."""

from __future__ import annotations

from agent_s.errors import SearchError
from agent_s.llm.protocol import WebResult
from agent_s.llm.providers.sdk_client import Answer
from agent_s.search import WebSearch, tidy
from agent_s.search.http import Refused, Server

NAME = "SearXNG"


class _Result(Answer):
    title: str = ""
    url: str = ""
    content: str | None = None


class _Instant(Answer):
    answer: str = ""
    url: str | None = None


class _Page(Answer):
    results: tuple[_Result, ...]
    answers: tuple[_Instant | str, ...] = ()


class SearxngSearch(WebSearch):
    """Searches with the JSON interface of a SearXNG server; gives at most `most` results.

    Raises:
        SettingsError: The address is not a URL.

    Source: docs.searxng.org/dev/search_api.html
    """

    def __init__(self, address: str, most: int = 5, timeout_s: float = 20.0) -> None:
        self._server = Server(NAME, address, timeout_s)
        self._most = most

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return results, instant answers first; see `WebSearch`."""
        try:
            page = self._server.ask("GET", "/search", _Page, params={"q": query, "format": "json"})
        except Refused as error:
            if error.status != 403:
                raise
            raise SearchError(
                f"{self._server} does not return JSON (HTTP 403). Add `json` to `search.formats` in "
                "its settings.yml, or exempt this machine from its limiter."
            ) from error
        answers = (
            WebResult("Answer", "", item) if isinstance(item, str) else WebResult("Answer", item.url or "", item.answer)
            for item in page.answers
        )
        pages = (WebResult(item.title, item.url, item.content or "") for item in page.results)
        return tidy((*answers, *pages), self._most)

    def cancel(self) -> None:
        """Cancel the searches that other threads are waiting for."""
        self._server.cancel()

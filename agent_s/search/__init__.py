"""Web search: the protocol that search engines implement."""

from __future__ import annotations

from typing import Protocol

from agent_s.llm.protocol import WebResult


class WebSearch(Protocol):
    """A search engine."""

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return what the web says about the query, best first.

        Raises:
            SearchError: The engine did not answer; the message names the mend.
        """
        ...

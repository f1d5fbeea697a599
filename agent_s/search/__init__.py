"""Web search: the protocol of search engines, and normalization of their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from agent_s.llm.protocol import WebResult
from agent_s.records import Usage

MAX_CONTENT = 2000  # characters
MAX_TITLE = 200


class Meter(Protocol):
    """Counts the cost of searches against the budgets of a run."""

    def check(self) -> None:
        """Check that another search is allowed.

        Raises:
            LimitReached: A budget is used up.
        """

    def charge(self, usage: Usage, seconds: float) -> None:
        """Count one exchange and its duration, s."""


class WebSearch(Protocol):
    """A web search engine.

    An engine that inherits from this class only has to implement `search`.
    """

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return results, best first.

        Raises:
            SearchError: The engine did not answer; the message suggests a fix.
        """

    def cancel(self) -> None:
        """Cancel the searches that other threads are waiting for."""
        return

    def set_meter(self, meter: Meter) -> None:
        """Charge searches to a meter from now on."""
        return


def tidy(results: Iterable[WebResult], most: int) -> tuple[WebResult, ...]:
    """Return the first non-empty results, each page once, truncated to a maximum length.

    Args:
        results: The results, best first.
        most: Maximum number of results.
    """
    found: dict[str, WebResult] = {}
    for result in results:
        title, content = " ".join(result.title.split()), result.content.strip()
        key = result.url or content
        if (title or content) and key not in found:
            found[key] = WebResult(title[:MAX_TITLE], result.url, content[:MAX_CONTENT])
        if len(found) == most:
            break
    return tuple(found.values())

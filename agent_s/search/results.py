"""Normalization of search results."""

from __future__ import annotations

from collections.abc import Iterable

from agent_s.llm.protocol import WebResult

MAX_CONTENT = 2000  # characters
MAX_TITLE = 200


def tidy(results: Iterable[WebResult], most: int) -> tuple[WebResult, ...]:
    """Return the first non-empty results, each page once, truncated to a maximum length.

    Args:
        results: Best first.
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

"""What all engines do to their results."""

from __future__ import annotations

from collections.abc import Iterable

from agent_s.llm.protocol import WebResult

LONGEST_CONTENT = 2000
"""Characters of one result; more is the page's business, not the planner's."""
LONGEST_TITLE = 200


def tidy(results: Iterable[WebResult], most: int) -> tuple[WebResult, ...]:
    """Return the first results that say something, each page once, cut to a bounded length.

    Args:
        results: Best first.
        most: How many are wanted.
    """
    found: dict[str, WebResult] = {}
    for result in results:
        title, content = " ".join(result.title.split()), result.content.strip()
        key = result.url or content
        if (title or content) and key not in found:
            found[key] = WebResult(title[:LONGEST_TITLE], result.url, content[:LONGEST_CONTENT])
        if len(found) == most:
            break
    return tuple(found.values())

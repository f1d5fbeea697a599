"""Web search: the protocol that search engines implement."""

from __future__ import annotations

from typing import Protocol

from agent_s.llm.protocol import TokenUsage, WebResult


class Meter(Protocol):
    """Counts what is spent, and knows what may be."""

    def check(self) -> None:
        """Make sure that something may still be asked.

        Raises:
            LimitReached: A budget is used up.
        """
        ...

    def charge(self, usage: TokenUsage, seconds: float) -> None:
        """Count what one exchange used, and how long it took, s."""
        ...


class WebSearch(Protocol):
    """A search engine.

    One that can end a search while another thread waits for it has a method `cut`, too, and one that costs tokens
    `be_metered`.
    """

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return what the web says about the query, best first.

        Raises:
            SearchError: The engine did not answer; the message names the mend.
        """
        ...


def cut_off(engine: WebSearch | None) -> None:
    """End what an engine is asked, where it knows how."""
    cut = getattr(engine, "cut", None)
    if cut is not None:
        cut()


def meter(engine: WebSearch | None, by: Meter) -> None:
    """Let a meter count what an engine spends from now on, where it costs tokens."""
    be_metered = getattr(engine, "be_metered", None)
    if be_metered is not None:
        be_metered(by)

"""Web search: the protocol that search engines implement."""

from __future__ import annotations

from typing import Protocol

from agent_s.llm.protocol import WebResult
from agent_s.records import Usage


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
    """A search engine.

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
        """Report what searches cost to a meter from now on."""
        return

"""Who watches a run elsewhere than at the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from agent_s.runs.following import saying_where

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from agent_s.events import Event
    from agent_s.loop.agent import AgentS
    from agent_s.safety.confirmation import Consent
    from agent_s.terminal.interrupts import Interrupts


class Watcher(Protocol):
    """A person who watches a run elsewhere than at the terminal, such as in a browser, and is asked there."""

    def ask(self, question: str) -> str:
        """Return the answer to a question of the agent."""

    def confirm(self, consent: Consent) -> bool:
        """Return whether a risky action is allowed."""

    def take_over(self) -> None:
        """Return when the person hands the screen back."""

    def shown(self, agent: AgentS, folder: Path, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Show a run, which is recorded in a folder, within a `with` block; `stop` stops it from any thread."""

    def __call__(self, event: Event) -> None:
        """Take an event of the run."""


def watched(
    agent: AgentS, folder: Path, watcher: Watcher | None, interrupts: Interrupts
) -> AbstractContextManager[None]:
    """Let a watcher, or `agent-s view` in another process, see the run."""
    if watcher is not None:
        return watcher.shown(agent, folder, interrupts.call)
    return saying_where(folder, agent.services.desktop.display)

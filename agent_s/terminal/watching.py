"""Watchers: people who follow a run and answer its questions somewhere else than at the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from agent_s.runs.following import publish_live_info

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from agent_s.events import Event
    from agent_s.loop.agent import AgentS
    from agent_s.safety.confirmation import Consent
    from agent_s.terminal.interrupts import Interrupts


class Watcher(Protocol):
    """A person who follows a run somewhere else than at the terminal, such as in a browser."""

    def ask(self, question: str) -> str:
        """Return the person's answer to a question of the agent."""

    def confirm(self, consent: Consent) -> bool:
        """Return whether the person allows a risky action."""

    def take_over(self) -> None:
        """Yield the screen to the person, and return when they hand it back."""

    def shown(self, agent: AgentS, folder: Path, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Show a run within a `with` block.

        Args:
            agent: The agent of the run.
            folder: Folder of the recording.
            stop: Callback that stops the run from any thread.
        """

    def __call__(self, event: Event) -> None:
        """Handle an event of the run."""


def watched(
    agent: AgentS, folder: Path, watcher: Watcher | None, interrupts: Interrupts
) -> AbstractContextManager[None]:
    """Let a watcher, or `agent-s view` in another process, see the run."""
    if watcher is not None:
        return watcher.shown(agent, folder, interrupts.call)
    return publish_live_info(folder, agent.services.desktop.display)

"""Runs MiniWoB++ in one process: a server for the pages, and a desktop that is replaced when it breaks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.settings import Settings
from evaluation.errors import EvaluationError
from evaluation.harness.results import Job, Result
from evaluation.miniwob.arena import Arena
from evaluation.miniwob.episode import run_episode
from evaluation.miniwob.pages import find_pages
from evaluation.state.server import FormServer


@dataclass(eq=False)
class MiniwobBench:
    """Runs episodes one after another."""

    settings: Settings
    folder: Path  # of the results
    keep_all: bool = False  # whether to keep recordings of successes
    _server: ExitStack = field(default_factory=ExitStack, init=False)
    _address: str = field(default="", init=False)
    _resources: ExitStack = field(default_factory=ExitStack, init=False)
    # the desktop in use with its pages; None before the first episode, and after one that broke
    arena: tuple[VirtualDesktop, Arena] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        """Serve the pages.

        Raises:
            PagesMissing: They are not installed.
        """
        server = FormServer(find_pages().folder, {})
        self._address = self._server.enter_context(server).address
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the desktop and the server."""
        self._break_down()
        self._server.close()

    def run(self, job: Job) -> Result:
        """Run one episode, once more on a fresh desktop if the environment breaks; an error is its result."""
        result = self._try(job)
        return result if result.outcome != "error" else self._try(job)

    def _try(self, job: Job) -> Result:
        from agent_s.loop.agent import AgentS

        try:
            desktop, arena = self.arena or self._set_up()
            desktop.release_all()
            desktop.clear_buffer()
            desktop.x11.screen.clear_clipboard()
            agent = AgentS.from_settings(self.settings, desktop)
            result = run_episode(arena, job, agent, self.folder, keep_all=self.keep_all)
        except (AciError, AgentError, EvaluationError) as error:
            self._break_down()
            return Result.broken(job, str(error))
        if result.outcome == "error":
            self._break_down()
        return result

    def _set_up(self) -> tuple[VirtualDesktop, Arena]:
        desktop = self._resources.enter_context(self.settings.desktop.new_virtual())
        arena = Arena(desktop, self._address)
        self._resources.callback(arena.close)
        self.arena = desktop, arena
        return self.arena

    def _break_down(self) -> None:
        self.arena = None
        self._resources.close()

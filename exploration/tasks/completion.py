"""Checks whether a task is done without a model: by the controls used, the texts shown and the files written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from aci.observation.observation import Observation
from agent_s.llm.protocol import Affordance
from agent_s.records import Status, Verdict
from exploration.tasks.coverage import UsageListener, key_of
from exploration.tasks.proposals import ExplorationTask

CHECKED_BY = "exploration: what was used and what is there"
_DOCUMENTS = "Documents"
_MOST_BYTES = 1_000_000


class Checkable(Protocol):
    """The part of a desktop that a check uses."""

    @property
    def home(self) -> Path:
        """HOME of the applications."""

    def observe(self) -> Observation:
        """Return the current screen."""


class TaskCheck:
    """A state check (`agent_s.records.StateCheck`) of a task with a checkable end.

    Args:
        task: The task.
        affordances: The affordances of its application.
        watch: A listener that has seen every event of the run.
        desktop: The desktop of the run.
    """

    def __init__(
        self, task: ExplorationTask, affordances: Sequence[Affordance], watch: UsageListener, desktop: Checkable
    ) -> None:
        self._task = task
        self._keys = {one.way: key_of(one) for one in affordances}
        self._watch = watch
        self._desktop = desktop

    def __call__(self, status: Status) -> Verdict:
        """Return whether the task is done."""
        if status != "done":
            return Verdict(verified=False, reason=f"the agent ended with status {status}", by="status")
        problems = tuple(self._problems())
        if problems:
            return Verdict(verified=False, reason="; ".join(problems), by=CHECKED_BY)
        return Verdict(
            verified=True, reason="everything that the task names was done", evidence=self._points(), by=CHECKED_BY
        )

    def _problems(self) -> Iterator[str]:
        for way in self._task.uses:
            if self._keys.get(way) not in self._watch.used:
                yield f"{way} was not used"
        if self._task.shows and not self._task.file and not self._stands(self._task.shows):
            yield f"{self._task.shows!r} is not on the screen"
        if self._task.file and (problem := self._file_problem()):
            yield problem

    def _stands(self, text: str) -> bool:
        seen = self._desktop.observe()
        return any(text in part for one in seen.elements for part in (one.name, one.text or ""))

    def _file_problem(self) -> str:
        path = self._desktop.home / _DOCUMENTS / self._task.file
        try:
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES).decode("utf-8", errors="replace")
        except OSError as error:
            return f"{_DOCUMENTS}/{self._task.file} cannot be read: {error.strerror or error}"
        return "" if self._task.shows in content else f"{_DOCUMENTS}/{self._task.file} lacks {self._task.shows!r}"

    def _points(self) -> tuple[str, ...]:
        points = [f"{way} was used" for way in self._task.uses]
        return tuple(points + [point for point in (self._task.shows, self._task.file) if point])

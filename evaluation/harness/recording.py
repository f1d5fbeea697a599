"""Recording of one run of a benchmark: its events on disk, its outcome, and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from agent_s.errors import TrajectoryError
from agent_s.events import Event, RunEnded, RunStarted
from agent_s.records import Outcome

if TYPE_CHECKING:
    from agent_s.trajectory.recorder import Recorder


class Recording:
    """Records a run and passes its events on; if the recording cannot be written, only the report is lost.

    Args:
        runs_folder: Parent of the folder of the run.
        on_event: Called with every event once it is recorded.

    Attributes:
        outcome: How the run ended; None until then.
        seconds: Wall time from the first event to the last, s.
        problem: Why the recording or its report is missing or incomplete; empty otherwise.
    """

    def __init__(
        self,
        runs_folder: Path,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self.outcome: Outcome | None = None
        self.seconds = 0.0
        self.problem = ""
        self._runs_folder = runs_folder
        self._on_event = on_event
        self._start_s = time.monotonic()
        self._recorder: Recorder | None = None

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, RunStarted):
            self._start(event)
        if isinstance(event, RunEnded):
            self.outcome, self.seconds = event.outcome, time.monotonic() - self._start_s
        if self._recorder is not None:
            self._recorder(event)
        if self._on_event is not None:
            self._on_event(event)

    @property
    def folder(self) -> Path | None:
        """Folder of the recording; None if there is none."""
        return self._recorder.folder if self._recorder is not None else None

    def write_report(self) -> Path | None:
        """Close the recording and write its page; return None if that fails."""
        from agent_s.runs.reading import read_trajectory
        from agent_s.trajectory.report import write_report

        self.close()
        if self._recorder is None:
            return None
        self.problem = self._recorder.problem
        try:
            return write_report(read_trajectory(self._recorder.folder))
        except TrajectoryError as error:
            self.problem = self.problem or str(error)
            return None

    def discard(self) -> None:
        """Delete the recording."""
        self.close()
        if self._recorder is not None:
            rmtree(self._recorder.folder, ignore_errors=True)
            self._recorder = None

    def close(self) -> None:
        """Close the recording."""
        if self._recorder is not None:
            self._recorder.close()

    def _start(self, started: RunStarted) -> None:
        from agent_s.runs.listing import run_folder
        from agent_s.trajectory.recorder import Recorder

        self._start_s = time.monotonic()
        try:
            self._recorder = Recorder(run_folder(self._runs_folder, started))
        except TrajectoryError as error:
            self.problem = str(error)

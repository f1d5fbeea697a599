"""Records one benchmark run: events on disk, outcome, and report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from agent_s.errors import TrajectoryError
from agent_s.events import Event, RunEnded, RunStarted
from agent_s.records import Outcome
from agent_s.trajectory.recorder import Recorder


@dataclass(eq=False)
class Recording:
    """Event listener that records a run and forwards its events; a write error costs only the report."""

    runs_folder: Path  # parent of the folder of the run
    on_event: Callable[[Event], None] | None = None  # called with each event after recording it
    outcome: Outcome | None = field(default=None, init=False)  # how the run ended; None until then
    seconds: float = field(default=0.0, init=False)  # wall time from the first event to the last, s
    # why the recording or its report is missing or incomplete; empty otherwise
    problem: str = field(default="", init=False)
    _start_s: float = field(default_factory=time.monotonic, init=False)
    _recorder: Recorder | None = field(default=None, init=False)

    def __call__(self, event: Event) -> None:
        """Record and forward one event."""
        if isinstance(event, RunStarted):
            self._start(event)
        if isinstance(event, RunEnded):
            self.outcome, self.seconds = event.outcome, time.monotonic() - self._start_s
        if self._recorder is not None:
            self._recorder(event)
        if self.on_event is not None:
            self.on_event(event)

    @property
    def folder(self) -> Path | None:
        """Folder of the recording; None if there is none."""
        return self._recorder.folder if self._recorder is not None else None

    def write_report(self) -> Path | None:
        """Close the recording and write its HTML report; return None if that fails."""
        from agent_s.runs.reading import read_trajectory
        from agent_s.trajectory.report import write_report

        self.close()
        if self._recorder is None:
            return None
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
            self.problem = self.problem or self._recorder.problem

    def _start(self, started: RunStarted) -> None:
        from agent_s.runs.listing import run_folder

        self._start_s = time.monotonic()
        try:
            self._recorder = Recorder(run_folder(self.runs_folder, started))
        except TrajectoryError as error:
            self.problem = str(error)

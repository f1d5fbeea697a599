"""Runs in a folder to view: recorded runs, the results of an evaluation, or a single run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_s.errors import TrajectoryError
from agent_s.records import Outcome
from agent_s.runs.following import is_being_recorded
from agent_s.runs.listing import RunSummary, list_runs
from agent_s.runs.reading import EVENTS_FILE, SCREENS_FOLDER
from agent_s.trajectory.presenting import heading, tone
from evaluation.harness.results import RESULTS_FILE, RUNS_FOLDER, Result, read_results

TONES = {"success": "good", "failure": "bad", "error": "plain"}


@dataclass(frozen=True, slots=True)
class RunsFolder:
    """A folder that is viewed.

    Args:
        path: A run, a folder of runs, or the folder of an evaluation.
    """

    path: Path

    @property
    def is_run(self) -> bool:
        """Whether it is one run."""
        return (self.path / EVENTS_FILE).is_file()

    def find(self, name: str) -> Path:
        """Return the folder of a run by its name.

        Raises:
            TrajectoryError: There is none.
        """
        for folder in self._places():
            if not name.startswith(".") and "/" not in name and (folder / name / EVENTS_FILE).is_file():
                return folder / name
        raise TrajectoryError(f"There is no run {name!r} in {self.path}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the list, newest first: one per run or, for an evaluation, per episode."""
        runs = [run for folder in self._places() for run in list_runs(folder)]
        if not (self.path / RESULTS_FILE).is_file():
            return [_row_of_run(run) for run in sorted(runs, key=lambda run: run.folder.name, reverse=True)]
        by_folder = {run.folder.relative_to(self.path).as_posix(): run for run in runs}
        results = read_results(self.path)[1].values()
        kept = {result.trajectory for result in results}
        going_on = [_row_of_run(run) for name, run in by_folder.items() if name not in kept]
        return [*going_on, *(_row_of_result(result, by_folder.get(result.trajectory)) for result in results)]

    def _places(self) -> Iterator[Path]:
        """Yield the folders that may contain runs."""
        if self.is_run:
            yield self.path.resolve().parent
            return
        yield self.path
        yield from sorted(self.path.glob(f"{RUNS_FOLDER}/"))
        yield from sorted(self.path.glob(f"*/{RUNS_FOLDER}/"))


def _row_of_run(run: RunSummary) -> dict[str, Any]:
    outcome = Outcome(status=run.status, verified=run.verified) if run.status else None
    live = outcome is None and is_being_recorded(run.folder)
    return {
        "name": run.folder.name,
        "picture": _last_picture(run.folder),
        "started": f"{run.started.astimezone():%Y-%m-%d %H:%M}" if run.started else "",
        "task": run.instruction,
        "model": run.model,
        "word": "Running" if live else heading(outcome),
        "tone": "live" if live else tone(outcome),
        "steps": run.steps if outcome else None,
        "calls": run.model_calls if outcome else None,
        "seconds": run.seconds if outcome else None,
        "note": "" if live else run.problem,
    }


def _row_of_result(result: Result, run: RunSummary | None) -> dict[str, Any]:
    labels = [f"{name} {value}" for name, value in result.labels.items()]
    seed = [] if result.seed is None else [f"seed {result.seed}"]
    return {
        "name": run.folder.name if run else "",
        "picture": _last_picture(run.folder) if run else "",
        "started": f"{run.started.astimezone():%Y-%m-%d %H:%M}" if run and run.started else "",
        "task": result.instruction or result.task,
        "model": run.model if run else "",
        "word": result.outcome.capitalize(),
        "tone": TONES[result.outcome],
        "steps": result.steps,
        "calls": result.model_calls,
        "seconds": result.seconds,
        "note": " · ".join([result.task, *seed, *labels, *filter(None, [result.failure, result.reason])]),
    }


def _last_picture(folder: Path) -> str:
    names = sorted(path.name for path in (folder / SCREENS_FOLDER).glob("*.png"))
    return f"{SCREENS_FOLDER}/{names[-1]}" if names else ""

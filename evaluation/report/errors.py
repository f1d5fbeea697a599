"""The error analysis of recorded runs that failed (paper, section 4.4): error rates and the subtask failure rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_s.errors import TrajectoryError
from agent_s.records import Outcome
from agent_s.runs.listing import list_runs
from agent_s.runs.reading import EVENTS_FILE, read_trajectory
from agent_s.trajectory.timeline import Timeline, build_timeline
from evaluation.errors import ResultsError
from evaluation.harness.failures import ROOT_FIRST, FoundError, find_errors, has_succeeded
from evaluation.harness.results import RESULTS_FILE, read_results

ALL = "all"
NO_GROUP = "-"


@dataclass(frozen=True, slots=True)
class FailedRun:
    """A run that failed, as it was recorded."""

    name: str  # its task, or its id
    group: str  # the column of its figures: an application or a row of an ablation; empty for none
    folder: Path
    timeline: Timeline  # its events
    outcome: Outcome  # how it ended, as the agent says
    reason: str  # why it counts as failed


@dataclass(frozen=True, slots=True)
class RunErrors:
    """The errors of a run that failed."""

    run: FailedRun
    errors: tuple[FoundError, ...]  # what was found
    subtasks: int  # number of subtasks that were begun
    failed_subtasks: int  # number of those that were not finished


@dataclass(frozen=True, slots=True)
class Rates:
    """The figures of a group of failed runs, as in the paper's table."""

    runs: int  # number of failed runs
    # share of the runs with an error of each kind; they add up to more than 1, since a run may have several
    by_kind: dict[str, float]
    undecided: float  # share of the runs in which no error was found
    subtask_failure: float | None  # mean over the runs of the share of subtasks that failed; None if none was begun

    def as_json(self) -> dict[str, Any]:
        """Return the values for `--json`, rounded."""
        rates = {kind: round(rate, 4) for kind, rate in {**self.by_kind, "undecided": self.undecided}.items()}
        failure = None if self.subtask_failure is None else round(self.subtask_failure, 4)
        return {"failed_runs": self.runs, **rates, "subtask_failure": failure}


@dataclass
class ErrorAnalysis:
    """The errors of several runs."""

    runs: list[RunErrors] = field(default_factory=list)  # those that failed
    left_out: dict[str, str] = field(default_factory=dict)  # runs that failed but cannot be read, by name, and why

    @property
    def rates(self) -> dict[str, Rates]:
        """The figures by group, if there are several, and of all runs."""
        groups = sorted({one.run.group for one in self.runs})
        by_group = {name or NO_GROUP: [one for one in self.runs if one.run.group == name] for name in groups}
        return {
            **{name: rates_of(some) for name, some in by_group.items() if len(groups) > 1},
            ALL: rates_of(self.runs),
        }


def rates_of(runs: Sequence[RunErrors]) -> Rates:
    """Return the figures of failed runs."""
    number = max(1, len(runs))
    shares = [one.failed_subtasks / one.subtasks for one in runs if one.subtasks]
    return Rates(
        runs=len(runs),
        by_kind={kind: sum(any(e.kind == kind for e in one.errors) for one in runs) / number for kind in ROOT_FIRST},
        undecided=sum(not one.errors for one in runs) / number,
        subtask_failure=sum(shares) / len(shares) if shares else None,
    )


def find_by_rules(run: FailedRun) -> RunErrors:
    """Return what rules find in a run that failed."""
    subtasks = [entry for entry in run.timeline.subtasks if entry.started is not None]
    failed = sum(not has_succeeded(entry) for entry in subtasks)
    return RunErrors(run, find_errors(run.timeline, run.outcome), len(subtasks), failed)


def failed_runs(folder: Path, left_out: dict[str, str]) -> Iterator[FailedRun]:
    """Yield the failed runs below a folder: of an evaluation, of the rows of an ablation, or recorded runs themselves.

    An evaluation says which of its runs failed. Elsewhere those count whose check failed, and those without a check
    that gave up or used up a budget. Runs that an error of the environment or a person ended are no failures.

    Args:
        folder: The folder.
        left_out: Takes the runs that cannot be read, and why.

    Raises:
        ResultsError: There are no runs, or the results cannot be read.
    """
    evaluations = sorted(path.parent for path in folder.glob(f"*/{RESULTS_FILE}"))
    if (folder / RESULTS_FILE).is_file():
        yield from _of_evaluation(folder, "", left_out)
    elif evaluations:
        for one in evaluations:
            yield from _of_evaluation(one, one.name, left_out)
    else:
        yield from _of_recordings(folder, left_out)


def _of_evaluation(folder: Path, row: str, left_out: dict[str, str]) -> Iterator[FailedRun]:
    for result in read_results(folder)[1].values():
        if result.outcome != "failure":
            continue
        name = result.task if result.seed is None else f"{result.task} {result.seed}"
        group = row or result.labels.get("application", "")
        if not result.trajectory:
            left_out[f"{row} {name}".strip()] = "it was not recorded"
            continue
        run = _read(folder / result.trajectory, name, group, result.reason, left_out)
        if run is not None:
            yield run


def _of_recordings(folder: Path, left_out: dict[str, str]) -> Iterator[FailedRun]:
    alone = (folder / EVENTS_FILE).is_file()
    runs = list_runs(folder.resolve().parent if alone else folder)
    if alone:
        runs = [one for one in runs if one.folder.resolve() == folder.resolve()]
    if not runs:
        raise ResultsError(f"There are no recorded runs in {folder}. `agent-s runs list` shows where runs are.")
    for one in reversed(runs):
        if one.status is None:
            left_out[one.run_id] = one.problem
        elif one.verified is False or (one.verified is None and one.status in ("failed", "out_of_budget")):
            run = _read(one.folder, one.run_id, "", "", left_out)
            if run is not None:
                yield run


def _read(folder: Path, name: str, group: str, reason: str, left_out: dict[str, str]) -> FailedRun | None:
    try:
        timeline = build_timeline(read_trajectory(folder).events)
    except TrajectoryError as error:
        left_out[name] = str(error)
        return None
    if timeline.outcome is None:
        left_out[name] = "its record ends before the run did"
        return None
    if timeline.outcome.status in ("error", "stopped"):
        return None
    return FailedRun(name, group, folder, timeline, timeline.outcome, reason or timeline.outcome.reason)

"""The exploration job: surveys applications, then searches them and runs the agent on tasks, on several desktops.

What is done is kept line by line (`evaluation.results`), so that the same job begun again goes on where it was broken
off: by a budget, by Ctrl-C, or by a kill.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from aci.applications import Application
from agent_s.records import Record
from agent_s.settings import Settings
from agent_s.version import program_version
from evaluation.errors import ResultsError
from evaluation.pool import Pool
from evaluation.results import RESULTS_FILE, Header, Job, Result, ResultsFile, read_results
from exploration.places import Surveyed, locked, read_survey
from exploration.worker import Assignment

if TYPE_CHECKING:
    from exploration.tasks import ExplorationTask

BENCHMARK = "exploration"
COMMAND = (sys.executable, "-m", "exploration.worker")
SURVEY_S = 180.0
"""What a survey may take, the start of the application and the model's proposals included, s."""
USUAL_S = {"survey": 30.0, "task": 15.0}
"""How long jobs take, for the time that is left, as long as none of their kind is done, s."""


class Scope(Record):
    """What an exploration is about, which stays the same when it is gone on with.

    Attributes:
        applications: What is explored.
        tasks: For each of them.
        search_s: Time for the search of each, s.
        settings: Model, limits, memory and desktop.
    """

    applications: tuple[Application, ...]
    tasks: int
    search_s: float
    settings: Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """What an exploration is to do.

    Attributes:
        folder: Where it keeps what it finds.
        settings: Model, limits, memory and desktop.
        applications: What is explored.
        wanted: Tasks for each application; 0 for none.
        search_s: Time for the search of each application, s; 0 for no search.
        desktops: How many work side by side.
        seconds: After so many no further job begins; None for no limit.
        dollars: Cost at which no further job begins; None for no limit.
        keep_all: Whether records of runs that went well stay.
        survey_only: Whether only the tasks are made.
    """

    folder: Path
    settings: Settings
    applications: tuple[Application, ...]
    wanted: int = 10
    search_s: float = 300.0
    desktops: int = 1
    seconds: float | None = None
    dollars: float | None = None
    keep_all: bool = False
    survey_only: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an exploration is.

    Attributes:
        done: Jobs that are done, of those known by now.
        total: Jobs that are known by now.
        left_s: Estimate of the time that is left, s.
    """

    done: int
    total: int
    left_s: float


@dataclass(frozen=True, slots=True)
class Progress:
    """A job that is over, and how far the exploration is then."""

    result: Result
    standing: Standing


@dataclass
class Exploration:
    """One exploration, begun or gone on with.

    Args:
        plan: What it does.
        clock: Seconds that only go forward.
        command: The program of a worker.

    Attributes:
        stopped_by: The budget that ended it; empty where none did.
    """

    plan: Plan
    clock: Callable[[], float] = time.monotonic
    command: Sequence[str] = COMMAND
    stopped_by: str = field(init=False, default="")
    _began: float = field(init=False, default=0.0)
    _stopping: bool = field(init=False, default=False)
    _pool: Pool | None = field(init=False, default=None)
    _total: int = field(init=False, default=0)
    _left_jobs: int = field(init=False, default=0)
    _expected: tuple[float, float] = field(init=False, default=(0.0, 0.0))

    def stop(self) -> None:
        """Let no further job begin; safe from a signal handler."""
        self._stopping = True
        if self._pool is not None:
            self._pool.stop()

    def standing(self) -> Standing:
        """Return how far it is; safe from any thread."""
        at, left_s = self._expected
        return Standing(self._total - self._left_jobs, self._total, max(0.0, left_s - (self.clock() - at)))

    def run(self) -> Iterator[Progress]:
        """Do what is left of it, and yield each job as it is over.

        Closing the iterator, or KeyboardInterrupt inside of it, ends what is being done; it is done again next time.

        Raises:
            ExplorationError: The folder cannot be used, or another process does.
            ResultsError: The results cannot be kept, or are those of another exploration.
        """
        self._began = self.clock()
        try:
            yield from self._parts()
        except KeyboardInterrupt:
            self.stop()

    def _parts(self) -> Iterator[Progress]:
        with locked(self.plan.folder):
            kept = ResultsFile(self.plan.folder, self._header())
            surveys = [Job(task=f"survey {app.id}") for app in self.plan.applications]
            yield from self._do(surveys, kept, SURVEY_S)
            if not self.plan.survey_only:
                yield from self._do(self._jobs(kept), kept, self._longest_s)

    def _do(self, jobs: Sequence[Job], kept: ResultsFile, limit_s: float) -> Iterator[Progress]:
        left = [job for job in jobs if not kept.is_done(job)]
        if not left or self._stopping or self._over_budget(kept):
            return
        size = min(self.plan.desktops, len(left))
        self._pool = pool = Pool(self._assignment(), size, limit_s, self.command)
        self._total, self._left_jobs = len(jobs), len(left)
        self._expected = (self.clock(), self._left_s(left, kept))
        with self._deadline(pool):
            for number, result in enumerate(pool.run(left), start=1):
                kept.add(result)
                self._total, self._left_jobs = len(jobs), len(left) - number
                self._expected = (self.clock(), self._left_s(left, kept))
                yield Progress(result, self.standing())
                if number < len(left) and (self._stopping or self._over_budget(kept)):
                    pool.stop()

    def _jobs(self, kept: ResultsFile) -> list[Job]:
        """Return the searches and the tasks of the applications that can be explored, tasks from easy to hard."""
        surveyed = {app.id: found for app in self.plan.applications if (found := surveyed_by(kept, app.id)) is not None}
        searches = [Job(task=f"search {app}") for app in surveyed] if self.plan.search_s > 0 else []
        tasks = [task for found in surveyed.values() for task in found.tasks]
        tasks.sort(key=lambda task: task.difficulty)
        return [*searches, *(job_of(task) for task in tasks)]

    def _assignment(self) -> Assignment:
        plan, settings = self.plan, self.plan.settings
        if plan.dollars is not None:
            most = min(plan.dollars, settings.limits.max_dollars or plan.dollars)
            limits = settings.limits.model_copy(update={"max_dollars": most})
            settings = settings.model_copy(update={"limits": limits})
        return Assignment(
            settings=settings,
            folder=plan.folder,
            applications=plan.applications,
            wanted=plan.wanted,
            search_s=plan.search_s,
            keep_all=plan.keep_all,
        )

    def _header(self) -> Header:
        plan = self.plan
        scope = Scope(applications=plan.applications, tasks=plan.wanted, search_s=plan.search_s, settings=plan.settings)
        return Header(
            benchmark=BENCHMARK,
            model=self.plan.settings.model,
            settings=scope.model_dump(mode="json"),
            version=program_version(),
            started=datetime.now(UTC),
        )

    # Budgets

    @property
    def _longest_s(self) -> float:
        return max(self.plan.search_s, self.plan.settings.limits.max_seconds)

    @contextmanager
    def _deadline(self, pool: Pool) -> Iterator[None]:
        """Let the pool begin nothing once the time is used up."""
        if self.plan.seconds is None:
            yield
            return
        timer = threading.Timer(max(0.0, self.plan.seconds - (self.clock() - self._began)), pool.stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _over_budget(self, kept: ResultsFile) -> bool:
        plan = self.plan
        if plan.seconds is not None and self.clock() - self._began >= plan.seconds:
            self.stopped_by = f"the {plan.seconds:g} s are used up (--seconds)"
        elif plan.dollars is not None and spent(kept.results.values()) >= plan.dollars:
            self.stopped_by = f"{plan.dollars:g} dollars are used up (--dollars)"
        return bool(self.stopped_by)

    def _left_s(self, jobs: Iterable[Job], kept: ResultsFile) -> float:
        """Estimate the time that is left: what jobs of a kind took until now, side by side, within the budget."""
        left = [job for job in jobs if not kept.is_done(job)]
        each = [self._usual_s(kind_of(job), kept) for job in left]
        total = max([sum(each) / self.plan.desktops, *each], default=0.0)
        if self.plan.seconds is not None:
            total = min(total, max(0.0, self.plan.seconds - (self.clock() - self._began)))
        return total

    def _usual_s(self, kind: str, kept: ResultsFile) -> float:
        known = [result.seconds for job, result in kept.results.items() if kind_of(job) == kind]
        return sum(known) / len(known) if known else USUAL_S.get(kind, self.plan.search_s)


def read_scope(folder: Path) -> Scope | None:
    """Return what the exploration that a folder holds is about; None where it holds none.

    Raises:
        ResultsError: It holds something else, or cannot be read.
    """
    path = folder / RESULTS_FILE
    if not path.exists():
        return None
    header = read_results(folder)[0]
    if header.benchmark != BENCHMARK:
        raise ResultsError(f"{path} is of {header.benchmark}, not of an exploration. Use another folder.")
    try:
        return Scope.model_validate(header.settings)
    except ValidationError as error:
        raise ResultsError(f"{path}: the header is damaged: {error.errors()[0]['msg']}. Use another folder.") from error


def surveyed_by(kept: ResultsFile, app: str) -> Surveyed | None:
    """Return the survey of an application; None where it could not be explored."""
    result = kept.results.get(Job(task=f"survey {app}"))
    return read_survey(kept.folder, app) if result is not None and result.outcome == "success" else None


def job_of(task: ExplorationTask) -> Job:
    """Return the job that has the agent run a task."""
    return Job(task=f"task {task.id}")


def kind_of(job: Job) -> str:
    """Return what a job is: "survey", "search" or "task"."""
    return job.task.partition(" ")[0]


def about(job: Job) -> str:
    """Return the application or the task that a job is about."""
    return job.task.partition(" ")[2]


def spent(results: Iterable[Result]) -> float:
    """Return what results cost, as far as it is known."""
    return sum(result.dollars or 0.0 for result in results)

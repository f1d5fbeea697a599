"""The exploration job: surveys applications, searches them and runs the agent on tasks, on several desktops.

Environment-independent tasks are proposed after the surveys, and environment-aware ones after the searches, for the
screens that these reached. Tasks are carried out after that; without environment-aware ones, during the searches.

Finished jobs are written line by line (`evaluation.harness.results`), so that an exploration resumes after a budget,
Ctrl-C or a kill ended it. With more applications, tasks or time, it does only what is new.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from aci.applications.catalog import Application
from agent_s.settings import Settings
from agent_s.version import program_version
from evaluation.harness.pools import JobPool, open_pool
from evaluation.harness.results import Header, Job, Result, ResultsFile
from exploration.job.folders import Surveyed, locked, read_practice, read_survey
from exploration.job.scope import BENCHMARK, Scope, falls_short, is_exhausted, read_scope, write_scope
from exploration.job.worker import Assignment
from exploration.tasks.practice import KINDS, Practice, practice_named

COMMAND = (sys.executable, "-m", "exploration.job.worker")
TASKS = 10  # default number of tasks per application, with the offline model
INDEPENDENT = 50  # default number of environment-independent tasks, with a language model (paper, section 3.2)
SEARCH_S = 300.0
DEPTH = 5
LARGEST_SHARE = 0.6  # largest share of the time after the surveys for searches
SURVEY_S = 180.0  # time limit of a survey, including the start of the application and the model's proposals, s
PROPOSAL_S = 600.0  # time limit of a proposal of tasks for the whole exploration, with all its calls, s
_NEW_SCREENS = ("survey", "search")  # kinds of jobs after which there is more to propose tasks for
USUAL_S = {"survey": 30.0, "propose": 30.0, "task": 15.0}  # estimated time of a job before any of its kind is done, s


@dataclass(frozen=True, slots=True)
class Plan:
    """The configuration of an exploration."""

    folder: Path  # folder for its files
    settings: Settings  # model, limits, memory and desktop
    applications: tuple[Application, ...]  # the applications to explore
    wanted: int = TASKS  # number of tasks per application
    independent: int = 0  # number of environment-independent tasks of the whole exploration
    aware: int = 0  # number of environment-aware tasks of the whole exploration
    # time for the search of each application, interrupted runs included, s; 0 for no search; None for the default, or
    # less if `seconds` would leave too little for the tasks
    search_s: float | None = None
    depth: int = DEPTH  # longest path of a search, in steps
    desktops: int = 1  # number of parallel desktops
    cluster: str | None = None  # address of the Ray cluster that has the desktops; None for this machine
    seconds: float | None = None  # time budget, s; no new jobs start after it; None for no limit
    dollars: float | None = None  # cost budget; no new jobs start after it; None for no limit
    keep_all: bool = False  # whether to keep the records of successful runs
    survey_only: bool = False  # whether to propose tasks only

    @property
    def longest_search_s(self) -> float:
        """Time for the search of each application, s."""
        if self.search_s is not None or self.seconds is None:
            return SEARCH_S if self.search_s is None else self.search_s
        turns = max(1, -(-len(self.applications) // self.desktops))
        share = LARGEST_SHARE if self.wanted or self.independent or self.aware else 1.0
        left_s = max(self.seconds / 2, self.seconds - turns * USUAL_S["survey"])
        return min(SEARCH_S, share * left_s / turns)

    def number_of(self, practice: Practice) -> int:
        """Return the number of tasks of a kind for the whole exploration."""
        return self.independent if practice == "independent" else self.aware

    @property
    def bounded_settings(self) -> Settings:
        """The settings, with the cost budget as the limit of each task."""
        if self.dollars is None:
            return self.settings
        most = min(self.dollars, self.settings.limits.max_dollars or self.dollars)
        limits = self.settings.limits.model_copy(update={"max_dollars": most})
        return self.settings.model_copy(update={"limits": limits})


@dataclass(frozen=True, slots=True)
class Standing:
    """The progress of an exploration."""

    done: int  # number of finished jobs
    total: int  # number of all jobs; an application that is not surveyed yet counts with the wanted number of tasks
    left_s: float  # estimated remaining time, s


@dataclass(frozen=True, slots=True)
class Progress:
    """A finished job, and the progress of the exploration after it."""

    result: Result
    standing: Standing


@dataclass
class Exploration:
    """One exploration, new or resumed.

    Args:
        plan: Its configuration.
        clock: Monotonic clock, s.
        command: The program of a worker.
    """

    plan: Plan
    clock: Callable[[], float] = time.monotonic
    command: Sequence[str] = COMMAND
    stopped_by: str = field(init=False, default="")  # the budget that ended it; empty if none did
    _results: ResultsFile = field(init=False)
    _began: float = field(init=False, default=0.0)
    _stopping: bool = field(init=False, default=False)
    _pool: JobPool | None = field(init=False, default=None)
    _finished: set[Job] = field(init=False, default_factory=set)
    _standing: Standing = field(init=False, default=Standing(0, 0, 0.0))
    _estimated: float = field(init=False, default=0.0)

    def stop(self) -> None:
        """Start no further job; safe to call from a signal handler."""
        self._stopping = True
        if self._pool is not None:
            self._pool.stop()

    def standing(self) -> Standing:
        """Return the progress; safe to call from any thread."""
        now = self._standing
        return replace(now, left_s=max(0.0, now.left_s - (self.clock() - self._estimated)))

    def run(self) -> Iterator[Progress]:
        """Do all jobs that are left, and yield each one as it finishes.

        Closing the iterator, or a KeyboardInterrupt in it, ends the current jobs; the next run repeats them.

        Raises:
            ExplorationError: The folder cannot be used, or another process uses it.
            ResultsError: The results cannot be written, or belong to another exploration.
        """
        plan = self.plan
        self._began = self.clock()
        try:
            with locked(plan.folder):
                self._results = self._open_results()
                yield from self._do(self._surveys(), SURVEY_S)
                yield from self._do(self._proposals("independent"), PROPOSAL_S)
                if plan.aware and not plan.survey_only:
                    yield from self._do(self._searches(), plan.longest_search_s)
                yield from self._do(self._proposals("aware"), PROPOSAL_S)
                if not plan.survey_only:
                    yield from self._do(self._jobs(), max(plan.longest_search_s, plan.settings.limits.max_seconds))
        except KeyboardInterrupt:
            self.stop()

    def _open_results(self) -> ResultsFile:
        """Open the results and write the scope; a folder with results always has a scope."""
        plan = self.plan
        scope = Scope(
            applications=plan.applications,
            tasks=plan.wanted,
            search_s=plan.search_s,
            depth=plan.depth,
            independent=plan.independent,
            aware=plan.aware,
            settings=plan.settings,
        )
        if read_scope(plan.folder) is None:
            write_scope(plan.folder, scope)
        header = Header(
            benchmark=BENCHMARK,
            model=plan.settings.model,
            settings=plan.settings.model_dump(mode="json"),
            version=program_version(),
            started=datetime.now(UTC),
        )
        results = ResultsFile(plan.folder, header)
        write_scope(plan.folder, scope)
        return results

    def _do(self, jobs: Sequence[Job], limit_s: float) -> Iterator[Progress]:
        """Do the jobs that are left, and retry all but tasks once that failed with an error."""
        yield from self._do_once(self._left(jobs), limit_s)
        broken = [job for job in self._undone(jobs) if job in self._finished and kind_of(job) != "task"]
        yield from self._do_once([job for job in broken if self._results.results[job].outcome == "error"], limit_s)

    def _do_once(self, left: Sequence[Job], limit_s: float) -> Iterator[Progress]:
        plan = self.plan
        if not left or self._stopping or self._over_budget():
            return
        assignment = Assignment(
            settings=plan.bounded_settings,
            folder=plan.folder,
            applications=plan.applications,
            wanted=plan.wanted,
            independent=plan.independent,
            aware=plan.aware,
            search_s=plan.longest_search_s,
            depth=plan.depth,
            search_until=None if plan.seconds is None else time.time() + self._began + plan.seconds - self.clock(),
            keep_all=plan.keep_all,
        )
        self._pool = pool = open_pool(assignment, min(plan.desktops, len(left)), limit_s, plan.cluster, self.command)
        self._estimate()
        with self._deadline(pool):
            for number, result in enumerate(pool.run(left), start=1):
                self._results.add(result)
                self._finished.add(result.job)
                self._estimate()
                yield Progress(result, self.standing())
                if number < len(left) and (self._stopping or self._over_budget()):
                    pool.stop()

    # Jobs

    def _surveys(self) -> list[Job]:
        return [Job(task=f"survey {app.id}") for app in self.plan.applications]

    def _surveyed(self, app: str) -> Surveyed | None:
        """Return the survey of an application; None if it could not be explored."""
        result = self._results.results.get(Job(task=f"survey {app}"))
        return read_survey(self.plan.folder, app) if result is not None and result.outcome == "success" else None

    def _usable(self) -> dict[str, Surveyed]:
        """Return the surveys of the applications that can be explored."""
        return {app.id: found for app in self.plan.applications if (found := self._surveyed(app.id)) is not None}

    def _searches(self) -> list[Job]:
        """Return the searches: one of each application, shared by several desktops if there are enough."""
        usable = self._usable() if self.plan.longest_search_s > 0 else {}
        shares = [None, *range(2, self.plan.desktops // max(1, len(usable)) + 1)]
        return [Job(task=f"search {app}", seed=share) for app in usable for share in shares]

    def _proposals(self, practice: Practice, expected: bool = False) -> list[Job]:
        """Return the job that proposes tasks of a kind, if there are applications for it, or any are `expected`."""
        needed = self.plan.number_of(practice) and (expected or self._usable())
        return [Job(task=f"propose {practice}")] if needed else []

    def _jobs(self) -> list[Job]:
        """Return the searches, and the tasks from easy to hard, of the applications that can be explored."""
        plan, usable = self.plan, self._usable()
        tasks = [task for found in usable.values() for task in found.tasks[: plan.wanted]]
        for practice in KINDS:
            made = read_practice(plan.folder, practice).tasks[: plan.number_of(practice)]
            tasks += [task for task in made if task.app in usable]
        tasks.sort(key=lambda task: task.difficulty)
        return [*self._searches(), *dict.fromkeys(Job(task=f"task {task.id}") for task in tasks)]

    def _undone(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs without a result, or with one that falls short of the plan."""
        return [job for job in jobs if not self._results.is_done(job) or self._has_more(job)]

    def _left(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the undone jobs that were not tried in this run."""
        return [job for job in self._undone(jobs) if job not in self._finished]

    def _has_more(self, job: Job) -> bool:
        """Return whether a finished job can do more now: its obstacle may be gone, or its bounds have grown."""
        match kind_of(job):
            case "survey":
                found = self._surveyed(about(job))
                return found is None or found.wanted < self.plan.wanted
            case "search":
                return not is_exhausted(self._results.results[job], self.plan.longest_search_s, self.plan.depth)
            case "propose":
                results, new = self._results.results, [each for each in self._finished if kind_of(each) in _NEW_SCREENS]
                more = any(results[each].outcome == "success" for each in new)
                return falls_short(results[job], self.plan.number_of(practice_named(about(job))), more)
        return False

    # Budgets

    @contextmanager
    def _deadline(self, pool: JobPool) -> Iterator[None]:
        """Start no job in the pool after the time budget."""
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

    def _over_budget(self) -> bool:
        plan = self.plan
        spent = sum(result.dollars or 0.0 for result in self._results.results.values())
        if plan.seconds is not None and self.clock() - self._began >= plan.seconds:
            self.stopped_by = f"the budget of {plan.seconds:g} s is used up (--seconds)"
        elif plan.dollars is not None and spent >= plan.dollars:
            self.stopped_by = f"the budget of {plan.dollars:g} dollars is used up (--dollars)"
        return bool(self.stopped_by)

    def _estimate(self) -> None:
        """Estimate the remaining time by the average duration of each kind of job, within the budget."""
        jobs = self._all_jobs()
        left = self._left(jobs)
        each = [self._usual_s(kind_of(job)) for job in left]
        left_s = max([sum(each) / self.plan.desktops, *each], default=0.0)
        if self.plan.seconds is not None:
            left_s = min(left_s, max(0.0, self.plan.seconds - (self.clock() - self._began)))
        self._standing, self._estimated = Standing(len(jobs) - len(left), len(jobs), left_s), self.clock()

    def _all_jobs(self) -> list[Job]:
        """Return all jobs, with the wanted number of tasks where they are not proposed yet."""
        surveys = self._surveys()
        unsurveyed = [about(job) for job in self._left(surveys)]
        proposals = [job for practice in KINDS for job in self._proposals(practice, bool(unsurveyed))]
        if self.plan.survey_only:
            return [*surveys, *proposals]
        known = dict.fromkeys([*proposals, *self._jobs()])
        for practice in (practice_named(about(job)) for job in self._left(proposals)):
            proposed = len(read_practice(self.plan.folder, practice).tasks)
            for number in range(proposed, self.plan.number_of(practice)):
                known.setdefault(Job(task=f"task {number} of {practice}"))
        for app in unsurveyed:
            if self.plan.longest_search_s > 0:
                known.setdefault(Job(task=f"search {app}"))
            made = self._surveyed(app)
            for number in range(0 if made is None else len(made.tasks), self.plan.wanted):
                known.setdefault(Job(task=f"task {number} of {app}"))
        return [*surveys, *known]

    def _usual_s(self, kind: str) -> float:
        known = [result.seconds for job, result in self._results.results.items() if kind_of(job) == kind]
        return sum(known) / len(known) if known else USUAL_S.get(kind, self.plan.longest_search_s)


def kind_of(job: Job) -> str:
    """Return what a job is: "survey", "search", "propose" or "task"."""
    return job.task.partition(" ")[0]


def about(job: Job) -> str:
    """Return the application, the task or the kind of tasks of a job."""
    return job.task.partition(" ")[2]

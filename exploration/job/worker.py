"""A worker process of an exploration: surveys applications, searches them, and runs the agent on tasks.

It is served like the workers of evaluations (`evaluation.worker`): an `Assignment`, then jobs, one line of
JSON each. A job is called "survey APP", "search APP", "propose independent", "propose aware" or "task ID". Several
"search APP" with other seeds share one search among several desktops.

    python -m exploration.job.worker
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from aci.applications.catalog import Application, installed_applications
from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.records import Task, Usage
from agent_s.terminal.output import plural
from evaluation.harness.results import RUNS_FOLDER, Job, Result, Work, effort_of, place_in
from evaluation.worker import serve
from exploration.errors import ApplicationUnusable, ExplorationError
from exploration.job.folders import (
    LEDGER_FILE,
    LOCK_FILE,
    PICTURE_FILE,
    Surveyed,
    application_folder,
    locked,
    read_practice,
    read_survey,
    write_practice,
    write_survey,
)
from exploration.job.scope import practice_labels, search_labels, search_limits
from exploration.search.starting import start
from exploration.tasks.practice import (
    KINDS,
    Practice,
    Subject,
    practice_named,
    propose,
    reached_screens,
    split,
    surveyed_screens,
)
from exploration.tasks.survey import survey
from memory_store import MemoryStoreError, NarrativeExperience

if TYPE_CHECKING:
    from aci.observation.observation import Observation
    from agent_s.llm.budget import MeteredModel
    from agent_s.llm.protocol import ReachedScreen
    from exploration.tasks.proposals import ExplorationTask
    from memory_store import MemoryStore

PICTURE_PX = 640
_SHORTEST_S = 0.1
MOST_REMEMBERED = 500  # number of tasks in memory, the newest, that are not proposed again
LOCK_WAIT_S = 30.0  # longest wait for the worker of a killed job to end, s


class Assignment(Work):
    """The configuration of a worker."""

    applications: tuple[Application, ...]  # the applications to explore
    wanted: int  # number of tasks per application
    independent: int = 0  # number of environment-independent tasks of the whole exploration
    aware: int = 0  # number of environment-aware tasks of the whole exploration
    search_s: float  # time for the search of each application, interrupted runs included, s
    depth: int = 5  # longest path of a search, in steps
    # deadline of all searches, s since the epoch, as workers may be on other machines; None for no deadline
    search_until: float | None = None
    keep_all: bool = False  # whether to keep the records of successful runs


class ExplorationBench:
    """Does the jobs of an exploration, one after another, each on fresh desktops."""

    def __init__(self, assignment: Assignment) -> None:
        self._given = assignment
        self._settings = assignment.settings.model_copy(update={"runs_dir": assignment.folder / RUNS_FOLDER})
        self._applications = {application.id: application for application in assignment.applications}
        self._resources = ExitStack()
        self._memory: MemoryStore | None = None
        self._metered: MeteredModel | None = None  # the model of the present job

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the memory store."""
        self._resources.close()

    def run(self, job: Job) -> Result:
        """Do one job; a failure is a result."""
        began, self._metered = time.monotonic(), None
        what, _, about = job.task.partition(" ")
        try:
            match what:
                case "survey":
                    result = self._survey(job, self._applications[about])
                case "search":
                    result = self._search(job, self._applications[about])
                case "propose":
                    result = self._propose(job, practice_named(about))
                case _:
                    result = self._task(job, self._known_task(about))
        except ApplicationUnusable as error:
            result = _result(job, "failure", str(error), status="infeasible")
        except (AciError, AgentError, MemoryStoreError, ExplorationError) as error:
            result = _result(job, "error", str(error), **effort_of(self._used))
        return result.model_copy(update={"seconds": round(time.monotonic() - began, 3)})

    def _survey(self, job: Job, application: Application) -> Result:
        from agent_s.memory import choose_embedder
        from exploration.tasks.proposals import leave_out_repetitions, propose_tasks

        folder = application_folder(self._given.folder, application.id)
        with self._settings.desktop.new_virtual() as desktop:
            first = start(desktop, application, installed_applications(desktop.environment))
            found = survey(desktop, first)
            embedder, wanted = choose_embedder(self._settings), self._given.wanted
            proposed = propose_tasks(self._new_model(), embedder, application, found.affordances, first, wanted)
            before = read_survey(self._given.folder, application.id)
            known = before.tasks if before is not None else ()
            names = [one.name for one in found.affordances]
            tasks = tuple(leave_out_repetitions([*known, *proposed.tasks], embedder, names)[: max(wanted, len(known))])
            write_survey(
                self._given.folder,
                application.id,
                Surveyed(name=application.name, survey=found, wanted=wanted, tasks=tasks),
            )
            _save_picture(first, folder / PICTURE_FILE)
        summary = f"{plural(len(found.affordances), 'control')}, {plural(len(tasks), 'task')}"
        return _result(job, "success", summary, status="done", **effort_of(self._used))

    def _search(self, job: Job, application: Application) -> Result:
        from exploration.search.dfs import search
        from exploration.search.ledger import Ledger
        from exploration.search.records import Attempted, SearchEnded
        from exploration.search.reserve import ReserveDesktop
        from exploration.skills.composing import compose, is_composed
        from exploration.skills.naming_by_model import ModelNamer
        from exploration.skills.skill_keeper import SkillKeeper

        folder = application_folder(self._given.folder, application.id)
        namer = ModelNamer(self._new_model(), application.name)
        ended: SearchEnded | None = None
        with (
            locked(folder, LOCK_WAIT_S, LOCK_FILE if job.seed is None else f"{LOCK_FILE}-{job.seed}"),
            Ledger(folder / LEDGER_FILE, application.name, application.argv) as ledger,
            ReserveDesktop() as desktop,
        ):
            seconds, memory = self._seconds_for(ledger.seconds + ledger.composing_seconds), self._opened_memory()
            limits = search_limits(seconds, self._given.depth)
            keeper = SkillKeeper(memory, f"explore {ledger.app}", namer)
            made = 0
            for event in search(desktop, ledger, keeper, limits=limits, folder=folder):
                ended = event if isinstance(event, SearchEnded) else ended
                made += isinstance(event, Attempted)
            for _ in compose(desktop, ledger, seconds=seconds - ledger.seconds, memory=memory):
                pass
            skills, screens = ledger.skills, ledger.states
            steps = len(ledger.attempts) if job.seed is None else made  # the first desktop reports for all
            composites = ledger.composites
            complete = ended is not None and ended.complete and is_composed(ledger)
            timed_out = not complete and ledger.seconds >= limits.seconds
        reason = ended.reason if ended is not None else "it was interrupted"
        if timed_out:  # the search knows only its own share
            reason = f"the time of {seconds:g} s is used up"
        counts = {"skill": len(skills), "composite": len(composites), "screen": len(screens)}
        summary = f"{', '.join(plural(number, name) for name, number in counts.items())}; {reason}"
        if namer.problem:
            summary += f"; named by rules, because the model failed: {namer.problem}"
        bounds = search_labels(seconds, limits.max_depth, complete)
        outcome = "success" if skills or len(screens) > 1 else "failure"
        spent = effort_of(self._used) | {"steps": steps}
        return _result(job, outcome, summary, status="done", labels=bounds, **spent)

    def _seconds_for(self, used_s: float) -> float:
        """Return the time for a search, s, of which some is used already; it never passes the deadline."""
        until = self._given.search_until
        left_s = self._given.search_s if until is None else used_s + until - time.time()
        return round(max(_SHORTEST_S, min(self._given.search_s, left_s)), 1)

    def _propose(self, job: Job, practice: Practice) -> Result:
        """Add tasks for the whole exploration to those of earlier jobs; each call's are on the disk before the next."""
        from agent_s.memory import choose_embedder
        from exploration.tasks.proposals import KnownTasks

        folder = self._given.folder
        screens = self._screens()
        names = {name for reached in screens.values() for screen in reached for name in screen.controls}
        known = KnownTasks(choose_embedder(self._settings), names | {application.name for application in screens})
        known.add(self._carried_out())
        known.add_new(self._tasks())
        made = read_practice(folder, practice)
        wanted = self._given.independent if practice == "independent" else self._given.aware
        subjects = [Subject(tuple(screens))] if practice == "independent" else split(screens)
        problem = ""
        try:
            for proposed in propose(self._new_model(), subjects, practice, max(0, wanted - len(made.tasks)), known):
                update = {"tasks": made.tasks + proposed.tasks, "usage": made.usage + proposed.usage}
                made = made.model_copy(update=update)
                write_practice(folder, practice, made)
        except AgentError as error:
            problem = str(error)
        shown = sum(len(subject.screens) for subject in subjects)
        about = plural(shown, "screen") if practice == "aware" else plural(len(screens), "application")
        summary = f"{plural(len(made.tasks), 'task')} for {about}"
        labels = practice_labels(wanted, len(made.tasks))
        if problem:
            return _result(job, "error", f"{summary}; {problem}", labels=labels, **_spent(made.usage))
        return _result(job, "success", summary, status="done", labels=labels, **_spent(made.usage))

    def _screens(self) -> dict[Application, list[ReachedScreen]]:
        """Return the screens of each application that was surveyed: those of the search, else those of the survey."""
        from exploration.search.ledger import Ledger

        found = {}
        for app, application in self._applications.items():
            surveyed = read_survey(self._given.folder, app)
            if surveyed is None:
                continue
            folder = application_folder(self._given.folder, app)
            reached: list[ReachedScreen] = []
            if (folder / LEDGER_FILE).exists():
                with (
                    locked(folder, wait_s=LOCK_WAIT_S),
                    Ledger(folder / LEDGER_FILE, application.name, application.argv) as ledger,
                ):
                    reached = reached_screens(ledger.states, ledger.attempts.values())
            found[application] = reached or surveyed_screens(surveyed.survey.affordances)
        return found

    def _carried_out(self) -> list[str]:
        """Return the instructions of tasks that were carried out before, as memory holds them, oldest first."""
        settings = self._settings
        exists = settings.memory.url or settings.memory_path.exists()  # a dry run makes none
        memory = self._opened_memory() if exists else None
        if memory is None:
            return []
        newest = memory.list_experiences("narrative", limit=MOST_REMEMBERED)
        return [one.instruction for one in reversed(newest) if isinstance(one, NarrativeExperience)]

    def _tasks(self) -> list[ExplorationTask]:
        """Return all tasks that were proposed so far."""
        surveys = (read_survey(self._given.folder, app) for app in self._applications)
        of_surveys = (task for surveyed in surveys if surveyed is not None for task in surveyed.tasks)
        return [*of_surveys, *(task for kind in KINDS for task in read_practice(self._given.folder, kind).tasks)]

    def _known_task(self, number: str) -> ExplorationTask:
        for task in self._tasks():
            if task.id == number:
                return task
        raise ExplorationError(f"There is no task {number!r} any more: the application was surveyed again.")

    def _task(self, job: Job, task: ExplorationTask) -> Result:
        from agent_s.loop.agent import AgentS
        from evaluation.harness.failures import FailureSigns
        from evaluation.harness.recording import Recording
        from exploration.tasks.completion import TaskCheck
        from exploration.tasks.coverage import UsageListener

        application = self._applications[task.app]
        surveyed = read_survey(self._given.folder, task.app)
        affordances = surveyed.survey.affordances if surveyed is not None else ()
        watch = UsageListener(affordances)
        signs, recording = FailureSigns(), Recording(self._settings.runs_folder)
        try:
            with self._settings.desktop.new_virtual() as desktop:
                start(desktop, application, installed_applications(desktop.environment))
                agent = AgentS.from_settings(self._settings, desktop, memory=self._opened_memory())
                check = TaskCheck(task, affordances, watch, desktop) if task.is_checkable else None
                for event in agent.stream(Task(instruction=task.instruction, id=task.id), check):
                    signs(event)
                    watch(event)
                    recording(event)
            outcome, report = recording.outcome, recording.write_report()
            assert outcome is not None
            verified = bool(outcome.status == "done" and outcome.verified)
            if verified and not self._given.keep_all:
                recording.discard()
                report = None
            return Result(
                task=job.task,
                outcome="error" if outcome.status == "error" else "success" if verified else "failure",
                score=None if outcome.verified is None else float(outcome.verified),
                status=outcome.status,
                failure=None if verified else signs.kind(outcome),
                reason=outcome.reason,
                instruction=task.instruction,
                **effort_of(outcome.usage),
                labels={
                    "app": task.app,
                    "kind": task.kind,
                    "difficulty": str(task.difficulty),
                    "used": "\n".join(sorted(watch.used)),
                    "learned": str(watch.stored),
                },
                run_id=outcome.run_id,
                trajectory=place_in(self._given.folder, recording.folder),
                report=place_in(self._given.folder, report),
            )
        finally:
            recording.close()

    def _new_model(self) -> MeteredModel:
        """Return the model for a job that is no task."""
        from agent_s.llm.budget import MeteredModel
        from agent_s.llm.build import build_models

        self._metered = MeteredModel(build_models(self._settings, os.environ), self._settings.limits)
        return self._metered

    @property
    def _used(self) -> Usage:
        """What the model of the present job has used, whatever came of it."""
        return self._metered.budget.used if self._metered is not None else Usage(dollars=0.0)

    def _opened_memory(self) -> MemoryStore | None:
        if self._memory is None and self._settings.memory.enabled:
            from agent_s.memory import open_memory

            self._memory = self._resources.enter_context(open_memory(self._settings))
        return self._memory


def _result(job: Job, outcome: str, reason: str, status: str = "error", **more: Any) -> Result:
    failure = None if outcome == "success" else "environment"
    values = {**job.model_dump(), "outcome": outcome, "status": status, "reason": reason, "failure": failure, **more}
    return Result.model_validate(values)


def _spent(calls: tuple[Usage, ...]) -> dict[str, Any]:
    dollars = [call.dollars for call in calls]
    return {
        "model_calls": len(calls),
        "input_tokens": sum(call.input_tokens for call in calls),
        "output_tokens": sum(call.output_tokens for call in calls),
        "dollars": None if None in dollars else sum(each for each in dollars if each is not None),
    }


def _save_picture(observation: Observation, path: Path) -> None:
    """Save a small picture of the windows on the screen.

    Raises:
        ExplorationError: It cannot be written.
    """
    from PIL import Image

    areas = [window.frame or window.rect for window in observation.windows]
    image = Image.fromarray(observation.screenshot)
    if areas:
        left, top = max(0, min(area.x for area in areas)), max(0, min(area.y for area in areas))
        right, bottom = max(area.x + area.width for area in areas), max(area.y + area.height for area in areas)
        image = image.crop((left, top, min(right, image.width), min(bottom, image.height)))
    image.thumbnail((PICTURE_PX, PICTURE_PX))
    try:
        image.save(path)
    except OSError as error:
        raise ExplorationError(f"Cannot write {path}: {error.strerror or error}.") from error


if __name__ == "__main__":
    serve(lambda line: ExplorationBench(Assignment.model_validate_json(line)))

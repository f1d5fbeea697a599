"""Summaries of what an exploration found, read from its folder, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_s.llm.protocol import Affordance
from agent_s.records import GroundedStep
from evaluation.harness.results import Job, Result, read_results
from exploration.job.folders import LEDGER_FILE, application_folder, read_practice, read_survey
from exploration.job.scope import SEARCH_SHARE
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Boundary, Control, ScreenState, UnitSkill
from exploration.skills.naming import where_found
from exploration.tasks.coverage import Coverage, find_used, key_of
from exploration.tasks.practice import KINDS
from exploration.tasks.proposals import ExplorationTask
from exploration.tasks.survey import name_of

if TYPE_CHECKING:
    from aci.applications.catalog import Application


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task and its result; None if it was not tried."""

    task: ExplorationTask
    result: Result | None


@dataclass(frozen=True, slots=True)
class ApplicationSummary:
    """What an exploration found about one application."""

    app: str  # its id
    name: str  # its name
    folder: Path  # the folder of its files
    problem: str = ""  # why it was not explored; empty if it was
    coverage: Coverage = field(default_factory=Coverage)  # the share of its controls that the search and the tasks used
    unused: tuple[str, ...] = ()  # ways to the other controls
    tasks: tuple[TaskRow, ...] = ()  # tasks from easy to hard
    # screens of the search by fingerprint, in the order in which they were found
    states: Mapping[str, ScreenState] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()  # of the search
    skills: tuple[UnitSkill, ...] = ()  # verified unit skills
    composites: tuple[UnitSkill, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    searched: str = ""  # how the search ended; empty if there was none
    cut_short: bool = False  # whether the time limit ended the search
    seconds: float = 0.0  # time of its jobs, with all runs of its search, s
    dollars: float | None = 0.0  # cost; None if the price of the model is unknown
    stored: int = 0  # number of experiences that its tasks stored in memory

    @property
    def screens(self) -> int:
        """Number of screens."""
        return len(self.states)

    @property
    def done(self) -> int:
        """Number of tasks that were tried."""
        return sum(row.result is not None for row in self.tasks)

    @property
    def verified(self) -> int:
        """Number of tasks that were done and verified."""
        return sum(row.result is not None and row.result.outcome == "success" for row in self.tasks)

    def as_json(self, tasks_only: bool = False) -> dict[str, Any]:
        """Return the summary as JSON values; only the tasks if nothing was tried."""
        tasks = [_task_values(row) for row in self.tasks]
        offers = {"name": self.name, "offers": self.coverage.found, "tasks": tasks}
        if tasks_only:
            return offers
        return {
            **offers,
            "coverage": self.coverage.share,
            "screens": self.screens,
            "skills": [skill.name for skill in self.skills],
            "composed": [skill.name for skill in self.composites],
            "boundaries": [boundary.name for boundary in self.boundaries],
            "tasks_verified": self.verified,
            "tasks_tried": self.done,
            "experiences": self.stored,
            "seconds": round(self.seconds, 1),
            "dollars": self.dollars,
        }


def count_tried(folder: Path, applications: Sequence[Application]) -> tuple[int, int]:
    """Count the attempts and skills in the ledgers of a running exploration, without opening them for writing."""
    paths = (application_folder(folder, application.id) / LEDGER_FILE for application in applications)
    records = b"".join(path.read_bytes() for path in paths if path.is_file())
    return records.count(b'"kind": "attempted"'), records.count(b'"kind": "skill_verified"')


def summarize(folder: Path, applications: Sequence[Application]) -> list[ApplicationSummary]:
    """Read what an exploration found.

    Args:
        folder: Folder of the exploration.
        applications: Its applications.

    Raises:
        ExplorationError: A file cannot be read.
        ResultsError: The results cannot be read.
    """
    results = read_results(folder)[1]
    return [_summary(folder, application, results) for application in applications]


def proposal_dollars(folder: Path) -> float | None:
    """Return the cost of proposing tasks for the whole exploration; None if the price of the model is unknown.

    Raises:
        ExplorationError: A file cannot be read.
    """
    paid = [call.dollars for kind in KINDS for call in read_practice(folder, kind).usage if call.tokens]
    return None if None in paid else sum(dollars for dollars in paid if dollars is not None)


def _summary(folder: Path, application: Application, results: Mapping[Job, Result]) -> ApplicationSummary:
    place = application_folder(folder, application.id)
    first = results.get(Job(task=f"survey {application.id}"))
    surveyed = read_survey(folder, application.id)
    if first is None or first.outcome != "success" or surveyed is None:
        problem = "the exploration ended before it was surveyed" if first is None else first.reason
        return ApplicationSummary(application.id, application.name, place, problem=problem)
    practice = [task for kind in KINDS for task in read_practice(folder, kind).tasks if task.app == application.id]
    tasks = {task.id: task for task in sorted([*surveyed.tasks, *practice], key=lambda task: task.difficulty)}
    rows = tuple(TaskRow(task, results.get(Job(task=f"task {task.id}"))) for task in tasks.values())
    search = results.get(Job(task=f"search {application.id}"))
    tried = [first, *(row.result for row in rows if row.result), *([search] if search else [])]
    affordances = surveyed.survey.affordances
    path, found, search_s, composing_s = place / LEDGER_FILE, dict[str, Any](), 0.0, 0.0
    if path.exists():
        with Ledger(path, application.name, application.argv) as ledger:
            search_s, composing_s = ledger.seconds, ledger.composing_seconds
            found = {
                "states": ledger.states,
                "attempts": tuple(ledger.attempts.values()),
                "skills": tuple(ledger.skills.values()),
                "composites": ledger.composites,
                "boundaries": tuple(ledger.boundaries.values()),
            }
    attempts = found.get("attempts", ())
    used = {*_used_by_tasks(rows), *_used_by_search(affordances, attempts)}
    ways = {key_of(one): one.way for one in affordances} | _ways_of_search(affordances, attempts)
    return ApplicationSummary(
        app=application.id,
        name=application.name,
        folder=place,
        coverage=Coverage(len(ways.keys() & used), len(ways)),
        unused=tuple(way for key, way in ways.items() if key not in used),
        tasks=rows,
        searched="" if search is None else search.reason,
        cut_short=_is_cut_short(search, search_s),
        seconds=search_s + composing_s + sum(result.seconds for result in tried if result is not search),
        dollars=_cost(tried),
        stored=sum(int(row.result.labels.get("learned", "0")) for row in rows if row.result),
        **found,
    )


def _is_cut_short(search: Result | None, used_s: float) -> bool:
    labels = {} if search is None else search.labels
    return labels.get("complete") == "false" and used_s >= SEARCH_SHARE * float(labels["seconds"])


def _used_by_tasks(rows: Iterable[TaskRow]) -> Iterator[str]:
    """Yield the keys of the affordances that finished tasks used."""
    for row in rows:
        if row.result is not None and row.result.status == "done":
            yield from filter(None, row.result.labels.get("used", "").split("\n"))


def _used_by_search(affordances: Sequence[Affordance], attempts: Iterable[Attempt]) -> Iterator[str]:
    for attempt in attempts:
        if attempt.classification in ("continue", "terminal") and attempt.path:
            yield _key_in_search(affordances, attempt.control, attempt.path)


def _ways_of_search(affordances: Sequence[Affordance], attempts: Iterable[Attempt]) -> dict[str, str]:
    """Return the ways to the controls that the search came to, in dialogs and menus of all kinds, by their keys.

    What is unsafe to try, or a row of data, does not count.
    """
    found: dict[str, str] = {}
    for attempt in attempts:
        for each in attempt.offers:
            if each.control.name and not each.unsafe and each.control.role != "list item":
                key = _key_in_search(affordances, each.control, (*attempt.path, each.step))
                way = (*(where_found(attempt) for _ in attempt.path[:1]), each.control.name)
                found.setdefault(key, " > ".join(way))
    known = {key_of(one) for one in affordances}
    return {key: way for key, way in found.items() if key not in known}


def _key_in_search(affordances: Sequence[Affordance], control: Control, path: Sequence[GroundedStep]) -> str:
    """Return the key of the affordance that a control is, or one of its own."""
    *before, last = path
    passed = [f"step:{name_of(target)}" for step in before for target in step.targets.values()]
    keys = (find_used(affordances, control.name, (*target.path, *passed)) for target in last.targets.values())
    return next(filter(None, keys), control.identity)


def _cost(results: Iterable[Result]) -> float | None:
    paid = [result.dollars for result in results if result.input_tokens or result.output_tokens]
    return None if None in paid else sum(dollars for dollars in paid if dollars is not None)


def _task_values(row: TaskRow) -> dict[str, Any]:
    result = row.result
    values: dict[str, Any] = row.task.model_dump(include={"instruction", "difficulty", "kind"})
    if result is not None:
        values |= {"status": result.status, "verified": result.outcome == "success", "seconds": result.seconds}
    return values

"""The tasks of an exploration: proposed by the model, without repetitions, from easy to hard (paper, section 3.2).

Half of them are the most common things that people do in an application, whatever is on the screen; the others are
found for the screen as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field

from agent_s.llm.protocol import (
    Affordance,
    CheckableTask,
    Model,
    ModelRequest,
    ProposalContext,
    ProposalResponse,
    ProposedTask,
)
from agent_s.records import Record, Task, Usage
from exploration.tasks.survey import is_safe
from intents.conflicts import conflict

if TYPE_CHECKING:
    from aci.desktop.applications import Application
    from aci.observation.observation import Observation
    from memory_store.embedding.embedders import Embedder

TaskKind = Literal["common", "screen"]
"""Where a task comes from: what people commonly do, or the screen as it is (environment-independent and -aware)."""

PROPOSED_PER_WANTED = 3
"""Tasks that are asked for each one that is wanted, since some repeat others and are left out."""
MOST_PROPOSED = 120
ALIKE = 0.55
"""How far from the embedder's own least similarity to 1 two tasks are the same, where they use the same things."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_FILE = re.compile(r"\b[\w-]+\.\w{1,5}\b")
_WORD = re.compile(r"\w+")


class ExplorationTask(Record):
    """A task by which an application is explored.

    Attributes:
        id: The same for the same task of the same application.
        app: Id of the application.
        instruction: What the agent is told.
        difficulty: From 1 to 5.
        kind: Where it comes from.
        uses: Ways of what has to be used, where the task consists of using it.
        shows: A text that has to stand on the screen at the end.
        file: Name of a file that has to lie in the Documents folder at the end.
    """

    id: str
    app: str
    instruction: Annotated[str, Field(min_length=1)]
    difficulty: Annotated[int, Field(ge=1, le=5)] = 1
    kind: TaskKind = "common"
    uses: tuple[str, ...] = ()
    shows: str = ""
    file: str = ""

    @property
    def is_checkable(self) -> bool:
        """Whether its end can be looked up without asking a model."""
        return bool(self.uses or self.shows or self.file)


@dataclass(frozen=True, slots=True)
class Proposed:
    """Tasks, and what proposing them cost; `usage` holds one entry for each call."""

    tasks: tuple[ExplorationTask, ...]
    usage: tuple[Usage, ...]


class TaskMaker:
    """Makes the tasks for applications.

    Args:
        model: Proposes them.
        embedder: Tells which are alike.
    """

    def __init__(self, model: Model, embedder: Embedder) -> None:
        self._model = model
        self._embedder = embedder

    def make(
        self, application: Application, affordances: Sequence[Affordance], observation: Observation, wanted: int
    ) -> Proposed:
        """Return at most so many tasks for an application, the easy ones first.

        Args:
            application: What is explored.
            affordances: What it was found to offer.
            observation: The screen after its start.
            wanted: How many.

        Raises:
            ModelError: The model gives no usable answer.
        """
        if wanted <= 0:
            return Proposed((), ())
        asked = min(MOST_PROPOSED, wanted * PROPOSED_PER_WANTED)
        common, first = self._ask(application, affordances, None, asked, ())
        known = [task.instruction for task in common]
        aware, second = self._ask(application, affordances, observation, asked, known)
        proposals = [*_tasks(application, common, "common"), *_tasks(application, aware, "screen")]
        proposals = [task for task in proposals if _harmless(task.instruction)]
        distinct = leave_out_repetitions(proposals, self._embedder, [one.name for one in affordances])
        return Proposed(tuple(choose(distinct, affordances, wanted)), (first, second))

    def _ask(
        self,
        application: Application,
        affordances: Sequence[Affordance],
        observation: Observation | None,
        wanted: int,
        known: Sequence[str],
    ) -> tuple[tuple[ProposedTask, ...], Usage]:
        context = ProposalContext(
            Task(instruction=f"Explore {application.name}", id=f"explore-{application.id}"),
            application.name,
            wanted,
            application.generic_name,
            observation,
            tuple(affordances),
            tuple(known),
        )
        response = self._model.complete(ModelRequest(context))
        return cast(ProposalResponse, response.output).tasks[:wanted], response.usage


def task_id(app: str, instruction: str) -> str:
    """Return the id of a task, which is the same whenever it is proposed again."""
    return hashlib.sha256(f"{app}\n{' '.join(instruction.split())}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def leave_out_repetitions(
    tasks: Sequence[ExplorationTask], embedder: Embedder, names: Iterable[str]
) -> list[ExplorationTask]:
    """Return the tasks without those that ask for the same as an earlier one.

    Two ask for the same if they name the same things of the application, are about as difficult, and their sentences
    mean the same and not the opposite, whatever texts and file names they are about.

    Args:
        tasks: Of one application.
        embedder: Tells what means the same.
        names: What the application offers.
    """
    if not tasks:
        return []
    known = {name.casefold() for name in names}
    vectors = embedder.embed([_without_parameters(task.instruction, known) for task in tasks])
    least = embedder.min_similarity + ALIKE * (1.0 - embedder.min_similarity)
    named = [names_in(task.instruction, known) for task in tasks]
    kept: list[int] = []
    for number in range(len(tasks)):
        same = [other for other in kept if named[other] == named[number] and _near(tasks[other], tasks[number])]
        alike = [other for other in same if float(vectors[other] @ vectors[number]) >= least]
        if all(conflict(tasks[other].instruction, tasks[number].instruction) for other in alike):
            kept.append(number)
    return [tasks[number] for number in kept]


def choose(tasks: Sequence[ExplorationTask], affordances: Sequence[Affordance], wanted: int) -> list[ExplorationTask]:
    """Choose tasks that together use as many parts of the application as possible, and order them from easy to hard.

    Each turn takes a task of the kind, then of the difficulty, then with the parts (menus, or the window itself) that
    were taken least so far.
    """
    parts = {one.name.casefold(): (one.within or ("",))[0] for one in affordances}
    touched = {task.id: {parts[name] for name in names_in(task.instruction, parts)} or {""} for task in tasks}
    used: Counter[str] = Counter()
    kinds: Counter[TaskKind] = Counter()
    difficulties: Counter[int] = Counter()
    left, chosen = list(tasks), list[ExplorationTask]()
    while left and len(chosen) < wanted:
        task = min(
            left,
            key=lambda one: (
                kinds[one.kind],
                difficulties[one.difficulty],
                min(used[part] for part in touched[one.id]),
                one.difficulty,
            ),
        )
        left.remove(task)
        chosen.append(task)
        kinds[task.kind] += 1
        difficulties[task.difficulty] += 1
        used.update(touched[task.id])
    return sorted(chosen, key=lambda task: task.difficulty)


def names_in(instruction: str, names: Iterable[str]) -> frozenset[str]:
    """Return which of these names (casefolded) an instruction holds, quoted or as whole words.

    Of names within each other the longest counts. A name of a single character counts only where it is quoted.
    """
    known = set(names)
    found = {part[1:-1].casefold() for part in _QUOTED.findall(instruction)} & known
    text = f" {' '.join(_WORD.findall(instruction.casefold()))} "
    for name in sorted(known, key=len, reverse=True):
        words = f" {' '.join(_WORD.findall(name))} " if len(name) > 1 else ""
        if words.strip() and words in text:
            found.add(name)
            text = text.replace(words, "  ")
    return frozenset(found)


def _near(one: ExplorationTask, other: ExplorationTask) -> bool:
    return abs(one.difficulty - other.difficulty) <= 1


def _without_parameters(instruction: str, names: set[str]) -> str:
    """Return an instruction with a mark in place of its texts and file names; what the application offers stays."""
    masked = _QUOTED.sub(lambda part: part[0] if part[0][1:-1].casefold() in names else "something", instruction)
    return _FILE.sub("something", masked)


def _harmless(instruction: str) -> bool:
    """Tell whether nothing in an instruction is to be deleted, sent or printed: no clause begins with such a verb."""
    clauses = re.split(r"[.;,>]|\b(?:and|then)\b", _FILE.sub("", instruction))
    return all(is_safe(clause.strip(" '\"")) for clause in clauses)


def _tasks(application: Application, proposed: Iterable[ProposedTask], kind: TaskKind) -> list[ExplorationTask]:
    made = {}
    for one in proposed:
        instruction = " ".join(one.instruction.split())
        if not instruction:
            continue
        number = task_id(application.id, instruction)
        points = one.model_dump(include={"uses", "shows", "file"}) if isinstance(one, CheckableTask) else {}
        made[number] = ExplorationTask(
            id=number, app=application.id, instruction=instruction, difficulty=one.difficulty, kind=kind, **points
        )
    return list(made.values())

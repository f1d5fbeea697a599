"""The tasks of one application: proposed by a model, without repetitions, from easy to hard (paper, section 3.2).

Half of them are what people commonly do in an application, whatever is on the screen; the others are about the screen
as it is. Those of a whole exploration are in `exploration.tasks.practice`.
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
from intents.labels import label

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.applications.catalog import Application
    from aci.observation.observation import Observation
    from memory_store.embedding.embedders import Embedder

TaskKind = Literal["common", "screen"]
"""The source of a task: common use or the present screen (environment-independent and -aware)."""

PROPOSED_PER_WANTED = 3  # number of proposals per wanted task, since repetitions are left out
MOST_PROPOSED = 120
ALIKE = 0.55  # similarity of the same tasks, as a fraction of the way from the embedder's `min_similarity` to 1

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_FILE = re.compile(r"\b[\w-]+\.\w{1,5}\b")
_WORD = re.compile(r"\w+")


class ExplorationTask(Record):
    """A task for the agent."""

    id: str  # the same for the same task of the same application
    app: str  # id of the application
    instruction: Annotated[str, Field(min_length=1)]
    difficulty: Annotated[int, Field(ge=1, le=5)] = 1
    kind: TaskKind = "common"  # its source
    uses: tuple[str, ...] = ()  # ways to the affordances that must be used
    shows: str = ""  # a text that must be on the screen at the end
    file: str = ""  # name of a file that must be in the Documents folder at the end

    @property
    def is_checkable(self) -> bool:
        """Whether its end can be checked without a model."""
        return bool(self.uses or self.shows or self.file)


@dataclass(frozen=True, slots=True)
class Proposed:
    """Proposed tasks, and the token usage of each call."""

    tasks: tuple[ExplorationTask, ...]
    usage: tuple[Usage, ...]


def propose_tasks(
    model: Model,
    embedder: Embedder,
    application: Application,
    affordances: Sequence[Affordance],
    observation: Observation,
    wanted: int,
) -> Proposed:
    """Return tasks for an application, the easy ones first.

    Args:
        model: Proposes them.
        embedder: Measures their similarity.
        application: The application.
        affordances: Its affordances.
        observation: The screen after its start.
        wanted: Maximum number of tasks.

    Raises:
        ModelError: The model gives no usable answer.
    """
    if wanted <= 0:
        return Proposed((), ())
    task = Task(instruction=f"Explore {application.name}", id=f"explore-{application.id}")
    asked = min(MOST_PROPOSED, wanted * PROPOSED_PER_WANTED)

    def ask(seen: Observation | None, known: tuple[str, ...]) -> tuple[tuple[ProposedTask, ...], Usage]:
        context = ProposalContext(
            task, application.name, asked, application.generic_name, seen, tuple(affordances), known
        )
        response = model.complete(ModelRequest(context))
        return cast(ProposalResponse, response.output).tasks[:asked], response.usage

    common, first = ask(None, ())
    aware, second = ask(observation, tuple(one.instruction for one in common))
    proposals = [*harmless_tasks(application, common, "common"), *harmless_tasks(application, aware, "screen")]
    distinct = leave_out_repetitions(proposals, embedder, [one.name for one in affordances])
    return Proposed(tuple(choose(distinct, affordances, wanted)), (first, second))


def task_id(app: str, instruction: str) -> str:
    """Return the id of a task, the same whenever it is proposed again."""
    return hashlib.sha256(f"{app}\n{' '.join(instruction.split())}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def leave_out_repetitions(
    tasks: Sequence[ExplorationTask], embedder: Embedder, names: Iterable[str]
) -> list[ExplorationTask]:
    """Return the tasks without repetitions of earlier ones (`KnownTasks`).

    Args:
        tasks: Tasks of one application.
        embedder: Measures similarity.
        names: Names of the application's affordances.
    """
    return KnownTasks(embedder, names).add_new(tasks)


@dataclass(frozen=True, slots=True)
class _Known:
    """A known task; app and difficulty are None if they are unknown."""

    instruction: str
    app: str | None
    difficulty: int | None
    named: frozenset[str]
    vector: NDArray[np.float32]


class KnownTasks:
    """The tasks that others must not repeat.

    Two tasks of an application are the same if they name the same things, are about equally difficult, and their
    sentences mean the same and not the opposite, apart from texts and file names.

    Args:
        embedder: Measures similarity.
        names: Names of applications and of their affordances.
    """

    def __init__(self, embedder: Embedder, names: Iterable[str]) -> None:
        self._embedder = embedder
        self._names = {name.casefold() for name in names}
        self._least = embedder.min_similarity + ALIKE * (1.0 - embedder.min_similarity)
        self._known: list[_Known] = []

    def add_new(self, tasks: Sequence[ExplorationTask], most: int | None = None) -> list[ExplorationTask]:
        """Return the first `most` tasks that repeat neither a known one nor each other; they are known from now on."""
        looked_up = self._look_up([(task.instruction, task.app, task.difficulty) for task in tasks])
        new: list[ExplorationTask] = []
        for task, one in zip(tasks, looked_up, strict=True):
            if (most is None or len(new) < most) and not any(self._repeats(one, other) for other in self._known):
                self._known.append(one)
                new.append(task)
        return new

    def add(self, instructions: Sequence[str]) -> None:
        """Add tasks of unknown applications and difficulty, such as those that memory holds."""
        self._known += self._look_up([(instruction, None, None) for instruction in instructions])

    def instructions(self, app: str | None = None) -> tuple[str, ...]:
        """Return the known instructions in the order in which they were added; only those that may be about `app`."""
        return tuple(one.instruction for one in self._known if app is None or one.app in (app, None))

    def _look_up(self, tasks: Sequence[tuple[str, str | None, int | None]]) -> list[_Known]:
        if not tasks:
            return []
        vectors = self._embedder.embed([_without_parameters(instruction, self._names) for instruction, *_ in tasks])
        return [
            _Known(instruction, app, difficulty, names_in(instruction, self._names), vector)
            for (instruction, app, difficulty), vector in zip(tasks, vectors, strict=True)
        ]

    def _repeats(self, one: _Known, other: _Known) -> bool:
        if one.app and other.app and one.app != other.app:
            return False
        if one.instruction.casefold() == other.instruction.casefold():
            return True
        if one.difficulty and other.difficulty and abs(one.difficulty - other.difficulty) > 1:
            return False
        alike = one.named == other.named and float(one.vector @ other.vector) >= self._least
        return alike and not conflict(other.instruction, one.instruction)


def choose(tasks: Sequence[ExplorationTask], affordances: Sequence[Affordance], wanted: int) -> list[ExplorationTask]:
    """Choose tasks that together use as many parts of the application as possible, ordered from easy to hard.

    Each turn takes a task of the least used kind, then difficulty, then part (a menu, or the window itself).
    """
    parts = {one.name.casefold(): (one.within or ("",))[0] for one in affordances}
    touched = {task.id: {parts[name] for name in names_in(task.instruction, parts)} or {""} for task in tasks}
    used: Counter[str] = Counter()
    kinds: Counter[TaskKind] = Counter()
    difficulties: Counter[int] = Counter()

    def cost(task: ExplorationTask) -> tuple[int, ...]:
        least_used = min(used[part] for part in touched[task.id])
        return kinds[task.kind], difficulties[task.difficulty], least_used, task.difficulty

    left, chosen = list(tasks), list[ExplorationTask]()
    while left and len(chosen) < wanted:
        task = min(left, key=cost)
        left.remove(task)
        chosen.append(task)
        kinds[task.kind] += 1
        difficulties[task.difficulty] += 1
        used.update(touched[task.id])
    return sorted(chosen, key=lambda task: task.difficulty)


def names_in(instruction: str, names: Iterable[str]) -> frozenset[str]:
    """Return which of these names (casefolded) an instruction contains, quoted or as whole words.

    Of overlapping names the longest counts. A name of a single character counts only if it is quoted.
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


def _without_parameters(instruction: str, names: set[str]) -> str:
    """Return an instruction without its texts and file names, except names of the application's affordances."""
    masked = _QUOTED.sub(lambda part: part[0] if part[0][1:-1].casefold() in names else "something", instruction)
    return _FILE.sub("something", masked)


def _harmless(instruction: str) -> bool:
    """Return whether no clause of an instruction asks to delete, send or print anything."""
    clauses = label("clause_end").split(_FILE.sub("", instruction))
    return all(is_safe(clause.strip(" '\"")) for clause in clauses)


def harmless_tasks(application: Application, proposed: Iterable[ProposedTask], kind: TaskKind) -> list[ExplorationTask]:
    """Return what was proposed for an application, without tasks that delete, send or print anything."""
    made = {}
    for one in proposed:
        instruction = " ".join(one.instruction.split())
        if not instruction or not _harmless(instruction):
            continue
        number = task_id(application.id, instruction)
        points = one.model_dump(include={"uses", "shows", "file"}) if isinstance(one, CheckableTask) else {}
        made[number] = ExplorationTask(
            id=number, app=application.id, instruction=instruction, difficulty=one.difficulty, kind=kind, **points
        )
    return list(made.values())

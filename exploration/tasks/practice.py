"""Tasks for a whole exploration, proposed by a language model (paper, section 3.2).

Environment-independent tasks are the most common ones of its applications, from the list of these alone.
Environment-aware tasks are for the screens that the exploration has reached so far: menus, dialogs, tabs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Literal, cast

from pydantic import BaseModel, ConfigDict

from agent_s.llm.protocol import Affordance, Model, ModelRequest, ProposalContext, ProposalResponse, ReachedScreen
from agent_s.records import GroundedStep, Task, Usage
from exploration.tasks.proposals import ExplorationTask, KnownTasks, Proposed, TaskKind, harmless_tasks
from exploration.tasks.survey import is_safe, name_of

if TYPE_CHECKING:
    from aci.applications.catalog import Application
    from exploration.search.records import Attempt, ScreenState

Practice = Literal["independent", "aware"]
KINDS: dict[Practice, TaskKind] = {"independent": "common", "aware": "screen"}

MOST_ASKED = 60  # tasks of one call
MOST_ROUNDS = 10  # calls with the same request, while tasks are missing
MOST_SCREENS = 40  # screens of one call
MOST_CONTROLS = 40  # controls of one screen
MOST_KNOWN = 200  # known tasks that a call shows; the others are only left out


class PracticeTasks(BaseModel):
    """The file of the environment-independent or of the environment-aware tasks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: tuple[ExplorationTask, ...] = ()  # the tasks, earlier ones first
    usage: tuple[Usage, ...] = ()  # token usage of each call that proposed some


def practice_named(name: str) -> Practice:
    """Return the kind of this name."""
    return "independent" if name == "independent" else "aware"


@dataclass(frozen=True, slots=True)
class Subject:
    """What tasks are proposed for in one call: several applications, or screens of one."""

    applications: tuple[Application, ...]
    screens: tuple[ReachedScreen, ...] = ()


def reached_screens(states: Mapping[str, ScreenState], attempts: Iterable[Attempt]) -> list[ReachedScreen]:
    """Return the screens that a search has recorded, with the way and the harmless controls of each.

    Args:
        states: Screens by fingerprint.
        attempts: Attempts of the search, in order.
    """
    first: dict[str, Attempt] = {}
    for attempt in attempts:
        first.setdefault(attempt.end, attempt)
    found = []
    for fingerprint, state in states.items():
        by = first.get(fingerprint)
        offered = [one.control.name for one in by.offers if not one.unsafe] if by is not None else []
        controls = [name for name in dict.fromkeys([*state.words, *offered]) if name and is_safe(name)]
        way = " > ".join(map(_words_of, by.path if by is not None else ()))
        if controls:
            found.append(ReachedScreen(way, state.title, tuple(controls[:MOST_CONTROLS])))
    return found


def surveyed_screens(affordances: Iterable[Affordance]) -> list[ReachedScreen]:
    """Return the screens that a survey has seen: the first one, and each menu."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in affordances:
        found.setdefault((" > ".join(one.within), one.window), []).append(one.name)
    return [ReachedScreen(*at, tuple(dict.fromkeys(names))[:MOST_CONTROLS]) for at, names in found.items()]


def split(screens: Mapping[Application, Sequence[ReachedScreen]]) -> list[Subject]:
    """Split the screens of applications into calls, one of each application in turn; a call has some of any depth."""
    of_each = []
    for application, reached in screens.items():
        calls = -(-len(reached) // MOST_SCREENS)
        of_each.append([Subject((application,), tuple(reached[number::calls])) for number in range(calls)])
    return [one for one in chain.from_iterable(zip_longest(*of_each)) if one is not None]


def propose(
    model: Model, subjects: Sequence[Subject], practice: Practice, wanted: int, known: KnownTasks
) -> Iterator[Proposed]:
    """Propose tasks, spread over the subjects, and yield the new ones of each call.

    Ends early if no more tasks come that are new and harmless.

    Args:
        model: Proposes them.
        subjects: What they are for.
        practice: The kind of tasks.
        wanted: Number of tasks.
        known: Tasks that are not repeated; new ones are added.

    Raises:
        ModelError: The model gives no usable answer.
        LimitReached: A budget is used up.
    """
    left = wanted
    for _ in range(MOST_ROUNDS):
        before, weights = left, [max(1, len(subject.screens)) for subject in subjects]
        for number, subject in enumerate(subjects):
            share = min(MOST_ASKED, -(-left * weights[number] // sum(weights[number:])))
            if share:
                proposed = _ask(model, subject, practice, share, known)
                left -= len(proposed.tasks)
                yield proposed
        if left in (0, before):
            return


def _ask(model: Model, subject: Subject, practice: Practice, wanted: int, known: KnownTasks) -> Proposed:
    single = subject.applications[0] if subject.screens else None
    context = ProposalContext(
        Task(instruction="Explore the applications", id=f"explore-{practice}"),
        application=single.name if single is not None else "",
        wanted=wanted,
        description=single.generic_name if single is not None else "",
        known=known.instructions(None if single is None else single.id)[-MOST_KNOWN:],
        applications=() if single is not None else tuple((one.name, one.generic_name) for one in subject.applications),
        screens=subject.screens,
    )
    response = model.complete(ModelRequest(context))
    answers = cast(ProposalResponse, response.output).tasks
    by_name = {one.name.casefold(): one for one in subject.applications}
    placed = [(single or by_name.get(answer.application.strip().casefold()), answer) for answer in answers]
    tasks = [
        task
        for application, answer in placed
        if application is not None
        for task in harmless_tasks(application, [answer], KINDS[practice])
    ]
    return Proposed(tuple(known.add_new(tasks, most=wanted)), (response.usage,))


def _words_of(step: GroundedStep) -> str:
    """Return the control that a step uses, or what it is for if it uses none."""
    names = [name_of(target) for target in step.targets.values()]
    return next(filter(None, names), step.intent or str(step.action.action))

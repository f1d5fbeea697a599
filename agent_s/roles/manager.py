"""The Manager, which turns a task and a screen into an ordered queue of subtasks (paper, section 3.1.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

from aci.observation.observation import Observation
from agent_s.background import Abandoned, Pending
from agent_s.errors import PlanError, PlanTried, SearchError, Stopped
from agent_s.llm.protocol import (
    Model,
    OfferedSkill,
    PlanContext,
    PlannedNode,
    PlanResponse,
    QueryContext,
    QueryResponse,
    WebResult,
    ask,
)
from agent_s.records import Aims, NoPlan, Plan, Subtask, Task
from agent_s.search import WebSearch
from memory_store import Hit, MemoryStore, MemoryStoreError, NarrativeExperience

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the Manager found out before planning."""

    query: str  # the query it wrote; empty if there is no web search
    aims: Aims  # what the task requires and forbids
    web: tuple[WebResult, ...] = ()  # web search results
    hits: tuple[Hit[NarrativeExperience], ...] = ()  # similar tasks from narrative memory, best first
    problems: tuple[str, ...] = ()  # sources that did not answer, and why


@dataclass(frozen=True, slots=True)
class Manager:
    """Plans a task, and re-plans the remaining work after a failure."""

    model: Model  # answers the query and planning calls
    memory: MemoryStore | None = None  # narrative memory, or None to plan without it
    search: WebSearch | None = None  # web search, or None to plan without it
    max_subtasks: int = 40  # maximum length of a plan
    search_timeout_s: float = 20.0  # longest wait for the web search, s
    memory_timeout_s: float = 10.0  # longest wait for retrieval, s; both waits start together
    asked_to_stop: Callable[[], bool] = lambda: False  # returns whether to stop waiting

    def gather(self, task: Task, observation: Observation, trouble: str = "", recall: bool = True) -> Knowledge:
        """Query the web and, with `recall`, narrative memory in parallel.

        The model writes a query only if there is a web search. Otherwise memory is searched for the task as worded, and
        the planner is left to state what the task requires and forbids (`PlanContext.wants_aims`). A source that fails
        or times out is named in `Knowledge.problems`, and planning goes on without it.

        Args:
            task: The task.
            observation: The current screen.
            trouble: What failed, for a new plan; empty for the first one.
            recall: Whether to search narrative memory.

        Raises:
            Stopped: The run was stopped.
        """
        answer = QueryResponse(query="")
        if self.search is not None:
            answer = ask(self.model, QueryContext(task, observation, trouble), QueryResponse)
        problems: list[str] = []
        started = time.monotonic()
        web = Pending(lambda: self.search.search(answer.query) if self.search else (), "web-search")
        question = (answer.query or task.instruction) if recall else ""
        hits = Pending(lambda: self.recall(question), "narrative-memory")
        try:
            found = self._wait(hits, "narrative memory", self.memory_timeout_s, problems)
            left_s = max(0.0, started + self.search_timeout_s - time.monotonic())
            results = self._wait(web, "web search", left_s, problems)
        except (Stopped, KeyboardInterrupt):
            if self.search is not None:
                self.search.cancel()
            raise
        aims = Aims(criteria=answer.criteria, constraints=answer.constraints)
        return Knowledge(answer.query, aims, results, found, tuple(problems))

    def recall(self, query: str) -> tuple[Hit[NarrativeExperience], ...]:
        """Return similar tasks from narrative memory, best first; none for an empty query.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        return tuple(self.memory.search_narrative(query)) if self.memory and query else ()

    def plan(self, context: PlanContext, tried: Set[tuple[Subtask, ...]] = frozenset()) -> Plan | NoPlan:
        """Return a plan from the model; an unusable plan is sent back once with the reason.

        Args:
            context: What to plan.
            tried: Plans that have already failed and are refused.

        Raises:
            PlanTried: The second answer is one of the refused plans.
            PlanError: The second answer is not a valid plan.
        """
        try:
            return self._plan_once(context, tried)
        except PlanError as error:
            return self._plan_once(replace(context, problem=str(error)), tried)

    def _plan_once(self, context: PlanContext, tried: Set[tuple[Subtask, ...]]) -> Plan | NoPlan:
        response = ask(self.model, context, PlanResponse)
        if response.gives_up:
            return NoPlan(reason=response.gives_up, infeasible=response.infeasible)
        plan = order_plan(response, self.max_subtasks, context.skills)
        if plan.subtasks in tried:
            raise PlanTried("This plan was carried out before and failed. Plan differently, or give up.")
        return plan

    def _wait(self, pending: Pending[tuple[T, ...]], source: str, limit_s: float, problems: list[str]) -> tuple[T, ...]:
        try:
            return pending.result(limit_s, self.asked_to_stop)
        except Abandoned:
            raise Stopped from None
        except TimeoutError:
            problems.append(f"{source} did not answer in time")
        except (SearchError, MemoryStoreError) as error:
            problems.append(f"{source}: {error}")
        return ()


def order_plan(response: PlanResponse, max_subtasks: int, skills: Sequence[OfferedSkill] = ()) -> Plan:
    """Validate a planned graph and sort its subtasks topologically.

    Ties are broken by the planned order, so that a graph always gives the same queue.

    Args:
        response: The planned graph.
        max_subtasks: Maximum number of subtasks.
        skills: The skills that the plan may use, numbered from 1.

    Raises:
        PlanError: The plan is empty or too long, has a cycle, repeats a subtask, refers to an unknown subtask, skill or
            value, or uses one skill under the name of another.
    """
    names = [node.name for node in response.nodes]
    if not names:
        raise PlanError(
            "The plan has no subtask. If what the task asks for is so already, plan one that checks it; if the task"
            " cannot be done, say why in gives_up."
        )
    if len(names) > max_subtasks:
        raise PlanError(
            f"The plan has {len(names)} subtasks; {max_subtasks} are allowed (limits.max_subtasks). Make it coarser."
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise PlanError(f"The plan names these subtasks twice: {', '.join(repeated)}.")
    before: dict[str, set[str]] = {name: set() for name in names}
    for first, second in response.edges:
        for name in (first, second):
            if name not in before:
                raise PlanError(f"The plan has an edge to {name!r}, which is not one of its subtasks.")
        before[second].add(first)
    subtasks = {node.name: _subtask(node, skills) for node in response.nodes}
    ordered = tuple(subtasks[name] for name in _sort_topologically(names, before))
    aims = Aims(criteria=response.criteria, constraints=response.constraints)
    return Plan(subtasks=ordered, edges=response.edges, guideline=response.guideline, aims=aims)


def _subtask(node: PlannedNode, skills: Sequence[OfferedSkill]) -> Subtask:
    if node.skill is None or not skills:  # small models fill in a number even where no skills were offered
        return Subtask(name=node.name, info=node.info)
    if not 1 <= node.skill <= len(skills):
        raise PlanError(f"The subtask {node.name!r} uses skill {node.skill}; there are {len(skills)} skills.")
    skill = skills[node.skill - 1]
    named = [number for number, one in enumerate(skills, start=1) if one.name.casefold() == node.name.casefold()]
    if named and node.skill not in named:
        raise PlanError(
            f"The subtask {node.name!r} uses skill {node.skill}, {skill.name!r}; {node.name!r} is skill {named[0]}."
        )
    if len(node.values) != len(skill.parameters):
        raise PlanError(
            f"The subtask {node.name!r} gives {len(node.values)} values; "
            f"skill {node.skill} has {len(skill.parameters)}: {list(skill.parameters)}."
        )
    return Subtask(name=node.name, info=node.info, skill=skill.id, values=node.values)


def _sort_topologically(names: list[str], before: dict[str, set[str]]) -> list[str]:
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        raise PlanError(f"The plan has a cycle: {' -> '.join(error.args[1])}.") from error
    ready: list[str] = []
    ordered: list[str] = []
    while sorter.is_active():
        ready = sorted((*ready, *sorter.get_ready()), key=names.index)
        ordered.append(ready.pop(0))
        sorter.done(ordered[-1])
    return ordered

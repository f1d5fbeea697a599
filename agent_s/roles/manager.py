"""The Manager: from a task and a screen to an ordered queue of subtasks (paper, section 3.1.1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import TypeVar, cast

from aci.observation.observation import Observation
from agent_s.background import Abandoned, Pending
from agent_s.errors import PlanError, PlanTried, SearchError
from agent_s.llm.protocol import (
    Model,
    ModelRequest,
    PlanContext,
    PlanResponse,
    QueryContext,
    QueryResponse,
    WebResult,
)
from agent_s.loop.session import Stopped
from agent_s.records import Aims, NoPlan, Plan, Subtask, Task
from agent_s.roles.plan_graph import order_plan
from agent_s.search import WebSearch, cut_off
from memory_store import Hit, MemoryStore, MemoryStoreError, NarrativeExperience

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the Manager found out before planning.

    Attributes:
        query: The question it asked.
        aims: What the task demands and forbids.
        web: What the search engine answered.
        hits: Similar tasks from narrative memory, best first.
        problems: Sources that did not answer, and why.
    """

    query: str
    aims: Aims
    web: tuple[WebResult, ...] = ()
    hits: tuple[Hit[NarrativeExperience], ...] = ()
    problems: tuple[str, ...] = ()


class Manager:
    """Plans a task, and plans again what is left of it after a failure.

    Args:
        model: Answers the query and planning calls.
        memory: Narrative memory, or None to plan without it.
        search: Web search, or None to plan without it.
        max_subtasks: Bound of one plan.
        search_deadline_s: How long web search may take, s.
        memory_deadline_s: How long retrieval may take, s; both begin at the same time.
        asked_to_stop: Tells whether waiting for them is of no use any more.
    """

    def __init__(
        self,
        model: Model,
        memory: MemoryStore | None = None,
        search: WebSearch | None = None,
        max_subtasks: int = 40,
        search_deadline_s: float = 20.0,
        memory_deadline_s: float = 10.0,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._model = model
        self._memory = memory
        self._search = search
        self._max_subtasks = max_subtasks
        self._search_deadline_s = search_deadline_s
        self._memory_deadline_s = memory_deadline_s
        self._asked_to_stop = asked_to_stop

    def gather(self, task: Task, observation: Observation, trouble: str = "", recall: bool = True) -> Knowledge:
        """Ask the web and narrative memory side by side; what they say is fused while planning.

        Without `recall`, memory is not asked. A source that fails or is late costs nothing but its answer, and is named
        in `Knowledge.problems`.

        Raises:
            Stopped: The run is to stop.
        """
        answer = cast(QueryResponse, self._ask(QueryContext(task, observation, trouble)))
        query = answer.query
        problems: list[str] = []
        started = time.monotonic()
        web = Pending(lambda: self._search_web(query), "web-search")
        hits = Pending(lambda: self._search_memory(query if recall else ""), "narrative-memory")
        try:
            found = self._answer(hits, "narrative memory", self._memory_deadline_s, problems)
            left_s = max(0.0, started + self._search_deadline_s - time.monotonic())
            web_results = self._answer(web, "web search", left_s, problems)
        except (Stopped, KeyboardInterrupt):
            cut_off(self._search)
            raise
        aims = Aims(criteria=answer.criteria, constraints=answer.constraints)
        return Knowledge(query, aims, web_results, found, tuple(problems))

    def recall(self, query: str) -> tuple[Hit[NarrativeExperience], ...]:
        """Return similar tasks from narrative memory, best first.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        return self._search_memory(query)

    def plan(self, context: PlanContext, tried: Set[tuple[Subtask, ...]] = frozenset()) -> Plan | NoPlan:
        """Plan, and let the model mend a plan that cannot be used once.

        Args:
            context: What is planned, and from where.
            tried: What was planned before and failed, each as its subtasks in order; it is refused.

        Raises:
            PlanTried: The second answer is one of these.
            PlanError: The second answer is not a valid plan.
        """
        try:
            return self._plan_once(context, tried)
        except PlanError as error:
            return self._plan_once(with_fields(context, problem=str(error)), tried)

    def _plan_once(self, context: PlanContext, tried: Set[tuple[Subtask, ...]]) -> Plan | NoPlan:
        response = cast(PlanResponse, self._ask(context))
        if response.gives_up:
            return NoPlan(reason=response.gives_up, infeasible=response.infeasible)
        plan = order_plan(response, self._max_subtasks)
        if plan.subtasks in tried:
            raise PlanTried("This very plan was carried out before and failed; plan another way, or give up.")
        return plan

    def _ask(self, context: QueryContext | PlanContext) -> object:
        return self._model.complete(ModelRequest(context)).output

    def _search_web(self, query: str) -> tuple[WebResult, ...]:
        return self._search.search(query) if self._search else ()

    def _search_memory(self, query: str) -> tuple[Hit[NarrativeExperience], ...]:
        return tuple(self._memory.search_narrative(query)) if self._memory and query else ()

    def _answer(
        self, pending: Pending[tuple[T, ...]], source: str, limit_s: float, problems: list[str]
    ) -> tuple[T, ...]:
        try:
            return pending.result(limit_s, self._asked_to_stop)
        except Abandoned:
            raise Stopped from None
        except TimeoutError:
            problems.append(f"{source} did not answer in time")
        except (SearchError, MemoryStoreError) as error:
            problems.append(f"{source}: {error}")
        return ()

"""How a run comes to its plans: from memory, from the task itself, or from the Manager; and plans what failed anew."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from aci.observation.observation import Observation
from agent_s.errors import PlanError, PlanTried
from agent_s.events import Event, KnowledgeGathered, Planned
from agent_s.llm.protocol import FailedSubtask, PlanContext
from agent_s.loop.session import Session
from agent_s.loop.state import Ending, Progress
from agent_s.loop.unfinished import Unfinished
from agent_s.records import NoPlan, Plan, Subtask, Task
from agent_s.replay.recall import Recall
from agent_s.roles.manager import Knowledge, Manager
from agent_s.safety.untrusted_text import Outside
from memory_store import NarrativeExperience

if TYPE_CHECKING:
    from agent_s.loop.agent import AgentS

MISSING = Subtask(name="Do what a check found missing")
LONGEST_NAME = 160
STUCK = 2
"""From so many failures on the web is asked again."""


class Planning:
    """Makes the plans of one run.

    Args:
        agent: Whose settings are used.
        task: What is to be done.
        session: The run's desktop and models.
        progress: What has been done so far; what is found out and planned is written there.
        outside: Gets the texts that came from the web.
        recall: What can be done again; None where nothing is.
        unfinished: The run that is gone on with; None to begin anew.
    """

    def __init__(
        self,
        agent: AgentS,
        task: Task,
        session: Session,
        progress: Progress,
        outside: Outside,
        recall: Recall | None = None,
        unfinished: Unfinished | None = None,
    ) -> None:
        self._agent = agent
        self._task = task
        self._session = session
        self._progress = progress
        self._outside = outside
        self._recall = recall
        self._unfinished = unfinished
        self._replay_only: bool = agent.replay == "only"
        self._manager = Manager(
            session.model,
            agent.memory if agent.narrative else None,
            agent.search,
            agent.limits.max_subtasks,
            agent.search_deadline_s,
            asked_to_stop=lambda: session.asked_to_stop,
        )

    def first(self) -> Generator[Event, None, Plan | Ending]:
        """Make the first plan, or say why there is none."""
        if self._unfinished is not None and (left := self._unfinished.left) is not None:
            return (yield from self._take_up(self._unfinished, left))
        known = (yield from self._recall_plan()) or self._flat_plan()
        if known is not None:
            self._progress.plan = known
            yield Planned(plan=known, reason="" if known.source == "memory" else self._why_not_replayed())
            return known
        early = yield from self._beyond()
        if early is not None:
            return early
        observation = yield from self._session.look()
        knowledge = yield from self._gather(observation)
        self._progress.query = knowledge.query
        context = self._informed(PlanContext(self._task, observation), knowledge)
        return (yield from self._ask_for_plan(context, self._why_not_replayed()))

    def _take_up(self, unfinished: Unfinished, left: Plan) -> Generator[Event, None, Plan]:
        """Take over what an unfinished run had found out, planned and done."""
        progress = self._progress
        progress.query, progress.aims, progress.plan = unfinished.query, unfinished.aims, left
        progress.asked = bool(unfinished.query)
        progress.done = list(unfinished.done)
        yield KnowledgeGathered(query=unfinished.query, aims=unfinished.aims)
        yield Planned(plan=left, reason=f"what the run {unfinished.run_id} left")
        return left

    def _gather(self, observation: Observation, trouble: str = "") -> Generator[Event, None, Knowledge]:
        with self._session.timed("model"):
            knowledge = self._manager.gather(self._task, observation, trouble, recall=self.gives_memory)
        yield from self._session.new_calls()
        if not self._progress.asked:  # from the task alone, before it is known what is hard about it
            self._progress.aims, self._progress.asked = knowledge.aims, True
        self._outside.note(text for result in knowledge.web for text in (result.title, result.content))
        yield KnowledgeGathered(
            query=knowledge.query,
            web=tuple(" ".join((result.title, result.url, result.note)).rstrip() for result in knowledge.web),
            narratives=tuple(hit.experience.id for hit in knowledge.hits),
            problems=knowledge.problems,
            aims=self._progress.aims,
        )
        return knowledge

    def _informed(self, context: PlanContext, knowledge: Knowledge) -> PlanContext:
        """Add to a context what was found out, and what the task forbids."""
        experiences = tuple(hit.experience for hit in knowledge.hits)
        return replace(context, web=knowledge.web, experiences=experiences, constraints=self._progress.aims.constraints)

    def _flat_plan(self) -> Plan | None:
        """Return the task itself as the only subtask, where no Manager is wanted."""
        if self._agent.planner != "flat":
            return None
        instruction = self._task.instruction
        name = instruction if len(instruction) <= LONGEST_NAME else f"{instruction[:LONGEST_NAME]}..."
        return Plan(subtasks=(Subtask(name=name, info=instruction),), source="task")

    def _flat_replan(self, failed: FailedSubtask) -> Generator[Event, None, Plan | Ending]:
        """Give what a check found missing back to the Worker; what the Worker gave up itself has failed."""
        if failed.subtask != MISSING:
            return Ending("failed", failed.reason)
        self._progress.replans += 1
        info = f"{self._task.instruction}\nA check of what was done so far says: {failed.reason}"
        plan = Plan(subtasks=(Subtask(name=MISSING.name, info=info),), source="task")
        self._progress.plan = plan
        yield Planned(plan=plan, replan=self._progress.replans, reason=failed.reason)
        return plan

    def again(self, failed: FailedSubtask, left: tuple[Subtask, ...]) -> Generator[Event, None, Plan | Ending]:
        """Plan the failed subtask and what was to follow anew, from the screen as it is; never the same plan twice.

        Args:
            failed: What failed.
            left: What was to follow.
        """
        spent = self._progress.replans >= self._agent.limits.max_replans
        if spent or self._replay_only:
            return Ending("failed", failed.reason)
        if self._agent.planner == "flat":
            return (yield from self._flat_replan(failed))
        progress = self._progress
        progress.replans += 1
        progress.tried |= {(failed.subtask, *left), *((progress.plan.subtasks,) if progress.plan else ())}
        observation = yield from self._session.look()
        done = tuple(subtask for subtask, _ in progress.done)
        context = PlanContext(self._task, observation, done=done, failed=failed, left=left)
        if self._asks_again:
            context = self._informed(context, (yield from self._gather(observation, failed.reason)))
        else:
            context = replace(context, constraints=progress.aims.constraints, experiences=self._reminded())
        return (yield from self._ask_for_plan(context, failed.reason))

    @property
    def _asks_again(self) -> bool:
        """Whether it is time to ask: the web once more when stuck, or for the first time where memory had the plan."""
        stuck = self._progress.replans >= STUCK and self._agent.search is not None
        return stuck or not self._progress.asked

    def _reminded(self) -> tuple[NarrativeExperience, ...]:
        """Return what memory knows of such tasks, where that was held back until a first try had failed."""
        if self._agent.give_memory == "always":
            return ()
        with self._session.timed("memory"):
            hits = self._manager.recall(self._progress.query or self._task.instruction)
        return tuple(hit.experience for hit in hits)

    def _ask_for_plan(self, context: PlanContext, reason: str = "") -> Generator[Event, None, Plan | Ending]:
        try:
            with self._session.timed("model"):
                plan = self._manager.plan(context, self._progress.tried)
        except PlanTried:
            yield from self._session.new_calls()
            return Ending("failed", reason)
        except PlanError as error:
            yield from self._session.new_calls()
            return Ending("failed", f"there is no valid plan: {error}")
        yield from self._session.new_calls()
        if isinstance(plan, NoPlan):
            return Ending("infeasible" if plan.infeasible else "failed", plan.reason)
        self._progress.plan = plan
        yield Planned(plan=plan, replan=self._progress.replans, reason=reason)
        return plan

    def _recall_plan(self) -> Generator[Event, None, Plan | None]:
        """Return the plan of the same task from verified memory, or of one that differs in values only."""
        if self._recall is None:
            return None
        with self._session.timed("memory"):
            known = self._recall.same_task() or self._recall.like_task()
        if known is None:
            front = (yield from self._session.look()).active_window
            with self._session.timed("memory"):
                known = self._recall.by_skills(front)
        if known is None:
            return None
        self._progress.query, self._progress.known = known.query, known
        if known.experience_id:
            self._progress.used.append(known.experience_id)
        return known.plan

    def _beyond(self) -> Generator[Event, None, Ending | None]:
        """End early where nothing is known and no model may be asked, or an exploration failed to do just this."""
        if self._replay_only:
            return Ending("failed", f"memory holds nothing verified that fits this task{self._why_no_memory()}")
        if self._recall is None or not self._heeds_boundaries:
            return None
        front = (yield from self._session.look()).active_window
        with self._session.timed("memory"):
            boundary = self._recall.boundary(front)
        if boundary is None:
            return None
        self._progress.boundary = boundary.id
        why = boundary.provenance.state_reason or boundary.description
        return Ending("failed", f"beyond what is known to work: {boundary.name!r} failed when it was explored ({why})")

    def _why_not_replayed(self) -> str:
        doubt = self._recall.doubt if self._recall is not None else ""
        return f"what memory holds is not replayed: {doubt}" if doubt else ""

    def _why_no_memory(self) -> str:
        if self._agent.memory is None:
            return ": there is no memory (memory.enabled)"
        doubt = self._recall.doubt if self._recall is not None else ""
        return f": {doubt}" if doubt else ""

    @property
    def _heeds_boundaries(self) -> bool:
        wanted = self._agent.boundaries
        return wanted == "always" or (wanted == "unattended" and self._agent.ask is None)

    @property
    def gives_memory(self) -> bool:
        """Whether experience is given to the model now."""
        return self._agent.give_memory == "always" or self._progress.replans > 0

"""Planning: the first plan, from memory, the task itself or the Manager, and new plans after failures."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from aci.observation.observation import Observation
from agent_s.errors import PlanError, PlanTried
from agent_s.events import Event, KnowledgeGathered, Planned
from agent_s.llm.protocol import FailedSubtask, OfferedSkill, PlanContext
from agent_s.loop.options import Options, Services
from agent_s.loop.progress import Ending, Progress
from agent_s.loop.session import Session
from agent_s.loop.unfinished import UnfinishedRun
from agent_s.records import Aims, NoPlan, Plan, Subtask, Task
from agent_s.replay.recall import Recall
from agent_s.roles.manager import Knowledge, Manager
from agent_s.safety.untrusted_text import UntrustedText

MISSING = Subtask(name="Do what a check found missing")
_FINAL_REFUSALS = frozenset(
    {"not_allowed", "not_confirmed", "no_answer", "interrupted"}
)  # refusals that no web search can help with


@dataclass(frozen=True, slots=True)
class Planning:
    """Produces the plans of one run."""

    services: Services  # of these, memory, search and the person at the screen
    options: Options
    session: Session
    task: Task
    progress: Progress  # updated with each plan and with what was found out for it
    manager: Manager
    untrusted: UntrustedText  # collects the texts that came from the web
    recall: Recall | None  # finds experience to replay; None to replay nothing
    resumed: UnfinishedRun | None  # the run to resume; None for a new one

    @property
    def uses_memory(self) -> bool:
        """Whether the model currently sees retrieved experience."""
        return self.options.give_memory == "always" or self.progress.replans > 0

    # The first plan

    def first_plan(self) -> Generator[Event, None, Plan | Ending]:
        """Return the first plan, or the ending if there is none."""
        if self.resumed is not None and (remaining := self.resumed.remaining_plan) is not None:
            return (yield from self._resume(self.resumed, remaining))
        known = (yield from self._recall_plan()) or self._flat_plan()
        if known is not None:
            return (yield from self._adopt(known, "" if known.source == "memory" else self._why_not_replayed))
        early = yield from self._give_up_early()
        if early is not None:
            return early
        observation = yield from self.session.look()
        knowledge = yield from self._gather(observation)
        self.progress.query = knowledge.query
        context = self._add_knowledge(knowledge, PlanContext(self.task, observation, limits=self.options.limits))
        return (yield from self._ask_for_plan(context, self._why_not_replayed))

    def _adopt(self, plan: Plan, reason: str = "") -> Generator[Event, None, Plan]:
        self.progress.plan = plan
        yield Planned(plan=plan, replan=self.progress.replans, reason=reason)
        return plan

    def _resume(self, resumed: UnfinishedRun, remaining: Plan) -> Generator[Event, None, Plan]:
        """Adopt the query, the aims, the finished subtasks and the remaining plan of the run to resume."""
        progress = self.progress
        progress.query, progress.aims, progress.done = resumed.query, resumed.aims, list(resumed.done)
        progress.worked_on = list(resumed.done)
        progress.aims_known = bool(resumed.query) or resumed.aims != Aims()
        yield KnowledgeGathered(query=resumed.query, aims=resumed.aims)
        return (yield from self._adopt(remaining, f"what the run {resumed.run_id} left"))

    def _recall_plan(self) -> Generator[Event, None, Plan | None]:
        """Return a plan from memory: of the same task, of one that differs only in values, or made of known skills."""
        if self.recall is None:
            return None
        with self.session.timed("memory"):
            known = self.recall.same_task() or self.recall.similar_task()
        if known is None:
            window = (yield from self.session.look()).active_window
            with self.session.timed("memory"):
                known = self.recall.by_skills(window)
        if known is None:
            return None
        self.progress.query, self.progress.known = known.query, known
        if known.experience_id:
            self.progress.used.append(known.experience_id)
        return known.plan

    @property
    def _why_not_replayed(self) -> str:
        doubt = self.recall.doubt if self.recall is not None else ""
        return f"what memory holds is not replayed: {doubt}" if doubt else ""

    def _flat_plan(self) -> Plan | None:
        """Return a plan with the task itself as the only subtask, if the planner is `flat`."""
        if self.options.planner != "flat":
            return None
        whole = Subtask.of_all(self.task.instruction).model_copy(update={"info": self.task.instruction})
        return Plan(subtasks=(whole,), source="task")

    def _give_up_early(self) -> Generator[Event, None, Ending | None]:
        """End the task if nothing can be replayed and no model may be called, or if an exploration has failed at it."""
        recall, boundaries = self.recall, self.options.boundaries
        if self.options.replay == "only":
            doubt = recall.why_not_replayable() if recall is not None else ""
            why = "there is no memory (memory.enabled)" if self.services.memory is None else doubt
            return Ending("failed", f"memory holds nothing verified that matches this task{': ' + why if why else ''}")
        unattended = boundaries == "unattended" and self.services.people.ask is None
        if recall is None or not (boundaries == "always" or unattended):
            return None
        window = (yield from self.session.look()).active_window
        with self.session.timed("memory"):
            boundary = recall.boundary(window)
        if boundary is None:
            return None
        self.progress.boundary = boundary.id
        why = boundary.provenance.state_reason or boundary.description
        return Ending("failed", f"known not to work: {boundary.name!r} failed when it was explored ({why})")

    # Plans after a failure

    def replan(self, failed: FailedSubtask, left: tuple[Subtask, ...]) -> Generator[Event, None, Plan | Ending]:
        """Return a new plan for a failed subtask and the subtasks left after it, from the current screen."""
        progress = self.progress
        if progress.replans >= self.options.limits.max_replans or self.options.replay == "only":
            return Ending("failed", failed.reason)
        if self.options.planner == "flat":
            return (yield from self._flat_replan(failed))
        progress.replans += 1
        progress.tried |= {(failed.subtask, *left), *((progress.plan.subtasks,) if progress.plan else ())}
        observation = yield from self.session.look()
        context = PlanContext(
            self.task,
            observation,
            limits=self.options.limits,
            guideline=progress.plan.guideline if progress.plan is not None else "",
            done=progress.finished,
            results=tuple(progress.results),
            failed=failed,
            left=left,
        )
        search = self.services.search is not None and self._calls_for_search(failed)
        if search or not progress.aims_known:
            trouble = f"{failed.subtask.name}: {failed.reason}"
            context = self._add_knowledge((yield from self._gather(observation, trouble)), context)
        else:
            known = progress.knowledge or Knowledge(progress.query, progress.aims)
            if self.options.give_memory == "after_failure":
                with self.session.timed("memory"):
                    known = replace(known, hits=self.manager.recall(progress.query or self.task.instruction))
            context = self._add_knowledge(known, context)
        return (yield from self._ask_for_plan(context, failed.reason))

    def _calls_for_search(self, failed: FailedSubtask) -> bool:
        """Return whether to search the web again for how to do what failed.

        What a check found missing is attempted without a search first, and a refusal by the person or the policy is not
        a lack of knowledge.
        """
        refused = bool(failed.steps) and failed.steps[-1].result.refusal in _FINAL_REFUSALS
        return not refused and (failed.subtask != MISSING or self.progress.replans > 1)

    def _flat_replan(self, failed: FailedSubtask) -> Generator[Event, None, Plan | Ending]:
        """Send a failed check back to the Worker; a failure that the Worker reported itself is final."""
        if failed.subtask != MISSING:
            return Ending("failed", failed.reason)
        self.progress.replans += 1
        info = f"{self.task.instruction}\nA check of what was done so far says: {failed.reason}"
        plan = Plan(subtasks=(Subtask(name=MISSING.name, info=info),), source="task")
        return (yield from self._adopt(plan, failed.reason))

    # Asking the Manager

    def _gather(self, observation: Observation, trouble: str = "") -> Generator[Event, None, Knowledge]:
        with self.session.timed("search"):
            knowledge = self.manager.gather(self.task, observation, trouble, recall=self.uses_memory)
        self.progress.knowledge = knowledge
        # the aims come from the task alone, so a later query, which knows about failures, does not change them
        if knowledge.query and not self.progress.aims_known:
            self.progress.aims, self.progress.aims_known = knowledge.aims, True
        self.untrusted.add(text for result in knowledge.web for text in (result.title, result.content))
        yield KnowledgeGathered(
            query=knowledge.query,
            web=tuple(" ".join((result.title, result.url, result.note)).rstrip() for result in knowledge.web),
            narratives=tuple(hit.experience.id for hit in knowledge.hits),
            problems=knowledge.problems,
            aims=self.progress.aims,
        )
        return knowledge

    def _add_knowledge(self, knowledge: Knowledge, context: PlanContext) -> PlanContext:
        experiences, aims = tuple(hit.experience for hit in knowledge.hits), self.progress.aims
        with self.session.timed("memory"):
            skills = self._offered_skills(context.observation)
        return replace(
            context,
            web=knowledge.web,
            experiences=experiences,
            criteria=aims.criteria,
            constraints=aims.constraints,
            wants_aims=not self.progress.aims_known,
            skills=skills,
        )

    def _offered_skills(self, observation: Observation) -> tuple[OfferedSkill, ...]:
        """Return the skills that the Manager may use in its plan."""
        if self.recall is None or not self.uses_memory:
            return ()
        return self.recall.skills.relevant_to(self.task.instruction, observation.active_window)

    def _ask_for_plan(self, context: PlanContext, reason: str = "") -> Generator[Event, None, Plan | Ending]:
        try:
            plan = self.manager.plan(context, self.progress.tried)
        except PlanTried:
            return Ending("failed", reason)
        except PlanError as error:
            return Ending("failed", f"there is no valid plan: {error}")
        if isinstance(plan, NoPlan):
            return Ending("infeasible" if plan.infeasible else "failed", plan.reason)
        if context.wants_aims:
            self.progress.aims, self.progress.aims_known = plan.aims, True
        return (yield from self._adopt(plan, reason))

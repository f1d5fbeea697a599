"""The plans of a run: from memory, from the task itself or from the Manager, and new ones after a failure."""

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
_DECIDED = frozenset({"not_allowed", "not_confirmed", "no_answer", "interrupted"})  # refusals that no advice changes


@dataclass(frozen=True, slots=True)
class Planning:
    """Makes the plans of one run."""

    services: Services  # memory, search and the person at the screen are used
    options: Options  # how the agent works
    session: Session  # the run's desktop and model
    task: Task
    progress: Progress  # what has been done so far; plans and knowledge are written there
    manager: Manager
    untrusted: UntrustedText  # collects the texts that came from the web
    recall: Recall | None  # finds what can be replayed; None to replay nothing
    resumed: UnfinishedRun | None  # the run to continue; None for a new one

    @property
    def gives_memory(self) -> bool:
        """Whether the model gets experience now."""
        return self.options.give_memory == "always" or self.progress.replans > 0

    # The first plan

    def first(self) -> Generator[Event, None, Plan | Ending]:
        """Return the first plan, or why there is none."""
        if self.resumed is not None and (left := self.resumed.left) is not None:
            return (yield from self._continue(self.resumed, left))
        known = (yield from self._recall_plan()) or self._flat_plan()
        if known is not None:
            return (yield from self._adopt(known, "" if known.source == "memory" else self._why_not_replayed))
        early = yield from self._give_up_early()
        if early is not None:
            return early
        observation = yield from self.session.look()
        knowledge = yield from self._gather(observation)
        self.progress.query = knowledge.query
        context = self._with(knowledge, PlanContext(self.task, observation, limits=self.options.limits))
        return (yield from self._ask_for_plan(context, self._why_not_replayed))

    def _adopt(self, plan: Plan, reason: str = "") -> Generator[Event, None, Plan]:
        self.progress.plan = plan
        yield Planned(plan=plan, replan=self.progress.replans, reason=reason)
        return plan

    def _continue(self, resumed: UnfinishedRun, left: Plan) -> Generator[Event, None, Plan]:
        """Adopt the knowledge, the plan and the finished subtasks of the run to continue."""
        progress = self.progress
        progress.query, progress.aims, progress.done = resumed.query, resumed.aims, list(resumed.done)
        progress.worked_on = list(resumed.done)
        progress.aims_known = bool(resumed.query) or resumed.aims != Aims()
        yield KnowledgeGathered(query=resumed.query, aims=resumed.aims)
        return (yield from self._adopt(left, f"what the run {resumed.run_id} left"))

    def _recall_plan(self) -> Generator[Event, None, Plan | None]:
        """Return the plan of the same task from verified memory, or of one that differs in values only."""
        if self.recall is None:
            return None
        with self.session.timed("memory"):
            known = self.recall.same_task() or self.recall.like_task()
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
        """Return the task itself as the only subtask, if there is no Manager."""
        if self.options.planner != "flat":
            return None
        whole = Subtask.of_all(self.task.instruction).model_copy(update={"info": self.task.instruction})
        return Plan(subtasks=(whole,), source="task")

    def _give_up_early(self) -> Generator[Event, None, Ending | None]:
        """End the task if nothing can be replayed and no model may be asked, or if an exploration failed to do it."""
        recall, boundaries = self.recall, self.options.boundaries
        if self.options.replay == "only":
            doubt = recall.why_not() if recall is not None else ""
            why = "there is no memory (memory.enabled)" if self.services.memory is None else doubt
            return Ending("failed", f"memory holds nothing verified that fits this task{': ' + why if why else ''}")
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

    def again(self, failed: FailedSubtask, left: tuple[Subtask, ...]) -> Generator[Event, None, Plan | Ending]:
        """Return a new plan for a failed subtask and those that follow it, from the current screen."""
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
        stuck = self.services.search is not None and self._is_stuck(failed)
        if stuck or not progress.aims_known:
            trouble = f"{failed.subtask.name}: {failed.reason}"
            context = self._with((yield from self._gather(observation, trouble)), context)
        else:
            known = progress.knowledge or Knowledge(progress.query, progress.aims)
            if self.options.give_memory == "after_failure":
                with self.session.timed("memory"):
                    known = replace(known, hits=self.manager.recall(progress.query or self.task.instruction))
            context = self._with(known, context)
        return (yield from self._ask_for_plan(context, failed.reason))

    def _is_stuck(self, failed: FailedSubtask) -> bool:
        """Return whether it is to be searched for how to do what failed.

        What a check found missing is tried first, and a refusal by the person or the policy is not a lack of knowledge.
        """
        refused = bool(failed.steps) and failed.steps[-1].result.refusal in _DECIDED
        return not refused and (failed.subtask != MISSING or self.progress.replans > 1)

    def _flat_replan(self, failed: FailedSubtask) -> Generator[Event, None, Plan | Ending]:
        """Give the result of a check back to the Worker; a failure that it reported itself is final."""
        if failed.subtask != MISSING:
            return Ending("failed", failed.reason)
        self.progress.replans += 1
        info = f"{self.task.instruction}\nA check of what was done so far says: {failed.reason}"
        plan = Plan(subtasks=(Subtask(name=MISSING.name, info=info),), source="task")
        return (yield from self._adopt(plan, failed.reason))

    # Asking the Manager

    def _gather(self, observation: Observation, trouble: str = "") -> Generator[Event, None, Knowledge]:
        with self.session.timed("search"):
            knowledge = self.manager.gather(self.task, observation, trouble, recall=self.gives_memory)
        self.progress.knowledge = knowledge
        # from the task alone, before it is known what is hard about it
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

    def _with(self, knowledge: Knowledge, context: PlanContext) -> PlanContext:
        experiences, aims = tuple(hit.experience for hit in knowledge.hits), self.progress.aims
        with self.session.timed("memory"):
            skills = self._offers(context.observation)
        return replace(
            context,
            web=knowledge.web,
            experiences=experiences,
            criteria=aims.criteria,
            constraints=aims.constraints,
            wants_aims=not self.progress.aims_known,
            skills=skills,
        )

    def _offers(self, observation: Observation) -> tuple[OfferedSkill, ...]:
        """Return the skills that the Manager may use."""
        if self.recall is None or not self.gives_memory:
            return ()
        return self.recall.skills.bearing_on(self.task.instruction, observation.active_window)

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

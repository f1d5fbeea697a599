"""One run of the loop, from a task to its outcome, as a generator of events.

Each part of the data flow is a method that yields events and returns a value; `events` puts them in order.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aci.actions import Done, Fail
from aci.desktop import Desktop
from aci.errors import AciError, Halted
from aci.observation import Observation
from aci.virtual import VirtualDesktop
from agent_s.errors import LimitReached, ModelError, PlanError, PlanTried
from agent_s.evaluator import Evaluator
from agent_s.events import (
    Event,
    KnowledgeGathered,
    Planned,
    Reflected,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
)
from agent_s.files import home_of
from agent_s.learned import Learned
from agent_s.learning import PLATFORM, Learner
from agent_s.llm.protocol import ActContext, FailedSubtask, PlanContext
from agent_s.manager import Knowledge, Manager
from agent_s.outside import Outside
from agent_s.recalling import Known, Recall
from agent_s.records import Aims, NoPlan, Outcome, Plan, StateCheck, Status, Step, Subtask, Task, Verdict, new_id
from agent_s.reflector import Reflector
from agent_s.replay import Replay, Replayed
from agent_s.resuming import Unfinished
from agent_s.search import meter
from agent_s.secrets import SecretDesktop, named_in
from agent_s.session import People, Session, Stopped
from agent_s.stalling import hopeless
from agent_s.verification import Verification
from agent_s.worker import Worker
from memory_store import EpisodicExperience, MemoryStoreError, NarrativeExperience

if TYPE_CHECKING:
    from agent_s.agent import AgentS

MISSING = Subtask(name="Do what a check found missing")
LONGEST_NAME = 160
STUCK = 2
"""From so many failures on the web is asked again."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a subtask or a task ended, before it is verified."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """What has been done so far.

    Attributes:
        query: The Manager's question.
        aims: What the task demands and forbids.
        asked: Whether the Manager was asked that; not where memory held the plan.
        plan: The latest plan.
        tried: What was planned and failed, so that it is not planned again.
        done: Finished subtasks with their steps.
        replans: How often a failure was planned anew.
        replayed: How many of the finished subtasks came from memory.
        used: Ids of the experiences that were relied on.
        proofs: What the ends of replays were held against.
        known: What memory knew of the whole task.
        boundary: Id of what an exploration failed to do, where the task was given up because of it.
    """

    query: str = ""
    aims: Aims = field(default_factory=Aims)
    asked: bool = False
    plan: Plan | None = None
    tried: set[tuple[Subtask, ...]] = field(default_factory=set)
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    replans: int = 0
    replayed: int = 0
    used: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    known: Known | None = None
    boundary: str = ""

    @property
    def all_replayed(self) -> bool:
        """Whether every finished subtask came from memory."""
        return bool(self.done) and self.replayed == len(self.done)


class Run:
    """One run.

    Args:
        agent: Whose model, desktop, memory and settings are used.
        task: What is to be done.
        state_check: Looks at the applications' own state at the end.
        blind: Whether what the check finds is kept from the agent.
        stop: Set when the run is to stop.
        unfinished: The run to go on with; None to begin anew.
        pause: Set when the person wants the screen for a while.
    """

    def __init__(
        self,
        agent: AgentS,
        task: Task,
        state_check: StateCheck | None,
        blind: bool,
        stop: threading.Event,
        unfinished: Unfinished | None = None,
        pause: threading.Event | None = None,
    ) -> None:
        self.id = new_id()
        self.task = task
        self.progress = Progress()
        desktop = SecretDesktop(agent.desktop, agent.secrets, named_in(task.instruction))
        self._outside = Outside(task.instruction)
        people = People(agent.ask, agent.confirm, agent.take_over)
        self.session = session = Session(
            agent.model, desktop, agent.limits, stop, agent.policy, people, agent.clock, self._outside.heed, pause
        )
        self._agent = agent
        self._unfinished = unfinished
        self._judged_by_model = state_check is None
        self._blind = blind and state_check is not None
        meter(agent.search, session.model)
        self._manager = Manager(
            session.model,
            agent.memory if agent.narrative else None,
            agent.search,
            agent.limits.max_subtasks,
            agent.search_deadline_s,
            asked_to_stop=stop.is_set,
        )
        self._worker = Worker(session.model, agent.memory if agent.episodic else None)
        self._reflector = Reflector(session.model, agent.reflect_every) if agent.reflect else None
        self._replay_only: bool = agent.replay == "only"
        evaluator = Evaluator(session.model)
        judge = evaluator if agent.evaluator and not self._replay_only else None
        self._verification = Verification(session, judge, task, state_check, agent.limits.max_looks)
        known = agent.memory if agent.replay else None
        self._recall = Recall(known, task, PLATFORM, agent.vouched) if known is not None else None
        self._replay = Replay(session, home_of(agent.desktop))
        self._learner = Learner(
            evaluator,
            agent.memory if agent.learn else None,
            self.id,
            task,
            session.model_name,
            self._outside,
            home_of(agent.desktop),
        )

    def events(self) -> Iterator[Event]:
        """Yield what happens; the last event is `RunEnded`."""
        session = self.session
        yield RunStarted(
            run_id=self.id,
            task=self.task,
            model=session.model_name,
            limits=self._agent.limits,
            desktop="virtual" if isinstance(self._agent.desktop, VirtualDesktop) else _display(self._agent.desktop),
            resumes=self._unfinished.run_id if self._unfinished else "",
        )
        session.forget_buffer()
        session.allow_acting()
        try:
            with session.stopped_from_the_screen():
                ending, verdict = yield from self._work_until_verified()
                yield from self._learn(ending, verdict)
        finally:
            session.release()
        yield from session.new_calls()
        yield RunEnded(outcome=self._outcome(ending, verdict))

    def _work_until_verified(self) -> Generator[Event, None, tuple[Ending, Verdict]]:
        """Do the task; where a check finds that it is not done, go back to planning with the reason."""
        work = self._work_through()
        while True:
            self.session.keep_for_the_end(self._judged_by_model)
            ending = yield from self._guarded(work)
            self.session.release()
            self.session.keep_for_the_end(False)
            if ending.status not in ("done", "failed", "infeasible"):
                return ending, Verdict(verified=None)
            verdict = yield from self._verify(ending.status)
            if ending.status != "done" or not self._refutes(verdict):
                return ending, verdict
            if self._blind or self.progress.replans >= self._agent.limits.max_replans:
                return Ending("failed", f"not verified: {verdict.reason}"), verdict
            work = self._work_on_what_is_missing(verdict)

    def _refutes(self, verdict: Verdict) -> bool:
        """Tell whether a claim to be done does not stand: it is contradicted, or has to be shown and is not."""
        return verdict.verified is False or (self._agent.evaluator == "strict" and not verdict.verified)

    def _verify(self, status: Status) -> Generator[Event, None, Verdict]:
        """Check the end; what only did verified things again, and left what these left, needs no judge."""
        progress = self.progress
        proofs = progress.proofs if progress.all_replayed else ()
        return (yield from self._verification.check(status, progress.done, progress.aims, tuple(proofs)))

    def _guarded(self, work: Generator[Event, None, Ending]) -> Generator[Event, None, Ending]:
        """Turn whatever ends the work early into an ending."""
        try:
            return (yield from work)
        except LimitReached as error:
            return Ending("out_of_budget", str(error))
        except (Stopped, Halted, KeyboardInterrupt):
            return Ending("stopped", f"{self.session.why_stopped()}; finished subtasks are kept in memory")
        except (ModelError, AciError, MemoryStoreError) as error:
            if self.session.asked_to_stop:
                return Ending("stopped", f"{self.session.why_stopped()}; finished subtasks are kept in memory")
            return Ending("error", str(error))

    def _work_through(self) -> Generator[Event, None, Ending]:
        """Plan, then work on one subtask after another; plan again what fails."""
        return (yield from self._carry_out((yield from self._plan())))

    def _work_on_what_is_missing(self, verdict: Verdict) -> Generator[Event, None, Ending]:
        """Plan anew what a check found missing, and do that."""
        failed = FailedSubtask(MISSING, f"not verified: {verdict.reason}")
        return (yield from self._carry_out((yield from self._replan(failed, ()))))

    def _carry_out(self, plan: Plan | Ending) -> Generator[Event, None, Ending]:
        while isinstance(plan, Plan):
            failed, left = yield from self._work_on_all(plan)
            if failed is None:
                return Ending("done")
            plan = yield from self._replan(failed, left)
        return plan

    def _work_on_all(self, plan: Plan) -> Generator[Event, None, tuple[FailedSubtask | None, tuple[Subtask, ...]]]:
        """Work on the subtasks in order; return the first that failed and those that were still to come."""
        for position, subtask in enumerate(plan.subtasks):
            left = plan.subtasks[position + 1 :]
            failed = yield from self._work_on(subtask, left, len(plan.subtasks))
            if failed is not None:
                return failed, left
        return None, ()

    # Planning

    def _plan(self) -> Generator[Event, None, Plan | Ending]:
        if self._unfinished is not None and (left := self._unfinished.left) is not None:
            return (yield from self._take_up(self._unfinished, left))
        known = (yield from self._recall_plan()) or self._flat_plan()
        if known is not None:
            self.progress.plan = known
            yield Planned(plan=known)
            return known
        early = yield from self._beyond()
        if early is not None:
            return early
        observation = yield from self.session.look()
        knowledge = yield from self._gather(observation)
        self.progress.query = knowledge.query
        return (yield from self._ask_for_plan(self._informed(PlanContext(self.task, observation), knowledge)))

    def _take_up(self, unfinished: Unfinished, left: Plan) -> Generator[Event, None, Plan]:
        """Take over what an unfinished run had found out, planned and done."""
        progress = self.progress
        progress.query, progress.aims, progress.plan = unfinished.query, unfinished.aims, left
        progress.asked = bool(unfinished.query)
        progress.done = list(unfinished.done)
        yield KnowledgeGathered(query=unfinished.query, aims=unfinished.aims)
        yield Planned(plan=left, reason=f"what the run {unfinished.run_id} left")
        return left

    def _gather(self, observation: Observation, trouble: str = "") -> Generator[Event, None, Knowledge]:
        with self.session.timed("model"):
            knowledge = self._manager.gather(self.task, observation, trouble, recall=self._gives_memory)
        yield from self.session.new_calls()
        if not self.progress.asked:  # from the task alone, before it is known what is hard about it
            self.progress.aims, self.progress.asked = knowledge.aims, True
        self._outside.note(text for result in knowledge.web for text in (result.title, result.content))
        yield KnowledgeGathered(
            query=knowledge.query,
            web=tuple(" ".join((result.title, result.url, result.note)).rstrip() for result in knowledge.web),
            narratives=tuple(hit.experience.id for hit in knowledge.hits),
            problems=knowledge.problems,
            aims=self.progress.aims,
        )
        return knowledge

    def _informed(self, context: PlanContext, knowledge: Knowledge) -> PlanContext:
        """Add to a context what was found out, and what the task forbids."""
        experiences = tuple(hit.experience for hit in knowledge.hits)
        return replace(context, web=knowledge.web, experiences=experiences, constraints=self.progress.aims.constraints)

    def _flat_plan(self) -> Plan | None:
        """Return the task itself as the only subtask, where no Manager is wanted."""
        if self._agent.planner != "flat":
            return None
        instruction = self.task.instruction
        name = instruction if len(instruction) <= LONGEST_NAME else f"{instruction[:LONGEST_NAME]}..."
        return Plan(subtasks=(Subtask(name=name, info=instruction),), source="task")

    def _flat_replan(self, failed: FailedSubtask) -> Generator[Event, None, Plan | Ending]:
        """Give what a check found missing back to the Worker; what the Worker gave up itself has failed."""
        if failed.subtask != MISSING:
            return Ending("failed", failed.reason)
        self.progress.replans += 1
        info = f"{self.task.instruction}\nA check of what was done so far says: {failed.reason}"
        plan = Plan(subtasks=(Subtask(name=MISSING.name, info=info),), source="task")
        self.progress.plan = plan
        yield Planned(plan=plan, replan=self.progress.replans, reason=failed.reason)
        return plan

    def _replan(self, failed: FailedSubtask, left: tuple[Subtask, ...]) -> Generator[Event, None, Plan | Ending]:
        """Plan the failed subtask and what was to follow anew, from the screen as it is; never the same plan twice."""
        spent = self.progress.replans >= self._agent.limits.max_replans
        if spent or self._replay_only:
            return Ending("failed", failed.reason)
        if self._agent.planner == "flat":
            return (yield from self._flat_replan(failed))
        progress = self.progress
        progress.replans += 1
        progress.tried |= {(failed.subtask, *left), *((progress.plan.subtasks,) if progress.plan else ())}
        observation = yield from self.session.look()
        done = tuple(subtask for subtask, _ in progress.done)
        context = PlanContext(self.task, observation, done=done, failed=failed, left=left)
        if self._asks_again:
            context = self._informed(context, (yield from self._gather(observation, failed.reason)))
        else:
            context = replace(context, constraints=progress.aims.constraints, experiences=self._reminded())
        return (yield from self._ask_for_plan(context, failed.reason))

    @property
    def _asks_again(self) -> bool:
        """Whether it is time to ask: the web once more when stuck, or for the first time where memory had the plan."""
        stuck = self.progress.replans >= STUCK and self._agent.search is not None
        return stuck or not self.progress.asked

    def _reminded(self) -> tuple[NarrativeExperience, ...]:
        """Return what memory knows of such tasks, where that was held back until a first try had failed."""
        if self._agent.give_memory == "always":
            return ()
        with self.session.timed("memory"):
            hits = self._manager.recall(self.progress.query or self.task.instruction)
        return tuple(hit.experience for hit in hits)

    def _ask_for_plan(self, context: PlanContext, reason: str = "") -> Generator[Event, None, Plan | Ending]:
        try:
            with self.session.timed("model"):
                plan = self._manager.plan(context, self.progress.tried)
        except PlanTried:
            yield from self.session.new_calls()
            return Ending("failed", reason)
        except PlanError as error:
            yield from self.session.new_calls()
            return Ending("failed", f"there is no valid plan: {error}")
        yield from self.session.new_calls()
        if isinstance(plan, NoPlan):
            return Ending("infeasible" if plan.infeasible else "failed", plan.reason)
        self.progress.plan = plan
        yield Planned(plan=plan, replan=self.progress.replans, reason=reason)
        return plan

    def _recall_plan(self) -> Generator[Event, None, Plan | None]:
        """Return the plan of the same task from verified memory, or of one that differs in values only."""
        if self._recall is None:
            return None
        with self.session.timed("memory"):
            known = self._recall.same_task() or self._recall.like_task()
        if known is None:
            front = (yield from self.session.look()).active_window
            with self.session.timed("memory"):
                known = self._recall.by_skills(front)
        if known is None:
            return None
        self.progress.query, self.progress.known = known.query, known
        if known.experience_id:
            self.progress.used.append(known.experience_id)
        return known.plan

    def _beyond(self) -> Generator[Event, None, Ending | None]:
        """End early where nothing is known and no model may be asked, or an exploration failed to do just this."""
        if self._replay_only:
            return Ending("failed", f"memory holds nothing verified that fits this task{self._why_no_memory()}")
        if self._recall is None or not self._heeds_boundaries:
            return None
        front = (yield from self.session.look()).active_window
        with self.session.timed("memory"):
            boundary = self._recall.boundary(front)
        if boundary is None:
            return None
        self.progress.boundary = boundary.id
        why = boundary.provenance.state_reason or boundary.description
        return Ending("failed", f"beyond what is known to work: {boundary.name!r} failed when it was explored ({why})")

    def _why_no_memory(self) -> str:
        if self._agent.memory is None:
            return ": there is no memory (memory.enabled)"
        doubt = self._recall.doubt if self._recall is not None else ""
        return f": {doubt}" if doubt else ""

    @property
    def _heeds_boundaries(self) -> bool:
        wanted = self._agent.boundaries
        return wanted == "always" or (wanted == "unattended" and self._agent.ask is None)

    # Working on a subtask

    def _work_on(
        self, subtask: Subtask, left: tuple[Subtask, ...], total: int
    ) -> Generator[Event, None, FailedSubtask | None]:
        """Do one subtask, by replay where memory holds a verified experience; return what failed, or None."""
        before = self._steps_before(subtask)
        learned = None if before else (yield from self._recall_steps(subtask))
        experiences = self._recall_for_worker(subtask) if learned is None else ()
        recalled = tuple(experience.id for experience in experiences)
        yield SubtaskStarted(subtask=subtask, index=total - len(left), total=total, experiences=recalled)
        steps: list[Step] = []
        result = (yield from self._do_again(subtask, learned, steps, not left)) if learned is not None else None
        replayed = result is not None and result.finished
        if replayed:
            ending = Ending("done")
        elif self._replay_only:
            ending = Ending("failed", _not_replayed(subtask, result))
        else:
            experiences = experiences or self._recall_for_worker(subtask)
            ending = yield from self._act_until_done(subtask, left, experiences, steps, before)
        ok = ending.status == "done"
        yield SubtaskEnded(subtask=subtask, ok=ok, reason=ending.reason, steps=len(steps), replayed=replayed)
        if not ok:
            return FailedSubtask(subtask, ending.reason, tuple(steps))
        self.progress.done.append((subtask, (*before, *steps)))
        if steps and not replayed and not before:
            yield from self._store_subtask(subtask, steps)
        return None

    def _steps_before(self, subtask: Subtask) -> tuple[Step, ...]:
        """Return what an unfinished run had done of a subtask already."""
        unfinished = self._unfinished
        return unfinished.steps if unfinished is not None and unfinished.current == subtask else ()

    def _recall_for_worker(self, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        if not self._gives_memory or self._replay_only:
            return ()
        with self.session.timed("memory"):
            return self._worker.recall(self.task, subtask)

    def _do_again(
        self, subtask: Subtask, learned: Learned, steps: list[Step], last: bool
    ) -> Generator[Event, None, Replayed]:
        """Do again what memory knows of a subtask."""
        result = yield from self._replay.run(subtask, learned, steps, last)
        if result.finished:
            self.progress.replayed += 1
            self.progress.used.append(learned.experience_id)
            self.progress.proofs += result.evidence
        elif steps or learned.exact:
            # What was only like it and did not begin has misled nobody.
            self._learner.count_use(learned.experience_id, worked=False)
        return result

    def _recall_steps(self, subtask: Subtask) -> Generator[Event, None, Learned | None]:
        if self._recall is None:
            return None
        known = self.progress.known
        if known is not None and subtask.name in known.learned and not self.progress.replans:
            return known.learned[subtask.name]
        with self.session.timed("memory"):
            learned = self._recall.same_subtask(subtask)
        if learned is None:
            front = (yield from self.session.look()).active_window
            with self.session.timed("memory"):
                learned = self._recall.like_subtask(subtask, front)
        return learned if learned is not None and learned.steps else None

    def _act_until_done(
        self,
        subtask: Subtask,
        left: tuple[Subtask, ...],
        experiences: tuple[EpisodicExperience, ...],
        steps: list[Step],
        before: tuple[Step, ...],
    ) -> Generator[Event, None, Ending]:
        """Let the Worker act, one primitive a step, until it claims to be done or gives up.

        It is told of the steps that a run before this one took, but they count for nothing else.
        """
        done = tuple(finished for finished, _ in self.progress.done)
        follows = self.task.follows if self._agent.planner == "flat" else ()
        for _ in range(self._allowed_steps):
            observation = yield from self.session.look()
            pointless = hopeless(steps, observation)
            if pointless:
                return Ending("failed", pointless)
            reflection = yield from self._reflect(subtask, observation, steps)
            context = ActContext(self.task, subtask, observation, done, left, experiences, (*before, *steps))
            context = replace(
                context, constraints=self.progress.aims.constraints, reflection=reflection, follows=follows
            )
            with self.session.timed("model"):
                response = self._worker.act(context)
            yield from self.session.new_calls()
            match response.action:
                case Done():
                    return Ending("done")
                case Fail(reason=reason):
                    return Ending("failed", reason or response.observation_analysis or "the Worker gave up")
            steps.append((yield from self.session.step(observation, response)))
        return Ending("failed", f"not finished after {self._allowed_steps} steps (limits.max_subtask_steps)")

    @property
    def _allowed_steps(self) -> int:
        """How many steps a subtask may take; one that is the whole task may take as many as the task."""
        limits = self._agent.limits
        return limits.max_steps + 1 if self._agent.planner == "flat" else limits.max_subtask_steps

    def _reflect(self, subtask: Subtask, observation: Observation, steps: list[Step]) -> Generator[Event, None, str]:
        trouble = self._reflector.trouble(steps, observation) if self._reflector else ""
        if self._reflector is None or not trouble:
            return ""
        with self.session.timed("model"):
            reflection = self._reflector.reflect(
                self.task, subtask, observation, steps, trouble, self.progress.aims.constraints
            )
        yield from self.session.new_calls()
        yield Reflected(trouble=trouble, reflection=reflection)
        return reflection

    def _store_subtask(self, subtask: Subtask, steps: list[Step]) -> Generator[Event, None, None]:
        observation = yield from self.session.look()
        with self.session.timed("memory"):
            stored = self._learner.store_subtask(subtask, steps, observation)
        yield from self.session.new_calls()
        yield from stored

    @property
    def _gives_memory(self) -> bool:
        """Whether experience is given to the model now."""
        return self._agent.give_memory == "always" or self.progress.replans > 0

    # The end

    def _learn(self, ending: Ending, verdict: Verdict) -> Generator[Event, None, None]:
        """Write what the run taught to memory; a memory that cannot be written never costs the outcome."""
        try:
            with self.session.timed("memory"):
                if ending.status in ("done", "failed"):
                    for experience_id in self.progress.used:
                        self._learner.count_use(experience_id, ending.status == "done", self._proof(verdict))
                self._learner.mark(verdict)
                if self.progress.boundary:
                    self._learner.count_use(self.progress.boundary, worked=True)
                elif ending.status == "done" and verdict.verified and not self.progress.all_replayed:
                    self._withdraw_boundary()
                nothing_new = self.progress.all_replayed or self._replay_only or self.progress.boundary
                stored = [] if nothing_new else self._store_task(ending, verdict)
                stored += self._learner.store_skills(verdict)
            yield from self.session.new_calls()
            yield from stored
        except (MemoryStoreError, ModelError, LimitReached) as error:
            yield Troubled(problem=f"the run's experience could not be stored: {error}")
        except KeyboardInterrupt:
            yield Troubled(problem="stopped while the run's experience was being stored")

    def _withdraw_boundary(self) -> None:
        """Withdraw what an exploration could not do, once a run has done it."""
        front = self.session.latest.active_window if self.session.latest is not None else None
        boundary = self._recall.boundary(front) if self._recall is not None else None
        if boundary is not None:
            self._learner.withdraw(boundary.id)

    def _proof(self, verdict: Verdict) -> str:
        """Name the check that proves what was replayed: independent of the model, and of nothing but the replay."""
        alone = self.progress.all_replayed and not self.progress.replans and verdict.verified
        return verdict.by if alone and not self._judged_by_model else ""

    def _store_task(self, ending: Ending, verdict: Verdict) -> list[Event]:
        """Store the plan as it was carried out, re-planned parts in their place."""
        plan = self.progress.plan
        if ending.status == "done":
            plan = Plan(subtasks=tuple(subtask for subtask, _ in self.progress.done))
        return self._learner.store_task(self.progress.query, plan, ending.status, ending.reason, verdict)

    def _outcome(self, ending: Ending, verdict: Verdict) -> Outcome:
        return Outcome(
            status=ending.status,
            verified=verdict.verified,
            reason=ending.reason,
            usage=self.session.usage(),
            run_id=self.id,
            replayed=ending.status == "done" and self.progress.all_replayed,
        )


def _not_replayed(subtask: Subtask, result: Replayed | None) -> str:
    if result is None:
        return f"memory holds no verified steps for {subtask.name!r}"
    return f"the replay of {subtask.name!r} stopped: {result.problem}"


def _display(desktop: Desktop) -> str:
    return str(getattr(desktop, "display", ""))

"""One run of the loop, from a task to its outcome, as a generator of events.

Each part of the data flow is a method that yields events and returns a value; `events` puts them in order.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aci.acting.actions import Done, Fail
from aci.desktop.desktop import Desktop
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError, Halted
from aci.observation.observation import Observation
from agent_s.errors import LimitReached, ModelError
from agent_s.events import (
    Event,
    Reflected,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
)
from agent_s.llm.protocol import ActContext, FailedSubtask
from agent_s.loop.learner import PLATFORM, Learner
from agent_s.loop.planning import MISSING, Planning
from agent_s.loop.session import People, Session, Stopped
from agent_s.loop.stall_detection import hopeless
from agent_s.loop.state import Ending, Progress
from agent_s.loop.unfinished import Unfinished
from agent_s.loop.verification import Verification
from agent_s.records import Outcome, Plan, StateCheck, Status, Step, Subtask, Task, Verdict, new_id
from agent_s.replay.derived import Sightings
from agent_s.replay.player import Replay, Replayed
from agent_s.replay.recall import Recall
from agent_s.replay.template import Learned
from agent_s.replay.written_files import home_of
from agent_s.roles.evaluator import Evaluator
from agent_s.roles.reflector import Reflector
from agent_s.roles.worker import Worker
from agent_s.safety.secrets import SecretDesktop, named_in
from agent_s.safety.untrusted_text import Outside
from agent_s.search import meter
from intents.alignment import holds
from memory_store import EpisodicExperience, MemoryStoreError

if TYPE_CHECKING:
    from agent_s.loop.agent import AgentS


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
        self._sightings = Sightings()
        people = People(agent.ask, agent.confirm, agent.take_over)
        self.session = session = Session(
            agent.model, desktop, agent.limits, stop, agent.policy, people, agent.clock, self._heed, pause
        )
        self._agent = agent
        self._unfinished = unfinished
        self._judged_by_model = state_check is None
        self._blind = blind and state_check is not None
        meter(agent.search, session.model)
        self._worker = Worker(session.model, agent.memory if agent.episodic else None)
        self._reflector = Reflector(session.model, agent.reflect_every) if agent.reflect else None
        self._replay_only: bool = agent.replay == "only"
        evaluator = Evaluator(session.model)
        judge = evaluator if agent.evaluator and not self._replay_only else None
        self._verification = Verification(session, judge, task, state_check, agent.limits.max_looks)
        known = agent.memory if agent.replay else None
        self._recall = Recall(known, task, PLATFORM, agent.vouched) if known is not None else None
        self._planning = Planning(agent, task, session, self.progress, self._outside, self._recall, unfinished)
        self._replay = Replay(session, home_of(agent.desktop), self._sightings)
        self._learner = Learner(
            evaluator,
            agent.memory if agent.learn else None,
            self.id,
            task,
            session.model_name,
            self._outside,
            home_of(agent.desktop),
            sightings=self._sightings,
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

    def _heed(self, seen: Observation) -> None:
        """Remember what a screen says, which must not be learned as an instruction or replayed as a constant."""
        self._outside.heed(seen)
        self._sightings.heed(seen, self.session.steps)

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
        proofs = progress.proofs if progress.all_replayed and not progress.unproven else ()
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
        return (yield from self._carry_out((yield from self._planning.first())))

    def _work_on_what_is_missing(self, verdict: Verdict) -> Generator[Event, None, Ending]:
        """Plan anew what a check found missing, and do that."""
        failed = FailedSubtask(MISSING, f"not verified: {verdict.reason}")
        return (yield from self._carry_out((yield from self._planning.again(failed, ()))))

    def _carry_out(self, plan: Plan | Ending) -> Generator[Event, None, Ending]:
        while isinstance(plan, Plan):
            failed, left = yield from self._work_on_all(plan)
            if failed is None:
                return Ending("done")
            plan = yield from self._planning.again(failed, left)
        return plan

    def _work_on_all(self, plan: Plan) -> Generator[Event, None, tuple[FailedSubtask | None, tuple[Subtask, ...]]]:
        """Work on the subtasks in order; return the first that failed and those that were still to come."""
        for position, subtask in enumerate(plan.subtasks):
            left = plan.subtasks[position + 1 :]
            failed = yield from self._work_on(subtask, left, len(plan.subtasks))
            if failed is not None:
                return failed, left
        return None, ()

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
        elif result is not None and result.stale and holds(f"{subtask.name}\n{subtask.info}", result.stale):
            ending = Ending("failed", result.problem)  # a Worker would be given the old value as what to do
        else:
            experiences = experiences or self._recall_for_worker(subtask)
            ending = yield from self._act_until_done(subtask, left, experiences, steps, before, result)
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
        if not self._planning.gives_memory or self._replay_only:
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
            self.progress.unproven += result.unproven
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
        replay: Replayed | None = None,
    ) -> Generator[Event, None, Ending]:
        """Let the Worker act, one primitive a step, until it claims to be done or gives up.

        It is told of the steps that a run before this one took, but they count for nothing else.
        """
        done = tuple(finished for finished, _ in self.progress.done)
        warning = f"The steps that memory holds were not replayed: {replay.problem}" if replay and replay.stale else ""
        follows = self.task.follows if self._agent.planner == "flat" else ()
        for _ in range(self._allowed_steps):
            observation = yield from self.session.look()
            pointless = hopeless(steps, observation)
            if pointless:
                return Ending("failed", pointless)
            reflection = yield from self._reflect(subtask, observation, steps)
            context = ActContext(self.task, subtask, observation, done, left, experiences, (*before, *steps))
            context = replace(
                context, constraints=self.progress.aims.constraints, reflection=reflection or warning, follows=follows
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

"""One run of the loop, from a task to its outcome, as a generator of events.

1. Plan.
2. For each subtask, replay or let the Worker act (`agent_s.loop.subtask_run`). A failed subtask goes back to planning.
3. Verify. A task that is not done goes back to planning.
4. Learn, and report the outcome.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing

from aci.errors import AciError, Halted
from aci.observation.observation import Observation
from aci.remote.addresses import is_address
from agent_s.errors import LimitReached, ModelError, Stopped
from agent_s.events import Concluded, Event, RunEnded, RunStarted, Troubled
from agent_s.llm.protocol import FailedSubtask
from agent_s.loop.drafts import draft_task, is_trivial
from agent_s.loop.learner import PLATFORM, Learner
from agent_s.loop.options import Options, Services
from agent_s.loop.planning import MISSING, Planning
from agent_s.loop.progress import Ending, Progress
from agent_s.loop.session import Session, Signals
from agent_s.loop.subtask_run import SubtaskRunner
from agent_s.loop.unfinished import UnfinishedRun
from agent_s.loop.verification import Verification
from agent_s.probes.prober import Prober
from agent_s.records import Outcome, Plan, StateCheck, Subtask, Task, Verdict, new_id
from agent_s.replay.derived import Derivation
from agent_s.replay.first_dialogs import no_answers
from agent_s.replay.player import Replay
from agent_s.replay.recall import Recall
from agent_s.replay.seen_texts import SeenTexts
from agent_s.roles.evaluator import Evaluator
from agent_s.roles.judge import Judge
from agent_s.roles.manager import Manager
from agent_s.roles.worker import Worker
from agent_s.safety.secrets import SecretDesktop, named_in
from agent_s.safety.untrusted_text import UntrustedText
from memory_store import MemoryStoreError


class TaskRun:
    """One run of the loop.

    Args:
        services: The collaborators of the run, such as the model, the desktop and memory.
        options: How the agent works.
        signals: Requests to stop and to pause.
        task: The task.
        state_check: Check of the applications' own state at the end; None to let the model judge.
        blind: Whether to withhold the result of the check from the agent.
        resumed: The run to resume; None for a new one.
    """

    def __init__(
        self,
        services: Services,
        options: Options,
        signals: Signals,
        task: Task,
        state_check: StateCheck | None = None,
        blind: bool = False,
        resumed: UnfinishedRun | None = None,
    ) -> None:
        self.id = new_id()
        self._task = task
        self._options = options
        self._resumed = resumed
        self._desktop = SecretDesktop(services.desktop, services.secrets, named_in(task.instruction))
        self._progress = progress = Progress()
        self._judged_by_model = state_check is None
        self._blind = blind and state_check is not None
        self._untrusted, self._seen_texts = UntrustedText(task.instruction), SeenTexts()
        self._secret_problem = services.secrets.problem(task.instruction)
        self._session = session = Session(services, self._desktop, options.limits, signals, self._on_screen)
        if services.search is not None:
            services.search.set_meter(session)
        memory, evaluator = services.memory, Evaluator(session)
        judge = evaluator if options.evaluator and options.replay != "only" else None
        prober = Prober(self._desktop.home, task.instruction, time.time(), services.secrets.hide)
        self._verification = Verification(session, judge, task, state_check, options.limits.max_looks, prober)
        self._recall = None
        if memory is not None and options.replay:
            may_call_model, agree = options.replay != "only", services.people.agree
            judges = Judge(session, task, memory) if options.judge and may_call_model else None
            trusted, names = options.trusted_run, session.display_names
            self._recall = Recall(memory, task, PLATFORM, trusted, may_call_model, agree, judges, names)
        manager = Manager(
            session,
            memory if options.narrative else None,
            services.search,
            options.limits.max_subtasks,
            options.search_timeout_s,
            asked_to_stop=session.asked_to_stop,
        )
        self._planning = Planning(
            services, options, session, task, progress, manager, self._untrusted, self._recall, resumed
        )
        self._reported = Ending("stopped")  # the agent's own ending, before verification
        self._learner = None
        if memory is not None and options.learn:
            derivation = Derivation(self._seen_texts)
            self._learner = Learner(
                evaluator,
                memory,
                services.learned or memory,
                self.id,
                task,
                session.name,
                self._untrusted,
                derivation,
                options.summaries,
                self._desktop.home,
            )
        answers = self._recall.first_answers if self._recall is not None else no_answers
        self._subtasks = SubtaskRunner(
            options=options,
            session=session,
            task=task,
            progress=progress,
            planning=self._planning,
            worker=Worker(session, memory if options.episodic else None, self.id, options.grounding_zooms),
            recall=self._recall,
            replay=Replay(session, self._desktop.home, self._seen_texts, answers),
            learner=self._learner,
            home=self._desktop.home,
            began=time.time(),
            resumed=resumed,
        )

    def events(self) -> Iterator[Event]:
        """Yield the events of the run; the last one is `RunEnded`."""
        with closing(self._run()) as events:
            for event in events:
                yield from self._session.model_calls()  # calls that led to the event come before it
                yield event

    def _on_screen(self, seen: Observation) -> None:
        """Note the texts of a screen, which must become neither instructions nor constants of a replay."""
        self._verification.set_start(seen)
        self._untrusted.add_screen(seen)
        self._seen_texts.add(seen, self._session.steps)

    @property
    def _has_temporary_desktop(self) -> bool:
        return self._desktop.private and not is_address(self._desktop.display)

    def _run(self) -> Generator[Event, None, None]:
        yield RunStarted(
            run_id=self.id,
            task=self._task,
            model=self._session.name,
            limits=self._options.limits,
            desktop="virtual" if self._has_temporary_desktop else self._desktop.display,
            resumes=self._resumed.run_id if self._resumed else "",
        )
        with self._session.running():
            ending, verdict = yield from self._work_until_verified()
            yield from self._learn(ending, verdict)
            yield Concluded(outcome=self._outcome(ending, verdict))
            yield from self._summarize()
        yield RunEnded(outcome=self._outcome(ending, verdict))

    # Working

    def _work_until_verified(self) -> Generator[Event, None, tuple[Ending, Verdict]]:
        """Plan, work and verify; if verification finds that the task is not done, replan with its reason."""
        if self._secret_problem:
            return Ending("error", self._secret_problem), Verdict(verified=None)
        plan = self._planning.first_plan()
        while True:
            self._reported = ending = yield from self._work(plan)
            if ending.status not in ("done", "failed", "infeasible"):
                return ending, Verdict(verified=None)
            verdict = yield from self._verify(ending)
            refuted = verdict.verified is False or (self._options.evaluator == "strict" and not verdict.verified)
            if ending.status != "done" or not refuted:
                return ending, verdict
            reason = f"not verified: {verdict.reason}"
            if self._blind or self._progress.replans >= self._options.limits.max_replans:
                return Ending("failed", reason), verdict
            plan = self._planning.replan(FailedSubtask(MISSING, reason), ())

    def _work(self, plan: Generator[Event, None, Plan | Ending]) -> Generator[Event, None, Ending]:
        """Plan and carry out the plan; limits, stops and errors become endings."""
        session = self._session
        session.reserve_for_verification(self._judged_by_model)
        try:
            return (yield from self._carry_out(plan))
        except LimitReached as error:
            return Ending("out_of_budget", str(error))
        except (Stopped, Halted, KeyboardInterrupt):
            return self._stopped()
        except (ModelError, AciError, MemoryStoreError) as error:
            return self._stopped() if session.asked_to_stop() else Ending("error", str(error))
        finally:
            session.release()
            session.reserve_for_verification(False)

    def _stopped(self) -> Ending:
        return Ending("stopped", f"{self._session.stop_reason}; finished subtasks are kept in memory")

    def _carry_out(self, planning: Generator[Event, None, Plan | Ending]) -> Generator[Event, None, Ending]:
        """Carry out the subtasks of a plan in order; replan when one fails."""
        plan = yield from planning
        while isinstance(plan, Plan):
            failed, left = yield from self._run_subtasks(plan)
            if failed is None:
                return Ending("done")
            plan = yield from self._planning.replan(failed, left)
        return plan

    def _run_subtasks(self, plan: Plan) -> Generator[Event, None, tuple[FailedSubtask | None, tuple[Subtask, ...]]]:
        """Return the first subtask that failed, if any, and the subtasks left after it."""
        for position, subtask in enumerate(plan.subtasks, start=1):
            left = plan.subtasks[position:]
            failed = yield from self._subtasks.run(subtask, left, len(plan.subtasks))
            if failed is not None:
                return failed, left
        return None, ()

    def _verify(self, ending: Ending) -> Generator[Event, None, Verdict]:
        """Verify the result; a fully replayed run is compared with the end that was verified when it was learned."""
        progress = self._progress
        proofs = tuple(progress.proofs) if progress.all_known and not progress.unproven else ()
        return (yield from self._verification.check(ending.status, progress.worked_on, progress.aims, proofs))

    # The end

    def _learn(self, ending: Ending, verdict: Verdict) -> Generator[Event, None, None]:
        """Write the run's experience to memory; a failure to do so does not change the outcome."""
        progress, learner = self._progress, self._learner
        if learner is None:
            return
        if self._blind and not self._options.learn_checks:
            ending, verdict = self._reported, Verdict(verified=None)
        try:
            with self._session.timed("memory"):
                if ending.status in ("done", "failed"):
                    learner.count_uses(progress.used, ending.status == "done", self._proof(verdict))
                learner.mark_subtasks(verdict)
                if progress.boundary:
                    learner.count_uses([progress.boundary], worked=True)
                elif ending.status == "done" and verdict.verified and not progress.all_known:
                    self._withdraw_boundary(learner)
                stored = []
                if not (progress.all_known or self._options.replay == "only" or progress.boundary):
                    stored = self._store_task(learner, ending, verdict)
                stored += learner.store_skills(verdict)
            yield from stored
        except MemoryStoreError as error:
            yield Troubled(problem=f"the run's experience could not be stored: {error}")
        except KeyboardInterrupt:
            yield Troubled(problem="stopped while the run's experience was being stored")

    def _store_task(self, learner: Learner, ending: Ending, verdict: Verdict) -> list[Event]:
        """Store the whole task in narrative memory."""
        progress, done = self._progress, ending.status == "done"
        plan = Plan(subtasks=progress.finished) if done else progress.plan
        how = (ending.status, ending.reason)
        text = draft_task(progress.done, progress.current, how, verdict, self._session.latest)
        short = done and verdict.verified is not False and len(progress.done) == 1 and is_trivial(progress.done[0][1])
        return learner.store_task(progress.query, plan, how, verdict, text, short)

    def _summarize(self) -> Generator[Event, None, None]:
        """Let the model summarize what was learned; remaining drafts are left for a later run."""
        if self._learner is None or self._options.replay == "only" or self._session.asked_to_stop():
            return
        try:
            with self._session.timed("memory"):
                self._learner.summarize_drafts(self._session.latest)
        except (MemoryStoreError, ModelError) as error:
            yield Troubled(problem=f"what was learned could not be summarized: {error}")
        except (LimitReached, Stopped, KeyboardInterrupt):
            return

    def _withdraw_boundary(self, learner: Learner) -> None:
        """Withdraw a boundary, an exploration's claim that the task cannot be done, which this run has refuted."""
        window = self._session.latest.active_window if self._session.latest is not None else None
        boundary = self._recall.boundary(window) if self._recall is not None else None
        if boundary is not None:
            learner.withdraw(boundary.id)

    def _proof(self, verdict: Verdict) -> str:
        """Return the name of the check that proves a replay; empty if a model judged or not everything was replayed."""
        alone = self._progress.all_replayed and not self._progress.replans and verdict.verified
        return verdict.by if alone and not self._judged_by_model else ""

    def _outcome(self, ending: Ending, verdict: Verdict) -> Outcome:
        return Outcome(
            status=ending.status,
            verified=verdict.verified,
            reason=ending.reason,
            usage=self._session.usage(),
            run_id=self.id,
            replayed=ending.status == "done" and self._progress.all_replayed,
        )

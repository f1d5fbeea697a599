"""One run of the loop, from a task to its outcome, as a generator of events.

Everything that happens between two looks at the screen is a method of `Run` that yields events and returns a value;
`events` puts them in the order of the data flow.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aci.actions import Action, CallUser, Done, Fail, Wait
from aci.desktop import ActionResult
from aci.errors import AciError
from aci.observation import Observation
from agent_s.errors import AgentError, LimitReached, ModelError, PlanError
from agent_s.evaluator import ID_FIELDS, Evaluator, window_effect
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    Event,
    KnowledgeGathered,
    ModelCalled,
    Observed,
    Planned,
    Reflected,
    ReplayStarted,
    ReplayStopped,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
    Verified,
)
from agent_s.learning import Learner
from agent_s.llm.budget import MeteredModel
from agent_s.llm.protocol import ActContext, ActResponse, FailedSubtask, PlanContext
from agent_s.manager import Manager
from agent_s.records import (
    GroundedStep,
    Outcome,
    Phase,
    Plan,
    StateCheck,
    Status,
    Step,
    Subtask,
    Task,
    Usage,
    Verdict,
    new_id,
)
from agent_s.reflector import Reflector
from agent_s.replay import Mismatch, differs, ground, read_steps
from agent_s.worker import Worker
from memory_store import EpisodicExperience, MemoryStoreError

if TYPE_CHECKING:
    from agent_s.agent import AgentS

STALE_AFTER_S = 1.0
"""An observation older than this is not acted on without looking again."""

REPLAY_PATIENCE_S = 6.0
"""How long a replay waits for the screen to look as it was learned."""

REPLAY_POLL_S = 0.3


class Stopped(BaseException):
    """Somebody asked the run to stop; never leaves this module."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a subtask or a task ended, before it is verified."""

    status: Status
    reason: str = ""


@dataclass(slots=True)
class Progress:
    """What has been done so far."""

    query: str = ""
    plan: Plan | None = None
    done: list[tuple[Subtask, tuple[Step, ...]]] = field(default_factory=list)
    steps: int = 0
    replans: int = 0
    replayed: int = 0
    used: list[str] = field(default_factory=list)

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
        stop: Set when the run is to stop.
    """

    def __init__(self, agent: AgentS, task: Task, state_check: StateCheck | None, stop: threading.Event) -> None:
        self.id = new_id()
        self.task = task
        self.progress = Progress()
        self._agent = agent
        self._state_check = state_check
        self._stop = stop
        self._clock = agent.clock
        self._began = self._clock()
        self._seconds: dict[Phase, float] = {}
        self._seen: tuple[float, Observation] | None = None
        self._told = 0
        self._model = MeteredModel(agent.model, agent.limits.max_model_calls, agent.clock)
        self._manager = Manager(
            self._model,
            agent.memory if agent.narrative else None,
            agent.search,
            agent.limits.max_subtasks,
        )
        self._worker = Worker(self._model, agent.memory if agent.episodic else None)
        self._reflector = Reflector(self._model, agent.reflect_every)
        self._evaluator = Evaluator(self._model)
        self._learner = Learner(self._evaluator, agent.memory if agent.learn else None, self.id, task, self.model_name)

    @property
    def model_name(self) -> str:
        """Name of the model, as reports show it."""
        return str(getattr(self._agent.model, "name", type(self._agent.model).__name__))

    def events(self) -> Iterator[Event]:
        """Yield what happens; the last event is `RunEnded`."""
        yield RunStarted(run_id=self.id, task=self.task, model=self.model_name, limits=self._agent.limits)
        verdict = Verdict(verified=None)
        try:
            ending = yield from self._guarded(self._work_through())
            self._release()
            if ending.status in ("done", "failed", "infeasible"):
                verdict = yield from self._verify(ending)
                ending = _after_verification(ending, verdict)
            yield from self._learn(ending, verdict)
        finally:
            self._release()
        yield from self._calls()
        yield RunEnded(outcome=self._outcome(ending, verdict))

    def _work_through(self) -> Generator[Event, None, Ending]:
        """Plan, then work on one subtask after another; plan again what fails."""
        plan = yield from self._plan()
        if isinstance(plan, Ending):
            return plan
        queue = list(plan.subtasks)
        while queue:
            subtask, *queue = queue
            failed = yield from self._work_on(subtask, tuple(queue), len(plan.subtasks))
            if failed is None:
                continue
            plan = yield from self._replan(failed, tuple(queue), plan)
            if isinstance(plan, Ending):
                return plan
            queue = list(plan.subtasks)
        return Ending("done")

    # Planning

    def _plan(self) -> Generator[Event, None, Plan | Ending]:
        known = self._recall_plan()
        if known is not None:
            yield KnowledgeGathered(query="", narratives=tuple(self.progress.used))
            self.progress.plan = known
            yield Planned(plan=known)
            return known
        observation = yield from self._look()
        with self._timed("model"):
            knowledge = self._manager.gather(self.task, observation)
        self.progress.query = knowledge.query
        yield from self._calls()
        yield KnowledgeGathered(
            query=knowledge.query,
            web=tuple(f"{result.title} {result.url}" for result in knowledge.web),
            narratives=tuple(hit.experience.id for hit in knowledge.hits),
            knowledge=knowledge.guideline,
            problems=knowledge.problems,
        )
        return (yield from self._ask_for_plan(PlanContext(self.task, observation, knowledge.guideline)))

    def _replan(
        self, failed: FailedSubtask, left: tuple[Subtask, ...], previous: Plan
    ) -> Generator[Event, None, Plan | Ending]:
        """Plan the failed subtask and what was to follow anew, from the screen as it is; never the same plan twice."""
        if self.progress.replans >= self._agent.limits.max_replans:
            return Ending("failed", failed.reason)
        self.progress.replans += 1
        observation = yield from self._look()
        done = tuple(subtask for subtask, _ in self.progress.done)
        context = PlanContext(self.task, observation, done=done, failed=failed, left=left)
        plan = yield from self._ask_for_plan(context, failed.reason)
        if isinstance(plan, Plan) and plan.subtasks == (failed.subtask, *left):
            return Ending("failed", failed.reason)
        return plan

    def _ask_for_plan(self, context: PlanContext, reason: str = "") -> Generator[Event, None, Plan | Ending]:
        try:
            with self._timed("model"):
                plan = self._manager.plan(context)
        except PlanError as error:
            yield from self._calls()
            return Ending("failed", f"there is no valid plan: {error}")
        yield from self._calls()
        self.progress.plan = plan
        yield Planned(plan=plan, replan=self.progress.replans, reason=reason)
        return plan

    def _recall_plan(self) -> Plan | None:
        """Return the plan of the same task from verified narrative memory."""
        memory = self._agent.memory
        if memory is None or not self._agent.replay:
            return None
        with self._timed("memory"):
            experience = memory.find_verified_narrative(self.task.instruction)
        if experience is None or not experience.plan:
            return None
        self.progress.query = experience.query
        self.progress.used.append(experience.id)
        subtasks = tuple(Subtask(name=part.name, info=part.info) for part in experience.plan)
        return Plan(subtasks=subtasks, source="memory")

    # Working on a subtask

    def _work_on(
        self, subtask: Subtask, left: tuple[Subtask, ...], total: int
    ) -> Generator[Event, None, FailedSubtask | None]:
        """Do one subtask, by replay where memory holds a verified experience; return what failed, or None."""
        with self._timed("memory"):
            experiences = self._worker.recall(self.task, subtask)
        index = total - len(left)
        yield SubtaskStarted(
            subtask=subtask, index=index, total=total, experiences=tuple(found.id for found in experiences)
        )
        steps: list[Step] = []
        known = self._recall_episode(subtask)
        if known is not None and (yield from self._replay(subtask, known, steps)):
            ending = Ending("done")
            self.progress.replayed += 1
        else:
            known = None
            ending = yield from self._act_until_done(subtask, left, experiences, steps)
        yield SubtaskEnded(
            subtask=subtask,
            ok=ending.status == "done",
            reason=ending.reason,
            steps=len(steps),
            replayed=known is not None,
        )
        if ending.status != "done":
            return FailedSubtask(subtask, ending.reason, tuple(steps))
        self.progress.done.append((subtask, tuple(steps)))
        if known is None and steps:
            observation = yield from self._look()
            with self._timed("memory"):
                stored = self._learner.store_subtask(subtask, steps, observation)
            yield from self._calls()
            yield from stored
        return None

    def _act_until_done(
        self,
        subtask: Subtask,
        left: tuple[Subtask, ...],
        experiences: tuple[EpisodicExperience, ...],
        steps: list[Step],
    ) -> Generator[Event, None, Ending]:
        """Let the Worker act, one primitive a step, until it claims to be done or gives up."""
        done = tuple(finished for finished, _ in self.progress.done)
        first = len(steps)
        while len(steps) - first < self._agent.limits.max_subtask_steps:
            observation = yield from self._look()
            reflection = yield from self._reflect(subtask, observation, steps)
            context = ActContext(self.task, subtask, observation, done, left, experiences, tuple(steps), reflection)
            with self._timed("model"):
                response = self._worker.act(context)
            yield from self._calls()
            match response.action:
                case Done():
                    return Ending("done")
                case Fail(reason=reason):
                    return Ending("failed", reason or response.observation_analysis or "the Worker gave up")
            steps.append((yield from self._step(observation, response)))
        allowed = self._agent.limits.max_subtask_steps
        return Ending("failed", f"not finished after {allowed} steps (limits.max_subtask_steps)")

    def _reflect(self, subtask: Subtask, observation: Observation, steps: list[Step]) -> Generator[Event, None, str]:
        trouble = self._reflector.trouble(steps, observation) if self._agent.reflect else ""
        if not trouble:
            return ""
        with self._timed("model"):
            reflection = self._reflector.reflect(self.task, subtask, observation, steps, trouble)
        yield from self._calls()
        yield Reflected(trouble=trouble, reflection=reflection)
        return reflection

    def _step(
        self, observation: Observation, response: ActResponse, replayed: bool = False
    ) -> Generator[Event, None, Step]:
        """Carry out one primitive."""
        self._check_budget()
        self.progress.steps += 1
        action = response.action
        yield ActionChosen(
            step=self.progress.steps,
            action=action,
            target=_target(action, observation),
            previous_action_check=response.previous_action_check,
            observation_analysis=response.observation_analysis,
            next_action=response.next_action,
            replayed=replayed,
        )
        started = self._clock()
        with self._timed("act"):
            result = self._ask_person(action) if isinstance(action, CallUser) else self._perform(action)
        self._seen = None
        yield ActionPerformed(step=self.progress.steps, action=action, result=result, seconds=self._clock() - started)
        return Step(self.progress.steps, observation, response, result)

    def _perform(self, action: Action) -> ActionResult:
        return self._agent.desktop.perform(action)

    def _ask_person(self, question: CallUser) -> ActionResult:
        if self._agent.ask is None:
            return ActionResult(ok=False, error="nobody is at the screen to answer; go on without, or fail")
        return ActionResult(ok=True, note=f"the user answers: {self._agent.ask(question.question)}")

    # Replaying verified experience

    def _recall_episode(self, subtask: Subtask) -> EpisodicExperience | None:
        memory = self._agent.memory
        if memory is None or not self._agent.replay:
            return None
        with self._timed("memory"):
            found = memory.find_verified_episode(self.task.instruction, subtask.name, subtask.info)
        return found if found is not None and found.steps else None

    def _replay(
        self, subtask: Subtask, experience: EpisodicExperience, steps: list[Step]
    ) -> Generator[Event, None, bool]:
        """Do an experience again step by step; return whether it ran to its end as it was learned."""
        learned = read_steps(experience)
        if isinstance(learned, Mismatch):
            yield ReplayStopped(subtask=subtask, experience_id=experience.id, reason=learned.reason)
            return False
        self.progress.used.append(experience.id)
        yield ReplayStarted(subtask=subtask, experience_id=experience.id, steps=len(learned))
        for step in learned:
            mismatch = yield from self._replay_step(step, steps)
            if mismatch:
                yield ReplayStopped(subtask=subtask, experience_id=experience.id, reason=mismatch)
                self._count_use(experience.id, worked=False)
                return False
        return True

    def _replay_step(self, learned: GroundedStep, steps: list[Step]) -> Generator[Event, None, str]:
        """Do one learned step; return why the screen does not fit, or an empty text."""
        deadline = self._clock() + REPLAY_PATIENCE_S
        observation = yield from self._look()
        action = ground(learned, observation)
        while isinstance(action, Mismatch):
            if self._clock() > deadline:
                return action.reason
            observation = yield from self._look_again()
            action = ground(learned, observation)
        response = ActResponse(next_action=learned.intent, action=action)
        step = yield from self._step(observation, response, replayed=True)
        steps.append(step)
        if not step.result.ok:
            return step.result.error or "the action was refused"
        after = yield from self._look()
        while difference := differs(learned.effect, window_effect(observation, after)):
            if self._clock() > deadline:
                return difference
            after = yield from self._look_again()
        return ""

    def _count_use(self, experience_id: str, worked: bool) -> None:
        if self._agent.memory is not None and self._agent.learn:
            self._agent.memory.record_use(experience_id, worked)
        if experience_id in self.progress.used:
            self.progress.used.remove(experience_id)

    # The end

    def _verify(self, ending: Ending) -> Generator[Event, None, Verdict]:
        verdict = yield from self._guarded_verdict(ending)
        yield from self._calls()
        yield Verified(verdict=verdict)
        return verdict

    def _guarded_verdict(self, ending: Ending) -> Generator[Event, None, Verdict]:
        try:
            observation = yield from self._look(checked=False)
            with self._timed("verify"):
                return self._evaluator.verify(
                    self.task, observation, self.progress.done, ending.status, self._state_check
                )
        except (AgentError, AciError) as error:
            return Verdict(verified=None, reason=f"it could not be checked: {error}")
        except KeyboardInterrupt:
            return Verdict(verified=None, reason="stopped before it could be checked")

    def _learn(self, ending: Ending, verdict: Verdict) -> Generator[Event, None, None]:
        """Write what the run taught to memory; a memory that cannot be written never costs the outcome."""
        try:
            with self._timed("memory"):
                if ending.status in ("done", "failed"):
                    for experience_id in tuple(self.progress.used):
                        self._count_use(experience_id, worked=ending.status == "done")
                self._learner.mark(verdict)
                stored = [] if self.progress.all_replayed else self._store_task(ending, verdict)
            yield from self._calls()
            yield from stored
        except (MemoryStoreError, ModelError, LimitReached) as error:
            yield Troubled(problem=f"the run's experience could not be stored: {error}")
        except KeyboardInterrupt:
            yield Troubled(problem="stopped while the run's experience was being stored")

    def _store_task(self, ending: Ending, verdict: Verdict) -> list[Event]:
        """Store the plan as it was carried out, re-planned parts in their place."""
        plan = self.progress.plan
        if ending.status == "done":
            plan = Plan(subtasks=tuple(subtask for subtask, _ in self.progress.done))
        return self._learner.store_task(self.progress.query, plan, ending.status, ending.reason, verdict)

    def _outcome(self, ending: Ending, verdict: Verdict) -> Outcome:
        calls = self._model.calls
        prices = [call.usage.dollars for call in calls]
        usage = Usage(
            steps=self.progress.steps,
            model_calls=len(calls),
            input_tokens=sum(call.usage.input_tokens for call in calls),
            cached_tokens=sum(call.usage.cached_tokens for call in calls),
            output_tokens=sum(call.usage.output_tokens for call in calls),
            dollars=sum(price for price in prices if price is not None) if None not in prices else None,
            seconds={phase: round(spent, 4) for phase, spent in self._seconds.items()},
        )
        return Outcome(
            status=ending.status,
            verified=verdict.verified,
            reason=ending.reason,
            usage=usage,
            run_id=self.id,
            replayed=ending.status == "done" and self.progress.all_replayed,
        )

    # What every part needs

    def _guarded(self, work: Generator[Event, None, Ending]) -> Generator[Event, None, Ending]:
        """Turn whatever ends the work early into an ending."""
        try:
            return (yield from work)
        except LimitReached as error:
            return Ending("out_of_budget", str(error))
        except (Stopped, KeyboardInterrupt):
            return Ending("stopped", "stopped by the user; finished subtasks are kept in memory")
        except (ModelError, AciError, MemoryStoreError) as error:
            return Ending("error", str(error))

    def _look(self, checked: bool = True) -> Generator[Event, None, Observation]:
        """Return the screen as it is: the latest observation if nothing was done since, else a new one."""
        if checked:
            self._check_budget()
        if self._seen is not None and self._clock() - self._seen[0] < STALE_AFTER_S:
            return self._seen[1]
        started = self._clock()
        with self._timed("observe"):
            observation = self._agent.desktop.observe()
        self._seen = (self._clock(), observation)
        yield Observed(
            observation=observation,
            text=observation.to_text(),
            elements=len(observation.elements),
            seconds=self._clock() - started,
            notes=observation.notes,
        )
        return observation

    def _look_again(self) -> Generator[Event, None, Observation]:
        self._agent.desktop.perform(Wait(time=REPLAY_POLL_S))
        self._seen = None
        return (yield from self._look())

    def _calls(self) -> Iterator[Event]:
        """Yield an event for each model call that was not told yet."""
        untold, self._told = self._model.calls[self._told :], len(self._model.calls)
        for call in untold:
            yield ModelCalled(
                call=call.kind,
                model=self.model_name,
                seconds=call.seconds,
                input_tokens=call.usage.input_tokens,
                cached_tokens=call.usage.cached_tokens,
                output_tokens=call.usage.output_tokens,
                dollars=call.usage.dollars,
            )

    def _check_budget(self) -> None:
        limits = self._agent.limits
        if self._stop.is_set():
            raise Stopped
        if self.progress.steps >= limits.max_steps:
            raise LimitReached(f"{limits.max_steps} steps are used up (limits.max_steps)")
        if self._clock() - self._began > limits.max_seconds:
            raise LimitReached(f"{limits.max_seconds:g} s are used up (limits.max_seconds)")

    def _release(self) -> None:
        """Let go of every key and button, where the desktop knows how."""
        release = getattr(self._agent.desktop, "release_all", None)
        if release is not None:
            release()

    @contextmanager
    def _timed(self, phase: Phase) -> Iterator[None]:
        started = self._clock()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self._clock() - started


def _after_verification(ending: Ending, verdict: Verdict) -> Ending:
    """A task that the agent calls done but that a check contradicts has failed."""
    if ending.status == "done" and verdict.verified is False:
        return Ending("failed", f"not verified: {verdict.reason}")
    return ending


def _target(action: Action, observation: Observation) -> str:
    """Describe what an action is about to touch, for people."""
    named = [observation.by_id.get(getattr(action, name, None) or -1) for name in ID_FIELDS]
    return " -> ".join(f"{element.role} {(element.name or element.label)!r}" for element in named if element)

"""Execution of one subtask: by replay if memory holds verified steps, otherwise by the Worker."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from aci.acting.actions import Done, Fail
from aci.observation.observation import Observation
from agent_s.events import ActionsDropped, EffectSeen, Event, Reflected, SubtaskEnded, SubtaskStarted, Troubled
from agent_s.llm.protocol import ActContext, ActResponse, FailedSubtask, ReflectContext, ReflectResponse, ask
from agent_s.loop.foreseen import find_unforeseen
from agent_s.loop.learner import Learner
from agent_s.loop.options import Options
from agent_s.loop.planning import Planning
from agent_s.loop.progress import Ending, Progress, results_of
from agent_s.loop.session import Session
from agent_s.loop.stall_detection import find_trouble, is_hopeless
from agent_s.loop.unfinished import UnfinishedRun
from agent_s.records import Dropped, Step, Subtask, Task
from agent_s.replay.player import Replay, Replayed
from agent_s.replay.recall import Recall
from agent_s.replay.template import Replayable
from agent_s.roles.expectations import find_unmet, find_unread
from agent_s.roles.worker import Worker
from intents.alignment import holds
from memory_store import EpisodicExperience, MemoryStoreError


@dataclass(frozen=True, slots=True)
class SubtaskRunner:
    """Executes the subtasks of one run."""

    options: Options
    session: Session
    task: Task
    progress: Progress
    planning: Planning
    worker: Worker
    recall: Recall | None
    replay: Replay
    learner: Learner | None
    home: Path | None = None  # home directory of the applications; None if its files cannot be read
    began: float = 0.0  # start of the run, s since the epoch
    resumed: UnfinishedRun | None = None

    def run(
        self, subtask: Subtask, left: tuple[Subtask, ...], total: int
    ) -> Generator[Event, None, FailedSubtask | None]:
        """Carry out one subtask.

        Args:
            subtask: The subtask.
            left: The subtasks that come after it.
            total: Number of subtasks in the plan.

        Returns:
            The failure, or None if the subtask was done.
        """
        before = self._steps_before(subtask)
        learned = None if before else (yield from self._find_replayable(subtask))
        experiences = self._experiences(subtask) if learned is None else ()
        ids = tuple(experience.id for experience in experiences)
        yield SubtaskStarted(subtask=subtask, index=total - len(left), total=total, experiences=ids)
        steps: list[Step] = []
        self.progress.current = (subtask, steps)
        result = (yield from self._replay(subtask, learned, steps, not left)) if learned is not None else None
        if steps and self.session.latest is not None:
            yield from self._see_effects(steps, self.session.latest)
        replayed = result is not None and result.finished
        if replayed:
            ending = Ending("done")
        elif self.options.replay == "only":
            ending = Ending("failed", _why_not_replayed(subtask, result))
        elif result is not None and result.stale and holds(f"{subtask.name}\n{subtask.info}", result.stale):
            ending = Ending("failed", result.problem)  # the subtask itself names the outdated value
        else:
            warning = ""
            if result is not None and result.stale:
                warning = f"The steps that memory holds were not replayed: {result.problem}"
            experiences = experiences or self._experiences(subtask)
            replayed_steps = len(steps)
            ending = yield from self._act(subtask, left, experiences, steps, before, warning)
            if ending.status == "failed" and result is not None and len(steps) == replayed_steps:
                # The Worker added nothing, so what stopped the replay is the better reason.
                ending = Ending("failed", f"{ending.reason}; {_why_not_replayed(subtask, result)}")
        done = ending.status == "done"
        yield SubtaskEnded(subtask=subtask, ok=done, reason=ending.reason, steps=len(steps), replayed=replayed)
        if not done:
            unfinished = Subtask(name=f"{subtask.name} (not finished)", info=subtask.info)
            self.progress.worked_on.append((unfinished, (*before, *steps)))
            return FailedSubtask(subtask, ending.reason, tuple(steps))
        by_skill = replayed and learned is not None and learned.experience_id == subtask.skill
        finished = subtask if by_skill else Subtask(name=subtask.name, info=subtask.info)
        self.progress.done.append((finished, (*before, *steps)))
        self.progress.worked_on.append(self.progress.done[-1])
        self.progress.current = None
        self.progress.results += results_of(subtask, ending.reason, steps, self.home, self.began)
        if self.learner is not None and steps and not replayed and not before:
            observation = yield from self.session.look()
            with self.session.timed("memory"):
                stored = self.learner.store_subtask(subtask, steps, observation)
            yield from stored
        return None

    def _steps_before(self, subtask: Subtask) -> tuple[Step, ...]:
        """Return the steps of a subtask from before the run was resumed."""
        return self.resumed.steps if self.resumed is not None and self.resumed.current == subtask else ()

    def _experiences(self, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        if not self.planning.uses_memory or self.options.replay == "only":
            return ()
        with self.session.timed("memory"):
            return self.worker.recall(self.task, subtask)

    # Replay

    def _find_replayable(self, subtask: Subtask) -> Generator[Event, None, Replayable | None]:
        if self.recall is None:
            return None
        known = self.progress.known
        if known is not None and subtask.name in known.learned and not self.progress.replans:
            return known.learned[subtask.name]
        with self.session.timed("memory"):
            learned = None if subtask.skill else self.recall.same_subtask(subtask)
        if learned is None:
            with self.session.without_ocr():  # only the active window matters
                window = (yield from self.session.look(check=False)).active_window
            with self.session.timed("memory"):
                learned = self.recall.skills.replayable(subtask, window) or self.recall.similar_subtask(subtask, window)
        return learned if learned is not None and learned.steps else None

    def _replay(
        self, subtask: Subtask, learned: Replayable, steps: list[Step], last: bool
    ) -> Generator[Event, None, Replayed]:
        result = yield from self.replay.run(subtask, learned, steps, last)
        if result.finished:
            self.progress.replayed += 1
            self.progress.used.append(learned.experience_id)
            self.progress.proofs += result.evidence
            self.progress.unproven = result.unproven
        elif self.learner is not None and (steps or learned.exact) and not (result.stale or result.greyed_out):
            # Do not count it against a similar experience that did not even begin, one that lacked a value, or one
            # whose target is disabled, as it is without a document.
            try:
                self.learner.count_uses([learned.experience_id], worked=False)
            except MemoryStoreError as error:
                yield Troubled(problem=f"the stopped replay could not be recorded in memory: {error}")
        return result

    # The Worker

    def _act(
        self,
        subtask: Subtask,
        left: tuple[Subtask, ...],
        experiences: tuple[EpisodicExperience, ...],
        steps: list[Step],
        before: tuple[Step, ...],
        warning: str,
    ) -> Generator[Event, None, Ending]:
        """Let the Worker act until it reports DONE or FAIL, its `done_when` holds, or it goes in circles.

        The Worker sees the steps of a resumed run (`before`), but they count neither as steps nor as repetitions. The
        warning takes the place of a missing reflection. A DONE is sent back once if nothing shows that typed text
        arrived.
        """
        unread: tuple[Step, ...] = ()
        unmet = ""
        max_steps = len(steps) + self.options.max_subtask_steps
        while len(steps) < max_steps:
            observation = yield from self.session.look()
            yield from self._see_effects(steps, observation)
            if hopeless := is_hopeless(steps):
                return Ending("failed", hopeless)
            response = self.worker.act(
                ActContext(
                    self.task,
                    subtask,
                    observation,
                    done=self.progress.finished,
                    left=left,
                    experiences=experiences,
                    steps=(*before, *steps),
                    constraints=self.progress.aims.constraints,
                    guideline=self.progress.plan.guideline if self.progress.plan is not None else "",
                    results=tuple(self.progress.results),
                    reflection=("" if unread else (yield from self._reflect(subtask, observation, steps))) or warning,
                    unread=unread,
                    unmet=unmet,
                    max_actions=self.options.max_actions,
                    descriptions=self.options.grounding_zooms is not None,
                    follows=self.task.follows if self.options.planner == "flat" else (),
                )
            )
            match response.action:
                case Done():
                    sent_back, unread = bool(unread), find_unread(steps, observation)
                    if sent_back or not unread:
                        return Ending("done", response.found)
                    continue
                case Fail(reason=reason):
                    return Ending("failed", reason or response.observation_analysis or "the Worker gave up")
            answer = yield from self._perform(response, observation, steps, max_steps)
            unmet = (yield from self._find_unmet(response, answer, steps)) if response.done_when else ""
            if response.done_when and not unmet:
                return Ending("done")
        yield from self._see_effects(steps, (yield from self.session.look()))
        return Ending("failed", f"not finished after {self.options.max_subtask_steps} steps (limits.max_subtask_steps)")

    def _perform(
        self, response: ActResponse, observation: Observation, steps: list[Step], max_steps: int
    ) -> Generator[Event, None, list[Step]]:
        """Carry out the primitives of an answer while the screen stays as expected; return their steps.

        The steps are appended to `steps`, which may grow to a length of `max_steps`.
        """
        first, takeovers = len(steps), self.session.takeovers
        steps.append((yield from self.session.step(observation, response.part(0))))
        for number, action in enumerate(response.then, start=1):
            now = yield from self.session.look()
            yield from self._see_effects(steps, now)
            reason = ""
            if number >= self.options.max_actions:
                reason = f"worker.max_actions allows {self.options.max_actions} in an answer"
            elif len(steps) >= max_steps:
                reason = "the subtask has taken all its steps (limits.max_subtask_steps)"
            elif self.session.takeovers > takeovers:
                reason = "the person took over the screen and has handed it back"
            reason = reason or find_unforeseen(action, steps[first:], now)
            if reason:
                dropped = Dropped(actions=response.then[number - 1 :], reason=reason)
                steps[-1] = replace(steps[-1], dropped=dropped)
                yield ActionsDropped(step=steps[-1].number, dropped=dropped)
                break
            steps.append((yield from self.session.step(now, response.part(number))))
        return steps[first:]

    def _find_unmet(self, response: ActResponse, answer: list[Step], steps: list[Step]) -> Generator[Event, None, str]:
        """Return why the answer did not finish the subtask as it claimed; empty if the screen shows that it did."""
        if answer[-1].dropped is not None:
            return "not all of its primitives were performed"
        now = yield from self.session.look()
        yield from self._see_effects(steps, now)
        if not steps[-1].worked:
            return "the last primitive had no effect"
        unmet = find_unmet(response.done_when, answer[0].observation, now)
        return unmet or ("nothing shows that typed text arrived" if find_unread(steps, now) else "")

    def _see_effects(self, steps: list[Step], after: Observation) -> Generator[Event, None, None]:
        """Add the effects that are still missing to steps, given the screen after the last one."""
        screens = [*(step.observation for step in steps), after][1:]
        for index, (step, seen) in enumerate(zip(steps, screens, strict=True)):
            completed = step.followed_by(seen)
            if completed is not step:
                steps[index] = completed
                yield EffectSeen(step=step.number, result=completed.result)

    def _reflect(self, subtask: Subtask, observation: Observation, steps: list[Step]) -> Generator[Event, None, str]:
        """Return the trajectory reflector's feedback (paper, section 3.1.2); empty if nothing looks wrong."""
        trouble = find_trouble(steps, self.options.reflect_every) if self.options.reflect else ""
        if not trouble:
            return ""
        constraints, done = self.progress.aims.constraints, tuple(self.progress.done)
        context = ReflectContext(self.task, subtask, observation, tuple(steps), trouble, constraints, done)
        reflection = ask(self.session, context, ReflectResponse).reflection
        yield Reflected(trouble=trouble, reflection=reflection)
        return reflection


def _why_not_replayed(subtask: Subtask, result: Replayed | None) -> str:
    if result is None:
        return f"memory holds no verified steps for {subtask.name!r}"
    return f"the replay of {subtask.name!r} stopped: {result.problem}"

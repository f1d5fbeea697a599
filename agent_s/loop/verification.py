"""The end of a task: its own state check where it has one, else a judge who may look closer (OSCAR's verification)."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from aci.acting.actions import Action
from aci.desktop.desktop import ActionResult
from aci.errors import AciError
from aci.observation.observation import Observation
from agent_s.errors import AgentError
from agent_s.events import Event, Verified
from agent_s.llm.protocol import ActResponse, VerifyContext
from agent_s.loop.session import Session
from agent_s.records import Aims, StateCheck, Status, Step, Subtask, Task, Verdict
from agent_s.roles.citations import is_read_only
from agent_s.roles.evaluator import Evaluator

Done = Sequence[tuple[Subtask, tuple[Step, ...]]]
"""Finished subtasks with their steps."""


class Verification:
    """Checks how a task ended.

    Args:
        session: The run's desktop and model.
        evaluator: Judges where there is no state check; None to believe what the agent says.
        task: What was to be done.
        state_check: Looks at the applications' own state, or None.
        max_looks: Primitives that may be spent on looking closer.
    """

    def __init__(
        self, session: Session, evaluator: Evaluator | None, task: Task, state_check: StateCheck | None, max_looks: int
    ) -> None:
        self._session = session
        self._evaluator = evaluator
        self._task = task
        self._state_check = state_check
        self._max_looks = max_looks

    def check(
        self, status: Status, done: Done, aims: Aims, proofs: tuple[str, ...] = ()
    ) -> Generator[Event, None, Verdict]:
        """Return whether the task is done; what cannot be checked is undecided, with the reason.

        A task that the agent itself says is not done is not judged by the model.

        Args:
            status: What the agent says.
            done: What it rests that on.
            aims: What the task demands and forbids.
            proofs: What shows that the end is one that was verified before, where all of it was replayed.
        """
        try:
            verdict = yield from self._checked(status, done, aims, proofs)
        except (AgentError, AciError) as error:
            verdict = Verdict(verified=None, reason=f"it could not be checked: {error}")
        except KeyboardInterrupt:
            verdict = Verdict(verified=None, reason="stopped before it could be checked")
        yield from self._session.new_calls()
        yield Verified(verdict=verdict)
        return verdict

    def _checked(
        self, status: Status, done: Done, aims: Aims, proofs: tuple[str, ...]
    ) -> Generator[Event, None, Verdict]:
        observation = yield from self._session.look(bounded=False)
        if self._state_check is not None:
            with self._session.timed("verify"):
                return self._state_check(status)
        if status != "done":
            verified = None if status == "infeasible" else False
            return Verdict(verified=verified, reason=f"the agent ended with status {status}", by="status")
        if proofs:
            reason = "the end is the one that was verified when it was learned"
            return Verdict(verified=True, reason=reason, evidence=proofs, by="replay")
        if self._evaluator is None:
            return Verdict(verified=None, reason="nothing judges the end (evaluator, replay)")
        return (yield from self._judged(self._evaluator, observation, done, aims))

    def _judged(
        self, evaluator: Evaluator, observation: Observation, done: Done, aims: Aims
    ) -> Generator[Event, None, Verdict]:
        """Let the model judge, which may look closer a few times before it does."""
        points = aims.points(self._task.instruction)
        looked: list[Step] = []
        while True:
            more = len(looked) < self._max_looks
            context = VerifyContext(self._task, observation, tuple(done), points, tuple(looked), may_look=more)
            with self._session.timed("verify"):
                judged = evaluator.judge(context)
            yield from self._session.new_calls()
            if isinstance(judged, Verdict):
                return judged
            looked.append((yield from self._look_closer(judged, observation)))
            observation = yield from self._session.look(bounded=False)

    def _look_closer(self, action: Action, observation: Observation) -> Generator[Event, None, Step]:
        response = ActResponse(next_action="look closer before judging", action=action)
        if is_read_only(action, observation):
            return (yield from self._session.step(observation, response))
        error = "a judge may only scroll, switch applications, move with the keys, and open tabs and menus"
        return Step(0, observation, response, ActionResult(ok=False, error=error))

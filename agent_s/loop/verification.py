"""Verification of a task, by a state check or by an evaluator that may look closer (as in OSCAR)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from aci.acting.actions import Action
from aci.desktop.desktop import ActionResult
from aci.errors import AciError
from aci.observation.observation import Observation
from agent_s.errors import AgentError
from agent_s.events import Event, Probed, Verified
from agent_s.llm.protocol import ActResponse, VerifyContext
from agent_s.loop.session import Session
from agent_s.probes.prober import Prober
from agent_s.records import Aims, StateCheck, Status, Step, Subtask, Task, Verdict
from agent_s.roles.evaluator import Evaluator
from agent_s.roles.looking import LOOKS_ONLY, is_read_only
from agent_s.roles.probe_evidence import first_probes

Finished = Sequence[tuple[Subtask, tuple[Step, ...]]]


@dataclass(slots=True)
class Verification:
    """Verifies the result of one run."""

    session: Session  # the run's desktop and model
    evaluator: Evaluator | None  # judges if there is no state check; None to leave the result unverified
    task: Task
    state_check: StateCheck | None  # check of the applications' own state, or None
    max_looks: int  # how often the evaluator may look closer or request probes
    prober: Prober  # reads files and settings, and compares them with those at the start of the run
    start: Observation | None = None  # the screen before anything was done

    def set_start(self, seen: Observation) -> None:
        """Keep an observation as the start of the run, unless there is one already."""
        self.start = self.start or seen

    def check(
        self, status: Status, done: Finished, aims: Aims, proofs: tuple[str, ...] = ()
    ) -> Generator[Event, None, Verdict]:
        """Return whether the task is done; the verdict is undecided, with the reason, if that cannot be checked.

        Args:
            status: How the agent ended the task.
            done: The attempted subtasks with their steps.
            aims: What the task requires and forbids.
            proofs: Evidence that a fully replayed run reached its verified end; empty for any other run.
        """
        try:
            verdict = yield from self._check(status, done, aims, proofs)
        except (AgentError, AciError) as error:
            verdict = Verdict(verified=None, reason=f"it could not be checked: {error}")
        except KeyboardInterrupt:
            verdict = Verdict(verified=None, reason="stopped before it could be checked")
        yield Verified(verdict=verdict)
        return verdict

    def _check(
        self, status: Status, done: Finished, aims: Aims, proofs: tuple[str, ...]
    ) -> Generator[Event, None, Verdict]:
        judged = status == "done" and self.state_check is None and not proofs and self.evaluator is not None
        with nullcontext() if judged else self.session.without_ocr():
            observation = yield from self.session.look(bounded=False, check=judged)
        if self.state_check is not None:
            with self.session.timed("verify"):
                return self.state_check(status)
        if status != "done":
            verified = None if status == "infeasible" else False
            return Verdict(verified=verified, reason=f"the agent ended with status {status}", by="status")
        if proofs:
            reason = "the end is the one that was verified when it was learned"
            return Verdict(verified=True, reason=reason, evidence=proofs, by="replay")
        if self.evaluator is None:
            return Verdict(
                verified=None, reason="not judged: the evaluator is off (evaluator), or no model may be called (replay)"
            )
        return (yield from self._judge(self.evaluator, observation, done, aims))

    def _judge(
        self, evaluator: Evaluator, observation: Observation, done: Finished, aims: Aims
    ) -> Generator[Event, None, Verdict]:
        """Let the evaluator look closer and request probes until it judges; files that points name are probed first."""
        prober, end = self.prober, observation
        points = aims.points(self.task.instruction)
        before = len(prober.results)  # results of an earlier verification are outdated
        if prober.home is not None:
            for probe in first_probes(points, prober.differences()):
                yield Probed(result=prober.probe(probe))
        looked: list[Step] = []
        for left in range(self.max_looks, -1, -1):
            context = VerifyContext(
                self.task,
                observation,
                tuple(done),
                points,
                constraints=len(aims.constraints),
                start=self.start,
                end=end,
                differences=prober.differences(),
                folders=prober.folders(),
                probed=tuple(prober.results[before:]),
                looked=tuple(looked),
                may_look=left > 0,
            )
            judged = evaluator.judge(context, prober.probe if prober.home is not None else None)
            if isinstance(judged, Verdict):
                return judged
            for probe in judged.probes:
                yield Probed(result=prober.probe(probe))
            if judged.look is not None:
                looked.append((yield from self._look_closer(judged.look, context)))
                observation = yield from self.session.look(bounded=False)
                looked[-1] = looked[-1].followed_by(observation)
        raise AssertionError("an evaluator that may not look must judge")

    def _look_closer(self, action: Action, context: VerifyContext) -> Generator[Event, None, Step]:
        observation = context.observation
        response = ActResponse(next_action="look closer before judging", action=action)
        steps = [step for _, taken in context.done for step in taken]
        known = {window.id for window in context.end.windows} if context.end is not None else set()
        front = observation.active_window
        opened = front.id if front is not None and front.id not in known else 0
        if is_read_only(action, observation, steps, opened):
            return (yield from self.session.step(observation, response))
        return Step(0, observation, response, ActionResult(ok=False, error=LOOKS_ONLY, refusal="not_allowed"))

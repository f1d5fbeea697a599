"""What every part of a run needs: looking, acting, counting and stopping.

A `Session` is one run's connection to its desktop and model. Its methods that take time are generators of events.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from aci.acting.actions import Action, CallUser, Wait
from aci.desktop.desktop import ActionResult, Desktop
from aci.desktop.emergency_stop import Halt
from aci.observation.observation import Observation
from aci.safety import risk_words
from aci.safety.policy import Decision, Policy
from agent_s.errors import LimitReached
from agent_s.events import ActionChosen, ActionPerformed, Event, ModelCalled, Observed
from agent_s.llm.budget import KEPT_SHARE, MeteredModel, used_up
from agent_s.llm.protocol import ActResponse, Model
from agent_s.records import Limits, Phase, Step, Usage
from agent_s.safety.confirmation import Consent, consent_for, describe_target
from agent_s.safety.secrets import SecretDesktop

STALE_AFTER_S = 1.0
"""An observation older than this is not acted on without looking again."""

ASKED_FOR_PASSWORD = (
    "nobody is asked for passwords, since the answer would be read by the model: a person writes {{secret:NAME}} into "
    "the task; fail and say so"
)

TAKEN_OVER = "not done: the person took over and has handed back; look at the screen as it is now"


class Stopped(BaseException):
    """Somebody asked the run to stop; becomes an outcome at the top of the run."""


@dataclass(frozen=True, slots=True)
class People:
    """The person at the screen, if anybody is there.

    Attributes:
        ask: Puts a question to them and returns the answer.
        confirm: Shows them what is about to be done, where, and why it is risky, and returns whether they agree.
        take_over: Leaves the screen to them, and returns when they hand it back.
    """

    ask: Callable[[str], str] | None = None
    confirm: Callable[[Consent], bool] | None = None
    take_over: Callable[[], None] | None = None

    def answer(self, question: str) -> ActionResult:
        """Return their answer as the result of `call_user`."""
        if risk_words.pattern("password").search(question):
            return ActionResult(ok=False, error=ASKED_FOR_PASSWORD)
        if self.ask is None:
            return ActionResult(ok=False, error="nobody is at the screen to answer; go on without, or fail")
        return ActionResult(ok=True, note=f"the user answers: {self.ask(question)}")

    def allows(self, consent: Consent) -> bool:
        """Return whether they agree; nobody there means no."""
        return self.confirm is not None and self.confirm(consent)


class Session:
    """One run's desktop, model, budget and clock.

    Args:
        model: Answers every call; counted and bounded from here on.
        desktop: What is seen and acted on.
        limits: Budgets of the run.
        stop: Set when the run is to stop.
        policy: Decides what may be done; None allows everything.
        people: The person at the screen.
        clock: Seconds that only go forward.
        heed: Gets each screen that is looked at.
        pause: Set when the person wants the screen for a while.

    Attributes:
        model: The counted model.
        clock: As given.
        steps: Primitives performed so far.
    """

    def __init__(
        self,
        model: Model,
        desktop: Desktop,
        limits: Limits,
        stop: threading.Event,
        policy: Policy | None,
        people: People,
        clock: Callable[[], float],
        heed: Callable[[Observation], None] = lambda seen: None,
        pause: threading.Event | None = None,
    ) -> None:
        self._heed = heed
        self._pause = pause or threading.Event()
        self.model = MeteredModel(model, limits, clock)
        self.model_name = str(getattr(model, "name", type(model).__name__))
        self.clock = clock
        self.steps = 0
        self._kept = 0
        self._desktop = desktop
        self._limits = limits
        self._stop = stop
        self._policy = policy
        self._people = people
        self._began = clock()
        self._seconds: dict[Phase, float] = {}
        self._seen: tuple[float, Observation] | None = None
        self._told = 0

    def look(self, bounded: bool = True) -> Generator[Event, None, Observation]:
        """Return the screen as it is: the latest observation if nothing was done since, else a new one.

        Args:
            bounded: Whether a budget that is used up, or a wish to stop, ends the run here.
        """
        self._hand_over()
        if bounded:
            self.check_budget()
        if self._seen is not None and self.clock() - self._seen[0] < STALE_AFTER_S:
            return self._seen[1]
        started = self.clock()
        with self.timed("observe"):
            observation = self._desktop.observe()
        self._seen = (self.clock(), observation)
        self._heed(observation)
        yield Observed(
            observation=observation,
            text=observation.to_text(),
            elements=len(observation.elements),
            seconds=self.clock() - started,
            notes=observation.notes,
        )
        return observation

    def without_texts(self) -> AbstractContextManager[None]:
        """Leave texts that are only pixels unread for a while, where nobody will look at them."""
        return self._desktop.without_texts() if isinstance(self._desktop, SecretDesktop) else nullcontext()

    def look_again(self, after_s: float) -> Generator[Event, None, Observation]:
        """Wait until the screen changes, or a moment has passed, and return a new observation."""
        self._carry_out(Wait(time=after_s), settle=False)
        self._seen = None
        return (yield from self.look())

    def step(
        self, observation: Observation, response: ActResponse, replayed: bool = False, settle: bool = True
    ) -> Generator[Event, None, Step]:
        """Carry out one primitive.

        Args:
            observation: What it was chosen on.
            response: The primitive, and why.
            replayed: Whether it comes from memory.
            settle: Whether to wait until the screen is at rest, where the desktop lets that be chosen.
        """
        self.check_budget()
        self.steps += 1
        action = response.action
        yield ActionChosen(
            step=self.steps,
            action=action,
            target=describe_target(action, observation),
            previous_action_check=response.previous_action_check,
            observation_analysis=response.observation_analysis,
            next_action=response.next_action,
            replayed=replayed,
        )
        started = self.clock()
        self._seen = None
        with self.timed("act"):
            result = self._perform(action, observation, settle)
        yield ActionPerformed(step=self.steps, action=action, result=result, seconds=self.clock() - started)
        return Step(self.steps, observation, response, result)

    def new_calls(self) -> Iterator[Event]:
        """Yield an event for each model call that was not told yet."""
        untold, self._told = self.model.calls[self._told :], len(self.model.calls)
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

    def keep_for_the_end(self, keep: bool) -> None:
        """Keep some of each budget for judging the end, or make it available; small budgets are not divided."""
        looks = self._limits.max_looks if keep else 0
        self._kept = min(looks, self._limits.max_steps // 4)
        self.model.kept = min(looks + 1 if keep else 0, self._limits.max_model_calls // 4)

    def check_budget(self) -> None:
        """Go on only if the run may.

        Raises:
            Stopped: Somebody asked it to stop.
            LimitReached: A budget is used up.
        """
        if self._stop.is_set():
            raise Stopped
        if self.steps >= self._limits.max_steps - self._kept:
            raise LimitReached(used_up("steps", self.steps, self._limits.max_steps, "max_steps"))
        spent, allowed = self.clock() - self._began, self._limits.max_seconds
        if spent > allowed * (1 - (KEPT_SHARE if self._kept else 0.0)):
            raise LimitReached(used_up("s", spent, allowed, "max_seconds"))

    @property
    def latest(self) -> Observation | None:
        """The latest observation, where nothing was done since."""
        return self._seen[1] if self._seen is not None else None

    @property
    def asked_to_stop(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self._stop.is_set()

    def forget_buffer(self) -> None:
        """Drop the texts that an earlier task kept, where the desktop keeps any."""
        forget = getattr(self._desktop, "clear_buffer", None)
        if forget is not None:
            forget()

    def allow_acting(self) -> None:
        """Forget that the person stopped an earlier run, where the desktop lets them."""
        halt = self._halt()
        if halt is not None:
            halt.lift()

    def stopped_from_the_screen(self) -> AbstractContextManager[None]:
        """Let what the person does at the screen to stop also end what is waited for, such as a model's answer."""
        halt = self._halt()
        return nullcontext() if halt is None else halt.telling(lambda reason: self._stop.set())

    def why_stopped(self) -> str:
        """Return what stopped the run: what the person did at the screen, else that somebody asked for it."""
        halt = self._halt()
        return (halt.reason if halt is not None else "") or "stopped by the user"

    def release(self) -> None:
        """Let go of every key and button, where the desktop knows how."""
        release = getattr(self._desktop, "release_all", None)
        if release is not None:
            release()

    def usage(self) -> Usage:
        """Return what was used so far; the cost is unknown as soon as the price of one call is."""
        calls = self.model.calls
        prices = [call.usage.dollars for call in calls]
        return Usage(
            steps=self.steps,
            model_calls=len(calls),
            input_tokens=sum(call.usage.input_tokens for call in calls),
            cached_tokens=sum(call.usage.cached_tokens for call in calls),
            output_tokens=sum(call.usage.output_tokens for call in calls),
            dollars=sum(price for price in prices if price is not None) if None not in prices else None,
            seconds={phase: round(spent, 4) for phase, spent in self._seconds.items()},
        )

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Count the time of a block for a phase."""
        started = self.clock()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + self.clock() - started

    def _hand_over(self) -> bool:
        """Leave the screen to the person if they want it; return whether they had it. Their time is not counted."""
        if not self._pause.is_set() or self._people.take_over is None:
            return False
        self.release()
        try:
            with self._not_counted():
                self._people.take_over()
        finally:
            self._pause.clear()
            self._seen = None
        return True

    @contextmanager
    def _not_counted(self) -> Iterator[None]:
        """Leave the time that a person takes out of the run's."""
        started = self.clock()
        try:
            yield
        finally:
            self._began += self.clock() - started

    def _halt(self) -> Halt | None:
        return getattr(self._desktop, "halt", None)

    def _perform(self, action: Action, observation: Observation, settle: bool) -> ActionResult:
        """Do what the policy allows; the rest becomes an error that the Worker reads."""
        if self._hand_over():
            self.check_budget()
            return ActionResult(ok=False, error=TAKEN_OVER)
        if isinstance(action, CallUser):
            with self._not_counted():
                return self._people.answer(action.question)
        decision = self._policy.decide(action, observation) if self._policy else Decision("allow")
        if decision.rule == "refuse":
            return ActionResult(ok=False, error=f"not allowed: {decision.reason}")
        if decision.rule == "confirm":
            with self._not_counted():
                agreed = self._people.allows(consent_for(action, observation, decision.reason))
            if not agreed:
                return ActionResult(ok=False, error=f"not confirmed: {decision.reason}")
        return self._carry_out(action, settle)

    def _carry_out(self, action: Action, settle: bool) -> ActionResult:
        if isinstance(self._desktop, SecretDesktop):
            return self._desktop.perform(action, settle)
        return self._desktop.perform(action)

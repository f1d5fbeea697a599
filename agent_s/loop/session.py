"""One run's access to its desktop, its model and its budgets.

Methods that produce events are generators.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from aci.acting.actions import Action, CallUser, Wait
from aci.acting.settle import Settles
from aci.acting.wording import describe_target
from aci.desktop.desktop import ActionResult, Desktop
from aci.desktop.machine import Machine
from aci.observation.observation import Element, Observation, Window
from aci.safety.policy import VIRTUAL, Policy
from aci.screen.emergency_stop import Halt
from agent_s.errors import LimitReached, ModelError, Stopped
from agent_s.events import ActionChosen, ActionPerformed, Event, Exchange, ModelCalled, Observed
from agent_s.llm.budget import RESERVED_SHARE, Budget, used_up
from agent_s.llm.protocol import ActResponse, Kind, ModelRequest, ModelResponse, model_name
from agent_s.loop.options import Services
from agent_s.records import Limits, Phase, Step, Usage
from agent_s.safety.confirmation import consent_for

STALE_AFTER_S = 1.0  # age from which an observation is not reused
WINDOWS_POLL_S = 0.015
TAKEN_OVER = "not done: the person took over the screen and has handed it back; look at it as it is now"
_PHASES: dict[Kind, Phase] = {"verify": "verify"}
_PROVIDER_CHECKS_ONLY = Policy({**dict.fromkeys(VIRTUAL, "allow"), "provider": "confirm"})
"""Policy of a run that has none: it confirms only what the model's provider requires to be confirmed."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Requests from other threads and signal handlers."""

    stop: threading.Event = field(default_factory=threading.Event)  # end the run
    pause: threading.Event = field(default_factory=threading.Event)  # hand the screen to the person for a while


class Session:
    """The desktop, the model, the budgets and the clock of one run.

    The run's roles use the session as their `Model`: `complete` charges each call to the budgets, times it and reports
    it as an event.
    """

    def __init__(
        self,
        services: Services,
        desktop: Desktop,
        limits: Limits,
        signals: Signals,
        on_screen: Callable[[Observation], None] = lambda seen: None,
    ) -> None:
        self.name = model_name(services.model)
        self.clock = services.clock  # monotonic clock, s
        self.steps = 0  # primitives performed so far
        self.still_s = 0.0  # how long `look_again` has seen an unchanging screen and idle applications, s
        self.takeovers = 0  # how often the person has taken over the screen
        self._model = services.model
        self._policy = services.policy
        self._people = services.people
        self._desktop = desktop
        self._halt = desktop.halt or Halt()
        self._limits = limits
        self._signals = signals
        self._on_screen = on_screen
        self._budget = Budget(limits)
        self._reserved_steps = 0
        self._began = self.clock()
        self._seconds: dict[Phase, float] = {}
        self._inner_s = 0.0
        self._seen: tuple[float, Observation] | None = None
        self._seen_with = True, True  # whether `_seen` was made with OCR, and with `check` (see `look`)
        self._ocr = True
        self.glanced = False  # whether the latest observation came from `glance`
        self._machine: Machine | None = None  # cached, so that prompts stay the same
        self._calls: list[ModelCalled] = []

    # Asking the model

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Call the model.

        Raises:
            LimitReached: A budget is used up.
            ModelError: There is no usable answer.
        """
        self._budget.check()
        started = self.clock()
        exchanges: list[Exchange] = []
        spent: list[Usage] = []
        recorded = replace(
            request,
            asked_to_stop=self.asked_to_stop,
            on_exchange=exchanges.append,
            on_usage=spent.append,
            machine=self.machine(),
        )
        try:
            with self.timed(_PHASES.get(request.kind, "model")):
                response = self._model.complete(recorded)
        except ModelError as error:
            why = f"{type(error).__name__}: {error}"
            usage = self._budget.charge_unanswered(spent)
            self._report(request.kind, self.clock() - started, usage=usage, exchanges=exchanges, error=why)
            raise
        more = {"answer": response.output.for_record(), "detail": response.detail, "exchanges": exchanges}
        self._count(request.kind, self.clock() - started, response.usage, **more)
        return response

    def machine(self) -> Machine | None:
        """Return facts about the machine, read once per run; None if they are unknown."""
        if self._machine is None:
            self._machine = self._desktop.machine()
        return self._machine

    def display_names(self) -> Mapping[str, str]:
        """Return the names of the installed applications; see `Machine.display_names`."""
        machine = self.machine()
        return machine.display_names if machine is not None else {}

    def check(self) -> None:
        """Check that a paid search is allowed; see `agent_s.search.Meter`."""
        self._budget.check()

    def charge(self, usage: Usage, seconds: float) -> None:
        """Count a paid search; see `agent_s.search.Meter`."""
        self._count("search", seconds, usage)

    def model_calls(self) -> Iterator[ModelCalled]:
        """Yield the calls made since the previous use."""
        while self._calls:
            yield self._calls.pop(0)

    def _count(self, kind: str, seconds: float, usage: Usage, **more: object) -> None:
        self._budget.charge(usage)
        self._report(kind, seconds, usage=usage, **more)

    def _report(self, kind: str, seconds: float, **more: object) -> None:
        self._calls.append(ModelCalled.model_validate({"call": kind, "model": self.name, "seconds": seconds, **more}))

    # Looking and acting

    def look(
        self, bounded: bool = True, check: bool = True, glanced: bool = False
    ) -> Generator[Event, None, Observation]:
        """Return the current screen: the latest observation if nothing was done since, otherwise a new one.

        Args:
            bounded: Whether to check the budgets and requests to stop first.
            check: Whether the first look after an action that ended by a known sign of its effect also waits for late
                changes.
            glanced: Whether the result of `glance` is good enough.
        """
        self._hand_over_if_asked()
        if bounded:
            self.check_budget()
        wanted = self._ocr, check
        complete = all(has or not wants for has, wants in zip(self._seen_with, wanted, strict=True))
        reusable = complete and (glanced or not self.glanced)
        if reusable and self._seen is not None and self.clock() - self._seen[0] < STALE_AFTER_S:
            return self._seen[1]
        started = self.clock()
        with self.timed("observe"):
            observation = self._desktop.observe(self._ocr, check)
        self._seen_with, self.glanced = wanted, False
        yield self._observed(observation, started)
        return observation

    def glance(self, ids: Collection[int]) -> Generator[Event, None, Observation | None]:
        """Return the latest observation with its windows, its focus and the given elements refreshed.

        None if that requires a full observation (`look`).
        """
        started = self.clock()
        with self.timed("observe"):
            observation = self._desktop.glance(ids)
        if observation is not None:
            self._seen_with, self.glanced = (False, False), True
            yield self._observed(observation, started)
        return observation

    def _observed(self, observation: Observation, started: float) -> Observed:
        self._seen = self.clock(), observation
        self._on_screen(observation)
        return Observed(
            observation=observation,
            text=observation.to_text(),
            elements=len(observation.elements),
            seconds=self.clock() - started,
            notes=observation.notes,
        )

    def look_again(self, after_s: float) -> Generator[Event, None, Observation]:
        """Wait until the screen changes, or for a moment, and return a new observation."""
        started = self.clock()
        waited = self._desktop.perform(Wait(time=after_s), settle=False)
        self.still_s = self.still_s + self.clock() - started if waited.still else 0.0
        self._seen = None
        return (yield from self.look(check=False))

    def await_windows(self, expected: Callable[[Sequence[Window]], bool], limit_s: float) -> None:
        """Wait until the windows are as expected, without observing their content, or until the limit has passed.

        Returns at once if the desktop cannot list its windows without a full observation.
        """
        deadline = self.clock() + limit_s
        while (windows := self._desktop.windows()) is not None and not expected(windows):
            if self.asked_to_stop() or self.clock() > deadline:
                return
            self._halt.pause(WINDOWS_POLL_S)

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows; None if that requires a full observation."""
        return self._desktop.windows()

    def element_now(self, element: Element) -> Element | None:
        """Return the current state of an element of the latest observation; None if it is gone or cannot be queried."""
        return self._desktop.element_now(element)

    @contextmanager
    def without_ocr(self) -> Iterator[None]:
        """Observe without OCR within the block, where nothing needs text that is only pixels."""
        self._ocr = False
        try:
            yield
        finally:
            self._ocr = True

    def step(
        self, observation: Observation, response: ActResponse, replayed: bool = False, settle: Settles = True
    ) -> Generator[Event, None, Step]:
        """Carry out one primitive.

        Args:
            observation: The screen before it.
            response: The primitive, and the reasoning behind it.
            replayed: Whether it comes from memory.
            settle: Whether to wait until the screen has settled, or a condition that detects the effect.
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
        self._seen, self.still_s = None, 0.0
        with self.timed("act"):
            result = self._perform(action, observation, settle, response.safety_checks)
        yield ActionPerformed(step=self.steps, action=action, result=result, seconds=self.clock() - started)
        return Step(self.steps, observation, response, result)

    def _perform(
        self, action: Action, observation: Observation, settle: Settles, checks: tuple[str, ...]
    ) -> ActionResult:
        """Perform an action if the policy allows it; a refusal is a result that the Worker reads."""
        if self._hand_over_if_asked():
            self.check_budget()
            return ActionResult(ok=False, error=TAKEN_OVER, refusal="interrupted")
        if isinstance(action, CallUser):
            with self._clock_paused():
                return self._people.answer(action.question)
        decision = (self._policy or _PROVIDER_CHECKS_ONLY).decide(action, observation, checks)
        if decision.rule == "refuse":
            return ActionResult(ok=False, error=f"not allowed: {decision.reason}", refusal="not_allowed")
        if decision.rule == "confirm":
            with self._clock_paused():
                agreed = self._people.allow(consent_for(action, observation, decision.reason))
            if not agreed:
                return ActionResult(ok=False, error=f"not confirmed: {decision.reason}", refusal="not_confirmed")
        return self._desktop.perform(action, settle)

    @property
    def latest(self) -> Observation | None:
        """The latest observation; None if an action was performed since."""
        return self._seen[1] if self._seen is not None else None

    # Budgets and time

    def check_budget(self) -> None:
        """Check that the run may continue.

        Raises:
            Stopped: It was asked to stop.
            LimitReached: A budget is used up.
        """
        if self.asked_to_stop():
            raise Stopped
        if self.steps >= self._limits.max_steps - self._reserved_steps:
            raise LimitReached(used_up("steps", self.steps, self._limits.max_steps, "max_steps"))
        spent, allowed = self.clock() - self._began, self._limits.max_seconds
        if spent > allowed * (1 - (RESERVED_SHARE if self._reserved_steps else 0.0)):
            raise LimitReached(used_up("s", spent, allowed, "max_seconds"))

    def reserve_for_verification(self, reserve: bool) -> None:
        """Reserve a part of each budget for verification, or release it; small budgets are not divided."""
        looks = self._limits.max_looks if reserve else 0
        self._reserved_steps = min(looks, self._limits.max_steps // 4)
        self._budget.reserved = min(looks + 1 if reserve else 0, self._limits.max_model_calls // 4)

    def usage(self) -> Usage:
        """Return the usage so far."""
        seconds = {phase: round(spent, 4) for phase, spent in self._seconds.items()}
        return self._budget.used.model_copy(update={"steps": self.steps, "seconds": seconds})

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Count the time of a block towards a phase, without the time of nested phases."""
        started, outer_s = self.clock(), self._inner_s
        self._inner_s = 0.0
        try:
            yield
        finally:
            spent = self.clock() - started
            self._seconds[phase] = self._seconds.get(phase, 0.0) + spent - self._inner_s
            self._inner_s = outer_s + spent

    @contextmanager
    def _clock_paused(self) -> Iterator[None]:
        """Do not count the time of a block against the budgets: a person takes it."""
        started = self.clock()
        try:
            yield
        finally:
            self._began += self.clock() - started

    # Stopping and pausing

    @contextmanager
    def running(self) -> Iterator[None]:
        """Prepare the desktop for a run, listen to its emergency stop, and release all keys and buttons at the end."""
        self._desktop.clear_buffer()
        self._halt.lift()
        try:
            with self._halt.notifying(lambda reason: self._signals.stop.set()):
                yield
        finally:
            self.release()

    def release(self) -> None:
        """Release every key and button."""
        self._desktop.release_all()

    def asked_to_stop(self) -> bool:
        """Return whether the run was asked to stop."""
        return self._signals.stop.is_set()

    @property
    def stop_reason(self) -> str:
        """Why the run was stopped."""
        return self._halt.reason or "asked to stop"

    def _hand_over_if_asked(self) -> bool:
        """Hand the screen to the person if they asked for it, until they hand it back; return whether they did."""
        if not self._signals.pause.is_set() or self._people.take_over is None:
            return False
        self.release()
        self.takeovers += 1
        try:
            with self._clock_paused():
                self._people.take_over()
        finally:
            self._signals.pause.clear()
            self._seen = None
        return True

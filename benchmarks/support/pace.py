"""How long the steps of a run take besides the model, and what of that is the loop itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from aci.acting.actions import Action, Done, Fail
from aci.desktop.desktop import ActionResult, Desktop, DesktopWrapper, Settles
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActResponse, Model, ModelRequest, ModelResponse, model_name
from benchmarks.support.figures import NotMeasured

T = TypeVar("T")


@dataclass(slots=True)
class Pace:
    """What was counted in one or several runs."""

    calls: dict[str, int] = field(default_factory=dict)  # calls of the model by kind
    primitives: int = 0  # primitives that the Worker chose, its claims to be done included
    # of each step: from the answer that chose it to the next question, s
    outside_s: list[float] = field(default_factory=list)
    # processor time of the loop's own thread in it, without looking and acting, s; other programs of the machine do not
    # count
    loop_s: list[float] = field(default_factory=list)
    _chosen_at: float | None = None
    _worked_s: float = 0.0

    def asked(self) -> None:
        """A question comes: the step before it is over."""
        if self._chosen_at is not None:
            self.outside_s.append(time.perf_counter() - self._chosen_at)
            self.loop_s.append(time.thread_time() - self._worked_s)
        self._chosen_at = None

    def answered(self, request: ModelRequest, response: ModelResponse) -> None:
        """An answer is there; one that acts begins a step."""
        self.calls[request.kind] = self.calls.get(request.kind, 0) + 1
        if isinstance(response.output, ActResponse):
            self.primitives += 1
            if not isinstance(response.output.action, Done | Fail):
                self._chosen_at, self._worked_s = time.perf_counter(), time.thread_time()

    def on_the_desktop(self, seconds: float) -> None:
        """The desktop was looked at or acted on, in so much processor time."""
        self._worked_s += seconds

    @property
    def calls_per_step(self) -> float:
        """Calls of Worker and reflector for each primitive."""
        return (self.calls.get("act", 0) + self.calls.get("reflect", 0)) / self.primitives

    @property
    def all_calls_per_step(self) -> float:
        """All calls for each primitive that was carried out: plans, claims, judgements and summaries, too."""
        if not self.outside_s:
            raise NotMeasured("no step was taken")
        return sum(self.calls.values()) / len(self.outside_s)


class PacedModel:
    """Passes questions on, and tells when they came and were answered."""

    def __init__(self, model: Model, pace: Pace) -> None:
        self.name = model_name(model)
        self._model, self._pace = model, pace

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request."""
        self._pace.asked()
        response = self._model.complete(request)
        self._pace.answered(request, response)
        return response


class PacedDesktop(DesktopWrapper):
    """Passes on what is done to a desktop, and tells how much of the processor it took."""

    def __init__(self, desktop: Desktop, pace: Pace) -> None:
        super().__init__(desktop)
        self._pace = pace

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Look at the screen."""
        return self._timed(lambda: self._desktop.observe(read_texts, check))

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive."""
        return self._timed(lambda: self._desktop.perform(action, settle))

    def _timed(self, do: Callable[[], T]) -> T:
        started = time.thread_time()
        try:
            return do()
        finally:
            self._pace.on_the_desktop(time.thread_time() - started)

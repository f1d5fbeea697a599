"""What a run is configured with: its options, its services and the person at the screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from aci.desktop.desktop import ActionResult, Desktop
from aci.safety import risk_words
from aci.safety.policy import Policy
from agent_s.llm.protocol import Model
from agent_s.records import Limits, Planner, Record
from agent_s.safety.confirmation import Consent
from agent_s.safety.secrets import Secrets
from agent_s.search import WebSearch
from agent_s.settings import Settings
from memory_store import MemoryStore

ASKED_FOR_PASSWORD = (
    "people are never asked for passwords, since the model would read the answer: a person writes {{secret:NAME}} into "
    "the task; fail and say so"
)


class Options(Record):
    """How an agent works."""

    limits: Limits = Limits()  # budgets of each run
    # `hierarchical` lets the Manager split a task into subtasks; `flat` passes the whole task to the Worker
    planner: Planner = "hierarchical"
    # whether verified experience is replayed without calling the model; `only` never calls the model at all
    replay: bool | Literal["only"] = True
    # whether a model verifies a task that has no state check; with `strict`, an undecided verdict counts as failure
    evaluator: bool | Literal["strict"] = True
    narrative: bool = True  # whether the Manager retrieves whole-task experience
    episodic: bool = True  # whether Workers retrieve subtask experience
    # whether the model sees retrieved experience `always`, or only `after_failure` of the first attempt
    give_memory: Literal["always", "after_failure"] = "always"
    # whether the model judges if differently worded experience means the same as the task. Off by default here, since a
    # custom model may not support such requests; settings turn it on.
    judge: bool = False
    learn: bool = True  # whether runs write to memory
    # whether a model summarizes what was learned; otherwise memory keeps the drafts, which list the steps
    summaries: bool = True
    learn_checks: bool = True  # whether the result of a state check that is kept from the agent is written to memory
    # when to give up immediately on a task that an exploration has failed at: `always`, `never`, or `unattended` if
    # there is nobody to ask
    boundaries: Literal["always", "unattended", "never"] = "unattended"
    reflect: bool = True  # whether the trajectory reflector gives feedback
    reflect_every: int = 0  # also reflect every this many steps; 0 to reflect only when something looks wrong
    max_actions: Annotated[int, Field(ge=1)] = 1  # maximum number of primitives per Worker answer
    # how often the grounding model zooms in on what the Worker describes; None without a grounding model
    grounding_zooms: Annotated[int | None, Field(ge=0)] = None
    search_timeout_s: float = 20.0  # longest wait for a web search, s
    # id of a run that a person vouches for: its experience is replayed even if it was never verified
    trusted_run: str = ""

    @classmethod
    def from_settings(cls, settings: Settings, trusted_run: str = "") -> Options:
        """Return the options that correspond to settings."""
        return cls(
            limits=settings.limits,
            planner=settings.planner,
            replay=settings.replay,
            evaluator=settings.evaluator,
            narrative=settings.memory.narrative,
            episodic=settings.memory.episodic,
            give_memory=settings.memory.give,
            judge=settings.memory.judge and settings.roles.get("judge", settings.model) != "offline",
            learn=settings.memory.continual_update,
            summaries=settings.memory.summaries,
            learn_checks=settings.memory.checks,
            boundaries=settings.memory.boundaries,
            reflect=settings.reflection.enabled,
            reflect_every=settings.reflection.every,
            max_actions=settings.max_actions,
            grounding_zooms=settings.grounding.zooms if settings.grounding.model is not None else None,
            search_timeout_s=settings.search.timeout_s,
            trusted_run=trusted_run,
        )

    @property
    def max_subtask_steps(self) -> int:
        """Maximum number of steps per subtask; in a flat plan, the only subtask may use all steps of the task."""
        return self.limits.max_steps + 1 if self.planner == "flat" else self.limits.max_subtask_steps


@dataclass(frozen=True, slots=True)
class People:
    """The person at the screen, if there is one."""

    ask: Callable[[str], str] | None = None  # asks them a question and returns the answer
    confirm: Callable[[Consent], bool] | None = None  # shows them a risky action and returns whether they agree
    take_over: Callable[[], None] | None = None  # yields the screen to them, and returns when they hand it back

    def answer(self, question: str) -> ActionResult:
        """Put a question to them and return the result of `call_user`."""
        if risk_words.pattern("password").search(question):
            return ActionResult(ok=False, error=ASKED_FOR_PASSWORD, refusal="not_allowed")
        if self.ask is None:
            error = "nobody is at the screen to answer; continue without an answer, or fail"
            return ActionResult(ok=False, error=error, refusal="no_answer")
        return ActionResult(ok=True, answer=self.ask(question))

    def agree(self, question: str) -> bool:
        """Return whether they answer a question with yes; False if nobody is there."""
        return self.ask is not None and self.ask(question).strip().casefold() in ("y", "yes")

    def allow(self, consent: Consent) -> bool:
        """Return whether they agree to a risky action; False if nobody is there."""
        return self.confirm is not None and self.confirm(consent)


@dataclass(frozen=True, slots=True)
class Services:
    """The collaborators of a run, as `AgentS` received them."""

    model: Model
    desktop: Desktop
    memory: MemoryStore | None = None
    learned: MemoryStore | None = None
    search: WebSearch | None = None
    policy: Policy | None = None
    people: People = People()
    secrets: Secrets = field(default_factory=lambda: Secrets(lambda name: None))
    clock: Callable[[], float] = time.monotonic

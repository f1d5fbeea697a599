"""The loop: observe, plan, work on each subtask, verify, learn (paper, figure 3).

`AgentS.stream` yields what happens as events; `AgentS.run` only wants the outcome. The agent is the only writer of
memory.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from aci.desktop.desktop import Desktop
from aci.desktop.virtual import VirtualDesktop
from aci.safety.policy import OWN_SCREEN, VIRTUAL, Policy
from agent_s.events import Event, RunEnded
from agent_s.llm.protocol import Model
from agent_s.loop.task_run import Run
from agent_s.loop.unfinished import Unfinished
from agent_s.records import Limits, Outcome, Planner, StateCheck, Task
from agent_s.safety.confirmation import Consent
from agent_s.safety.secrets import Secrets, find_in
from agent_s.search import WebSearch
from memory_store import MemoryStore

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from memory_store.embedding.embedders import Embedder


class AgentS:
    """Operates a desktop.

    Args:
        model: Answers every call; any object with `complete(request) -> ModelResponse`.
        desktop: What it sees and acts on; any object with `observe` and `perform`.
        memory: Experience of earlier runs, or None to work without it.
        search: Web search, or None.
        search_deadline_s: How long it is waited for, s.
        limits: Budgets of each run.
        narrative: Whether the Manager retrieves from memory.
        episodic: Whether Workers retrieve from memory.
        give_memory: When experience is given to the model: always, or once a first try has failed.
        learn: Whether runs write to memory.
        replay: Whether verified experience is done again without the model; `only` does nothing else.
        evaluator: Whether a model judges the end of a task that has no state check; else DONE is believed. With
            `strict`, what nothing could decide is not done either.
        boundaries: When a task that an exploration failed to do is given up at once; `unattended`, where there is
            nobody to ask.
        planner: `hierarchical` lets the Manager split a task into subtasks, `flat` gives it to the Worker as it is.
        reflect: Whether the trajectory reflector speaks.
        reflect_every: Also reflect after every so many steps; 0 for only when something is wrong.
        policy: Decides what may be done; None allows everything.
        ask: Puts a question to the person at the screen and returns the answer; None where nobody is there.
        confirm: Shows that person, in words and as a picture, what a risky action would do, and returns whether they
            agree; without anybody there, what needs confirmation is not done.
        take_over: Leaves the screen to that person after `pause`, and returns when they hand it back; None where nobody
            is there.
        vouched: Id of a run that the person says went well: what it taught is done again though nothing verified it.
        secret: Returns the secret that `{{secret:NAME}}` of a task stands for; None where there are none.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        *,
        model: Model,
        desktop: Desktop,
        memory: MemoryStore | None = None,
        search: WebSearch | None = None,
        search_deadline_s: float = 20.0,
        limits: Limits | None = None,
        narrative: bool = True,
        episodic: bool = True,
        give_memory: Literal["always", "after_failure"] = "always",
        learn: bool = True,
        replay: bool | Literal["only"] = True,
        evaluator: bool | Literal["strict"] = True,
        boundaries: Literal["always", "unattended", "never"] = "unattended",
        planner: Planner = "hierarchical",
        reflect: bool = True,
        reflect_every: int = 0,
        policy: Policy | None = None,
        ask: Callable[[str], str] | None = None,
        confirm: Callable[[Consent], bool] | None = None,
        take_over: Callable[[], None] | None = None,
        vouched: str = "",
        secret: Callable[[str], str | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.desktop = desktop
        self.memory = memory
        self.search = search
        self.search_deadline_s = search_deadline_s
        self.limits = limits or Limits()
        self.narrative = narrative
        self.episodic = episodic
        self.give_memory = give_memory
        self.learn = learn
        self.replay = replay
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.vouched = vouched
        self.planner = planner
        self.reflect = reflect
        self.reflect_every = reflect_every
        self.policy = policy
        self.ask = ask
        self.confirm = confirm
        self.take_over = take_over
        self.secrets = Secrets(secret or (lambda name: None))
        self.clock = clock
        self._stop = threading.Event()
        self._pause = threading.Event()
        heed = getattr(model, "heed_stop", None)
        if heed is not None:  # a wait for the provider ends when the run is to stop
            heed(self._stop.is_set)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        desktop: Desktop,
        *,
        memory: MemoryStore | None = None,
        ask: Callable[[str], str] | None = None,
        confirm: Callable[[Consent], bool] | None = None,
        take_over: Callable[[], None] | None = None,
    ) -> AgentS:
        """Build an agent as the settings say.

        Args:
            settings: From `load_settings`.
            desktop: What it sees and acts on.
            memory: A store that is already open; None opens the one that the settings name.
            ask: Puts a question to the person at the screen.
            confirm: Asks that person whether a risky action may be done.
            take_over: Leaves the screen to that person after `pause`, and returns when they hand it back.

        Raises:
            SettingsError: The settings name something that does not exist.
            ModelUnavailable: There is no key for the model.
            MemoryStoreError: The memory cannot be opened.
        """
        from agent_s.llm.build import build_models
        from agent_s.llm.no_model import NoModel
        from agent_s.search.build import build_search, with_cache

        search = build_search(settings, os.environ)
        if memory is None and settings.memory.enabled:
            memory = open_memory(settings)
        search = with_cache(search, settings, memory)
        return cls(
            model=NoModel() if settings.replay == "only" else build_models(settings, os.environ),
            desktop=desktop,
            memory=memory,
            search=search,
            search_deadline_s=settings.search.timeout_s,
            limits=settings.limits,
            narrative=settings.memory.narrative,
            episodic=settings.memory.episodic,
            give_memory=settings.memory.give,
            learn=settings.memory.continual_update,
            replay=settings.replay,
            evaluator=settings.evaluator,
            boundaries=settings.memory.boundaries,
            planner=settings.planner,
            reflect=settings.reflection.enabled,
            reflect_every=settings.reflection.every,
            policy=_policy(settings, desktop),
            ask=ask,
            confirm=confirm,
            take_over=take_over,
            secret=find_in(os.environ),
        )

    def resume(self, unfinished: Unfinished) -> Iterator[Event]:
        """Go on with a run that ended early, from the screen as it is, and yield what happens, as `stream` does.

        Subtasks that it finished are not done again. The Worker is told what was done of the one that it was at.

        Args:
            unfinished: From `agent_s.loop.unfinished.what_is_left`.
        """
        self._stop.clear()
        self._pause.clear()
        return Run(self, unfinished.task, None, False, self._stop, unfinished, self._pause).events()

    def run(self, task: Task, state_check: StateCheck | None = None, blind: bool = False) -> Outcome:
        """Carry out a task and return how it ended; see `stream`."""
        for event in self.stream(task, state_check, blind):
            if isinstance(event, RunEnded):
                return event.outcome
        raise AssertionError("a stream ends with RunEnded")

    def stream(self, task: Task, state_check: StateCheck | None = None, blind: bool = False) -> Iterator[Event]:
        """Carry out a task and yield what happens; the last event is `RunEnded`.

        Nothing that goes wrong with the task, the model or the desktop raises: it is the outcome. Closing the generator
        releases every key and button.

        Args:
            task: What is to be done.
            state_check: Looks at the applications' own state at the end; None to let the model judge.
            blind: Whether what the check finds is kept from the agent, as when it is measured; else a task that is not
                done goes back to planning with the reason.
        """
        self._stop.clear()
        self._pause.clear()
        return Run(self, task, state_check, blind, self._stop, None, self._pause).events()

    def stop(self) -> None:
        """Let the current run end as `stopped` at its next boundary; safe from any thread and from a signal handler."""
        self._stop.set()

    def pause(self) -> None:
        """Let the person have the screen at the next boundary of the current run, if there is somebody.

        An action that was chosen and not begun is dropped, and the agent looks anew when they hand back. Safe from any
        thread and from a signal handler.
        """
        self._pause.set()


def _policy(settings: Settings, desktop: Desktop) -> Policy:
    """Build the policy: cautious on a screen that belongs to somebody, free on a private one."""
    base = VIRTUAL if isinstance(desktop, VirtualDesktop) else OWN_SCREEN
    if settings.policy.confirm == "never":
        base = VIRTUAL
    return Policy(
        rules={**base, **settings.policy.rules},
        allowed_apps=frozenset(settings.policy.allowed_apps),
        confirm_all=settings.policy.confirm == "always",
    )


def open_memory(settings: Settings) -> MemoryStore:
    """Open the memory that the settings name, with the embedder that they choose.

    Raises:
        MemoryStoreError: It cannot be opened; nothing in it was changed.
    """
    return MemoryStore.open(settings.memory.url or settings.memory_path, embedder=choose_embedder(settings))


def choose_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name."""
    from memory_store.embedding.embedders import HashingEmbedder, default_embedder
    from memory_store.embedding.minilm import MiniLmEmbedder

    match settings.memory.embedder:
        case "minilm":
            return MiniLmEmbedder()
        case "hashing":
            return HashingEmbedder()
        case "auto":
            return default_embedder()

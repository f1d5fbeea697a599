"""The agent, which carries out tasks on a desktop (paper, figure 3).

`AgentS.stream` yields the events of a run and `AgentS.run` returns its outcome. The run itself is a
`agent_s.loop.task_run.TaskRun`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from aci.desktop.desktop import Desktop, SimpleDesktop, as_desktop
from aci.safety.policy import OWN_SCREEN, VIRTUAL, Policy, Risk, Rule
from agent_s.events import Event, RunEnded
from agent_s.llm.protocol import Model
from agent_s.loop.options import Options, People, Services
from agent_s.loop.session import Signals
from agent_s.loop.task_run import TaskRun
from agent_s.loop.unfinished import UnfinishedRun
from agent_s.memory import open_memory
from agent_s.records import Outcome, StateCheck, Task
from agent_s.safety.confirmation import Consent
from agent_s.safety.secrets import Secrets, find_in
from agent_s.search import WebSearch
from agent_s.settings import Settings
from memory_store import MemoryStore


class AgentS:
    """An agent that operates a desktop.

    Args:
        model: Answers every request; any object with `complete(request) -> ModelResponse`.
        desktop: The desktop to operate: an `aci.desktop.desktop.Desktop`, or any object with `observe()` and
            `perform(action)`.
        memory: Store of experience from earlier runs, or None to work without it.
        learned: Store that new experience is written to; None for `memory` itself. With a separate store, only the use
            counts in `memory` are updated.
        search: Web search, or None to work without it.
        options: How the agent works.
        policy: Decides which actions are allowed; None allows all.
        ask: Callback that asks the person at the screen a question and returns the answer; None if nobody is there.
        confirm: Callback that shows that person a risky action and returns whether they agree; None to refuse all
            risky actions.
        take_over: Callback that yields the screen to that person after `pause` and returns when they hand it back.
        secret: Callback that looks up the value of a `{{secret:NAME}}` in a task; it returns None if there is none.
        clock: Monotonic clock, s.
        changes: Individual options by name, such as `limits=Limits(max_steps=30)`; they override those of `options`.
    """

    def __init__(
        self,
        *,
        model: Model,
        desktop: SimpleDesktop,
        memory: MemoryStore | None = None,
        learned: MemoryStore | None = None,
        search: WebSearch | None = None,
        options: Options | None = None,
        policy: Policy | None = None,
        ask: Callable[[str], str] | None = None,
        confirm: Callable[[Consent], bool] | None = None,
        take_over: Callable[[], None] | None = None,
        secret: Callable[[str], str | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        **changes: Any,
    ) -> None:
        people, secrets = People(ask, confirm, take_over), Secrets(secret or (lambda name: None))
        self.options = Options.model_validate({**dict(options or Options()), **changes})
        self.services = Services(model, as_desktop(desktop), memory, learned, search, policy, people, secrets, clock)
        self._signals = Signals()

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        desktop: SimpleDesktop,
        *,
        memory: MemoryStore | None = None,
        learned: MemoryStore | None = None,
        ask: Callable[[str], str] | None = None,
        confirm: Callable[[Consent], bool] | None = None,
        take_over: Callable[[], None] | None = None,
        trusted_run: str = "",
    ) -> AgentS:
        """Build an agent from settings.

        Args:
            settings: The settings.
            desktop: The desktop to operate.
            memory: As for the constructor; None to open the store that the settings name.
            learned: As for the constructor.
            ask: As for the constructor.
            confirm: As for the constructor.
            take_over: As for the constructor.
            trusted_run: Id of a run whose experience is replayed even if it was never verified.

        Raises:
            SettingsError: The settings name something that does not exist.
            ModelUnavailable: The model needs an API key that is not set.
            MemoryStoreError: The memory cannot be opened.
        """
        from agent_s.llm.build import build_models
        from agent_s.llm.no_model import NoModel
        from agent_s.search.build import build_search, with_cache

        search = build_search(settings, os.environ)
        if memory is None and settings.memory.enabled:
            memory = open_memory(settings)
        return cls(
            model=NoModel() if settings.replay == "only" else build_models(settings, os.environ),
            desktop=desktop,
            memory=memory,
            learned=learned,
            search=with_cache(search, settings, memory),
            options=Options.from_settings(settings, trusted_run),
            policy=build_policy(settings, as_desktop(desktop)),
            ask=ask,
            confirm=confirm,
            take_over=take_over,
            secret=find_in(os.environ),
        )

    def run(self, task: Task, state_check: StateCheck | None = None, blind: bool = False) -> Outcome:
        """Carry out a task and return its outcome; see `stream`."""
        for event in self.stream(task, state_check, blind):
            if isinstance(event, RunEnded):
                return event.outcome
        raise AssertionError("a stream ends with RunEnded")

    def stream(self, task: Task, state_check: StateCheck | None = None, blind: bool = False) -> Iterator[Event]:
        """Carry out a task and yield its events; the last one is `RunEnded`.

        A failure of the task, the model or the desktop is an outcome and raises nothing. Closing the generator
        releases every key and button.

        Args:
            task: The task.
            state_check: Check of the applications' own state at the end; None to let the model judge.
            blind: Whether to withhold the result of the check from the agent, as in an evaluation. Otherwise a failed
                check sends the task back to planning, with the reason.
        """
        return self._start(TaskRun(self.services, self.options, self._signals, task, state_check, blind))

    def resume(self, unfinished: UnfinishedRun) -> Iterator[Event]:
        """Continue a run that ended early, from the current screen, and yield its events.

        Finished subtasks are not repeated, and the Worker sees the recorded steps of the current one.
        `agent_s.loop.unfinished.read_unfinished` reads such a run from its recording.
        """
        return self._start(TaskRun(self.services, self.options, self._signals, unfinished.task, resumed=unfinished))

    def stop(self) -> None:
        """End the current run as `stopped` at its next step boundary; safe from any thread and signal handler."""
        self._signals.stop.set()

    def pause(self) -> None:
        """Hand the screen to the person at the next step boundary of the current run; needs `take_over`.

        An action that was chosen but not begun is dropped, and the agent observes the screen again when the person
        hands it back. Safe from any thread and signal handler.
        """
        self._signals.pause.set()

    def _start(self, run: TaskRun) -> Iterator[Event]:
        self._signals.stop.clear()
        self._signals.pause.clear()
        return run.events()


def build_policy(settings: Settings, desktop: Desktop) -> Policy:
    """Return the policy that settings describe: strict on a person's own screen, permissive on a private desktop."""
    never_confirm = settings.policy.confirm == "never"
    defaults = VIRTUAL if desktop.private or never_confirm else OWN_SCREEN
    provider: dict[Risk, Rule] = {"provider": "allow"} if never_confirm else {}
    return Policy(
        rules={**defaults, **provider, **settings.policy.rules},
        allowed_apps=frozenset(settings.policy.allowed_apps),
        confirm_all=settings.policy.confirm == "always",
    )

"""The agent: carries out tasks on a desktop (paper, figure 3).

`AgentS.stream` yields the events of a run, and `AgentS.run` returns its outcome; `agent_s.loop.task_run` is one run.
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
    """Operates a desktop.

    Args:
        model: Answers every request; any object with `complete(request) -> ModelResponse`.
        desktop: The desktop to operate: an `aci.desktop.desktop.Desktop`, or any object with `observe()` and
            `perform(action)`.
        memory: Experience of earlier runs, or None to work without it.
        learned: Receives what runs learn instead of `memory`, which only counts how well its experience served.
        search: Web search, or None.
        options: How the agent works.
        policy: Decides which actions are allowed; None allows all.
        ask: Asks the person at the screen a question and returns the answer; None if nobody is there.
        confirm: Shows that person a risky action and returns whether they agree; without it, risky actions are refused.
        take_over: Leaves the screen to that person after `pause`, and returns when they hand it back.
        secret: Returns the secret for a `{{secret:NAME}}` of a task, or None.
        clock: Monotonic clock, s.
        changes: Single options by name, such as `limits=Limits(max_steps=30)`; they replace those of `options`.
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
        """Build an agent from settings; `trusted_run` is the id of a run to replay even if it was never verified.

        Without `memory`, the store that the settings name is opened. The rest is as for the constructor.

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

        A failure of the task, the model or the desktop does not raise: it is the outcome. Closing the generator
        releases every key and button.

        Args:
            task: The task.
            state_check: Checks the applications' own state at the end; None to let the model judge.
            blind: Whether the result of the check is kept from the agent, as in an evaluation. Otherwise a task that is
                not done goes back to planning with the reason.
        """
        return self._start(TaskRun(self.services, self.options, self._signals, task, state_check, blind))

    def resume(self, unfinished: UnfinishedRun) -> Iterator[Event]:
        """Continue a run that ended early, from the current screen, and yield its events.

        Finished subtasks are not repeated. The Worker gets the steps of the current one. `read_unfinished` in
        `agent_s.loop.unfinished` reads such a run from its record.
        """
        return self._start(TaskRun(self.services, self.options, self._signals, unfinished.task, resumed=unfinished))

    def stop(self) -> None:
        """End the current run as `stopped` at its next boundary; safe from any thread and signal handler."""
        self._signals.stop.set()

    def pause(self) -> None:
        """Leave the screen to the person at the next boundary of the current run; needs `take_over`.

        An action that was chosen but not begun is dropped, and the agent looks again when the person hands back. Safe
        from any thread and signal handler.
        """
        self._signals.pause.set()

    def _start(self, run: TaskRun) -> Iterator[Event]:
        self._signals.stop.clear()
        self._signals.pause.clear()
        return run.events()


def build_policy(settings: Settings, desktop: Desktop) -> Policy:
    """Return the policy of the settings: cautious on a person's own screen, permissive on a private one."""
    free = desktop.private or settings.policy.confirm == "never"
    unasked: dict[Risk, Rule] = {"provider": "allow"} if settings.policy.confirm == "never" else {}
    return Policy(
        rules={**(VIRTUAL if free else OWN_SCREEN), **unasked, **settings.policy.rules},
        allowed_apps=frozenset(settings.policy.allowed_apps),
        confirm_all=settings.policy.confirm == "always",
    )

"""Agent S as an agent of OSWorld's and OS-MAP's harness: `reset`, and `predict` once for each step."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from aci.errors import ConnectionLost
from aci.remote.computer_13 import CALL_USER, DONE, FAIL, Step, call_user_step
from aci.remote.machine import picture_of
from aci.remote.view import View
from agent_s.errors import AgentError
from agent_s.events import ActionChosen
from agent_s.llm.protocol import Model
from agent_s.records import Outcome, Task
from agent_s.settings import Settings
from evaluation.errors import EvaluationError
from evaluation.harness.recording import Recording
from evaluation.osworld.turns import ActionSpace, Screen, TurnDesktop
from memory_store import MemoryStore

ObservationType = Literal["screenshot", "a11y_tree", "screenshot_a11y_tree", "som"]
END_LIMIT_S = 30.0
_WITH_TREE = ("a11y_tree", "screenshot_a11y_tree", "som")
_WITH_PICTURE = ("screenshot", "screenshot_a11y_tree", "som")
_ENDINGS = {"done": DONE, "out_of_budget": DONE, "stopped": DONE, "failed": FAIL, "infeasible": FAIL}


class OSWorldAgent:
    """The agent in the loop of another harness; one object runs any number of episodes, one after another.

    ```python
    agent = OSWorldAgent(load_settings(), observation_type="screenshot_a11y_tree")
    agent.reset()
    response, actions = agent.predict("Rename the file.", env.reset(task))
    ```

    Between two calls of `predict` the run waits in a thread of its own; its plan, memory and replay are those of every
    run. Nothing but the observation is used: neither the machine nor its address.

    Args:
        settings: Model, limits, memory, and where runs are recorded.
        action_space: `pyautogui` for lines of Python, `computer_13` for dictionaries.
        observation_type: What of an observation is used; as in OSWorld, `som` is both, and the marks are made here.
        screen_size: Width and height of the screen, px, where no screenshot says so.
        call_user: Whether the harness knows OS-MAP's CALL_USER; without it nobody is asked anything.
        model: Answers every request; None for the one in the settings.
        memory: An open store; None for the one in the settings.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        action_space: ActionSpace = "pyautogui",
        observation_type: ObservationType = "screenshot_a11y_tree",
        screen_size: tuple[int, int] = (1920, 1080),
        call_user: bool = False,
        model: Model | None = None,
        memory: MemoryStore | None = None,
    ) -> None:
        self.action_space = action_space
        self.observation_type = observation_type
        # The model is shown what the harness measures; the setting knows OSWorld's names for it.
        self._settings = type(settings).model_validate({**dict(settings), "observation": observation_type})
        self._screen_size = screen_size
        self._call_user = call_user
        self._model = model
        self._memory = memory
        self._open = ExitStack()
        self._episode: _Episode | None = None

    def reset(self, *_: Any, **__: Any) -> None:
        """Begin a new episode; a run that has not ended is stopped.

        What harnesses pass, such as loggers and folders, is not used.
        """
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.end()

    def close(self) -> None:
        """End the last episode, and close the memory if it was opened here."""
        self.reset()
        self._open.close()

    @property
    def run_folder(self) -> Path | None:
        """Folder of the recording of the current episode; None if there is none."""
        return self._episode.recording.folder if self._episode is not None else None

    def predict(self, instruction: str, obs: Mapping[str, Any]) -> tuple[str, list[Step]]:
        """Return what the agent says, and its next actions: `DONE` or `FAIL` at the end.

        Args:
            instruction: The task.
            obs: `screenshot` (PNG bytes) and `accessibility_tree` (XML), as far as the type of observation needs them.

        Raises:
            EvaluationError: The observation lacks something, or the run broke; the message says what.
        """
        screen = self._screen(obs)
        if self._episode is None:
            self._episode = self._begin(instruction)
        return self._episode.step(screen)

    def _begin(self, instruction: str) -> _Episode:
        from agent_s.loop.agent import AgentS
        from agent_s.loop.options import Options
        from agent_s.memory import open_memory

        view = View(self._settings.desktop.text_engine() if self.observation_type != "a11y_tree" else None)
        desktop = TurnDesktop(view, self.action_space)

        def hand_over(question: str) -> str:
            desktop.hand_out([call_user_step(question) if self.action_space == "computer_13" else CALL_USER])
            return "The person has typed it. Look at the screen."

        ask = hand_over if self._call_user else None
        if self._memory is None and self._settings.memory.enabled:
            self._memory = self._open.enter_context(open_memory(self._settings))
        if self._model is None:
            agent = AgentS.from_settings(self._settings, desktop, memory=self._memory, ask=ask)
        else:
            options = Options.from_settings(self._settings)
            agent = AgentS(model=self._model, desktop=desktop, memory=self._memory, options=options, ask=ask)
        return _Episode(agent, desktop, view, Task(instruction=instruction), Recording(self._settings.runs_folder))

    def _screen(self, obs: Mapping[str, Any]) -> Screen:
        import numpy as np

        picture, tree = obs.get("screenshot"), obs.get("accessibility_tree")
        if self.observation_type in _WITH_PICTURE and not isinstance(picture, bytes):
            raise EvaluationError(
                f"obs['screenshot'] is {type(picture).__name__}; {self.observation_type} needs PNG bytes"
            )
        if self.observation_type == "a11y_tree" and not isinstance(tree, str):
            raise EvaluationError(
                "obs['accessibility_tree'] is missing: make the environment with require_a11y_tree=True"
            )
        width, height = self._screen_size
        pixels = np.zeros((height, width, 3), np.uint8)
        if isinstance(picture, bytes) and self.observation_type in _WITH_PICTURE:
            try:
                pixels = picture_of(picture)
            except OSError as error:
                raise EvaluationError(f"obs['screenshot'] is not a picture: {error}") from error
        return Screen(pixels, tree if isinstance(tree, str) and self.observation_type in _WITH_TREE else None)


class _Episode:
    """One run, in a thread that waits while the harness acts."""

    def __init__(self, agent: Any, desktop: TurnDesktop, view: View, task: Task, recording: Recording) -> None:
        self.recording = recording
        self._agent = agent
        self._desktop = desktop
        self._view = view
        self._task = task
        self._said: list[str] = []
        self._problem: Exception | None = None
        self._last: tuple[str, list[Step]] | None = None
        self._thread = threading.Thread(target=self._run, name="osworld-episode", daemon=True)
        self._thread.start()

    def step(self, screen: Screen) -> tuple[str, list[Step]]:
        """Return what the agent says and does on a screen."""
        if self._last is not None:
            return self._last
        steps = self._desktop.next_actions(screen)
        said, self._said = "\n".join(self._said), []
        if steps is not None:
            return said, list(steps)
        self._thread.join()
        outcome = self.recording.outcome
        if outcome is None or outcome.status == "error":
            reason = outcome.reason if outcome is not None else str(self._problem)
            raise EvaluationError(f"the run broke: {reason}") from self._problem
        self._last = (f"{said}\n{_words(outcome)}".strip(), [_ENDINGS[outcome.status]])
        return self._last

    def end(self) -> None:
        """Stop the run if it has not ended."""
        self._agent.stop()
        self._desktop.end()
        self._thread.join(END_LIMIT_S)
        self.recording.close()
        self._view.close()

    def _run(self) -> None:
        try:
            for event in self._agent.stream(self._task):
                if isinstance(event, ActionChosen):
                    parts = (event.previous_action_check, event.observation_analysis, event.next_action)
                    self._said += [part for part in parts if part]
                self.recording(event)
        except (AgentError, ConnectionLost) as error:
            self._problem = error
        finally:
            self._desktop.agent_ended()


def _words(outcome: Outcome) -> str:
    return f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status

"""Live view of a run of this process, which the person watches and controls in a browser."""

from __future__ import annotations

import base64
import contextlib
import queue
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from aci.acting.actions import Click, Hotkey, Scroll, Type
from agent_s.errors import AgentError
from agent_s.events import ActionPerformed, Event
from agent_s.loop.agent import AgentS
from agent_s.records import Record
from agent_s.runs.following import publish_live_info
from agent_s.safety.confirmation import Consent
from agent_s.terminal.loopback import listen
from agent_s.view.folders import RunsFolder
from agent_s.view.server import Viewer, address_of

PAUSED = "Paused: the screen is yours. The agent looks at it again when you continue."


class Order(Record):
    """A command from the person at the page."""

    do: Literal["pause", "step", "stop", "answer", "act"]
    number: int = 0  # number of the question that it answers or belongs to
    value: str | bool = ""  # the answer: to a question, whether an action is allowed, or "step" or "continue"
    action: Annotated[Click | Type | Hotkey | Scroll, Field(discriminator="action")] | None = None


class Question(Record):
    """A question that the run waits for."""

    kind: Literal["ask", "confirm", "pause"]
    number: int
    text: str
    picture: str = ""  # picture of an action's target as a data URL


class LiveRun:
    """Connects one run with the page. Methods are called from the run's thread unless stated otherwise.

    Args:
        announce: Callback that shows the person the address of the page.
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._numbers = 0
        self._question: Question | None = None
        self._stepping = self._pausing = self._stopping = False
        self._problem = ""
        self.folder: Path | None = None  # folder of the run once it has begun

    @contextlib.contextmanager
    def shown(self, agent: AgentS, folder: Path, stop: Callable[[], None]) -> Iterator[None]:
        """Show a run within a `with` block.

        Args:
            agent: The agent that carries it out.
            folder: Folder of its recording.
            stop: Callback that stops the run, called from another thread.
        """
        self._agent, self._stop, self.folder = agent, stop, folder.resolve()
        token = secrets.token_urlsafe(24)
        with listen(0) as listener:
            server = Viewer(RunsFolder(self.folder), self).server(token)
            address = address_of(listener.getsockname()[1], token)
            thread = threading.Thread(target=server.run, args=[[listener]], name="view", daemon=True)
            thread.start()
            try:
                with publish_live_info(folder, agent.services.desktop.display, address):
                    self._announce(f"Watch it at {address}")
                    yield
            finally:
                server.should_exit = True
                thread.join()

    def __call__(self, event: Event) -> None:
        """Handle an event of the run."""
        if self._stepping and isinstance(event, ActionPerformed):
            self._agent.pause()

    def ask(self, question: str) -> str:
        """Return the person's answer to a question of the agent."""
        return str(self._wait("ask", question).value)

    def confirm(self, consent: Consent) -> bool:
        """Return whether the person allows a risky action, whose target is shown."""
        picture = f"data:image/png;base64,{base64.b64encode(consent.as_png()).decode()}"
        return self._wait("confirm", str(consent), picture).value is True

    def take_over(self) -> None:
        """Yield the screen to the person until they continue."""
        self._pausing = False
        while (order := self._wait("pause", PAUSED)).do == "act":
            if order.action is not None:
                self._problem = self._agent.services.desktop.perform(order.action).error or ""
        self._stepping = order.value == "step"

    def state(self) -> dict[str, Any]:
        """Return the state that the page shows besides the events; safe from any thread."""
        question, desktop = self._question, self._agent.services.desktop
        return {
            "orders": True,
            "question": question.model_dump() if question is not None else None,
            "pausing": self._pausing,
            "stopping": self._stopping,
            "problem": self._problem,
            "input": desktop.private,
        }

    def do(self, order: bytes) -> None:
        """Carry out a command given as JSON; called from the server's thread.

        Raises:
            AgentError: The command is unknown.
        """
        try:
            given = Order.model_validate_json(order)
        except ValidationError as error:
            raise AgentError(f"Invalid order: {error.errors()[0]['msg']}.") from error
        question = self._question
        match given.do:
            case "stop" if not self._stopping:
                self._stopping = True
                self._stop()
                self._orders.put(Order(do="stop", number=self._numbers))
            case "pause" | "step" if question is None or question.kind != "pause":
                self._pausing, self._stepping = True, given.do == "step"
                self._agent.pause()
            case "answer" | "act" if question is not None and question.number == given.number:
                self._orders.put(given)

    def _wait(self, kind: Literal["ask", "confirm", "pause"], text: str, picture: str = "") -> Order:
        """Show a question and wait for the answer; stopping the run interrupts the wait."""
        self._numbers += 1
        self._question = Question(kind=kind, number=self._numbers, text=text, picture=picture)
        try:
            while True:
                order = self._orders.get()
                if order.number == self._numbers:
                    return order
        finally:
            self._question = None

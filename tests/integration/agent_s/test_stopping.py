"""A run that is asked to stop while a server accepted its question and never answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from aci.screen.emergency_stop import Halt
from agent_s import AgentS, Options, Task, load_settings
from agent_s.llm.build import build_models
from agent_s.llm.protocol import Model, QueryResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Outcome
from agent_s.search.build import build_search
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

TOO_LONG_S = 60
"""Nothing takes this long unless it does not end at all: the servers are waited for ten times as long."""


class SilentServer:
    """Accepts connections, reads, and never answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.left = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @contextmanager
    def running(self) -> Iterator[SilentServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self._listening.close()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        with connection:
            while connection.recv(65536):
                self.asked.set()
        self.left.set()


def stopped_while_waiting(agent: AgentS, server: SilentServer, stop: Callable[[], None] | None = None) -> Outcome:
    """Run, stop once the server was asked, and return how it ended."""
    ended: list[Outcome] = []
    running = threading.Thread(target=lambda: ended.append(agent.run(Task(instruction="Press OK"))), daemon=True)
    running.start()
    assert server.asked.wait(TOO_LONG_S)
    (stop or agent.stop)()
    running.join(TOO_LONG_S)
    assert not running.is_alive(), "the run goes on waiting"
    assert server.left.wait(TOO_LONG_S), "the server is left at work"
    return ended[0]


def provider(name: str, server: SilentServer) -> Model:
    settings = load_settings(overrides={"model": name, "provider.timeout_s": 10 * TOO_LONG_S})
    environment = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.address, "OPENAI_API_KEY": "k",
                   "OPENAI_BASE_URL": f"{server.address}/v1"}  # fmt: skip
    return build_models(settings, environment)


@pytest.mark.parametrize("name", ["anthropic:claude-test", "openai:gpt-test", "URL"])
def test_a_model_that_never_answers_keeps_no_run_from_stopping(name: str) -> None:
    with SilentServer().running() as server:
        model = provider(f"{server.address}/v1#local" if name == "URL" else name, server)
        ended = stopped_while_waiting(AgentS(model=model, desktop=FakeDesktop(screen(button(1, "OK")))), server)
    assert (ended.status, ended.verified) == ("stopped", None)


def test_the_stop_key_ends_the_wait_for_a_model_also_without_the_command_line() -> None:
    halt = Halt()
    desktop = FakeDesktop(screen(button(1, "OK")), emergency_stop=halt)
    with SilentServer().running() as server:
        agent = AgentS(model=provider("anthropic:claude-test", server), desktop=desktop)
        ended = stopped_while_waiting(agent, server, lambda: halt.call("the stop key was pressed"))
    assert ended.status == "stopped" and "the stop key was pressed" in ended.reason


@pytest.mark.parametrize("kind", ["searxng", "vane", "hosted"])
def test_a_search_that_never_answers_keeps_no_run_from_stopping(kind: str) -> None:
    with SilentServer().running() as server:
        overrides = {"search.engine": kind, "search.timeout_s": 300, "model": "anthropic:claude-test"}
        overrides |= {"search.url": server.address} if kind != "hosted" else {}
        environment = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.address}
        model = ScriptedModel({"query": [QueryResponse(query="How to press OK")]})
        agent = AgentS(
            model=model,
            desktop=FakeDesktop(screen(button(1, "OK"))),
            search=build_search(load_settings(overrides=overrides), environment),
            options=Options(search_timeout_s=300.0),
        )
        ended = stopped_while_waiting(agent, server)
    assert ended.status == "stopped"
    assert [one.kind for one in model.requests] == ["query"]

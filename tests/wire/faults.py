"""Faults between an agent and a provider, played in each wire format by the tests and by a benchmark."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aci.acting.actions import Action, Click
from agent_s.errors import (
    EmptyResponse,
    MalformedResponse,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    ResponseCutOff,
)
from agent_s.llm.build import build_model
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, ModelResponse
from agent_s.llm.providers.provider import ProviderModel
from agent_s.llm.providers.retries import Retrying
from agent_s.records import Subtask, Task
from agent_s.settings import ProviderSettings
from tests.unit.agent_s.fakes import button, screen
from tests.wire.formats import KEY, Format
from tests.wire.server import Half, Http, Reset, Stall, Turn, WireServer

REQUEST = ModelRequest(
    ActContext(Task(instruction="Press OK"), Subtask(name="press OK"), screen(button(1, "OK"), button(2, "Cancel")))
)
PATIENT = ProviderSettings()
IMPATIENT = ProviderSettings(timeout_s=1)
"""Short enough for servers that stall, long enough for an answer on a busy machine."""


def turn_of_worker(action: Any, **parts: str) -> str:
    return json.dumps(
        {"previous_action_check": "", "observation_analysis": "", "next_action": "", **parts, "action": action}
    )


PRESS = turn_of_worker({"action": "click", "element_id": 1})
PRESSED = Click(element_id=1)


@dataclass
class Exchange:
    """The result of one request: response or error, the server with what it received, and the waits in seconds."""

    response: ModelResponse | None
    error: ModelError | None
    server: WireServer
    waits: list[float]

    @property
    def action(self) -> Any:
        assert self.response is not None, self.error
        assert isinstance(self.response.output, ActResponse)
        return self.response.output.action

    @property
    def message(self) -> str:
        assert self.error is not None, self.response
        return str(self.error)


def exchange(
    form: Format, *turns: Turn, settings: ProviderSettings = PATIENT, request: ModelRequest = REQUEST
) -> Exchange:
    """Send one request to a server that plays these turns, without really waiting."""
    server = WireServer(list(turns))
    waits: list[float] = []
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url), settings)
        assert isinstance(model, ProviderModel)
        model.retrying = Retrying(settings.retries, waits.append, lambda: 0.0)
        try:
            return Exchange(model.complete(request), None, server, waits)
        except ModelError as error:
            assert KEY not in "".join(traceback.format_exception(error))
            return Exchange(None, error, server, waits)


@dataclass(frozen=True)
class Fault:
    """A fault of a provider, a server or the network.

    Attributes:
        turns: Turns of the server.
        requests: Expected number of requests.
        error: Expected error; None if the request succeeds in the end.
        message: Part of the error message.
        waits: Expected waits before each retry, s.
        settings: Settings of the provider.
        action: Expected action, if the request succeeds.
    """

    turns: Callable[[Format], list[Turn]]
    requests: int
    error: type[ModelError] | None = None
    message: str = ""
    waits: tuple[float, ...] = ()
    settings: ProviderSettings = PATIENT
    action: Action = PRESSED


def clock_skew(form: Format) -> Http:
    """Return an error with a retry time 7 s ahead, by a clock that is 400 days fast."""
    server_time = datetime.now(UTC) + timedelta(days=400)
    retry_time = server_time + timedelta(seconds=7)
    headers = {
        name: format_datetime(at, usegmt=True) for name, at in (("date", server_time), ("retry-after", retry_time))
    }
    return form.error(503, "back soon", headers=headers)


def invalid_once(bad: str) -> Callable[[Format], list[Turn]]:
    return lambda form: [form.answer(bad), form.answer(PRESS)]


def invalid_always(bad: str) -> Callable[[Format], list[Turn]]:
    return lambda form: [form.answer(bad)] * 3


DEEP = '{"action":' * 30_000
FAULTS: dict[str, Fault] = {
    "429 with retry-after": Fault(
        lambda form: [form.error(429, "slow down", headers={"retry-after": "3"}), form.answer(PRESS)], 2, waits=(3.0,)
    ),
    "429 without retry-after": Fault(
        lambda form: [form.error(429, "slow down"), form.error(429, "slow down"), form.answer(PRESS)],
        3,
        waits=(0.5, 1.0),
    ),
    "429 forever": Fault(
        lambda form: [form.error(429, "slow down")] * 5, 5, ModelUnavailable, "Tried 5 times", (0.5, 1.0, 2.0, 4.0)
    ),
    "429 with retry-after of an hour": Fault(
        lambda form: [form.error(429, "slow down", headers={"retry-after": "3600"})], 1, ModelUnavailable, "60 min"
    ),
    "429 because the budget is spent": Fault(
        lambda form: [form.error(429, "no money", "enforced_spend_limit_reached")], 1, ModelUnavailable, "used up"
    ),
    "500": Fault(lambda form: [form.error(500, "oops"), form.answer(PRESS)], 2, waits=(0.5,)),
    "529": Fault(
        lambda form: [form.error(529, "overloaded"), form.error(529, "overloaded"), form.answer(PRESS)],
        3,
        waits=(0.5, 1.0),
    ),
    "connection reset": Fault(lambda form: [Reset(), form.answer(PRESS)], 2, waits=(0.5,)),
    "connection reset forever": Fault(
        lambda form: [Reset()] * 5, 5, ModelUnavailable, "cannot be reached", (0.5, 1.0, 2.0, 4.0)
    ),
    "stall": Fault(lambda form: [Stall(), form.answer(PRESS)], 2, waits=(0.5,), settings=IMPATIENT),
    "stall forever": Fault(
        lambda form: [Stall()] * 2, 2, ModelUnavailable, "provider.timeout_s", (0.5,), ProviderSettings(timeout_s=0.3)
    ),
    "stall while answering": Fault(
        lambda form: [Stall(drip=True), form.answer(PRESS)], 2, waits=(0.5,), settings=IMPATIENT
    ),
    "half a response": Fault(lambda form: [Half(form.answer(PRESS)), form.answer(PRESS)], 2, waits=(0.5,)),
    "not JSON on the wire": Fault(
        lambda form: [Http(200, b"<html>Sign in to the guest network</html>", content_type="text/html")] * 3,
        3,
        ModelUnavailable,
        "proxy",
        (0.5, 1.0),
    ),
    "wrong JSON": Fault(invalid_once('{"action": {"action": "click", "element_id": 1,}}'), 2),
    "wrong JSON always": Fault(
        invalid_always('{"action": {"action": "done"}'), 3, MalformedResponse, "invalid answers: not valid JSON"
    ),
    "JSON in prose": Fault(lambda form: [form.answer(f"I will press it {{now}}.\n```json\n{PRESS}\n```\nGood?")], 1),
    "unknown action": Fault(invalid_once(turn_of_worker({"action": "run_shell", "command": "rm -rf ~"})), 2),
    "unknown action always": Fault(
        invalid_always(turn_of_worker("agent.open_terminal()")),
        3,
        MalformedResponse,
        "Unknown primitive 'open_terminal'",
    ),
    "unknown id": Fault(
        lambda form: [form.answer(turn_of_worker({"action": "click", "element_id": 99}))],
        1,
        action=Click(element_id=99),  # valid: the desktop refuses it, and the worker sees the error
    ),
    "two actions": Fault(invalid_once(f"{PRESS}\n{turn_of_worker({'action': 'done'})}"), 2),
    "two actions always": Fault(invalid_always("agent.click(1)\nagent.done()"), 3, MalformedResponse, "2 primitives"),
    "refusal": Fault(
        lambda form: [form.answer("", stop="refusal", refusal="against the rules")],
        1,
        ModelRefused,
        "against the rules",
    ),
    "length stop": Fault(lambda form: [form.answer(PRESS[:60], stop="length"), form.answer(PRESS)], 2),
    "length stop always": Fault(
        lambda form: [form.answer(PRESS, stop="length")] * 3, 3, ResponseCutOff, "provider.max_output_tokens"
    ),
    "empty": Fault(invalid_once(""), 2),
    "empty always": Fault(invalid_always(" \n"), 3, EmptyResponse, "3 empty answers"),
    "twice something else": Fault(
        lambda form: [form.answer(""), form.answer('{"action": {"action": "fly"}}'), form.answer(PRESS)], 3
    ),
    "id as a text": Fault(lambda form: [form.answer(turn_of_worker({"action": "click", "element_id": "1"}))], 1),
    "wrong type": Fault(invalid_once(turn_of_worker({"action": "click", "element_id": "the OK button"})), 2),
    "wrong type on the wire": Fault(
        lambda form: [Http(200, {"content": 7, "output": 7, "choices": 7})] * 3,
        3,
        ModelUnavailable,
        "own format",
        (0.5, 1.0),
    ),
    "huge text": Fault(invalid_once("x" * 500_000), 2),
    "huge body": Fault(lambda form: [Http(200, b" " * 9_000_000)], 1, ModelError, "larger than"),
    "nested endlessly": Fault(invalid_always(DEEP), 3, MalformedResponse, "nested"),
    "duplicate keys": Fault(invalid_once('{"action": {"action": "click", "element_id": 1, "element_id": 2}}'), 2),
    "duplicate keys always": Fault(
        invalid_always('{"action": {"action": "done"}, "action": {"action": "fail"}}'),
        3,
        MalformedResponse,
        "'action' is given twice",
    ),
    "lone surrogate in a text": Fault(invalid_once(turn_of_worker({"action": "type", "text": "\ud800"})), 2),
    "invalid UTF-8 on the wire": Fault(
        lambda form: [Http(200, b'{"id": "\xff\xfe"}'), form.answer(PRESS)], 2, waits=(0.5,)
    ),
    "clock skew": Fault(lambda form: [clock_skew(form), form.answer(PRESS)], 2, waits=(7.0,)),
    "expired key": Fault(lambda form: [form.error(401, f"{KEY} has expired")], 1, ModelUnavailable, "refuses the key"),
    "no such model": Fault(lambda form: [form.error(404, "not found")], 1, ModelUnavailable, "has no model"),
    "redirect": Fault(
        lambda form: [Http(307, b"", {"location": "http://127.0.0.1:9/"})], 1, ModelUnavailable, "redirects (HTTP 307)"
    ),
    "no vision": Fault(
        lambda form: [form.error(400, "this model does not support image input")],
        1,
        ModelUnavailable,
        "provider.max_pictures to 0",
    ),
    "conversation too long": Fault(
        lambda form: [form.error(400, "prompt is too long: 300000 tokens > 200000 maximum")],
        1,
        ResponseCutOff,
        "too long",
    ),
    "request too large": Fault(lambda form: [form.error(413, "too large")], 1, ResponseCutOff, "max_pictures"),
}


def deviations(form: Format, fault: Fault) -> list[str]:
    """Play a fault and return the deviations from the expected result."""
    result = exchange(form, *fault.turns(form), settings=fault.settings)
    found = []
    if len(result.server.seen) != fault.requests:
        found.append(f"{len(result.server.seen)} requests instead of {fault.requests}")
    if result.waits != list(fault.waits):
        found.append(f"waits of {result.waits} s")
    if fault.error is None:
        as_expected = result.response is not None and result.action == fault.action
        return found if as_expected else [*found, f"ends in {result.error}"]
    if type(result.error) is not fault.error or fault.message not in result.message:
        return [*found, f"ends in {type(result.error).__name__}: {result.error}"]
    readable = len(result.message) < 700 and result.message.isprintable()
    return found if readable else [*found, "an unreadable message"]

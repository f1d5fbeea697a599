"""What can go wrong between an agent and a provider, played to each wire format by the tests and by the benchmark."""

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
from agent_s.llm.providers.prices import load_prices
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
QUICK = ProviderSettings(timeout_s=0.4)


def turn_of_worker(action: Any, **parts: str) -> str:
    return json.dumps(
        {"previous_action_check": "", "observation_analysis": "", "next_action": "", **parts, "action": action}
    )


PRESS = turn_of_worker({"action": "click", "element_id": 1})
PRESSED = Click(element_id=1)


@dataclass
class Talk:
    """What came of one request: the answer or the error, what the server saw, and how long was waited."""

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


def talk(form: Format, *turns: Turn, settings: ProviderSettings = QUICK, request: ModelRequest = REQUEST) -> Talk:
    """Ask once, against a server that plays these turns; waiting takes no time."""
    server = WireServer(list(turns))
    waits: list[float] = []
    with server.running():
        built = build_model(form.model(server.url), form.environment(server.url), settings)
        assert isinstance(built, ProviderModel)
        model = ProviderModel(
            built.name,
            built._wire,
            built._renderer,
            Retrying(settings.retries, waits.append, lambda: 0.0),
            load_prices(),
        )
        try:
            return Talk(model.complete(request), None, server, waits)
        except ModelError as error:
            assert KEY not in "".join(traceback.format_exception(error))
            return Talk(None, error, server, waits)


@dataclass(frozen=True)
class Fault:
    """A kind of trouble.

    Attributes:
        turns: What the server does.
        requests: How many requests it sees.
        error: What comes of it; None where the answer is used all the same.
        says: Stands in the message of the error.
        waits: Seconds waited before each new try.
        settings: How the provider is asked.
        action: The primitive that the answer comes to, where it is used.
    """

    turns: Callable[[Format], list[Turn]]
    requests: int
    error: type[ModelError] | None = None
    says: str = ""
    waits: tuple[float, ...] = ()
    settings: ProviderSettings = QUICK
    action: Action = PRESSED


def skewed(form: Format) -> Http:
    """Asks to come back in 7 s, by a clock that runs 400 days ahead."""
    there = datetime.now(UTC) + timedelta(days=400)
    headers = {"date": format_datetime(there, usegmt=True)}
    return form.error(
        503, "back soon", headers={**headers, "retry-after": format_datetime(there + timedelta(seconds=7), usegmt=True)}
    )


def mended(bad: str) -> Callable[[Format], list[Turn]]:
    return lambda form: [form.answer(bad), form.answer(PRESS)]


def twice(bad: str) -> Callable[[Format], list[Turn]]:
    return lambda form: [form.answer(bad), form.answer(bad)]


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
    "429 for ever": Fault(
        lambda form: [form.error(429, "slow down")] * 5, 5, ModelUnavailable, "Tried 5 times", (0.5, 1.0, 2.0, 4.0)
    ),
    "429 with retry-after of an hour": Fault(
        lambda form: [form.error(429, "slow down", headers={"retry-after": "3600"})], 1, ModelUnavailable, "60 min"
    ),
    "429 because the account is used up": Fault(
        lambda form: [form.error(429, "no money", "enforced_spend_limit_reached")], 1, ModelUnavailable, "used up"
    ),
    "500": Fault(lambda form: [form.error(500, "oops"), form.answer(PRESS)], 2, waits=(0.5,)),
    "529": Fault(
        lambda form: [form.error(529, "overloaded"), form.error(529, "overloaded"), form.answer(PRESS)],
        3,
        waits=(0.5, 1.0),
    ),
    "connection reset": Fault(lambda form: [Reset(), form.answer(PRESS)], 2, waits=(0.5,)),
    "connection reset for ever": Fault(
        lambda form: [Reset()] * 5, 5, ModelUnavailable, "cannot be reached", (0.5, 1.0, 2.0, 4.0)
    ),
    "stall": Fault(lambda form: [Stall(), form.answer(PRESS)], 2, waits=(0.5,)),
    "stall for ever": Fault(lambda form: [Stall()] * 2, 2, ModelUnavailable, "provider.timeout_s", (0.5,)),
    "stall while answering": Fault(lambda form: [Stall(drip=True), form.answer(PRESS)], 2, waits=(0.5,)),
    "half a response": Fault(lambda form: [Half(form.answer(PRESS)), form.answer(PRESS)], 2, waits=(0.5,)),
    "not JSON on the wire": Fault(
        lambda form: [Http(200, b"<html>Sign in to the guest network</html>", content_type="text/html")] * 3,
        3,
        ModelUnavailable,
        "proxy",
        (0.5, 1.0),
    ),
    "wrong JSON": Fault(mended('{"action": {"action": "click", "element_id": 1,}}'), 2),
    "wrong JSON twice": Fault(
        twice('{"action": {"action": "done"}'), 2, MalformedResponse, "invalid answers: not valid JSON"
    ),
    "JSON in prose": Fault(lambda form: [form.answer(f"I will press it {{now}}.\n```json\n{PRESS}\n```\nGood?")], 1),
    "unknown action": Fault(mended(turn_of_worker({"action": "run_shell", "command": "rm -rf ~"})), 2),
    "unknown action twice": Fault(
        twice(turn_of_worker("agent.open_terminal()")), 2, MalformedResponse, "Unknown primitive 'open_terminal'"
    ),
    "unknown id": Fault(
        lambda form: [form.answer(turn_of_worker({"action": "click", "element_id": 99}))],
        1,
        action=Click(element_id=99),  # no fault of the answer: the desktop refuses it, and the Worker reads that
    ),
    "two actions": Fault(mended(f"{PRESS}\n{turn_of_worker({'action': 'done'})}"), 2),
    "two actions twice": Fault(twice("agent.click(1)\nagent.done()"), 2, MalformedResponse, "2 primitives"),
    "refusal": Fault(
        lambda form: [form.answer("", stop="refusal", refusal="against the rules")],
        1,
        ModelRefused,
        "against the rules",
    ),
    "length stop": Fault(lambda form: [form.answer(PRESS[:60], stop="length"), form.answer(PRESS)], 2),
    "length stop twice": Fault(
        lambda form: [form.answer(PRESS, stop="length")] * 2, 2, ResponseCutOff, "provider.max_output_tokens"
    ),
    "empty": Fault(mended(""), 2),
    "empty twice": Fault(twice(" \n"), 2, EmptyResponse, "two empty answers"),
    "wrong type": Fault(mended(turn_of_worker({"action": "click", "element_id": "the OK button"})), 2),
    "wrong type on the wire": Fault(
        lambda form: [Http(200, {"content": 7, "output": 7, "choices": 7})] * 3,
        3,
        ModelUnavailable,
        "own format",
        (0.5, 1.0),
    ),
    "huge text": Fault(mended("x" * 500_000), 2),
    "huge body": Fault(lambda form: [Http(200, b" " * 9_000_000)], 1, ModelError, "larger than"),
    "nested without end": Fault(twice(DEEP), 2, MalformedResponse, "nested"),
    "duplicate keys": Fault(mended('{"action": {"action": "click", "element_id": 1, "element_id": 2}}'), 2),
    "duplicate keys twice": Fault(
        twice('{"action": {"action": "done"}, "action": {"action": "fail"}}'),
        2,
        MalformedResponse,
        "'action' is given twice",
    ),
    "unicode trouble in a text": Fault(mended(turn_of_worker({"action": "type", "text": "\ud800"})), 2),
    "unicode trouble on the wire": Fault(
        lambda form: [Http(200, b'{"id": "\xff\xfe"}'), form.answer(PRESS)], 2, waits=(0.5,)
    ),
    "clock skew": Fault(lambda form: [skewed(form), form.answer(PRESS)], 2, waits=(7.0,)),
    "expired key": Fault(lambda form: [form.error(401, f"{KEY} has expired")], 1, ModelUnavailable, "refuses the key"),
    "no such model": Fault(lambda form: [form.error(404, "not found")], 1, ModelUnavailable, "has no model"),
    "redirect": Fault(
        lambda form: [Http(307, b"", {"location": "http://127.0.0.1:9/"})], 1, ModelUnavailable, "redirects (HTTP 307)"
    ),
    "no sight": Fault(
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


def shortcomings(form: Format, fault: Fault) -> list[str]:
    """Play a fault, and return what did not go as it has to; nothing where it was handled."""
    told = talk(form, *fault.turns(form), settings=fault.settings)
    found = []
    if len(told.server.seen) != fault.requests:
        found.append(f"{len(told.server.seen)} requests instead of {fault.requests}")
    if told.waits != list(fault.waits):
        found.append(f"waits of {told.waits} s")
    if fault.error is None:
        return found if told.response is not None and told.action == fault.action else [*found, f"ends in {told.error}"]
    if type(told.error) is not fault.error or fault.says not in told.message:
        return [*found, f"ends in {type(told.error).__name__}: {told.error}"]
    plain = len(told.message) < 700 and told.message.isprintable()
    return found if plain else [*found, "a message that is not plain"]

"""Each provider against a server that speaks its wire format: requests, answers, and twenty kinds of trouble."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from aci.actions import Click, Type
from agent_s.errors import (
    EmptyResponse,
    MalformedResponse,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    ResponseCutOff,
)
from agent_s.llm.build import build_model
from agent_s.llm.prices import load_prices
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, ModelResponse, QueryContext
from agent_s.llm.provider import ProviderModel
from agent_s.llm.retrying import Retrying
from agent_s.records import Subtask, Task
from agent_s.settings import ProviderSettings
from tests.unit.agent_s.fakes import button, screen
from tests.wire.formats import FORMATS, KEY, AnthropicFormat, ChatFormat, Format
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


@pytest.fixture(params=FORMATS, ids=[form.name for form in FORMATS])
def form(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


# Without trouble


def test_a_request_is_what_the_provider_demands(form: Format) -> None:
    told = talk(form, form.answer(PRESS))
    assert told.action == PRESSED
    assert form.problems(told.server.seen[0]) == []
    body = told.server.asked[0]
    assert form.pictures(body) == 1
    assert '1 push button "OK"' in "\n".join(form.texts(body))


def test_tokens_are_counted_alike_and_a_price_that_is_not_known_stays_unknown(form: Format) -> None:
    told = talk(form, form.answer(PRESS))
    assert told.response is not None
    usage = told.response.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1000, 860, 50)
    assert usage.dollars is None


def test_a_model_without_sight_gets_text_alone(form: Format) -> None:
    told = talk(form, form.answer(PRESS), settings=ProviderSettings(max_pictures=0))
    assert form.pictures(told.server.asked[0]) == 0


def test_every_kind_of_answer_has_a_schema_that_strict_providers_take(form: Format) -> None:
    query = ModelRequest(QueryContext(Task(instruction="Press OK"), screen(button(1, "OK"))))
    told = talk(form, form.answer('{"query": "How to press OK"}'), request=query)
    assert told.error is None
    assert form.problems(told.server.seen[0]) == []


def test_a_server_that_takes_no_schema_is_asked_without_one(form: Format) -> None:
    server = WireServer(
        [
            form.error(400, "output_config / response_format json_schema is not supported"),
            form.answer(PRESS),
            form.answer(PRESS),
        ]
    )
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url), QUICK)
        for _ in range(2):
            model.complete(REQUEST)
    assert ["click" in json.dumps(body.get("output_config") or body.get("text") or body.get("response_format") or {})
            for body in server.asked] == [True, False, False]  # fmt: skip


def test_the_key_is_in_no_name_text_or_log(form: Format, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = talk(form, form.error(429, f"slow down {KEY}"), form.answer(PRESS))
    assert told.action == PRESSED
    assert KEY not in caplog.text
    built = build_model(form.model("http://127.0.0.1:1"), form.environment("http://127.0.0.1:1"))
    assert isinstance(built, ProviderModel)
    assert KEY not in built.name + repr(built) + repr(vars(built._wire))


# Twenty kinds of trouble. Each either ends well after a bounded number of requests, or in the right error.


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
    """

    turns: Callable[[Format], list[Turn]]
    requests: int
    error: type[ModelError] | None = None
    says: str = ""
    waits: tuple[float, ...] = ()
    settings: ProviderSettings = QUICK


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
    "wrong JSON twice": Fault(twice('{"action": {"action": "done"}'), 2, MalformedResponse, "twice: not valid JSON"),
    "JSON in prose": Fault(lambda form: [form.answer(f"I will press it {{now}}.\n```json\n{PRESS}\n```\nGood?")], 1),
    "unknown action": Fault(mended(turn_of_worker({"action": "run_shell", "command": "rm -rf ~"})), 2),
    "unknown action twice": Fault(
        twice(turn_of_worker("agent.open_terminal()")), 2, MalformedResponse, "Unknown primitive 'open_terminal'"
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
    "empty twice": Fault(twice(" \n"), 2, EmptyResponse, "nothing"),
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
        lambda form: [Http(307, b"", {"location": "http://127.0.0.1:9/"})], 1, ModelUnavailable, "sends elsewhere"
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
        "longer",
    ),
    "request too large": Fault(lambda form: [form.error(413, "too large")], 1, ResponseCutOff, "max_pictures"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_ends_in_the_right_way(form: Format, fault: Fault) -> None:
    told = talk(form, *fault.turns(form), settings=fault.settings)
    assert len(told.server.seen) == fault.requests
    assert told.waits == list(fault.waits)
    if fault.error is None:
        assert told.action == PRESSED
    else:
        assert type(told.error) is fault.error
        assert fault.says in told.message
        assert len(told.message) < 700 and told.message.isprintable()


def test_a_mended_answer_costs_both_requests_and_shows_the_model_what_was_wrong(form: Format) -> None:
    told = talk(form, form.answer('{"action": {"action": "fly"}}'), form.answer(PRESS))
    assert told.response is not None
    assert told.response.usage.input_tokens == 2000
    assert told.response.detail["requests"] == 2
    first, second = (form.texts(body) for body in told.server.asked)
    assert second[: len(first)] == first or second[0] == first[0]
    assert '{"action": {"action": "fly"}}' in second[-2]
    assert "cannot be used" in second[-1] and "'click'" in second[-1]
    assert form.problems(told.server.seen[1]) == []


@pytest.mark.parametrize("answer", ["agent.click(1)", 'Pressing it.\n```python\nagent.click(1, 1, "left")\n```'])
def test_the_form_of_the_paper_is_understood(form: Format, answer: str) -> None:
    assert talk(form, form.answer(answer)).action == PRESSED


def test_a_primitive_whose_fields_stand_beside_the_thoughts_is_understood(form: Format) -> None:
    flat = json.dumps({"next_action": "write", "action": "type", "text": "héllo 😀", "element_id": 2})
    assert talk(form, form.answer(flat)).action == Type(text="héllo 😀", element_id=2)


def test_thoughts_before_the_answer_are_passed_over(form: Format) -> None:
    thought = turn_of_worker({"action": "click", "element_id": 2})
    assert talk(form, form.answer(f"<think>Maybe {thought}?</think>\n{PRESS}")).action == PRESSED


def test_what_cannot_be_encoded_is_sent_all_the_same(form: Format) -> None:
    seen = screen(button(1, "a\ud800b\x1b[2J"))
    context = ActContext(Task(instruction="Press"), Subtask(name="press"), seen, reflection="no \ud83d")
    told = talk(form, form.answer(PRESS), request=ModelRequest(context))
    assert told.action == PRESSED
    assert "\x1b" not in "".join(form.texts(told.server.asked[0]))


def test_a_server_that_is_not_there(form: Format) -> None:
    server = WireServer([])
    with server.running():
        url = server.url
    model = build_model(form.model(url), form.environment(url), ProviderSettings(retries=0))
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        model.complete(REQUEST)


def test_a_check_tells_a_wrong_key_before_anything_is_asked(form: Format) -> None:
    server = WireServer([form.error(401, "expired")])
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url), QUICK)
        assert isinstance(model, ProviderModel)
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            model.check()
    assert server.seen[0].method == "GET" and "/models" in server.seen[0].path


# What only one of them has


def test_anthropic_a_price_that_is_known_is_reckoned() -> None:
    server = WireServer([AnthropicFormat().answer(PRESS)])
    with server.running():
        model = build_model("anthropic:claude-opus-5-5", AnthropicFormat().environment(server.url), QUICK)
        usage = model.complete(REQUEST).usage
    price = load_prices().models["anthropic:claude-opus-5-5"]
    assert usage.dollars == pytest.approx(
        (100 * price.input + 860 * price.cached + 40 * price.written + 50 * price.output) / 1e6
    )


def test_a_server_with_one_model_needs_no_name_and_one_with_more_does() -> None:
    form = ChatFormat()
    one = Http(200, {"object": "list", "data": [{"id": "served", "object": "model"}]})
    two = Http(200, {"object": "list", "data": [{"id": "small"}, {"id": "large"}]})
    server = WireServer([one, form.answer(PRESS), two])
    with server.running():
        build_model(server.url, form.environment(server.url), QUICK).complete(REQUEST)
        with pytest.raises(ModelUnavailable, match=r"small, large.*--model .*#NAME"):
            build_model(server.url, form.environment(server.url), QUICK).complete(REQUEST)
    assert server.asked[0]["model"] == "served"
    assert form.problems(server.seen[1]) == []


def test_a_server_without_key_gets_no_authorization() -> None:
    server = WireServer([ChatFormat().answer(PRESS)])
    with server.running():
        build_model(f"{server.url}/v1#served", {}, QUICK).complete(REQUEST)
    assert "authorization" not in server.seen[0].headers


def test_openai_a_failed_response_is_told_from_a_refused_one() -> None:
    form = next(form for form in FORMATS if form.name == "openai")

    def failed(code: str) -> Http:
        body = form.answer("").body
        return Http(200, {**body, "status": "failed", "output": [], "error": {"code": code, "message": "no"}})

    assert talk(form, failed("server_error"), form.answer(PRESS)).action == PRESSED
    assert type(talk(form, failed("bio_policy")).error) is ModelRefused
    assert type(talk(form, failed("invalid_prompt")).error) is ModelError


@pytest.mark.parametrize("name", ["openai", "chat"])
def test_a_content_filter_is_told_from_a_refusal(name: str) -> None:
    form = next(form for form in FORMATS if form.name == name)
    told = talk(form, form.answer("", stop="filter"))
    assert type(told.error) is ModelRefused and "content filter" in told.message

"""Each provider against a server that speaks its wire format: requests, responses and faults."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from aci.acting.actions import Type
from agent_s import AgentS, Options
from agent_s.errors import (
    EmptyResponse,
    LimitReached,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from agent_s.llm.budget import MeteredModel
from agent_s.llm.build import build_model, build_models
from agent_s.llm.protocol import (
    ActContext,
    Context,
    ErrorsContext,
    FoundFunction,
    Model,
    ModelRequest,
    NamingContext,
    PlanContext,
    PlanResponse,
    ProposalContext,
    QueryContext,
    ask,
)
from agent_s.llm.providers.prices import load_prices
from agent_s.llm.providers.provider import ProviderModel
from agent_s.llm.routing import ModelByRole
from agent_s.records import Limits, Subtask, Task
from agent_s.settings import ObservationForm, ProviderSettings, load_settings
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.wire.faults import FAULTS, PRESS, PRESSED, REQUEST, Fault, deviations, exchange, turn_of_worker
from tests.wire.formats import FORMATS, KEY, AnthropicFormat, ChatFormat, Format, GeminiFormat
from tests.wire.server import Http, Seen, Turn, WireServer


@pytest.fixture(params=FORMATS, ids=[form.name for form in FORMATS])
def form(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


# Without faults


def test_a_request_has_the_format_of_the_provider(form: Format) -> None:
    result = exchange(form, form.answer(PRESS))
    assert result.action == PRESSED
    assert form.problems(result.server.seen[0]) == []
    body = result.server.asked[0]
    assert form.pictures(body) == 1
    assert '1 push button "OK"' in "\n".join(form.texts(body))


def test_tokens_are_counted_alike_and_an_unknown_price_stays_unknown(form: Format) -> None:
    result = exchange(form, form.answer(PRESS))
    assert result.response is not None
    usage = result.response.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1000, 860, 50)
    assert usage.dollars is None


def test_a_model_without_vision_gets_text_only(form: Format) -> None:
    result = exchange(form, form.answer(PRESS), settings=ProviderSettings(max_pictures=0))
    assert form.pictures(result.server.asked[0]) == 0


@pytest.mark.parametrize("own", [{}, {"roles.plan": "planner"}])
def test_a_planner_with_short_answers_and_no_vision_works_beside_another_worker(own: dict[str, str]) -> None:
    form, found = ChatFormat(), Http(body={"object": "list", "data": [{"id": name} for name in ("worker", "planner")]})
    plan = form.answer('{"nodes": [{"name": "Press OK"}]}')
    with WireServer([found, found, plan, form.answer(PRESS)]).running() as server:
        models = {"model": f"{server.url}/v1#worker", **{role: f"{server.url}/v1#{name}" for role, name in own.items()}}
        limits = {"provider.max_pictures.plan": 0, "provider.max_output_tokens.plan": 500}
        model = build_models(load_settings(overrides={**models, **limits}), {})
        ask(model, PlanContext(Task(instruction="Press OK"), screen(button(1, "OK"))), PlanResponse)
        model.complete(REQUEST)
    assert [(form.pictures(body), body["max_tokens"]) for body in server.asked] == [(0, 500), (1, 16_000)]


@pytest.mark.parametrize(
    ("shown", "pictures", "tree"),
    [("screenshot", 1, False), ("tree", 0, True), ("screenshot_tree", 1, True), ("marks", 2, True)],
)
def test_a_model_is_shown_what_the_setting_names(
    form: Format, shown: ObservationForm, pictures: int, tree: bool
) -> None:
    server = WireServer([form.answer(PRESS)])
    with server.running():
        build_model(form.model(server.url), form.environment(server.url), observation=shown).complete(REQUEST)
    assert form.problems(server.seen[0]) == []
    assert form.pictures(server.asked[0]) == pictures
    assert ('1 push button "OK"' in "\n".join(form.texts(server.asked[0]))) == tree


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        (QueryContext(Task(instruction="Press OK"), screen(button(1, "OK"))), '{"query": "How to press OK"}'),
        (
            ProposalContext(Task(instruction="Explore Notes"), "Notes", 5, observation=screen(button(1, "OK"))),
            '{"tasks": [{"instruction": "Write a list.", "difficulty": 2}]}',
        ),
        (
            NamingContext(Task(instruction="Explore Notes"), "Notes", (FoundFunction("wrap", "View > Wrap"),)),
            '{"functions": [{"number": 1, "names": ["turn on word wrap"]}]}',
        ),
        (
            ErrorsContext(Task(instruction="Press OK"), "failed", ("1. click -> no effect",)),
            '{"errors": [{"kind": "grounding", "steps": [1], "reason": "It clicked beside the button."}]}',
        ),
    ],
    ids=["query", "propose_tasks", "name_skills", "find_errors"],
)
def test_every_kind_of_answer_has_a_schema_that_strict_providers_accept(
    form: Format, context: Context, answer: str
) -> None:
    result = exchange(form, form.answer(answer), request=ModelRequest(context))
    assert result.error is None
    assert form.problems(result.server.seen[0]) == []


def test_a_server_that_refuses_schemas_gets_none(form: Format) -> None:
    server = WireServer(
        [
            form.error(400, "output_config / response_format json_schema is not supported"),
            form.answer(PRESS),
            form.answer(PRESS),
        ]
    )
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url))
        for _ in range(2):
            model.complete(REQUEST)
    assert ['"click"' in json.dumps(schema_of(body)) for body in server.asked] == [True, False, False]


def schema_of(body: Any) -> Any:
    """Return the part of a request that holds the schema."""
    places = ("output_config", "text", "response_format", "generationConfig")
    return next((body[place] for place in places if place in body), {})


def test_the_key_appears_in_no_name_text_or_log(form: Format, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    result = exchange(form, form.error(429, f"slow down {KEY}"), form.answer(PRESS))
    assert result.action == PRESSED
    assert KEY not in caplog.text
    built = build_model(form.model("http://127.0.0.1:1"), form.environment("http://127.0.0.1:1"))
    assert isinstance(built, ProviderModel)
    assert KEY not in built.name + repr(built) + repr(vars(built)) + repr(vars(built.client))


# Faults. Each ends in success after a bounded number of requests, or in the right error.


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_ends_in_success_or_in_its_error(form: Format, fault: Fault) -> None:
    assert deviations(form, fault) == []


@pytest.mark.parametrize("answers", [["nonsense"] * 3, ["nonsense", ""]], ids=["invalid", "then unreachable"])
def test_answers_that_cannot_be_used_are_counted_too(form: Format, answers: list[str]) -> None:
    """They are paid for, so that a limit holds for them."""
    lost = [Http(status=401, body={})] if "" in answers else []
    turns = [*(form.answer(answer) for answer in answers if answer), *lost]
    with WireServer(list(turns)).running() as server:
        model = build_model(form.model(server.url), form.environment(server.url), ProviderSettings())
        metered = MeteredModel(model, Limits(max_tokens=1000))
        with pytest.raises(ModelError):
            metered.complete(REQUEST)
        paid = len(turns) - len(lost)
        assert (metered.budget.used.model_calls, metered.budget.used.tokens) == (1, 1050 * paid)
        with pytest.raises(LimitReached, match="max_tokens"):
            metered.complete(REQUEST)


def test_an_invalid_answer_is_sent_back_and_both_requests_are_counted(form: Format) -> None:
    result = exchange(form, form.answer('{"action": {"action": "fly"}}'), form.answer(PRESS))
    assert result.response is not None
    assert result.response.usage.input_tokens == 2000
    assert result.response.detail["requests"] == 2
    first, second = (form.texts(body) for body in result.server.asked)
    assert second[: len(first)] == first or second[0] == first[0]
    assert '{"action": {"action": "fly"}}' in second[-2]
    assert "is invalid" in second[-1] and "'click'" in second[-1]
    assert form.problems(result.server.seen[1]) == []


@pytest.mark.parametrize("answer", ["agent.click(1)", 'Pressing it.\n```python\nagent.click(1, 1, "left")\n```'])
def test_the_notation_of_the_paper_is_accepted(form: Format, answer: str) -> None:
    assert exchange(form, form.answer(answer)).action == PRESSED


def test_a_primitive_with_its_fields_at_the_top_level_is_accepted(form: Format) -> None:
    flat = json.dumps({"next_action": "write", "action": "type", "text": "héllo 😀", "element_id": 2})
    assert exchange(form, form.answer(flat)).action == Type(text="héllo 😀", element_id=2)


def test_reasoning_before_the_answer_is_skipped(form: Format) -> None:
    thought = turn_of_worker({"action": "click", "element_id": 2})
    assert exchange(form, form.answer(f"<think>Maybe {thought}?</think>\n{PRESS}")).action == PRESSED


def test_lone_surrogates_are_replaced_before_sending(form: Format) -> None:
    seen = screen(button(1, "a\ud800b\x1b[2J"))
    context = ActContext(Task(instruction="Press"), Subtask(name="press"), seen, reflection="no \ud83d")
    result = exchange(form, form.answer(PRESS), request=ModelRequest(context))
    assert result.action == PRESSED
    assert "\x1b" not in "".join(form.texts(result.server.asked[0]))


def test_an_unreachable_server_is_an_error_that_suggests_a_fix(form: Format) -> None:
    server = WireServer([])
    with server.running():
        url = server.url
    model = build_model(form.model(url), form.environment(url), ProviderSettings(retries=0))
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        model.complete(REQUEST)


def test_check_finds_a_wrong_key_before_the_first_request(form: Format) -> None:
    server = WireServer([form.error(401, "expired")])
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url))
        assert isinstance(model, ProviderModel)
        with pytest.raises(ModelUnavailable, match="refuses the key"):
            model.check()
    assert server.seen[0].method == "GET" and "/models" in server.seen[0].path


@pytest.mark.parametrize("by_role", [False, True])
def test_a_stopped_run_does_not_wait_for_the_provider(form: Format, by_role: bool) -> None:
    agent: AgentS

    def stop(seen: Seen) -> Http:
        agent.stop()
        return form.error(429, "slow down", headers={"retry-after": "55"})

    turns: list[Turn] = [stop]
    server = WireServer([Http(200, {"data": []}), *turns] if by_role else turns)
    with server.running():
        model: Model = build_model(form.model(server.url), form.environment(server.url))
        if by_role:
            model = ModelByRole(model, {"act": model})
        agent = AgentS(model=model, desktop=FakeDesktop(screen(button(1, "OK"))), options=Options(planner="flat"))
        assert agent.run(Task(instruction="Press OK")).status == "stopped"
    assert len(server.asked) == 1


# Particular providers


def test_the_cost_of_anthropic_is_computed_from_the_price_list() -> None:
    server = WireServer([AnthropicFormat().answer(PRESS)])
    with server.running():
        model = build_model("anthropic:claude-opus-5-5", AnthropicFormat().environment(server.url))
        usage = model.complete(REQUEST).usage
    price = load_prices().models["anthropic:claude-opus-5-5"]
    assert usage.dollars == pytest.approx(
        (100 * price.input + 860 * price.cached + 40 * price.written + 50 * price.output) / 1e6
    )


def test_a_model_name_is_needed_only_if_the_server_has_several() -> None:
    form = ChatFormat()
    one = Http(200, {"object": "list", "data": [{"id": "served", "object": "model"}]})
    two = Http(200, {"object": "list", "data": [{"id": "small"}, {"id": "large"}]})
    server = WireServer([one, form.answer(PRESS), two])
    with server.running():
        build_model(server.url, form.environment(server.url)).complete(REQUEST)
        with pytest.raises(ModelUnavailable, match=r"small, large.*--model .*#NAME"):
            build_model(server.url, form.environment(server.url)).complete(REQUEST)
    assert server.asked[0]["model"] == "served"
    assert form.problems(server.seen[1]) == []


@pytest.mark.parametrize(
    "listed",
    [Http(500, b"Internal Server Error"), Http(200, {"data": [{"id": "served:latest"}]})],
    ids=["cannot list", "lists another form"],
)
def test_a_server_that_does_not_list_a_model_is_asked_for_one_token(listed: Http) -> None:
    server = WireServer([listed, ChatFormat().answer("Hi", stop="length")])
    with server.running():
        checked(f"{server.url}/v1#served")
    assert (server.asked[0]["model"], server.asked[0]["max_tokens"]) == ("served", 1)


def test_a_missing_model_is_an_error_with_the_reason_and_what_the_server_lists() -> None:
    pinned = Http(400, {"detail": "Server is pinned to './planner'"})  # as FastAPI words errors
    server = WireServer([Http(200, {"data": [{"id": "small"}, {"id": "large"}]}), pinned])
    with server.running(), pytest.raises(ModelUnavailable, match=r"pinned to './planner'.*lists: small, large"):
        checked(f"{server.url}/v1#served")


@pytest.mark.parametrize(("name", "requests"), [("", 1), ("#served", 2)])
def test_a_server_that_only_reports_errors_is_unavailable(name: str, requests: int) -> None:
    server = WireServer([Http(503, b"Loading model")] * 2)
    with server.running(), pytest.raises(ModelUnavailable, match="server error"):
        checked(f"{server.url}/v1{name}")
    assert len(server.seen) == requests


def checked(address: str) -> None:
    """Check a server's model as a run does before it begins."""
    model = build_model(address, {}, ProviderSettings(retries=0))
    assert isinstance(model, ProviderModel)
    model.check()


def test_a_server_without_key_gets_no_authorization() -> None:
    server = WireServer([ChatFormat().answer(PRESS)])
    with server.running():
        build_model(f"{server.url}/v1#served", {}).complete(REQUEST)
    assert "authorization" not in server.seen[0].headers


def test_openai_failed_and_refused_responses_are_distinct() -> None:
    form = next(form for form in FORMATS if form.name == "openai")

    def failed(code: str) -> Http:
        body = form.answer("").body
        return Http(200, {**body, "status": "failed", "output": [], "error": {"code": code, "message": "no"}})

    assert exchange(form, failed("server_error"), form.answer(PRESS)).action == PRESSED
    assert type(exchange(form, failed("bio_policy")).error) is ModelRefused
    assert type(exchange(form, failed("invalid_prompt")).error) is ModelError


@pytest.mark.parametrize("name", ["openai", "chat"])
def test_a_content_filter_and_a_refusal_are_distinct(name: str) -> None:
    form = next(form for form in FORMATS if form.name == name)
    result = exchange(form, form.answer("", stop="filter"))
    assert type(result.error) is ModelRefused and "content filter" in result.message


def test_empty_answers_of_gemini_are_reported_with_their_reason() -> None:
    form = GeminiFormat()
    answer = form.answer("")
    assert isinstance(answer.body, dict)
    answer.body["candidates"][0]["finishReason"] = "MALFORMED_FUNCTION_CALL"
    result = exchange(form, *[answer] * 3)
    assert isinstance(result.error, EmptyResponse)
    assert "3 empty answers (MALFORMED_FUNCTION_CALL)" in str(result.error)

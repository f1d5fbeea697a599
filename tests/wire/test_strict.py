"""Requests to servers that refuse what the newest models refuse."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from agent_s import AgentS, Options, Task
from agent_s.errors import ModelError, ModelUnavailable, SettingsError
from agent_s.llm.build import build_model
from agent_s.llm.protocol import ModelRequest
from agent_s.settings import ProviderSettings
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.unit.agent_s.prompts.contexts import CONTEXTS
from tests.wire.faults import PRESS, PRESSED, exchange
from tests.wire.formats import FORMATS, Format, strictness
from tests.wire.server import WireServer
from tests.wire.strict import ANTHROPIC, GEMINI, OPENAI, broken, strict

BY_NAME = {form.name: form for form in FORMATS}


@pytest.fixture(params=FORMATS, ids=[form.name for form in FORMATS])
def form(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


def test_every_kind_of_request_is_accepted(form: Format) -> None:
    for name, context in CONTEXTS.items():
        result = exchange(form, strict(form, form.answer("{}")), strict(form, form.answer("{}")),
                          request=ModelRequest(context))  # fmt: skip
        assert [broken(form, body) for body in result.server.asked] == [[]] * len(result.server.asked), name
        assert form.problems(result.server.seen[0]) == [], name


def test_an_answer_is_corrected_without_the_thinking_of_the_first(form: Format) -> None:
    result = exchange(form, strict(form, form.answer("no JSON")), strict(form, form.answer(PRESS)))
    assert result.action == PRESSED
    assert len(result.server.seen) == 2


@pytest.mark.parametrize("settings", [{"effort": "high"}, {"effort": {"act": "low"}}, {"thinking": True}])
def test_effort_and_thinking_can_be_set(form: Format, settings: dict[str, Any]) -> None:
    chosen = ProviderSettings.model_validate(settings)
    result = exchange(form, strict(form, form.answer(PRESS)), settings=chosen)
    assert result.action == PRESSED
    text = json.dumps(result.server.asked[0])
    effort = chosen.for_role("act").effort
    assert effort is None or effort in text.lower()


def test_settings_of_another_role_are_not_sent(form: Format) -> None:
    plain = exchange(form, form.answer(PRESS)).server.asked[0]
    others = ProviderSettings(effort={"plan": "low"}, thinking={"plan": False})
    sent = exchange(form, form.answer(PRESS), settings=others).server.asked[0]
    assert sent.keys() == plain.keys()
    assert "low" not in json.dumps([sent.get("output_config", {}).get("effort"), sent.get("reasoning")])


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
def test_thinking_that_cannot_be_switched_off_is_reported_with_its_setting(name: str) -> None:
    form = BY_NAME[name]
    result = exchange(form, strict(form, form.answer(PRESS)), settings=ProviderSettings(thinking=False))
    assert type(result.error) is ModelUnavailable
    assert "provider.thinking" in result.message and len(result.server.seen) == 1


def test_an_answer_longer_than_the_model_allows_is_reported_with_its_setting() -> None:
    form = BY_NAME["anthropic"]
    result = exchange(form, strict(form, form.answer(PRESS)), settings=ProviderSettings(max_output_tokens=200_000))
    assert type(result.error) is ModelUnavailable and "provider.max_output_tokens" in result.message


def test_an_unknown_effort_is_refused_before_anything_is_sent() -> None:
    form = BY_NAME["anthropic"]
    with pytest.raises(SettingsError, match="low, medium, high"):
        build_model(form.model("http://x"), form.environment("http://x"), ProviderSettings(effort="minimal"))


def test_a_future_model_that_wants_something_unknown_ends_the_run_with_its_words(form: Format) -> None:
    server = WireServer([form.error(400, "this model requires the parameter quantum_mode")] * 9)
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url))
        agent = AgentS(model=model, desktop=FakeDesktop(screen(button(1, "OK"))), options=Options(planner="flat"))
        outcome = agent.run(Task(instruction="Press OK"))
    assert outcome.status == "error" and "quantum_mode" in outcome.reason
    assert len(server.asked) == 1
    assert type(exchange(form, form.error(400, "this model requires the parameter quantum_mode")).error) is ModelError


# The rules themselves


def changed(change: Callable[[Any], object]) -> Callable[[Any], Any]:
    def apply(body: Any) -> Any:
        other = copy.deepcopy(body)
        change(other)
        return other

    return apply


def with_block(body: Any, *blocks: dict[str, Any]) -> None:
    body["messages"][0]["content"] += blocks


def _fields(count: int, form: Any) -> dict[str, Any]:
    names = [f"f{number}" for number in range(count)]
    return {"type": "object", "properties": dict.fromkeys(names, form), "required": [], "additionalProperties": False}


TEXT, IMAGE = {"type": "text", "text": "a", "cache_control": {}}, {"type": "image"}
BREAKS: dict[str, dict[str, Callable[[Any], object]]] = {
    "anthropic": dict(zip(ANTHROPIC, (
        lambda body: body.update(thinking={"type": "disabled"}),
        lambda body: body.update(thinking={"type": "enabled", "budget_tokens": 2000}),
        lambda body: body.update(tool_choice={"type": "any"}),
        lambda body: body.update(temperature=0),
        lambda body: body["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "{"}]}),
        lambda body: with_block(body, {"type": "thinking", "thinking": "", "signature": "s"}),
        lambda body: body["output_config"].update(effort="minimal"),
        lambda body: with_block(body, TEXT, TEXT, TEXT, TEXT),
        lambda body: body["output_config"]["format"].update(schema={"type": "string", "maxLength": 3}),
        lambda body: body["output_config"]["format"].update(schema=_fields(25, {"type": "string"})),
        lambda body: body["output_config"]["format"].update(schema=_fields(17, {"type": ["string", "null"]})),
        lambda body: with_block(body, *[IMAGE] * 101),
        lambda body: body.update(max_tokens=128_001),
        lambda body: body.update(tools=[{"type": "computer_20251124", "name": "computer"}]),
    ), strict=True)),
    "openai": dict(zip(OPENAI, (
        lambda body: body.update(temperature=0),
        lambda body: body.update(max_tokens=5),
        lambda body: body.update(reasoning={"effort": "huge"}),
        lambda body: body.update(previous_response_id="r"),
        lambda body: body["text"]["format"].update(schema=_fields(2, {"type": "string"})),
        lambda body: body.update(prompt_cache_retention="24h"),
    ), strict=True)),
    "gemini": dict(zip(GEMINI, (
        lambda body: body["generationConfig"].update(thinkingConfig={"thinkingBudget": 1, "thinkingLevel": "LOW"}),
        lambda body: body["generationConfig"].update(thinkingConfig={"thinkingBudget": 0}),
        lambda body: body["contents"].append(body["contents"][0]),
        lambda body: body["generationConfig"].update(responseSchema={}),
    ), strict=True)),
}  # fmt: skip


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, rules in BREAKS.items() for rule in rules])
def test_each_rule_is_broken_by_a_request_that_breaks_it(name: str, rule: str) -> None:
    form = BY_NAME[name]
    body = exchange(form, form.answer(PRESS)).server.asked[0]
    assert broken(form, body) == []
    assert rule in broken(form, changed(BREAKS[name][rule])(body))


def test_strictness_finds_what_is_not_required() -> None:
    assert strictness(_fields(1, {"type": "string"})) == ["required"]

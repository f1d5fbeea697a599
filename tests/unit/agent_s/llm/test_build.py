from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

from agent_s.errors import LimitReached, ModelUnavailable, SettingsError
from agent_s.llm.budget import MeteredModel
from agent_s.llm.build import build_model, build_models, default_model
from agent_s.llm.protocol import ModelRequest, ModelResponse, QueryContext, QueryResponse
from agent_s.llm.providers.api_keys import find_key
from agent_s.llm.providers.prices import load_prices
from agent_s.records import Limits, Task, Usage
from agent_s.settings import load_settings
from tests.unit.agent_s.fakes import screen

KEYS = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o"}


def name_of(model: object) -> str:
    return str(getattr(model, "name", ""))


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, "offline"),
        ({"ANTHROPIC_API_KEY": "  "}, "offline"),
        ({"AGENT_S_API_KEY": "x"}, "offline"),
        ({"OPENAI_API_KEY": "x"}, "openai"),
        (KEYS, "anthropic"),
    ],
)
def test_the_provider_whose_key_is_set_is_the_default(environment: dict[str, str], provider: str) -> None:
    name = default_model(environment)
    assert name.partition(":")[0] == provider
    if environment:
        assert name_of(build_model(name, environment)) in (name, "offline")


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("anthropic:claude-x", "anthropic:claude-x"),
        ("openai:gpt-x", "openai:gpt-x"),
        ("http://localhost:8000/v1#qwen", "http://localhost:8000/v1#qwen"),
        ("http://localhost:11434#llama3:8b", "http://localhost:11434/v1#llama3:8b"),
        ("https://host.example/api/v1/", "https://host.example/api/v1"),
        ("http://localhost:8000/v1/chat/completions#q", "http://localhost:8000/v1#q"),
    ],
)
def test_a_model_is_built_from_its_name(name: str, built: str) -> None:
    assert name_of(build_model(name, KEYS)) == built


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-4", "anthropic:NAME"),
        ("", "offline"),
        ("http://", "names no host"),
        ("http://host:port/v1", "not a URL"),
        ("http://user:pass@host/v1", "AGENT_S_API_KEY"),
        ("http://host/v1?key=1", "has no query"),
    ],
)
def test_an_invalid_model_name_is_refused_with_the_valid_forms(name: str, hint: str) -> None:
    with pytest.raises(SettingsError, match=hint):
        build_model(name, KEYS)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_missing_or_broken_key_names_where_to_set_it(provider: str) -> None:
    with pytest.raises(ModelUnavailable, match=f"{provider.upper()}_API_KEY"):
        build_model(f"{provider}:x", {})
    with pytest.raises(ModelUnavailable, match="no key has"):
        build_model(f"{provider}:x", {f"{provider.upper()}_API_KEY": "sk-ü two"})


def test_a_keyring_is_asked_where_the_environment_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    class Locked(Exception):
        pass

    ring = types.ModuleType("keyring")
    ring.errors = types.SimpleNamespace(KeyringError=Locked)  # type: ignore[attr-defined]
    ring.get_password = lambda service, name: f"{service}/{name}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert find_key("OPENAI_API_KEY", {}) == "agent-s/OPENAI_API_KEY"
    assert find_key("OPENAI_API_KEY", {"OPENAI_API_KEY": " sk-1\n"}) == "sk-1"

    def locked(service: str, name: str) -> str:
        raise Locked("locked")

    ring.get_password = locked  # type: ignore[attr-defined]
    assert find_key("OPENAI_API_KEY", {}) is None


def test_an_sdk_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'agent-s\[openai\]'"):
        build_model("openai:x", KEYS)


def test_building_and_importing_loads_no_sdk_and_reads_no_environment() -> None:
    program = (
        "import sys, os; from agent_s.llm.build import build_model;"
        "import agent_s.llm.providers.anthropic, agent_s.llm.providers.openai, agent_s.llm.providers.chat;"
        "build_model('anthropic:x', {'ANTHROPIC_API_KEY': 'k'}); build_model('http://localhost:1/v1#m', {});"
        "print({'anthropic', 'openai', 'httpx2', 'PIL'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_roles_share_a_model_of_the_same_name() -> None:
    settings = load_settings(
        overrides={"model": "anthropic:big", "roles.act": "openai:small", "roles.reflect": "openai:small"}
    )
    model = build_models(settings, KEYS)
    assert name_of(model) == "anthropic:big act=openai:small reflect=openai:small"
    with pytest.raises(SettingsError, match="roles"):
        load_settings(overrides={"roles.dance": "offline"})


# Prices and budgets


def test_a_custom_price_list_is_used(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("date: 2026-01-02\nmodels:\n  openai:x: {input: 1, cached: 0.5, written: 2, output: 4}\n")
    prices = load_prices(path)
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, written_tokens=100_000, output_tokens=250_000)
    assert prices.dollars("openai:x", usage) == pytest.approx(0.5 + 0.2 + 0.2 + 1)
    assert prices.dollars("openai:y", Usage(input_tokens=1)) is None
    path.write_text("models: {openai:x: {input: free}}\n")
    with pytest.raises(SettingsError, match="prices"):
        load_prices(path)


def test_dollars_cannot_be_limited_without_a_known_price() -> None:
    settings = load_settings(overrides={"model": "openai:no-such", "limits.max_dollars": 1})
    with pytest.raises(SettingsError, match=r"openai:no-such is unknown.*limits\.max_tokens"):
        build_models(settings, KEYS)
    build_models(load_settings(overrides={"model": "anthropic:claude-opus-5-5", "limits.max_dollars": 1}), KEYS)


class Counting:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage

    def complete(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(QueryResponse(query="?"), self.usage)


@pytest.mark.parametrize(
    ("limits", "usage", "calls", "setting"),
    [
        (Limits(max_model_calls=2), Usage(), 2, "limits.max_model_calls"),
        (Limits(max_tokens=100), Usage(input_tokens=30, output_tokens=4), 3, "limits.max_tokens"),
        (Limits(max_dollars=1.0), Usage(input_tokens=1, dollars=0.4), 3, "limits.max_dollars"),
        (Limits(max_dollars=1.0), Usage(input_tokens=1), 1, "price of the model is unknown"),
    ],
)
def test_a_budget_ends_before_the_next_call(limits: Limits, usage: Usage, calls: int, setting: str) -> None:
    model = MeteredModel(Counting(usage), limits)
    request = ModelRequest(QueryContext(Task(instruction="x"), screen()))
    with pytest.raises(LimitReached, match=setting):
        for _ in range(10):
            model.complete(request)
    assert len(model.budget.calls) == calls


def test_a_part_of_tokens_and_dollars_is_reserved() -> None:
    for limits, setting in ((Limits(max_tokens=1000), "max_tokens"), (Limits(max_dollars=1.0), "max_dollars")):
        metered = MeteredModel(Counting(Usage(input_tokens=900, output_tokens=50, dollars=0.95)), limits)
        metered.budget.reserved = 2
        metered.complete(ModelRequest(QueryContext(Task(instruction="x"), screen())))
        with pytest.raises(LimitReached, match=f"limits.{setting}.; the last .* are kept for verifying"):
            metered.budget.check()
        metered.budget.reserved = 0
        metered.budget.check()


def test_a_model_without_tokens_costs_nothing() -> None:
    model = MeteredModel(Counting(Usage()), Limits(max_dollars=0.01))
    request = ModelRequest(QueryContext(Task(instruction="x"), screen()))
    for _ in range(3):
        model.complete(request)
    assert len(model.budget.calls) == 3

"""Search engines against a server that speaks their wire formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from agent_s.errors import LimitReached, ModelUnavailable, SearchError, SettingsError
from agent_s.llm.protocol import WebResult
from agent_s.llm.providers.prices import load_prices
from agent_s.records import Usage
from agent_s.search import WebSearch
from agent_s.search.build import build_search, chosen_engine
from agent_s.settings import Settings, load_settings
from tests.wire.server import Act, Half, Http, Reset, Stall, WireServer

QUERY = "How to turn on line numbers in Mousepad"
KEY = "sk-test-0123456789abcdef-NEVER-SHOWN"
PROVIDERS = {
    "providers": [
        {"id": "p1", "name": "Local", "chatModels": [{"name": "Small", "key": "small"}], "embeddingModels": []},
        {
            "id": "p2",
            "name": "Other",
            "chatModels": [{"name": "Large", "key": "large"}],
            "embeddingModels": [{"name": "Embed", "key": "embed"}],
        },
    ]
}
VANE_ANSWER = {
    "message": "Use the View menu [1].",
    "sources": [
        {"content": "View > Line Numbers.", "metadata": {"title": "Mousepad", "url": "http://one.example/"}},
        {"content": "The same page.", "metadata": {"title": "Again", "url": "http://one.example/"}},
    ],
}


def settings(engine: str, url: str | None = None, **more: object) -> Settings:
    overrides = {f"search.{key}": value for key, value in more.items() if key != "model"}
    overrides |= {"search.engine": engine} | ({"search.url": url} if url is not None else {})
    overrides |= {"model": more["model"]} if "model" in more else {}
    return load_settings(overrides=overrides)


def engine(wanted: Settings, environment: Mapping[str, str] | None = None) -> WebSearch:
    built = build_search(wanted, environment or {})
    assert built is not None
    return built


@contextmanager
def answering(*turns: Any) -> Iterator[WireServer]:
    with WireServer(list(turns)).running() as server:
        yield server


def test_without_settings_there_is_no_search() -> None:
    assert build_search(load_settings(), {}) is None


def test_vane_is_queried_with_the_models_that_it_offers() -> None:
    with answering(Http(body=PROVIDERS), Http(body=VANE_ANSWER), Http(body=VANE_ANSWER)) as server:
        search = engine(settings("vane", server.url + "/"))
        found = search.search(QUERY)
        search.search("another")
    assert found == (
        WebResult("Answer of Vane", "", "Use the View menu [1]."),
        WebResult("Mousepad", "http://one.example/", "View > Line Numbers."),
    )
    assert [(seen.method, seen.path) for seen in server.seen] == [
        ("GET", "/api/providers"),
        ("POST", "/api/search"),
        ("POST", "/api/search"),
    ]
    body = server.asked[0]
    assert (body["query"], body["sources"], body["stream"]) == (QUERY, ["web"], False)
    assert body["chatModel"] == {"providerId": "p1", "key": "small"}
    assert body["embeddingModel"] == {"providerId": "p2", "key": "embed"}


def test_vane_uses_the_configured_model() -> None:
    with answering(Http(body=PROVIDERS), Http(body=VANE_ANSWER)) as server:
        engine(settings("vane", server.url, chat_model="large")).search(QUERY)
    assert server.asked[0]["chatModel"] == {"providerId": "p2", "key": "large"}


def test_a_model_that_vane_lacks_is_an_error_that_lists_its_models() -> None:
    with (
        answering(Http(body=PROVIDERS)) as server,
        pytest.raises(SearchError, match=r"'huge' for search\.chat_model.*small, large"),
    ):
        engine(settings("vane", server.url, chat_model="huge")).search(QUERY)


def test_a_server_older_than_vane_is_an_error_that_suggests_perplexica() -> None:
    with answering(Http(404, {"message": "not found"})) as server, pytest.raises(SearchError, match="to perplexica"):
        engine(settings("vane", server.url)).search(QUERY)


def test_perplexica_gets_requests_in_its_own_format() -> None:
    source = {"pageContent": "View > Line Numbers.", "metadata": {"title": "Mousepad", "url": "http://one.example/"}}
    with answering(Http(body={"message": "Use the View menu.", "sources": [source]})) as server:
        found = engine(settings("perplexica", server.url)).search(QUERY)
    assert found[0] == WebResult("Answer of Perplexica", "", "Use the View menu.")
    assert found[1].content == "View > Line Numbers."
    assert server.asked[0]["focusMode"] == "webSearch"
    assert server.asked[0]["query"] == QUERY


def test_searxng_returns_answers_and_pages() -> None:
    body = {
        "query": QUERY,
        "results": [
            {"title": "Mousepad\n manual", "url": "http://one.example/", "content": "View menu", "engine": "a"},
            {"title": "Without text", "url": "http://two.example/", "content": None},
            {"title": "Third", "url": "http://three.example/", "content": "x" * 9000},
        ],
        "answers": ["42", {"answer": "In the View menu.", "url": "http://four.example/", "template": "answer/legacy"}],
        "suggestions": [],
    }
    with answering(Http(body=body)) as server:
        found = engine(settings("searxng", server.url, results=5)).search("a & b = c")
    assert found[:3] == (
        WebResult("Answer", "", "42"),
        WebResult("Answer", "http://four.example/", "In the View menu."),
        WebResult("Mousepad manual", "http://one.example/", "View menu"),
    )
    assert len(found[4].content) == 2000
    assert server.seen[0].path == "/search?q=a+%26+b+%3D+c&format=json"


def test_searxng_without_json_is_an_error_that_suggests_the_setting() -> None:
    forbidden = Http(403, b"<html>Forbidden</html>", content_type="text/html")
    with answering(forbidden) as server, pytest.raises(SearchError, match=r"`json` to `search\.formats`"):
        engine(settings("searxng", server.url)).search(QUERY)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (Reset(), "cannot be reached"),
        (Stall(), "did not answer within"),
        (Stall(drip=True), "did not answer within"),
        (Half(Http(body=VANE_ANSWER)), "cannot be reached"),
        (Http(body=b"<html>hello</html>", content_type="text/html"), "does not answer as SearXNG"),
        (Http(body={"results": "none"}), "does not answer as SearXNG"),
        (Http(500, {"message": "out\nof memory"}), "HTTP 500: out of memory"),
        (Http(302, headers={"location": "http://elsewhere.example/"}), "HTTP 302"),
        (Http(body=b'{"results": []' + b" " * 5_000_000 + b"}"), "larger than"),
    ],
)
def test_a_failed_search_is_an_error_with_its_cause(act: Act, message: str) -> None:
    timeout_s = 0.4 if isinstance(act, Stall) else 30
    with answering(act) as server, pytest.raises(SearchError, match=message):
        engine(settings("searxng", server.url, timeout_s=timeout_s)).search(QUERY)


def test_an_unreachable_engine_is_an_error_that_suggests_a_fix() -> None:
    with answering() as server:
        url = server.url
    with pytest.raises(SearchError, match=r"Start it, or set search\.engine to none"):
        engine(settings("searxng", url)).search(QUERY)


@pytest.mark.parametrize("url", [None, "localhost:8080", "ftp://localhost", "http://", "http://me:secret@localhost"])
def test_an_invalid_address_is_refused_before_anything_is_sent(url: str | None) -> None:
    with pytest.raises(SettingsError, match=r"search\.url") as caught:
        build_search(settings("searxng", url), {})
    assert "secret" not in str(caught.value)


def _anthropic(content: list[dict[str, Any]], stop: str = "end_turn") -> Http:
    usage = {"input_tokens": 10, "output_tokens": 5}
    return Http(
        body={"id": "m", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
              "stop_reason": stop, "stop_sequence": None, "usage": usage}
    )  # fmt: skip


def test_anthropic_continues_a_paused_search() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": QUERY}}
    result = {"type": "web_search_result", "url": "http://one.example/", "title": "One", "encrypted_content": "abc"}
    cited = {"type": "web_search_result_location", "url": "http://one.example/", "title": "One",
             "cited_text": "View > Line Numbers", "encrypted_index": "i"}  # fmt: skip
    first = [use, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [result]}]
    second = [{"type": "text", "text": "Use the View menu.", "citations": [cited]}]
    with answering(_anthropic(first, "pause_turn"), _anthropic(second)) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        found = engine(settings("hosted", model="anthropic:claude-test"), environment).search(QUERY)
    assert found == (
        WebResult("Answer of Anthropic's web search", "", "Use the View menu."),
        WebResult("One", "http://one.example/", "View > Line Numbers"),
    )
    tool = server.asked[0]["tools"][0]
    assert (tool["name"], tool["type"].startswith("web_search_")) == ("web_search", True)
    assert server.asked[1]["messages"][1] == {"role": "assistant", "content": first}


def test_a_failed_search_of_anthropic_reports_its_error_code() -> None:
    failed = {"type": "web_search_tool_result", "tool_use_id": "s1",
              "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}  # fmt: skip
    with answering(_anthropic([failed])) as server, pytest.raises(SearchError, match="max_uses_exceeded"):
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        engine(settings("hosted", model="anthropic:claude-test"), environment).search(QUERY)


def test_openai_returns_its_answer_and_citations() -> None:
    note = {"type": "url_citation", "url": "http://one.example/", "title": "One", "start_index": 0, "end_index": 3}
    text = {"type": "output_text", "text": "Use the View menu.", "annotations": [note]}
    call = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": QUERY}}
    body = {"id": "r", "object": "response", "status": "completed",
            "output": [call, {"type": "message", "role": "assistant", "content": [text]}]}  # fmt: skip
    with answering(Http(body=body)) as server:
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1"}
        found = engine(settings("hosted", model="openai:gpt-test"), environment).search(QUERY)
    assert found == (
        WebResult("Answer of OpenAI's web search", "", "Use the View menu."),
        WebResult("One", "http://one.example/", ""),
    )
    assert server.asked[0]["tools"] == [{"type": "web_search"}]
    assert QUERY in server.asked[0]["input"]


def test_gemini_returns_its_answer_and_the_pages_it_rests_on() -> None:
    chunk = {"web": {"uri": "http://one.example/", "title": "One"}}
    grounding = {"groundingChunks": [chunk], "webSearchQueries": ["line numbers", "mousepad"]}
    parts = [{"text": "Thinking.", "thought": True}, {"text": "Use the View menu."}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "groundingMetadata": grounding}
    usage = {"promptTokenCount": 70, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}
    meter = CountingMeter()
    with answering(Http(body={"candidates": [candidate], "usageMetadata": usage})) as server:
        environment = {"GEMINI_API_KEY": KEY, "GEMINI_BASE_URL": server.url}
        asked = engine(settings("hosted", model="gemini:gemini-test"), environment)
        asked.set_meter(meter)
        found = asked.search(QUERY)
    assert found == (
        WebResult("Answer of Google's web search", "", "Use the View menu."),
        WebResult("One", "http://one.example/", ""),
    )
    assert server.asked[0]["tools"] == [{"googleSearch": {}}]
    (used,) = meter.charged
    assert (used.input_tokens, used.output_tokens, used.searches, used.dollars) == (70, 7, 2, None)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"model": "anthropic:claude-opus-5"}, "hosted"),
        ({"model": "openai:gpt-test"}, "hosted"),
        ({"model": "gemini:gemini-test"}, "hosted"),
        ({"model": "offline"}, "none"),
        ({"model": "http://localhost:8000#small"}, "none"),
        ({"model": "offline", "roles.plan": "openai:gpt-test"}, "hosted"),
        ({"model": "anthropic:claude-opus-5", "limits.max_dollars": 1}, "hosted"),
        ({"model": "openai:gpt-test", "limits.max_dollars": 1}, "none"),
        ({"model": "anthropic:claude-opus-5", "search.engine": "none"}, "none"),
        ({"model": "offline", "search.engine": "searxng"}, "searxng"),
    ],
)
def test_the_planners_provider_searches_by_default_if_its_cost_can_be_limited(
    chosen: dict[str, object], expected: str
) -> None:
    assert chosen_engine(load_settings(overrides=chosen)) == expected


class CountingMeter:
    """Records charges and allows a maximum number of them."""

    def __init__(self, allowed: int = 100) -> None:
        self.charged: list[Usage] = []
        self._allowed = allowed

    def check(self) -> None:
        if len(self.charged) >= self._allowed:
            raise LimitReached("the budget is used up")

    def charge(self, usage: Usage, seconds: float) -> None:
        assert seconds >= 0
        self.charged.append(usage)


def test_each_exchange_of_an_anthropic_search_is_charged() -> None:
    meter = CountingMeter()
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 500,
             "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0}}  # fmt: skip
    pause, end = _anthropic([], "pause_turn"), _anthropic([{"type": "text", "text": "Use the View menu."}])
    pause.body["usage"] = usage
    with answering(pause, end) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        asked = engine(settings("hosted", model="anthropic:claude-opus-5"), environment)
        asked.set_meter(meter)
        asked.search(QUERY)
    first, second = meter.charged
    assert (first.input_tokens, first.cached_tokens, first.output_tokens) == (1500, 500, 100)
    price = load_prices().models["anthropic:claude-opus-5"]
    assert price.searches is not None
    tokens = 1000 * price.input + 500 * price.cached + 100 * price.output
    assert first.dollars == pytest.approx(tokens / 1e6 + 2 * price.searches / 1000)
    assert (second.input_tokens, second.output_tokens) == (10, 5)


def test_an_openai_search_is_charged_without_a_guessed_price() -> None:
    meter = CountingMeter()
    text = {"type": "output_text", "text": "Use the View menu.", "annotations": []}
    body = {"id": "r", "object": "response", "status": "completed", "usage": {"input_tokens": 70, "output_tokens": 7},
            "output": [{"type": "web_search_call"}, {"type": "message", "content": [text]}]}  # fmt: skip
    with answering(Http(body=body)) as server:
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1"}
        asked = engine(settings("hosted", model="openai:gpt-test"), environment)
        asked.set_meter(meter)
        asked.search(QUERY)
    (used,) = meter.charged
    assert (used.input_tokens, used.output_tokens, used.dollars) == (70, 7, None)


def test_a_search_without_budget_is_not_sent() -> None:
    with answering(_anthropic([], "pause_turn")) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        asked = engine(settings("hosted", model="anthropic:claude-test"), environment)
        asked.set_meter(CountingMeter(allowed=1))
        with pytest.raises(LimitReached):
            asked.search(QUERY)
        assert len(server.asked) == 1


def test_an_invalid_answer_of_a_provider_is_a_failed_search() -> None:
    with answering(Http(body={"who": "knows"})) as server, pytest.raises(SearchError, match="own format"):
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        engine(settings("hosted", model="anthropic:claude-test"), environment).search(QUERY)


def test_a_wrong_key_is_reported_without_showing_it() -> None:
    refusal = Http(401, {"error": {"type": "authentication_error", "message": f"bad key {KEY}"}})
    with answering(refusal) as server, pytest.raises(SearchError, match="refuses the key") as caught:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        engine(settings("hosted", model="anthropic:claude-test"), environment).search(QUERY)
    assert KEY not in str(caught.value)


def test_hosted_search_needs_a_provider_with_search() -> None:
    with pytest.raises(SettingsError, match="offline has no web search"):
        build_search(settings("hosted"), {})
    with pytest.raises(ModelUnavailable, match="no key"):
        build_search(settings("hosted", model="openai:gpt-test"), {})

"""Factories for search engines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from agent_s.errors import SettingsError
from agent_s.search import WebSearch
from agent_s.settings import Engine, SearchSettings, Settings
from memory_store import MemoryStore

HOSTING = ("anthropic", "openai", "gemini")  # the providers with a web search of their own
ENGINE_SHARE = 0.9  # share of the search timeout for the engine; the rest is for the fallback to an older answer


def build_search(settings: Settings, environment: Mapping[str, str]) -> WebSearch | None:
    """Return the engine that the settings name, or None; nothing is sent.

    Args:
        settings: Settings, of which `search` applies, and for `hosted` also `model` and `provider`.
        environment: Environment variables with the API keys, such as `os.environ`.

    Raises:
        SettingsError: An address is missing or invalid, or the model's provider has no web search.
        ModelUnavailable: There is no key for the provider.
    """
    wanted = settings.search
    match chosen_engine(settings):
        case "none":
            return None
        case "searxng":
            from agent_s.search.searxng import SearxngSearch

            return SearxngSearch(_url(wanted, "http://localhost:8080"), wanted.results, wanted.timeout_s)
        case "vane" | "perplexica" as kind:
            from agent_s.search.vane import VaneSearch

            address = _url(wanted, "http://localhost:3000")
            return VaneSearch(
                address, kind, wanted.chat_model, wanted.embedding_model, wanted.results, wanted.timeout_s
            )
        case _:
            return _hosted(settings, environment)


def chosen_engine(settings: Settings) -> Engine:
    """Return the engine of the settings, with `auto` resolved to `hosted` or `none`.

    It is `hosted` only if the planning model's provider has a web search, whose price must be known if dollars are
    limited.
    """
    if settings.search.engine != "auto":
        return settings.search.engine
    offered = _planner(settings).partition(":")[0] in HOSTING
    payable = settings.limits.max_dollars is None or search_price(settings) is not None
    return "hosted" if offered and payable else "none"


def search_price(settings: Settings) -> float | None:
    """Return what a thousand hosted searches cost, dollars; None if it is unknown."""
    from agent_s.llm.providers.prices import load_prices

    provider, _, model = _planner(settings).partition(":")
    prices = load_prices(settings.provider.prices)
    price = prices.models.get(f"{provider}:{model or prices.defaults.get(provider, '')}")
    return price.searches if price is not None else None


def with_cache(engine: WebSearch | None, settings: Settings, memory: MemoryStore | None) -> WebSearch | None:
    """Return the engine with a cache in memory, if the settings ask for one."""
    wanted = settings.search
    keeps = memory is not None and settings.memory.continual_update and (wanted.cache_days or wanted.fallback_days)
    if engine is None or memory is None or not keeps:
        return engine
    from agent_s.search.cached import CachedSearch

    where = wanted.url or _planner(settings)
    return CachedSearch(
        engine,
        memory,
        name=f"{chosen_engine(settings)} {where} {wanted.results}",
        fresh=timedelta(days=wanted.cache_days),
        usable=timedelta(days=wanted.fallback_days),
        wait_s=wanted.timeout_s * ENGINE_SHARE,
    )


def _planner(settings: Settings) -> str:
    return settings.roles.get("plan", settings.model)


def _url(settings: SearchSettings, example: str) -> str:
    if settings.url is None:
        raise SettingsError(f"search.engine is {settings.engine}, but search.url is not set. Set it to its address, "
                            f"such as {example}.")  # fmt: skip
    return settings.url


def _hosted(settings: Settings, environment: Mapping[str, str]) -> WebSearch:
    from agent_s.llm.build import build_client
    from agent_s.llm.providers.prices import load_prices
    from agent_s.search.hosted import AnthropicSearch, GeminiSearch, OpenAISearch

    name = _planner(settings)
    provider = name.partition(":")[0]
    if provider not in HOSTING:
        raise SettingsError(
            f"search.engine is hosted, but {name} has no web search. Use a model of {' or '.join(HOSTING)}, or set "
            "another engine."
        )
    quick = settings.provider.model_copy(update={"timeout_s": settings.search.timeout_s})
    client = build_client(name, environment, quick)
    model, prices, most = f"{provider}:{client.model}", load_prices(settings.provider.prices), settings.search.results
    match provider:
        case "anthropic":
            return AnthropicSearch(client, model, prices, most)
        case "openai":
            return OpenAISearch(client, model, prices, most)
        case _:
            return GeminiSearch(client, model, prices, most)

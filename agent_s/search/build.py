"""Search engines from settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from agent_s.errors import SettingsError
from agent_s.search import WebSearch

if TYPE_CHECKING:
    from agent_s.settings import SearchSettings, Settings
    from memory_store import MemoryStore

ENGINE_SHARE = 0.9  # share of the search timeout for the engine; the rest is for finding an older answer


def build_search(settings: Settings, environment: Mapping[str, str]) -> WebSearch | None:
    """Return the engine that the settings name, or None; nothing is sent.

    Args:
        settings: `search` is used, and for `hosted` also `model` and `provider`.
        environment: Source of keys, such as `os.environ`.

    Raises:
        SettingsError: An address is missing or invalid, or the model's provider has no web search.
        ModelUnavailable: There is no key for the provider.
    """
    wanted = settings.search
    match wanted.engine:
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
        case "hosted":
            return _hosted(settings, environment)


def with_cache(engine: WebSearch | None, settings: Settings, memory: MemoryStore | None) -> WebSearch | None:
    """Return the engine with a cache in memory, if the settings ask for one."""
    wanted = settings.search
    keeps = memory is not None and settings.memory.continual_update and (wanted.cache_days or wanted.fallback_days)
    if engine is None or memory is None or not keeps:
        return engine
    from agent_s.search.cached import CachedSearch

    where = wanted.url or settings.roles.get("plan", settings.model)
    return CachedSearch(
        engine,
        memory,
        name=f"{wanted.engine} {where} {wanted.results}",
        fresh=timedelta(days=wanted.cache_days),
        usable=timedelta(days=wanted.fallback_days),
        wait_s=wanted.timeout_s * ENGINE_SHARE,
    )


def _url(settings: SearchSettings, example: str) -> str:
    if settings.url is None:
        raise SettingsError(f"search.engine is {settings.engine}, but search.url is not set. Set it to its address, "
                            f"such as {example}.")  # fmt: skip
    return settings.url


def _hosted(settings: Settings, environment: Mapping[str, str]) -> WebSearch:
    from agent_s.llm.build import build_client
    from agent_s.llm.providers.prices import load_prices
    from agent_s.search.hosted import AnthropicSearch, OpenAISearch

    name = settings.roles.get("plan", settings.model)
    provider = name.partition(":")[0]
    if provider not in ("anthropic", "openai"):
        raise SettingsError(
            f"search.engine is hosted, but {name} has no web search. Use a model of anthropic: or openai:, or set "
            "another engine."
        )
    quick = settings.provider.model_copy(update={"timeout_s": settings.search.timeout_s})
    client = build_client(name, environment, quick)
    engine = AnthropicSearch if provider == "anthropic" else OpenAISearch
    return engine(client, f"{provider}:{client.model}", load_prices(settings.provider.prices), settings.search.results)

"""Factories that turn settings into a memory store and its embedder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_s.errors import ModelUnavailable
from memory_store.embedding.embedders import HashingEmbedder, default_embedder
from memory_store.embedding.minilm import MiniLmEmbedder
from memory_store.errors import EmbeddingError

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from memory_store import Experience, MemoryStore
    from memory_store.embedding.embedders import Embedder
    from memory_store.embedding.served import ServedEmbedder


def open_memory(settings: Settings) -> MemoryStore:
    """Open the memory store that the settings name.

    Raises:
        MemoryStoreError: The store cannot be opened; it is unchanged.
    """
    from memory_store import MemoryStore

    place, trusted = settings.memory.url or settings.memory_path, settings.memory.trusted
    return MemoryStore.open(place, embedder=choose_embedder(settings), trusted=trusted)


def choose_embedder(settings: Settings, environment: Mapping[str, str] | None = None) -> Embedder:
    """Return the embedder that the settings name.

    Args:
        settings: Of these, `memory` and `provider` are used.
        environment: Environment variables that hold the API keys; None for those of the process.

    Raises:
        EmbeddingError: The embedder needs an API key that is not set.
    """
    match settings.memory.embedder:
        case "minilm":
            return MiniLmEmbedder()
        case "hashing":
            return HashingEmbedder()
        case "auto":
            return default_embedder()
    return _served_embedder(settings, os.environ if environment is None else environment)


def _served_embedder(settings: Settings, environment: Mapping[str, str]) -> ServedEmbedder:
    from agent_s.llm.build import KEY_NAMES, URL_KEY_NAME
    from agent_s.llm.providers.api_keys import find_key, require_key
    from memory_store.embedding.served import OPENAI, ServedEmbedder

    kind, _, rest = settings.memory.embedder.partition(":")
    try:
        if kind == "openai":
            address, model = environment.get("OPENAI_BASE_URL", "").strip() or OPENAI, rest
            key = require_key(KEY_NAMES["openai"], environment, "openai")
        else:
            address, _, model = settings.memory.embedder.partition("#")
            key = find_key(URL_KEY_NAME, environment) or ""
    except ModelUnavailable as error:
        raise EmbeddingError(f"memory.embedder: {error}") from None
    embedder = ServedEmbedder(address, model, key, timeout_s=min(20.0, settings.provider.timeout_s))
    if settings.memory.min_similarity is not None:
        embedder.min_similarity = settings.memory.min_similarity
    return embedder


def title_of(experience: Experience) -> str:
    """Return a title for an experience: its task, its subtask or the name of its skill."""
    from memory_store import EpisodicExperience, NarrativeExperience, SkillExperience

    match experience:
        case NarrativeExperience():
            return experience.instruction
        case EpisodicExperience():
            return experience.subtask
        case SkillExperience():
            return experience.name
    raise TypeError(f"an experience is narrative, episodic or a skill, not {experience.kind}")

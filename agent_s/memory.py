"""Opens the memory that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_store.embedding.embedders import HashingEmbedder, default_embedder
from memory_store.embedding.minilm import MiniLmEmbedder

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from memory_store import Experience, MemoryStore
    from memory_store.embedding.embedders import Embedder


def open_memory(settings: Settings) -> MemoryStore:
    """Open the memory that the settings name.

    Raises:
        MemoryStoreError: It cannot be opened; it is unchanged.
    """
    from memory_store import MemoryStore

    return MemoryStore.open(settings.memory.url or settings.memory_path, embedder=choose_embedder(settings))


def choose_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name."""
    match settings.memory.embedder:
        case "minilm":
            return MiniLmEmbedder()
        case "hashing":
            return HashingEmbedder()
        case "auto":
            return default_embedder()


def title_of(experience: Experience) -> str:
    """Return what an experience is about: a task, a subtask or a skill, in words."""
    from memory_store import EpisodicExperience, NarrativeExperience, SkillExperience

    match experience:
        case NarrativeExperience():
            return experience.instruction
        case EpisodicExperience():
            return experience.subtask
        case SkillExperience():
            return experience.name
    raise TypeError(f"an experience is narrative, episodic or a skill, not {experience.kind}")

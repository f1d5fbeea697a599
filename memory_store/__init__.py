"""Experiential memory: what was done, how it ended, and how to find it again.

Two memories (Agent S, sections 3.1 and 3.2) and a store of skills live in one database: *narrative* memory keeps the
story of whole tasks, *episodic* memory the grounded steps of single subtasks, and a *skill* is a sequence of actions
that was proven. The package knows nothing of models, prompts, agents or desktops and can be used alone::

    from memory_store import MemoryStore, Provenance

    with MemoryStore.open("memory.db") as store:
        store.add_narrative(query=..., instruction=..., summary=..., success=True, provenance=Provenance(run_id="r1"))
        hits = store.search_narrative("how to save a text file under another name")

Names are loaded on first use, so importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_store.embedding.embedders import Embedder, HashingEmbedder, default_embedder
    from memory_store.embedding.minilm import MiniLmEmbedder
    from memory_store.errors import (
        EmbeddingError,
        InvalidExperience,
        MemoryStoreError,
        NotAStore,
        StoreBusy,
        StoreClosed,
        StoreCorrupt,
        StoreFull,
        StoreNewer,
        StoreReadOnly,
        StoreUnavailable,
        TransferError,
        UnknownExperience,
    )
    from memory_store.records.episodic import EpisodicExperience
    from memory_store.records.experience import Experience, Hit, Provenance, StoreStats
    from memory_store.records.narrative import NarrativeExperience, PlannedSubtask
    from memory_store.records.skills import SkillExperience
    from memory_store.storage.forgetting import Selection, VacuumReport
    from memory_store.storage.salvage import SalvageReport, salvage_store
    from memory_store.storage.transfer import ImportReport, export_store, import_store
    from memory_store.storage.web_answers import WebAnswer, WebPage
    from memory_store.store import MemoryStore

_HOME = {
    "Embedder": "embedding.embedders",
    "EmbeddingError": "errors",
    "EpisodicExperience": "records.episodic",
    "Experience": "records.experience",
    "HashingEmbedder": "embedding.embedders",
    "Hit": "records.experience",
    "ImportReport": "storage.transfer",
    "InvalidExperience": "errors",
    "MemoryStore": "store",
    "MemoryStoreError": "errors",
    "MiniLmEmbedder": "embedding.minilm",
    "NarrativeExperience": "records.narrative",
    "NotAStore": "errors",
    "PlannedSubtask": "records.narrative",
    "Provenance": "records.experience",
    "SalvageReport": "storage.salvage",
    "Selection": "storage.forgetting",
    "SkillExperience": "records.skills",
    "StoreBusy": "errors",
    "StoreClosed": "errors",
    "StoreCorrupt": "errors",
    "StoreFull": "errors",
    "StoreNewer": "errors",
    "StoreReadOnly": "errors",
    "StoreStats": "records.experience",
    "StoreUnavailable": "errors",
    "TransferError": "errors",
    "UnknownExperience": "errors",
    "VacuumReport": "storage.forgetting",
    "WebAnswer": "storage.web_answers",
    "WebPage": "storage.web_answers",
    "default_embedder": "embedding.embedders",
    "export_store": "storage.transfer",
    "import_store": "storage.transfer",
    "salvage_store": "storage.salvage",
}

__all__ = [
    "Embedder",
    "EmbeddingError",
    "EpisodicExperience",
    "Experience",
    "HashingEmbedder",
    "Hit",
    "ImportReport",
    "InvalidExperience",
    "MemoryStore",
    "MemoryStoreError",
    "MiniLmEmbedder",
    "NarrativeExperience",
    "NotAStore",
    "PlannedSubtask",
    "Provenance",
    "SalvageReport",
    "Selection",
    "SkillExperience",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreFull",
    "StoreNewer",
    "StoreReadOnly",
    "StoreStats",
    "StoreUnavailable",
    "TransferError",
    "UnknownExperience",
    "VacuumReport",
    "WebAnswer",
    "WebPage",
    "default_embedder",
    "export_store",
    "import_store",
    "salvage_store",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)

"""Experiential memory: storage and retrieval of what was done and how it ended.

Two memories (Agent S, sections 3.1 and 3.2) and a store of skills share one database: *narrative* memory holds the
story of whole tasks, *episodic* memory the grounded steps of single subtasks, and a *skill* is a proven sequence of
actions.
The package is independent of models, prompts, agents and desktops, and can be used alone::

    from memory_store import MemoryStore, Provenance

    with MemoryStore.open("memory.db") as store:
        store.add_narrative(query=..., instruction=..., summary=..., success=True, provenance=Provenance(run_id="r1"))
        hits = store.search_narrative("how to save a text file under another name")

Names are loaded on first use, so that importing this package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_store.embedding.embedders import Embedder as Embedder
    from memory_store.embedding.embedders import HashingEmbedder as HashingEmbedder
    from memory_store.embedding.embedders import default_embedder as default_embedder
    from memory_store.embedding.minilm import MiniLmEmbedder as MiniLmEmbedder
    from memory_store.embedding.served import ServedEmbedder as ServedEmbedder
    from memory_store.errors import ConnectionLost as ConnectionLost
    from memory_store.errors import EmbedderUnavailable as EmbedderUnavailable
    from memory_store.errors import EmbeddingError as EmbeddingError
    from memory_store.errors import InvalidExperience as InvalidExperience
    from memory_store.errors import MemoryStoreError as MemoryStoreError
    from memory_store.errors import NotAStore as NotAStore
    from memory_store.errors import StoreBusy as StoreBusy
    from memory_store.errors import StoreClosed as StoreClosed
    from memory_store.errors import StoreCorrupt as StoreCorrupt
    from memory_store.errors import StoreFull as StoreFull
    from memory_store.errors import StoreNewer as StoreNewer
    from memory_store.errors import StoreReadOnly as StoreReadOnly
    from memory_store.errors import StoreUnavailable as StoreUnavailable
    from memory_store.errors import TransferError as TransferError
    from memory_store.errors import UnknownExperience as UnknownExperience
    from memory_store.records.experience import Experience as Experience
    from memory_store.records.experience import Hit as Hit
    from memory_store.records.experience import Provenance as Provenance
    from memory_store.records.experience import StoreStats as StoreStats
    from memory_store.records.kinds import EpisodicExperience as EpisodicExperience
    from memory_store.records.kinds import NarrativeExperience as NarrativeExperience
    from memory_store.records.kinds import PlannedSubtask as PlannedSubtask
    from memory_store.records.kinds import SkillDraft as SkillDraft
    from memory_store.records.kinds import SkillExperience as SkillExperience
    from memory_store.salvage import SalvageReport as SalvageReport
    from memory_store.salvage import salvage_store as salvage_store
    from memory_store.storage.forgetting import Selection as Selection
    from memory_store.storage.forgetting import VacuumReport as VacuumReport
    from memory_store.storage.web_answers import WebAnswer as WebAnswer
    from memory_store.storage.web_answers import WebPage as WebPage
    from memory_store.store import MemoryStore as MemoryStore
    from memory_store.transfer import ImportReport as ImportReport
    from memory_store.transfer import export_store as export_store
    from memory_store.transfer import import_store as import_store
    from memory_store.transfer import merge_export as merge_export

_MODULES = {
    "embedding.embedders": "Embedder HashingEmbedder default_embedder",
    "embedding.minilm": "MiniLmEmbedder",
    "embedding.served": "ServedEmbedder",
    "errors": "ConnectionLost EmbedderUnavailable EmbeddingError InvalidExperience MemoryStoreError"
    " NotAStore StoreBusy StoreClosed StoreCorrupt StoreFull"
    " StoreNewer StoreReadOnly StoreUnavailable TransferError UnknownExperience",
    "records.experience": "Experience Hit Provenance StoreStats",
    "records.kinds": "EpisodicExperience NarrativeExperience PlannedSubtask SkillDraft SkillExperience",
    "storage.forgetting": "Selection VacuumReport",
    "salvage": "SalvageReport salvage_store",
    "transfer": "ImportReport export_store import_store merge_export",
    "storage.web_answers": "WebAnswer WebPage",
    "store": "MemoryStore",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, whether or not they are loaded."""
    return __all__

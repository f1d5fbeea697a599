from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_store import HashingEmbedder, MemoryStore


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as store:
        yield store

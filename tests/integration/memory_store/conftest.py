from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_store import HashingEmbedder, MemoryStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(path, HashingEmbedder(), busy_timeout_s=60) as opened:
        yield opened

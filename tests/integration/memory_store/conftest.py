from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.postgres import Server, running_server
from memory_store import HashingEmbedder, MemoryStore


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(path: Path, request: pytest.FixtureRequest) -> str:
    """Where a store is opened: a file, or a database of a real server."""
    if request.param == "SQLite":
        return str(path)
    started: Server = request.getfixturevalue("server")
    return started.new_database()


@pytest.fixture
def store(place: str) -> Iterator[MemoryStore]:
    with MemoryStore.open(place, HashingEmbedder(), busy_timeout_s=60) as opened:
        yield opened


@pytest.fixture
def file_store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(path, HashingEmbedder(), busy_timeout_s=60) as opened:
        yield opened

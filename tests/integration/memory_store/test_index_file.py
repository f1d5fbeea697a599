"""The file that keeps large indexes: used where it fits the database, and never where it does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_store import HashingEmbedder, MemoryStore
from memory_store.search.index_file import IndexFile
from tests.integration.memory_store.samples import indexed, narrative

COUNT = 60


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_store.search.vectors.EXACT_ROWS", 40)
    monkeypatch.setattr("memory_store.search.index.EXACT_ROWS", 40)


def fill(path: Path, word: str = "task") -> list[str]:
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        made = [narrative(store, f"How to do {word} number {n}").id for n in range(COUNT)]
        store.search_narrative("x")
    return made


def index_of(path: Path) -> Path:
    return IndexFile(path).path


def whole(path: Path) -> int:
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        hits = store.search_narrative("How to do task number 7", k=1)
        assert hits[0].experience.key.text == "How to do task number 7"
        assert store.check() == []
        return indexed(store, "narrative")


def test_it_is_kept_private_and_read_instead_of_the_vectors(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    assert index_of(path).stat().st_mode & 0o777 == 0o600

    def refuse(*_: object) -> None:
        raise AssertionError("the vectors were loaded")

    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        monkeypatch.setattr(store._retriever.index, "_load", refuse)
        found = store.search_narrative("do the task number 7", k=5, min_similarity=0.1)
        assert len(found) == 5
        assert store._retriever.index.forms()["narrative"] == "bytes"


def test_what_was_added_and_forgotten_since_is_caught_up(path: Path) -> None:
    made = fill(path)
    old = index_of(path).read_bytes()
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        store.forget(made[:3])
        narrative(store, "How to do something new")
    index_of(path).write_bytes(old)
    assert whole(path) == COUNT - 2


def cut_short(file: Path, other: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flipped(file: Path, other: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-200] ^= 0xFF
    file.write_bytes(bytes(data))


def emptied(file: Path, other: Path) -> None:
    file.write_bytes(b"")


def garbage(file: Path, other: Path) -> None:
    file.write_bytes(b"\x00\xff" * 500)


def swapped(file: Path, other: Path) -> None:
    shutil.copy(other, file)


@pytest.mark.parametrize("damage", [cut_short, flipped, emptied, garbage, swapped])
def test_one_that_is_damaged_or_of_another_store_is_not_trusted(
    path: Path, tmp_path: Path, damage: Callable[[Path, Path], None]
) -> None:
    fill(path)
    fill(tmp_path / "other.db", "another thing")
    damage(index_of(path), index_of(tmp_path / "other.db"))
    assert whole(path) == COUNT


def test_one_that_is_newer_than_a_restored_backup_is_not_trusted(path: Path) -> None:
    fill(path)
    backup = path.read_bytes()
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        for number in range(20):
            narrative(store, f"How to lose {number}")
        store.search_narrative("x")
    path.write_bytes(backup)
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        for number in range(20):
            narrative(store, f"How to go on differently {number}")
    assert whole(path) == COUNT + 20

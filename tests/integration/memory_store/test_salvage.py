"""What can be read of a damaged store is not lost."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory_store import (
    HashingEmbedder,
    MemoryStore,
    NotAStore,
    StoreCorrupt,
    StoreUnavailable,
    import_store,
    salvage_store,
)
from tests.integration.memory_store.samples import episodic, narrative, source

PAGE = 4096


@pytest.fixture
def filled(path: Path) -> Path:
    """A store of 120 stories, 20 episodes and a skill, on some hundred pages, with nothing left in its log."""
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        for number in range(120):
            narrative(store, f"How to do the thing {number} with care", instruction=f"Do {number} " + "well " * 150)
        for number in range(20):
            episodic(store, f"Do the part {number}", task_query=f"Do the thing {number}")
        store.add_skill(name="save as", steps=[{"action": "done"}], provenance=source())
        forgotten = narrative(store, "What nobody wants to know any more")
        store.forget([forgotten.id])
        store.vacuum()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def pages_of(path: Path, table: str) -> list[int]:
    """Return the numbers of the leaf pages of a table."""
    with closing(sqlite3.connect(path)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    data = path.read_bytes()
    pages, leaves = [root], []
    while pages:
        page = data[(number := pages.pop()) * PAGE - PAGE :][:PAGE]
        if page[0] == 13:
            leaves.append(number)
        else:
            cells = int.from_bytes(page[3:5], "big")
            places = [int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell], "big") for cell in range(cells)]
            pages += [int.from_bytes(page[place : place + 4], "big") for place in places]
            pages.append(int.from_bytes(page[8:12], "big"))
    return sorted(leaves)


def destroy(path: Path, page: int) -> None:
    with path.open("rb+") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xa5" * PAGE)


def everything(path: Path) -> dict[str, object]:
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        return {record.id: record for record in store.list_experiences()}


@pytest.mark.parametrize("table", ["experience", "narrative", "vector"])
def test_everything_outside_the_damaged_page_is_saved(filled: Path, tmp_path: Path, table: str) -> None:
    before = everything(filled)
    leaves = pages_of(filled, table)
    assert len(leaves) > 3
    destroy(filled, leaves[len(leaves) // 2])
    with pytest.raises(StoreCorrupt, match="salvage"):
        MemoryStore.open(filled, HashingEmbedder(64))

    bytes_before = {file: file.read_bytes() for file in filled.parent.iterdir()}
    report = salvage_store(filled, tmp_path / "saved.jsonl")
    assert {file: file.read_bytes() for file in filled.parent.iterdir()} == bytes_before
    assert report.saved + len(report.lost) == len(before) and report.complete
    # A page of vectors holds nothing that is not made again.
    assert (len(report.lost) == 0) == (table == "vector")
    assert len(report.lost) < len(before) / 4

    with MemoryStore.open(tmp_path / "new.db", HashingEmbedder(64)) as store:
        assert import_store(store, tmp_path / "saved.jsonl").added == report.saved
        assert store.check() == []
        saved = {record.id: record for record in store.list_experiences()}
    assert saved == {uid: record for uid, record in before.items() if uid not in report.lost}


def test_a_damaged_list_of_ids_costs_no_experience_and_is_reported(filled: Path, tmp_path: Path) -> None:
    before = everything(filled)
    with closing(sqlite3.connect(filled)) as raw:
        (root,) = raw.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_experience_1'"
        ).fetchone()
    destroy(filled, root)
    report = salvage_store(filled, tmp_path / "saved.jsonl")
    assert (report.saved, report.lost, report.complete) == (len(before), (), False)


def test_the_rest_of_a_truncated_file_is_saved(filled: Path, tmp_path: Path) -> None:
    with filled.open("rb+") as file:
        file.truncate(filled.stat().st_size * 2 // 3 // PAGE * PAGE)
    report = salvage_store(filled, tmp_path / "saved.jsonl")
    with MemoryStore.open(tmp_path / "new.db", HashingEmbedder(64)) as store:
        assert import_store(store, tmp_path / "saved.jsonl").added == report.saved > 0


def test_experience_in_the_write_ahead_log_is_saved(path: Path, tmp_path: Path) -> None:
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        kept = narrative(store)
        (tmp_path / "copy").mkdir()
        for file in path.parent.iterdir():
            shutil.copyfile(file, tmp_path / "copy" / file.name)
    report = salvage_store(tmp_path / "copy" / path.name, tmp_path / "saved.jsonl")
    with MemoryStore.open(tmp_path / "new.db", HashingEmbedder(64)) as store:
        assert import_store(store, tmp_path / "saved.jsonl").added == report.saved == 1
        assert store.get(kept.id) == kept


def test_a_sound_store_is_saved_completely(filled: Path, tmp_path: Path) -> None:
    before = everything(filled)
    report = salvage_store(filled, tmp_path / "saved.jsonl")
    assert (report.saved, report.lost, report.complete) == (len(before), (), True)


def test_files_that_are_not_stores_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    garbage, foreign = tmp_path / "garbage.db", tmp_path / "foreign.db"
    garbage.write_bytes(b"nothing of use" * 1000)
    with closing(sqlite3.connect(foreign)) as raw:
        raw.execute("CREATE TABLE bookmark (url TEXT)")
        raw.commit()
    for place, error in (
        (garbage, StoreCorrupt),
        (foreign, NotAStore),
        (tmp_path / "none.db", StoreUnavailable),
        ("postgresql://agent@localhost/agent", StoreUnavailable),
    ):
        with pytest.raises(error):
            salvage_store(place, tmp_path / "saved.jsonl")
    assert {file.name for file in tmp_path.iterdir()} == {"garbage.db", "foreign.db"}

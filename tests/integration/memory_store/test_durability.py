"""Several processes on one store, and processes that die."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memory_store import HashingEmbedder, MemoryStore
from tests.integration.memory_store.samples import SAVE, narrative

WRITER = """
import sys
from memory_store import HashingEmbedder, MemoryStore
from tests.integration.memory_store.samples import narrative
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with MemoryStore.open(path, HashingEmbedder(), busy_timeout_s=300) as store:
    for number in range(count):
        made = narrative(store, f"How to do {name} {number}", run_id=name)
        print(made.id, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as raw:
        whole = raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return whole and raw.execute("PRAGMA foreign_key_check").fetchall() == []


def check_everything_is_there(path: Path, acknowledged: set[str]) -> None:
    assert sound(path)
    with MemoryStore.open(path, HashingEmbedder()) as store:
        there = {record.id for record in store.list_experiences()}
        assert acknowledged <= there
        # Whole experiences only: each has its vector, and the index holds exactly what the database holds.
        assert store.stats().vectors == {"hashing-512": len(there)}
        store.search_narrative(SAVE)
        assert store.check() == []


@pytest.mark.slow
def test_processes_that_create_and_write_one_store_at_once_lose_nothing(path: Path) -> None:
    writers = [writer(path, name, 60) for name in ("one", "two", "three")]
    try:
        outputs = [process.communicate(timeout=500)[0] for process in writers]
    finally:
        for process in writers:
            process.kill()
            process.wait()
    assert [process.returncode for process in writers] == [0, 0, 0]
    acknowledged = {line for output in outputs for line in output.split()}
    assert len(acknowledged) == 180
    check_everything_is_there(path, acknowledged)


@pytest.mark.parametrize("after", [1, 2, 5, 13, 40])
def test_a_killed_writer_loses_nothing_it_acknowledged(path: Path, after: int) -> None:
    acknowledged: set[str] = set()
    with MemoryStore.open(path, HashingEmbedder()) as reader:
        acknowledged.add(narrative(reader).id)
        process = writer(path, "victim", 100_000)
        try:
            assert process.stdout is not None
            for _ in range(after):
                acknowledged.add(process.stdout.readline().strip())
            reader.search_narrative(SAVE)
            process.kill()
            # Lines already in the pipe were acknowledged too; the last one may be cut.
            rest = process.stdout.read()
            acknowledged |= {line.strip() for line in rest.splitlines(keepends=True) if line.endswith("\n")}
        finally:
            process.kill()
            process.wait()
        assert acknowledged <= {record.id for record in reader.list_experiences()}
        acknowledged.add(narrative(reader, "after the crash").id)
    check_everything_is_there(path, acknowledged)


def test_a_store_whose_only_user_was_killed_opens_again(path: Path) -> None:
    process = writer(path, "victim", 100_000)
    try:
        assert process.stdout is not None
        acknowledged = {process.stdout.readline().strip() for _ in range(30)}
    finally:
        process.kill()
        process.wait()
    assert path.with_name("memory.db-wal").stat().st_size > 0
    # Opened by us first, before any other SQLite recovers the log.
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert acknowledged <= {record.id for record in store.list_experiences()}
    check_everything_is_there(path, acknowledged)
